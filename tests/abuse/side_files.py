"""Files that are read beside others: what is damaged of them changes what only they say."""

import atexit
import functools
import json
import os
import shutil
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import polars as pl
from click.testing import CliRunner

import evalframe as ef
from abuse import log_files
from abuse.log_files import rows_of, text_of
from abuse.mutations import TEXT
from abuse.readers import Reader
from evalframe import survey
from evalframe.core.checksums import UNSEALED, seal
from evalframe.core.errors import EvalframeError
from evalframe.jobs.cli import cli
from evalframe.jobs.pages import write_reports
from evalframe.jobs.written import METADATA_KEY
from evalframe.survey.sample import sample_survey


def _inside(document, *keys):
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _rows_beside(reader, main, data, columns, **options):
    """Rows of a log beside a file that is damaged; its published numbers are looked at, too."""
    main.write_bytes(data)
    path = main if main.suffix == ".jsonl" else main.parent
    with warnings.catch_warnings(action="ignore"), suppress(EvalframeError):
        ef.check_logs(path)
    return rows_of(reader, path, columns, **options)


# lm-evaluation-harness: the results of a run.

_DATE = "2026-01-21T03-44-18"
_RUN = ("model", "model_args", "task_version", "dataset", "score")


def _results():
    told = {"alias": "t", "acc,none": 0.5, "acc_stderr,none": 0.1, "em,none": 2, "sample_len": 4}
    pairs = {"metric": "mcc", "aggregation": "matthews_corrcoef"}
    config = {"dataset_path": "org/d", "target_delimiter": " ", "metric_list": [pairs]}
    document = {
        "results": {"t": {**told, "mcc,none": 1.0, "mcc_stderr,none": 0.5}, "g": told},
        "group_subtasks": {"g": ["t"], "t": []},
        "configs": {"t": config},
        "versions": {"t": 1.0},
        "n-samples": {"t": {"original": 9, "effective": 4}},
        "config": {"model": "hf", "model_args": {"a": "b"}, "bootstrap_iters": 10},
        "model_name": "org/m",
    }
    return json.dumps(document).encode()


def _read_results(path):
    samples = path.with_name(f"samples_t_{_DATE}.jsonl")
    found = _rows_beside(ef.read_lm_eval, samples, log_files.samples(), _RUN)
    return sorted(found, key=repr)


def _true_results(data):
    document = json.loads(data)
    assert isinstance(document["results"], dict)
    arguments = _inside(document, "config", "model_args")
    run = (
        text_of(document.get("model_name") or _inside(document, "config", "model")),
        None if arguments is None else log_files.json_of(arguments),
        text_of(_inside(document, "versions", "t")),
        text_of(_inside(document, "configs", "t", "dataset_path")),
    )
    scores = [row[3] for row in log_files.true_samples(log_files.samples())]
    return sorted([(*run, score) for score in scores], key=repr)


# HELM: what was run, and the requests.


def _spec():
    adapter = {"model": "org/m", "model_deployment": "org/m-1"}
    scenario = {"class_name": "a.Sums", "args": {}}
    document = {"name": "sums:model=m", "adapter_spec": adapter, "scenario_spec": scenario}
    return json.dumps(document).encode()


_STATS = "per_instance_stats.json"
_SPEC = ("run_id", "task", "model", "model_args", "dataset")


def _read_spec(path):
    if not path.is_file():
        return ef.read_helm(path).collect().rows()
    found = _rows_beside(
        ef.read_helm, path.with_name(_STATS), log_files.stats(), _SPEC, strict=True
    )
    return [*{*found}]


def _true_spec(data):
    document = json.loads(data)
    assert isinstance(document["name"], str)
    name, model = text_of(document["name"]), text_of(_inside(document, "adapter_spec", "model"))
    deployment = _inside(document, "adapter_spec", "model_deployment")
    arguments = None if deployment is None else log_files.json_of(deployment)
    dataset = text_of(_inside(document, "scenario_spec", "class_name"))
    return [(name, name.partition(":")[0], model, arguments, dataset)]


_ASKED = ("sample_id", "epoch", "answer", "target", "n_choices", "is_error", "error", "total_time")


