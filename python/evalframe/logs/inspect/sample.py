"""A log of Inspect that is made up: multiple choice by one model, in several epochs.

The same seed gives the same bytes on every machine: members are stored, times are counted from a
fixed one, and numbers are rounded draws.
"""

from __future__ import annotations

import io
import json
import math
import statistics
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

from evalframe.core.samples import check_size

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_SUBJECTS = ("algebra", "history", "law")
_LETTERS = "ABCD"
_TASK = "quiz"


def sample_log(
    *,
    model: str = "made/small",
    samples: int = 40,
    epochs: int = 2,
    skill: float = 0.5,
    seed: int = 0,
) -> bytes:
    """Make a log as Inspect writes it, of a multiple-choice quiz that a model takes.

    Each sample has a difficulty, the same for all models of a seed, which their answers depend on,
    and a subject as metadata. Two scorers score it: `choice` (C or I, with log probabilities of the
    answer) and `judge` (a number). One sample in 25 fails.

    Args:
        model: Name of the model, which the answers depend on.
        samples: Number of questions.
        epochs: How often each is asked.
        skill: From 0 for guesses to 1.
        seed: Of the questions and answers.

    Returns:
        The bytes of an `.eval` file.

    Raises:
        ParameterError: There are no samples, no epochs, or the seed is negative.

    Examples:
        >>> import evalframe as ef, tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "quiz.eval")
        ...     _ = path.write_bytes(ef.logs.sample_log(samples=3, epochs=1))
        ...     ef.read_inspect(path).select("scorer", "score").head(2).collect().rows()
        [('choice', 1.0), ('judge', 0.7)]
    """
    import numpy as np

    check_size(samples, seed, of="samples")
    check_size(epochs, seed, of="epochs")
    rng = np.random.default_rng([seed, samples])
    own = np.random.default_rng([seed, *model.encode()])
    questions = (rng.integers(0, 10_000, (samples, 3)) / 10_000).tolist()
    draws = (own.integers(0, 10_000, (epochs, samples, 5)) / 10_000).tolist()
    records = [
        _record(model, number, epoch + 1, skill, question, draws[epoch][number])
        for epoch in range(epochs)
        for number, question in enumerate(questions)
    ]
    header = _header(model, samples, epochs, records)
    members = {
        "_journal/start.json": {key: header[key] for key in ("version", "eval", "plan")},
        **{f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in records},
        "summaries.json": [_summary(each) for each in records],
        "header.json": header,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.create_system = 3  # whatever the machine
            archive.writestr(info, json.dumps(content))
    return buffer.getvalue()


def _record(
    model: str,
    number: int,
    epoch: int,
    skill: float,
    question: list[float],
    draws: list[float],
) -> dict[str, Any]:
    """A sample: what is asked, what the model answers, and its scores."""
    difficulty, place, subject = question
    target = _LETTERS[int(4 * place)]
    sure = round(min(max(0.3 + 0.6 * skill - 0.4 * difficulty + 0.3 * draws[1], 0.26), 0.99), 4)
    others = [letter for letter in _LETTERS if letter != target]
    is_right = draws[0] < 0.25 + 0.75 * min(max(skill + 0.4 - difficulty, 0.0), 1.0)
    answer = target if is_right else others[int(3 * draws[2])]
    begin = _START + timedelta(seconds=number + 1_000 * epoch)
    seconds = round(1 + draws[3], 3)
    shared = round(math.log((1 - sure) / 3), 6)
    tops = [{"token": each, "logprob": shared} for each in _LETTERS if each != answer]
    chosen = {"token": answer, "logprob": round(math.log(sure), 6)}
    record: dict[str, Any] = {
        "id": f"q{number:03}",
        "epoch": epoch,
        "input": f"Question {number} of {_SUBJECTS[int(3 * subject)]}?",
        "choices": [f"choice {letter}" for letter in _LETTERS],
        "target": target,
        "messages": [],
        "output": {"model": model, "choices": [], "completion": ""},
        "scores": {},
        "metadata": {"subject": _SUBJECTS[int(3 * subject)], "difficulty": difficulty},
        "store": {},
        "events": [],
        "model_usage": {
            model: {"input_tokens": 60, "output_tokens": 4, "total_tokens": 64},
        },
        "started_at": begin.isoformat(),
        "completed_at": (begin + timedelta(seconds=seconds)).isoformat(),
        "total_time": seconds,
        "working_time": seconds,
        "uuid": f"{model}-{number}-{epoch}",
        "error_retries": [],
        "attachments": {},
    }
    if draws[4] < 0.04:
        record["error"] = {"message": "the server is down", "traceback": "", "traceback_ansi": ""}
        return record
    message = {"content": f"ANSWER: {answer}", "source": "generate", "role": "assistant"}
    logprobs = {"content": [{**chosen, "top_logprobs": [chosen, *tops]}]}
    choice = {"message": message, "stop_reason": "stop", "logprobs": logprobs}
    record["messages"] = [{"content": record["input"], "role": "user"}, message]
    record["output"] = {"model": model, "choices": [choice], "completion": message["content"]}
    record["scores"] = {
        "choice": {"value": "C" if is_right else "I", "answer": answer},
        "judge": {"value": round((sure + is_right) / 2, 2), "answer": answer},
    }
    return record


def _summary(record: dict[str, Any]) -> dict[str, Any]:
    left_out = {"messages", "output", "store", "events", "attachments", "error_retries", "error"}
    kept = {key: value for key, value in record.items() if key not in left_out}
    error = {"error": record["error"]["message"]} if "error" in record else {}
    return {**kept, **error, "retries": 0, "completed": True}


def _header(model: str, samples: int, epochs: int, records: list[dict[str, Any]]) -> dict[str, Any]:
    dataset = {"name": "questions", "samples": samples, "shuffled": False}
    metrics = [{"name": "inspect_ai/accuracy"}, {"name": "inspect_ai/stderr"}]
    names = ("choice", "judge")
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"eval-{model}",
            "run_id": f"run-{model}",
            "created": _START.isoformat(),
            "task": _TASK,
            "task_id": f"task-{_TASK}",
            "task_version": 0,
            "dataset": dataset,
            "model": model,
            "model_args": {},
            "config": {"epochs": epochs},
            "scorers": [{"name": name, "metrics": metrics} for name in names],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(records),
            "completed_samples": sum("error" not in each for each in records),
            "scores": [_published(name, records) for name in names],
        },
        "stats": {
            "started_at": _START.isoformat(),
            "completed_at": (_START + timedelta(hours=1)).isoformat(),
            "model_usage": {},
        },
    }


def _published(scorer: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy over questions, each of them the mean of its epochs, and its standard error."""
    values: dict[str, list[float]] = {}
    for record in records:
        if scorer in record["scores"]:
            value = record["scores"][scorer]["value"]
            values.setdefault(record["id"], []).append({"C": 1.0, "I": 0.0}.get(value, value))
    means = [statistics.fmean(each) for each in values.values()]
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0
    accuracy = statistics.fmean(means) if means else 0.0
    metrics = {"accuracy": accuracy, "stderr": error}
    return {
        "name": scorer,
        "scorer": scorer,
        "scored_samples": len(means),
        "unscored_samples": 0,
        "params": {},
        "metrics": {
            name: {"name": name, "value": value, "params": {}} for name, value in metrics.items()
        },
    }
