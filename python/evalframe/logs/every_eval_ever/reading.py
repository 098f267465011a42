"""Samples of Every Eval Ever: a line per sample and score, and the aggregate file beside them.

A log is a file `{uuid}_samples.jsonl`; `{uuid}.json` beside it says what its scores are of. A line
names its result by id, else by the name of the evaluation, if that is the name of one result only.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError
from evalframe.logs.checking import Check
from evalframe.logs.lines import NULL, Lines, Whole, as_text, count_of, inside, lines_of, number_of
from evalframe.logs.reading import Format, Log, Paths, read_logs
from evalframe.logs.table import DTYPES, METADATA, Wanted

ENDING = "_samples.jsonl"
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_ID = b'"evaluation_id"'
_DIGITS = 18
_UNKNOWN = -1.0
"""The score that means unknown where a result has a level for that."""

_LINE = {"run_id": pl.String, "task": pl.String, "result": pl.String, "score": pl.Float64}
_RESULT = {
    "place": pl.Int64,
    "scorer": pl.String,
    "score_name": pl.String,
    "dataset": pl.String,
    "unknown": pl.Boolean,
}
PARAMETERS = "metric_parameters"


class _Input(msgspec.Struct, gc=False):
    reference: list[str] | None = None
    choices: list[str] | None = None


class _Output(msgspec.Struct, gc=False):
    raw: list[str] | None = None


class _Evaluation(msgspec.Struct, gc=False):
    score: float | None = None


_TOKENS = ("input_tokens", "output_tokens", "total_tokens")


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None
    total_tokens: Whole | None = None


class _Performance(msgspec.Struct, gc=False):
    generation_time_ms: float | None = None

    @property
    def seconds(self) -> float | None:
        """The time of the generation."""
        return None if self.generation_time_ms is None else self.generation_time_ms / 1_000


class Published:
    """A file of samples and the aggregate file beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.uuid = path.name.removesuffix(ENDING)
        self.aggregate_file = path.with_name(f"{self.uuid}.json")

    @cached_property
    def aggregate(self) -> Mapping[str, Any]:
        """The aggregate, empty if there is none."""
        if not self.aggregate_file.is_file():
            return {}
        found = decoded(self.aggregate_file.read_bytes(), str(self.aggregate_file))
        if not isinstance(inside(found, "evaluation_results"), list):
            raise InputError(
                f"{self.aggregate_file}: no evaluation_results; is it an aggregate file of Every"
                " Eval Ever?"
            )
        return dict(found)

    @property
    def results(self) -> list[Any]:
        """The published results."""
        return [*self.aggregate.get("evaluation_results", ())]

    def count_faults(self, n_lines: int, counts: Counter[str]) -> None:
        """Compare the samples with what the aggregate says of them."""
        details = self.aggregate.get("detailed_evaluation_results")
        n_rows, checksum = count_of(inside(details, "total_rows")), inside(details, "checksum")
        algorithm = inside(details, "hash_algorithm") or "sha256"
        counts["missing"] += max(0, n_rows - n_lines)
        if isinstance(checksum, str) and algorithm in ("sha256", "md5"):
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, algorithm).hexdigest()
            counts["changed"] += found != checksum.lower()


def _metric_of(result: Any) -> str | None:
    """The metric that a result is of."""
    config = inside(result, "metric_config")
    names = ("metric_id", "metric_name", "evaluation_description")
    return next((as_text(inside(config, name)) for name in names if inside(config, name)), None)


def read_every_eval_ever(
    paths: Paths,
    *,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
    strict: bool = False,
) -> pl.LazyFrame:
    """Read samples of Every Eval Ever 0.3 lazily as one items table.

    A row is a line: a sample with one score. `task` is the name of the evaluation, `scorer` the
    metric of the published result that the line belongs to; null if it may belong to several.
    The converters of Every Eval Ever keep one score of a sample and give samples without a score a
    number, so these rows need not equal those of the original logs.

    Args:
        paths: Files of samples, folders, globs, or a list of these; aggregate files lie beside.
        extra: Columns on request; this format has none of them.
        metadata: Entries of the metadata of samples that become columns `metadata_NAME`.
        strict: A file in a folder that cannot be read is an error, not left out with a warning.

    Returns:
        A frame with the columns of `ef.read_logs`. `ef.log_report` counts lines that are
        missing and files whose checksum is another than the published one.

    Raises:
        InputError: There are no samples, or a named file is damaged (with the line).
        UnknownNameError: An extra column has another name.

    Examples:
        >>> import evalframe as ef, json, tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = Path(folder.name) / "0b4c6b1e-1111-4111-8111-111111111111_samples.jsonl"
        >>> line = {"evaluation_id": "sums/m/1", "evaluation_name": "sums", "sample_id": "1"}
        >>> _ = file.write_text(json.dumps({**line, "evaluation": {"score": 1.0}}))
        >>> items = ef.read_every_eval_ever(file).select("task", "scorer", "sample_id", "score")
        >>> items.collect().rows()
        [('sums', None, '1', 1.0)]
        >>> folder.cleanup()
    """
    return read_logs(paths, kind="every_eval_ever", extra=extra, metadata=metadata, strict=strict)


def _recognise(path: Path, head: bytes) -> bool:
    return path.name.endswith(".jsonl") and bool(_BEGIN.match(head)) and _ID in head


def _constants(log: Log) -> dict[str, str | None]:
    facts = {"log": log.name, "format": log.format, "log_id": Published(log.path).uuid}
    return {**facts, "task_version": None, "model_args": None}