def _requests():
    references = [
        {"output": {"text": text}, "tags": tags} for text, tags in (("4", ["correct"]), ("5", []))
    ]
    completions = [{"text": " 4", "logprob": -0.5, "tokens": [{"text": " 4", "logprob": -0.5}]}]
    done = {"success": True, "completions": completions, "request_time": 0.5}
    done["request_datetime"] = 1_700_000_000
    late = {"success": False, "error": "late", "completions": []}
    first, second = ({"id": name, "references": references} for name in ("id1", "7"))
    states = [
        {"instance": first, "train_trial_index": 0, "request": {"prompt": "?"}, "result": done},
        {"instance": first, "train_trial_index": 1, "output_mapping": {"A": "4"}, "result": late},
        {"instance": second, "train_trial_index": 0, "result": done},
    ]
    return json.dumps({"adapter_spec": {"method": "g"}, "request_states": states}).encode()


def _read_requests(path):
    path.with_name("run_spec.json").write_bytes(_spec())
    options = {"bookkeeping": True, "strict": True}
    main = path.with_name(_STATS)
    return sorted(
        {*_rows_beside(ef.read_helm, main, log_files.stats(), _ASKED, **options)}, key=repr
    )


def _true_requests(data):
    states = log_files.loads(data.decode(errors="replace").lstrip("\ufeff"))["request_states"]
    found = {}
    for each in states:
        instance = each["instance"]
        perturbation = instance.get("perturbation")
        name = perturbation if perturbation is None else json.dumps(perturbation, sort_keys=True)
        key = (text_of(instance["id"]), name, each.get("train_trial_index", 0) + 1)
        found.setdefault(key, []).append(each)
    rows = {key: _asked(each) for key, each in found.items()}
    known = [("id1", 1), ("id1", 2), ("7", 1)]
    plain = [(*key, *rows.get((key[0], None, key[1]), (None,) * 6)) for key in known]
    typos = json.dumps({"name": "typos", "robustness": True}, sort_keys=True)
    perturbed = ("id1", 1, *rows.get(("id1", typos, 1), (None,) * 6))
    return sorted({*plain, perturbed}, key=repr)


def _asked(states):
    results = [each.get("result") or {} for each in states]
    answers = [
        (result.get("completions") or [{}])[0].get(
            "text", "" if result.get("completions") else None
        )
        for result in results
    ]
    references = states[0]["instance"].get("references", [])
    correct = [
        each["output"].get("text", "") for each in references if "correct" in each.get("tags", [])
    ]
    times = [r["request_time"] for r in results if r.get("request_time") is not None]
    return (
        text_of(answers[0]) if len(states) == 1 else None,
        text_of(",".join(correct)) if correct else None,
        len(states[0].get("output_mapping") or references) or None,
        not all(result.get("success", True) for result in results),
        next((text_of(r["error"]) for r in results if r.get("error") is not None), None),
        float(sum(map(log_files.number_of, times))) if times else None,
    )


# Every Eval Ever: the aggregate.

_UUID = "0b4c6b1e-1111-4111-8111-111111111111"


def _aggregate():
    metric = {"metric_id": "acc", "metric_name": "Accuracy", "has_unknown_level": False}
    result = {
        "evaluation_result_id": "r1",
        "evaluation_name": "sums",
        "source_data": {"dataset_name": "org/d"},
        "metric_config": {**metric, "metric_parameters": {"score_name": "part"}},
        "score_details": {"score": 0.75},
    }
    told = {"total_rows": 2, "checksum": "0" * 64, "hash_algorithm": "sha256"}
    others = {"evaluation_id": "run", "detailed_evaluation_results": told}
    return json.dumps({**others, "evaluation_results": [result]}).encode()


def _read_aggregate(path):
    main = path.with_name(f"{_UUID}_samples.jsonl")
    columns = ("scorer", "score_name", "dataset", "score")
    found = _rows_beside(ef.read_every_eval_ever, main, log_files.published(), columns)
    with warnings.catch_warnings(action="ignore"):
        ef.log_report(main)
    return found


def _true_aggregate(data):
    results = json.loads(data)["evaluation_results"]
    assert isinstance(results, list)
    of = [each for each in results if text_of(_inside(each, "evaluation_name")) == "sums"]
    [found] = of if len(of) == 1 else [None]
    names = ("metric_id", "metric_name", "evaluation_description")
    called = [_inside(found, "metric_config", name) for name in names]
    datasets = {text_of(_inside(each, "source_data", "dataset_name")) for each in results}
    dataset = _inside(found, "source_data", "dataset_name")
    row = (
        next((text_of(name) for name in called if name), None),
        text_of(_inside(found, "metric_config", "metric_parameters", "score_name")),
        text_of(dataset or (datasets.pop() if len(datasets) == 1 else None)),
    )
    return [(*row, 0.5), (*row, 1.0)]


