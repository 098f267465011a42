"""Run results of dtef-app as tidy tables."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.dtef.documents import (
    LARGEST,
    Document,
    at,
    context_count,
    is_number,
    results,
    text_at,
    whole_number,
)
from evalframe.core.choices import Versions, check_choice
from evalframe.core.documents import Read
from evalframe.core.errors import InputError
from evalframe.survey.surveys.assembling import ATTRIBUTES
from evalframe.survey.surveys.segments import canonical_id, canonical_value, category

if TYPE_CHECKING:
    from evalframe.compat.dtef.documents import Sources


RUNS = {
    "run_id": pl.Int64(),
    **dict.fromkeys(("file", "config_id", "run_label", "timestamp", "round"), pl.String()),
    **dict.fromkeys(("segment_id", "segment_id_given", "segment_label"), pl.String()),
    "context_count": pl.Int64(),
    **dict.fromkeys(("eval_type", "context_format", "reasoning_mode"), pl.String()),
    "batch_size": pl.Int64(),
    "experiment_id": pl.String(),
    "tags": pl.List(pl.String()),
    "use": pl.String(),
}
"""Columns of the table of runs."""

_CELLS = {
    "run_id": pl.Int64(),
    "prompt_id": pl.String(),
    "model": pl.String(),
    "score": pl.Float64(),
    "n_points": pl.Int64(),
    "error": pl.String(),
    "response": pl.String(),
}
_TAG = "experiment:"
_OF_RUN = (
    "run_id",
    "config_id",
    "run_label",
    "timestamp",
    "round",
    "segment_id",
    "segment_attribute",
    "context_count",
    "eval_type",
    "context_format",
    "reasoning_mode",
    "batch_size",
    "experiment_id",
)


@dataclass(frozen=True, slots=True, eq=False)
class RunResults:
    """Run results as tables.

    Attributes:
        runs: One row per file, see `RUNS`. `use` is `counted`, `not_dtef`, `no_segment`,
            `experiment` or `superseded`.
        items: One row per prompt and model of the counted runs, see `read_runs`.
        labels: `segment_id` and the first `segment_label`.
        attributes: One row per attribute of a segment: `round`, `segment_id`, `attribute`, `value`.

    Examples:
        >>> import evalframe as ef
        >>> ef.compat.dtef.open_runs({"config": {"tags": ["other"]}}).labels.columns
        ['segment_id', 'segment_label']
    """

    runs: pl.DataFrame
    items: pl.DataFrame
    labels: pl.DataFrame
    attributes: pl.DataFrame


def read_runs(
    path: Sources,
    *,
    versions: Versions = "all",
    experiments: bool = False,
    former_names: bool = True,
) -> pl.DataFrame:
    """The item scores of run results: `open_runs(...).items`.

    Args:
        path: Files, globs, folders of `.json` files, or decoded documents.
        versions: `latest` for the last run of each config by its timestamp, as for the summaries
            of dtef-app; `all` for all of them.
        experiments: Include runs of experiments.
        former_names: Recognise the question of a prompt also by the name that a renamed segment
            had. dtef-app does not, so its `question_id` is null for renamed segments.

    Returns:
        One row per run, prompt and model: `run_id` (Int64, the index of the file), `config_id`,
        `run_label`, `timestamp`, `round` (the survey), `segment_id` (with its present name:
        `country:t-rkiye` is `country:turkey`), `segment_attribute`, `context_count` (Int64, null if
        unknown), `eval_type`, `context_format`, `reasoning_mode`, `batch_size`, `experiment_id`,
        `prompt_id`, `question_id` (null for a prompt about several questions), `model` (its
        effective id), `score` (Float64, null for an error), `n_points`, `failed` (Boolean: no
        score), `error` and `response`. The files do not contain how a response was read; `parse`
        does that.

    Raises:
        InputError: No files, damaged JSON, an object that repeats a key, a text with half of a
            character, or a value of the wrong kind; the message names the file and the place.

    Examples:
        >>> import evalframe as ef
        >>> context = {"dtef": {"surveyId": "gd1", "segmentId": "gender:male"}}
        >>> cells = {"q1-gender:male": {"m": {"avgCoverageExtent": 0.75}, "n": {"error": "late"}}}
        >>> results = {"evaluationResults": {"llmCoverageScores": cells}}
        >>> items = ef.compat.dtef.read_runs({"config": {"context": context}, **results})
        >>> items.select("round", "question_id", "model", "score", "failed").rows()
        [('gd1', 'q1', 'm', 0.75, False), ('gd1', 'q1', 'n', None, True)]
    """
    return open_runs(
        path, versions=versions, experiments=experiments, former_names=former_names
    ).items


def open_runs(
    path: Sources,
    *,
    versions: Versions = "all",
    experiments: bool = False,
    former_names: bool = True,
) -> RunResults:
    """Run results with all tables, and why a run is not counted; arguments as for `read_runs`.

    Args:
        path: Files, globs, folders of `.json` files, or decoded documents.
        versions: All runs, or the `latest` of each config.
        experiments: Include runs of experiments.
        former_names: Recognise questions also by former names of segments.

    Returns:
        `runs` (why each is used or not), `items` (as of `read_runs`), `labels` and `attributes` of
        segments.

    Examples:
        >>> import evalframe as ef
        >>> ef.compat.dtef.open_runs({"config": {"tags": ["other"]}}).runs["use"].to_list()
        ['not_dtef']
    """
    check_choice("versions", versions, Versions)
    heads: list[dict[str, Any]] = []
    cells: list[tuple[Any, ...]] = []
    attributes: list[tuple[str | None, str, str, str]] = []
    for number, result in enumerate(results(path)):
        head = _head(result, number, experiments=experiments)
        heads.append(head)
        if head["use"] == "counted":
            cells += _cells(result, number)
            attributes_of = _attributes(result)
            attributes += [
                (head["round"], head["segment_id"], *pair) for pair in attributes_of.items()
            ]
    runs = pl.DataFrame(heads, schema=RUNS)
    if versions == "latest":
        runs = _latest(runs)
    runs = runs.with_columns(canonical_id("segment_id"), canonical_value("segment_label"))
    counted = runs.filter(pl.col("use") == "counted")
    table = pl.DataFrame(attributes, schema=ATTRIBUTES, orient="row")
    return RunResults(
        runs=runs,
        items=_items(
            pl.DataFrame(cells, schema=_CELLS, orient="row"), counted, former_names=former_names
        ),
        labels=counted.select("segment_id", "segment_label").unique(
            "segment_id", keep="first", maintain_order=True
        ),
        attributes=table.with_columns(canonical_id("segment_id"), canonical_value("value")).unique(
            maintain_order=True
        ),
    )


def _head(result: Document, number: int, *, experiments: bool) -> dict[str, Any]:
    """The columns of `runs` for a result."""
    context = at(result, "config", "context", "dtef")
    metadata = at(result, "dtefMetadata")
    tags = at(result, "config", "tags", kind=Sequence, name="a list") or []
    about = context or metadata or {}
    segments, labels = (
        at(result, "dtefMetadata", name, kind=Sequence, name="a list") or []
        for name in ("segmentIds", "segmentLabels")
    )
    if context is None and segments:
        about = {**about, "segmentId": segments[0], "segmentLabel": labels[0] if labels else None}
    tagged = [tag for tag in tags if isinstance(tag, str)]
    stated = [(about or {}).get("experimentId") for about in (context, metadata)]
    from_tags = [tag.removeprefix(_TAG) for tag in tagged if tag.startswith(_TAG)]
    experiment = next((name for name in (*stated, *from_tags) if name or name in from_tags), None)
    segment = about.get("segmentId")
    if "dtef" not in tagged and context is None and metadata is None:
        use = "not_dtef"
    elif experiment is not None and not experiments:
        use = "experiment"
    elif segment is None:
        use = "no_segment"
    else:
        use = "counted"
    head = {
        "run_id": number,
        "file": result.name,
        "config_id": text_at(result, "configId") or text_at(result, "config", "configId"),
        "run_label": text_at(result, "runLabel"),
        "timestamp": text_at(result, "timestamp"),
        "round": about.get("surveyId"),
        "segment_id": segment,
        "segment_id_given": segment,
        "segment_label": about.get("segmentLabel") or segment,
        "context_count": context_count(result),
        "eval_type": about.get("evalType"),
        "context_format": about.get("contextFormat"),
        "reasoning_mode": about.get("reasoningMode"),
        "batch_size": whole_number(result, about.get("batchSize"), "batchSize"),
        "experiment_id": experiment,
        "tags": tagged,
        "use": use,
    }
    for name, value in head.items():
        if RUNS[name] == pl.String and not isinstance(value, str | None):
            raise InputError(f"{result.name}: {name} must be text, but is {value!r}")
    return head


def _attributes(result: Document) -> Mapping[str, str]:
    about = at(result, "config", "context", "dtef") or at(result, "dtefMetadata") or {}
    attributes = about.get("segmentAttributes") or {}
    if not isinstance(attributes, Mapping):
        raise InputError(
            f"{result.name}: segmentAttributes must be an object, but is {attributes!r}"
        )
    return {str(name): str(value) for name, value in attributes.items()}


def _cells(result: Document, number: int) -> list[tuple[Any, ...]]:
    """Run, prompt, model, score, points, error and response of each cell."""
    path = ("evaluationResults", "llmCoverageScores")
    scores = at(result, *path) or {}
    key = "allFinalAssistantResponses"
    responses = at(result, key) or {}
    rows = []
    for prompt, models in scores.items():
        if models is None:
            continue
        where = f"{result.name}: {'.'.join(path)}[{prompt!r}]"
        if not isinstance(models, Mapping):
            raise InputError(f"{where} must be an object of models, but is {models!r}")
        replies = responses.get(prompt) or {}
        if not isinstance(replies, Mapping):
            raise InputError(
                f"{result.name}: {key}[{prompt!r}] must be an object of models, but is {replies!r}"
            )
        for model, cell in models.items():
            if cell is not None and not isinstance(cell, Mapping):
                raise InputError(f"{where}[{model!r}] must be an object, but is {cell!r}")
            content = cell or {"error": "no result"}
            score, error = _score(content, f"{where}[{model!r}]")
            text = replies.get(model)
            if not isinstance(text, str | None):
                raise InputError(
                    f"{result.name}: {key}[{prompt!r}][{model!r}] must be text, but is {text!r}"
                )
            points = f"{'.'.join(path)}[{prompt!r}][{model!r}].keyPointsCount"
            rows.append(
                (
                    number,
                    prompt,
                    model,
                    score,
                    whole_number(result, content.get("keyPointsCount"), points),
                    error,
                    text,
                )
            )
    return rows


def _score(cell: Mapping[str, Any], where: str) -> tuple[float | None, str | None]:
    """The score of a cell and its error; a cell without a finite score has an error."""
    score, error = cell.get("avgCoverageExtent"), cell.get("error")
    message = None if error is None else str(error)
    if score is None:
        return None, message or "no score"
    if not is_number(score) or (isinstance(score, int) and abs(score) > LARGEST):
        raise InputError(
            f"{where}.avgCoverageExtent must be a number, but is {reprlib.repr(score)}"
        )
    if not math.isfinite(score):
        return None, message or f"the score is {score}"
    return float(score), message


def _latest(runs: pl.DataFrame) -> pl.DataFrame:
    """Mark the runs that a later one of the same config replaces."""
    counted = pl.col("use") == "counted"
    order = pl.struct(pl.col("timestamp").fill_null(""), "run_id")
    config = pl.coalesce("config_id", pl.col("run_id").cast(pl.String))
    last = order.rank("ordinal", descending=True).over(config, counted) == 1
    use = pl.when(counted & ~last).then(pl.lit("superseded")).otherwise("use")
    return runs.with_columns(use=use)


def _items(cells: pl.DataFrame, runs: pl.DataFrame, *, former_names: bool) -> pl.DataFrame:
    """One row per cell of the runs, with the columns of its run."""
    with_category = runs.with_columns(category("segment_id"))
    joined = cells.join(
        with_category.select(*_OF_RUN, "segment_id_given"), on="run_id", maintain_order="left"
    )
    prompt = pl.col("prompt_id")
    # Prompts carry the name that the segment had when they were made.
    ends = [pl.concat_str(pl.lit("-"), "segment_id")]
    if former_names:
        ends.insert(0, pl.concat_str(pl.lit("-"), "segment_id_given"))
    question = pl.coalesce(
        pl.when(prompt.str.ends_with(end) & (prompt.str.len_chars() > end.str.len_chars())).then(
            prompt.str.head(prompt.str.len_chars() - end.str.len_chars())
        )
        for end in ends
    )
    question_id = pl.when(~prompt.str.starts_with("batch-")).then(question).alias("question_id")
    failed = pl.col("score").is_null().alias("failed")
    columns = [*_OF_RUN, "prompt_id", "question_id", "model", "score", "n_points", "failed"]
    return joined.with_columns(question_id, failed).select(*columns, "error", "response")


def open_results(
    paths: Sequence[Path],
    *,
    versions: Versions = "all",
    experiments: bool = False,
    rules: str = "documented",
) -> Read:
    """Read run results; beside the scores are the `results` and the `attributes` of segments."""
    results = open_runs(
        [*paths],
        versions=versions,
        experiments=experiments,
        former_names=rules == "documented",
    )
    counts = results.items.group_by("run_id").len()
    rows = results.runs.join(counts, on="run_id", how="left", maintain_order="left")
    unused = results.runs.filter(pl.col("use") != "counted")
    kinds = unused.group_by("use").len().sort("use").rows()
    dropped = {use.replace("_", " "): count for use, count in kinds}
    items = results.items
    # Old results name no survey, and then their rounds are not told apart.
    items = items.drop("round") if items["round"].null_count() == len(items) else items
    files = rows.select("file", pl.col("len").fill_null(0)).rows()
    beside = {"results": results, "attributes": results.attributes}
    return Read(items.lazy(), files, dropped, beside)