def _read(log: Log, wanted: Wanted, counts: Counter[str]) -> Iterable[pl.DataFrame]:
    """All lines of a file; of a file that breaks off, none."""
    published = Published(log.path)
    run = published.aggregate.get("evaluation_id")
    frame = pl.concat(
        [pl.DataFrame(schema=_LINE), *(_part(lines, wanted) for lines in lines_of(log.path))],
        how="diagonal",
    )
    published.count_faults(len(frame), counts)
    if run is not None:
        counts["foreign"] += int((frame["run_id"] != str(run)).sum())
    yield _with_results(frame, published.results).with_columns(
        pl.lit(value, pl.String).alias(name) for name, value in _constants(log).items()
    )


def _part(lines: Lines, wanted: Wanted) -> pl.DataFrame:
    """What the lines say themselves."""
    evaluations = lines.values("evaluation", _Evaluation | None)
    metadata = [each or {} for each in lines.values("metadata", dict[str, Raw] | None)]
    columns: dict[str, Any] = {
        "run_id": lines.values("evaluation_id", str),
        "task": lines.values("evaluation_name", str),
        "result": lines.values("evaluation_result_id", str | None),
        "model": lines.values("model_id", str | None),
        "sample_id": [as_text(each) for each in lines.values("sample_id", str | int)],
        "epoch": [_epoch(each.get("epoch", NULL)) for each in metadata],
        "score": [each and each.score for each in evaluations],
    }
    if wanted.any("answer"):
        outputs = lines.values("output", _Output | None)
        columns["answer"] = [each.raw[0] if each and each.raw else None for each in outputs]
    if wanted.any("target", "n_choices"):
        inputs = [each or _Input() for each in lines.values("input", _Input | None)]
        columns["target"] = [as_text(each.reference or None) for each in inputs]
        columns["n_choices"] = [len(each.choices) if each.choices else None for each in inputs]
    if wanted.any("error", "is_error"):
        columns["error"] = lines.values("error", str | None)
        columns["is_error"] = [each is not None for each in columns["error"]]
    if wanted.any(*_TOKENS):
        tokens = [each or _Tokens() for each in lines.values("token_usage", _Tokens | None)]
        columns |= {name: [getattr(each, name) for each in tokens] for name in _TOKENS}
    if wanted.any("total_time", "working_time"):
        times = lines.values("performance", _Performance | None)
        seconds = [each and each.seconds for each in times]
        columns |= {"total_time": seconds, "working_time": seconds}
    for name in wanted.metadata:
        columns[METADATA + name] = [str(each.get(name, NULL), "utf-8") for each in metadata]
    dtypes = {name: DTYPES.get(name, pl.String()) for name in columns}
    return pl.DataFrame(columns, schema=dtypes)


def _epoch(raw: Raw) -> int:
    """The epoch in the metadata of a line, a text; 1 if there is none."""
    text = bytes(raw).strip(b'"')
    return int(text) if text.isdigit() and len(text) < _DIGITS else 1


def _with_results(frame: pl.DataFrame, results: Sequence[Any]) -> pl.DataFrame:
    """Lines with what the published result says that they belong to."""
    ids = {as_text(inside(each, "evaluation_result_id")): n for n, each in enumerate(results)}
    named = Counter(as_text(inside(each, "evaluation_name")) for each in results)
    names = {as_text(inside(each, "evaluation_name")): n for n, each in enumerate(results)}
    datasets = {as_text(inside(each, "source_data", "dataset_name")) for each in results}
    dataset = datasets.pop() if len(datasets) == 1 else None
    pairs = frame.select("result", "task").unique()
    alone = {name: place for name, place in names.items() if named[name] == 1}
    ids.pop(None, None)
    places = [ids.get(result, alone.get(task)) for result, task in pairs.rows()]
    found = [None if place is None else results[place] for place in places]
    columns = {
        "place": places,
        "scorer": [_metric_of(each) for each in found],
        "score_name": [
            as_text(inside(each, "metric_config", PARAMETERS, "score_name")) for each in found
        ],
        "dataset": [
            as_text(inside(each, "source_data", "dataset_name") or dataset) for each in found
        ],
        "unknown": [inside(each, "metric_config", "has_unknown_level") is True for each in found],
    }
    known = pairs.hstack(pl.DataFrame(columns, schema=_RESULT))
    joined = frame.join(
        known, on=["result", "task"], how="left", nulls_equal=True, maintain_order="left"
    )
    is_unknown = pl.col("unknown") & (pl.col("score") == _UNKNOWN)
    return joined.with_columns(score=pl.when(~is_unknown).then("score"))


def _check(log: Log) -> Iterator[Check]:
    """The mean over samples that belong to one published result, each the mean of its epochs."""
    published = Published(log.path)
    (frame,) = _read(log, Wanted(frozenset({"score"})), Counter())
    samples = frame.group_by("place", "sample_id").agg(pl.col("score").mean())
    means = samples.group_by("place").agg(pl.col("score").mean())
    known = dict(means.drop_nulls().rows())
    for place, each in enumerate(published.results):
        score = number_of(inside(each, "score_details", "score"))
        if score is not None:
            note = None if place in known else "no sample names this result alone"
            task = as_text(inside(each, "evaluation_name"))
            yield Check(task, _metric_of(each), None, "mean", None, score, known.get(place), note)


FORMAT = Format(_recognise, _constants, _read, _check)