# Surveys: responses to prompts.


@functools.cache
def _prompts():
    few = [pl.col(name).rank("dense") <= 2 for name in ("segment_id", "question_id")]
    table = sample_survey().filter(round="MB1").filter(few)
    return survey.prompts(survey.as_distributions(table))


def _answers():
    ids = _prompts()["prompt_id"]
    texts = [*(f"[{number}, 50]" for number in range(len(ids) - 1)), None]
    lines = [
        {"id": name, "response": text, "model": "m", "seconds": 0.5}
        for name, text in zip(ids, texts, strict=True)
    ]
    return b"\n".join(json.dumps(line).encode() for line in lines)


def _read_answers(path):
    table = survey.read_responses(path, _prompts())
    return sorted(table.drop_nulls("response").select("prompt_id", "response", "model").rows())


def _true_answers(data):
    lines = [
        json.loads(line)
        for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if line.strip(b" \t\r")
    ]
    rows = [(line["id"], line.get("response"), line["model"]) for line in lines]
    return sorted(row for row in rows if row[1] is not None)


# The journal of a store.


@functools.cache
def _store():
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    for number in range(2):
        path = Path(folder, f"{number}.parquet")
        pl.DataFrame({"score": [float(number), 1.0]}).write_parquet(path)
        os.utime(path, (1e9, 1e9))
    _summed(folder)
    [journal] = Path(folder, "states/runs").iterdir()
    return folder, journal, journal.read_bytes()


def _summed(folder):
    store = ef.StateStore(f"{folder}/states", trust_times=True)
    made = store.partial([f"{folder}/{number}.parquet" for number in range(2)], ef.mean("score"))
    assert len(store.explain()) >= 2
    return ef.finish(made).collect().rows()


def _read_journal(path):
    folder, journal, _ = _store()
    journal.unlink()
    if path.is_file():
        journal.write_bytes(path.read_bytes())
    return _summed(folder)


# The provenance in a result, as a report shows it.


_ITEMS = pl.DataFrame({"model": ["a", "a", "b"], "score": [0.0, 0.625, 1.0]})


@functools.cache
def _provenance():
    with tempfile.TemporaryDirectory() as folder:
        items, out = Path(folder, "items.parquet"), Path(folder, "out.parquet")
        _ITEMS.write_parquet(items)
        words = ["evaluate", str(items), "--by", "model", "--metric", "mean:score", "-o", str(out)]
        done = CliRunner().invoke(cli, [*words, "--hash-inputs", "-q"])
        assert done.exit_code == 0, done.output
        return pl.read_parquet(out), pl.read_parquet_metadata(out)[METADATA_KEY].encode()


def _read_provenance(path):
    result, page = path.with_suffix(".parquet"), path.with_suffix(".html")
    told = path.read_bytes().decode(errors="replace") if path.is_file() else ""
    table = _provenance()[0]
    table.write_parquet(result, metadata={METADATA_KEY: told, **UNSEALED})
    seal(result)
    with warnings.catch_warnings(action="ignore"):
        write_reports([str(result)], page, "Results")
    return "0.312" in page.read_text(encoding="utf-8")


READERS = {
    "results of lm_eval": Reader(
        f"results_{_DATE}.json", _results, _read_results, _true_results, is_needed=False, share=0.1
    ),
    "run of helm": Reader("run_spec.json", _spec, _read_spec, _true_spec, share=0.1),
    "requests of helm": Reader(
        "scenario_state.json", _requests, _read_requests, _true_requests, is_needed=False, share=0.1
    ),
    "aggregate of every_eval_ever": Reader(
        f"{_UUID}.json", _aggregate, _read_aggregate, _true_aggregate, is_needed=False, share=0.1
    ),
    "read_responses of a survey": Reader(
        "answers.jsonl", _answers, _read_answers, _true_answers, share=0.2
    ),
    "journal of a store": Reader(
        "journal.json",
        lambda: _store()[2],
        _read_journal,
        lambda data: _summed(_store()[0]),
        TEXT,
        is_needed=False,
        share=0.1,
    ),
    "provenance of a result": Reader(
        "provenance.json",
        lambda: _provenance()[1],
        _read_provenance,
        lambda data: True,
        is_needed=False,
        share=0.1,
    ),
}
