"""Logs to items, against the standard library's JSON and against Inspect itself."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import evalframe as ef
from benchmarks.measure import Figure, against, peak_mebibytes

_MOST = 200.0


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds, samples, logs = (1, 200, 3) if small else (5, 20_000, 100)
    with tempfile.TemporaryDirectory() as place:
        folder, one = Path(place, "logs"), Path(place, "one.eval")
        log = ef.logs.sample_log(samples=samples, epochs=1)
        one.write_bytes(deflated(log))
        document = Path(place, "one.json")
        document.write_bytes(_as_json(log))
        folder.mkdir()
        part = deflated(ef.logs.sample_log(samples=samples // 10, epochs=1))
        for number in range(logs):
            (folder / f"{number}.eval").write_bytes(part)

        def reads(path: Path, **options: Any) -> Callable[[], Any]:
            return lambda: ef.read_inspect(path, **options).collect()

        def within(times: float, name: str, ours: Any, called: str, limit: Any) -> Figure:
            name = f"{name} of {samples:,} samples"
            return against(name, ours, limit, called=called, within=times, rounds=rounds)

        confident = reads(one, extra=["confidence"])
        figures = [
            within(1, ".eval", reads(one), "unzip, json.loads", lambda: _summaries(one)),
            within(1, "with confidence, .eval", confident, "all members", lambda: _members(one)),
            within(
                1, ".json", reads(document), "json.loads", lambda: json.loads(document.read_bytes())
            ),
            against(
                f"{logs} .eval of {samples // 10:,} samples",
                reads(folder),
                at_most=10.0,
                rounds=rounds,
            ),
            _peak(one, samples, small=small),
            *_samples(Path(place), 10 * samples, rounds, small=small),
        ]
        if find_spec("inspect_ai") is not None:
            from inspect_ai.analysis import samples_df  # type: ignore[import-not-found]

            theirs = partial(samples_df, str(one))
            figures.append(within(0.05, ".eval", reads(one), "Inspect's samples_df", theirs))
    return figures


def _peak(
    path: Path, samples: int, *, small: bool, reader: str = "read_inspect", most: float = _MOST
) -> Figure:
    """The peak memory of a process that reads a log."""
    code = f"import evalframe as ef; table = ef.{reader}({str(path)!r}).collect()"
    peak, name = peak_mebibytes(code), f"{path.suffix} of {samples:,} samples, whole process"
    if small:
        return Figure(name, mebibytes=peak)
    return Figure(name, mebibytes=peak, target=f"{most:g} MiB", holds=peak <= most)


def _samples(folder: Path, lines: int, rounds: int, *, small: bool) -> list[Figure]:
    """Multiple choices of lm-evaluation-harness, a kilobyte and four choices in each line."""
    path = folder / "samples_choices_2026-01-21T03-44-18.jsonl"
    arguments = {
        f"gen_args_{n}": {"arg_0": "Which? " * 30, "arg_1": f" choice {n}"} for n in range(4)
    }
    with path.open("w") as file:
        for number in range(lines):
            likelihoods = [[str(-1 - (number * n) % 7 / 3), "False"] for n in range(4)]
            responses = {"resps": [[each] for each in likelihoods], "filtered_resps": likelihoods}
            scores = {"metrics": ["acc", "acc_norm"], "acc": number % 2, "acc_norm": 1.0}
            named = {"doc_id": number, "target": "1", "arguments": arguments, "filter": "none"}
            print(json.dumps({**named, **responses, **scores}), file=file)
    items = partial(ef.read_lm_eval, path)
    asked: dict[str, Callable[[], Any]] = {
        "scores": lambda: items().select("scorer", "sample_id", "score").collect(),
        "all columns": lambda: items(extra=["confidence"]).collect(),
    }
    called = "json.loads of each line"
    figures = [
        against(
            f"{what} of {lines:,} lines of lm-eval",
            ours,
            lambda: [None for line in path.open("rb") if not json.loads(line)],
            called=called,
            within=times,
            rounds=rounds,
        )
        for (what, ours), times in zip(asked.items(), (1.3, 2.5), strict=True)
    ]
    return [*figures, _peak(path, lines, small=small, reader="read_lm_eval", most=500.0)]


def _summaries(path: Path) -> Any:
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read("summaries.json"))


def _members(path: Path) -> Any:
    with zipfile.ZipFile(path) as file:
        return sum(len(json.loads(file.read(name))) for name in file.namelist())


def deflated(log: bytes) -> bytes:
    """A log of the generator, compressed as Inspect does."""
    new = io.BytesIO()
    packed = zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(io.BytesIO(log)) as old, packed as file:
        for name in old.namelist():
            file.writestr(name, old.read(name))
    return new.getvalue()


def _as_json(log: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(log)) as file:
        names = [name for name in file.namelist() if name.startswith("samples/")]
        samples = [json.loads(file.read(name)) for name in names]
        header = json.loads(file.read("header.json"))
    return json.dumps({**header, "samples": samples}, indent=2).encode()
