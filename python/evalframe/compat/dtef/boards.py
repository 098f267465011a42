"""Leaderboards and summaries of dtef-app 52d79c0, where they differ from `evalframe.survey`.

| | evalframe.survey | dtef |
|---|---|---|
| runs of a segment | all of one amount of context, pooled | the first of those with most context |
| rounds | separate segments | one of them is selected |
| categories | `segment_attribute`, or any prefix of the id | known prefixes of the id |
| segments without a category | an error if all lack one | are left out |
| tied models | share the better rank, sorted by name | have ranks by first appearance |
| tied segments | the first by name is best and worst | the first is best, the last is worst |
| consistency | of models with two segments, without baselines | of all models |

The functions rank the documented tables of the selected runs again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.dtef.gaps import (
    FIRST,
    ROW,
    Runs,
    best_and_worst,
    category,
    context_responsiveness,
    disparity,
    ordered_gaps,
    question_gaps,
    runs_of,
    slopes,
    stereotypes,
)
from evalframe.core.choices import Weighting
from evalframe.core.errors import ParameterError
from evalframe.core.files import replacing
from evalframe.core.frames import any_frame, like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.gaps import largest_gaps
from evalframe.survey.boards.leaderboard import (
    board,
    cluster_of,
    level_keys,
    required_columns,
    resampled_board,
    with_category,
)
from evalframe.survey.boards.rows import (
    CONTEXT,
    RunsOf,
    is_baseline,
    run_scores,
    scored_rows,
    share_read,
)
from evalframe.survey.boards.side_tables import breakdown, overview, ranked_by_deviation

if TYPE_CHECKING:
    from evalframe.compat.dtef.runs import RunResults
    from evalframe.resample.methods import Bootstrap
    from evalframe.survey.boards.scores import Level


@like_input
def segment_scores(scored: Frame, *, by: By = None, runs: RunsOf = "kept") -> pl.LazyFrame:
    """Segment scores in the order of first appearance, see `ef.survey.segment_scores`.

    With `runs="all"` there is a row per amount of context, round and `run_id`.
    """
    if runs not in ("kept", "all"):
        raise ParameterError(f"runs must be 'kept' or 'all', got {runs!r}")
    original = runs_of(scored_rows("segment_scores", scored, by, taken=("n_items",)))
    rows, table, ids = original.rows, original.segments, []
    if runs == "all":
        first = pl.col(ROW).filter(pl.col("score").is_not_null()).min()
        table = run_scores(rows, original.run, **{FIRST: first})
        table = table.with_columns(category())
        ids = [name for name in original.run if name != CONTEXT]
    optional = []
    if CONTEXT in original.run and "context_count" not in rows.keys.names:
        optional = [pl.col(CONTEXT).alias("context_count")]
    optional += [pl.col("sample_size")] if "sample_size" in rows.columns else []
    optional += [share_read()] if "status" in rows.columns else []
    columns = [*original.segment, *ids, "category", "score", "n_items"]
    return original.named(table.sort(FIRST).select(*columns, *optional))


@like_input
def leaderboard(
    scored: Frame,
    level: Level = "overall",
    *,
    by: By = None,
    weighting: Weighting = "segment",
    baselines: bool = True,
    attributes: Frame | None = None,
    resample: Bootstrap | None = None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """Leaderboard with a rank for each model, see `ef.survey.leaderboard`."""
    cluster = cluster_of(resample)
    needs = required_columns(level, weighting)
    runs = runs_of(
        scored_rows("leaderboard", scored, by, needs=needs, baselines=baselines, extra=cluster)
    )
    # Tables of segments need their scores only, others the items.
    if "question" in (level, weighting) or resample is not None:
        runs = replace(runs, rows=runs.selected())
    table = resampled_board(runs.rows, runs.segments, level, weighting, attributes, resample, fixed)
    return runs.named(_ranked(runs, table, level, weighting, attributes))


def _board(runs: Runs, level: Level, attributes: Frame | None = None) -> pl.LazyFrame:
    """A leaderboard with equal weights of segments."""
    if level == "question":
        items = runs.selected()
        runs = replace(runs, rows=replace(items, frame=items.frame.collect().lazy()))
    table = board(runs.rows, runs.segments, level, "segment", attributes)
    return _ranked(runs, table, level, attributes=attributes)


def _ranked(
    runs: Runs,
    table: pl.LazyFrame,
    level: Level,
    weighting: Weighting = "segment",
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """A documented leaderboard with the ranks and the best and worst segments of dtef-app."""
    group = [*runs.rows.keys.inner, *level_keys(runs.rows, level)]
    entry = [*group, "model"]
    segments = runs.segments
    if level == "category":
        segments = with_category(runs.rows, segments, attributes)
    if level == "question":
        seen = runs.rows.frame.group_by(entry).agg(pl.col(ROW).min().alias(FIRST))
        seen = runs.rows.decoded(seen)
    else:
        seen = segments.group_by(entry).agg(pl.col(FIRST).min())
    if level in ("overall", "category"):
        if weighting == "sample_size":
            segments = segments.drop_nulls("sample_size")
        ends = segments.group_by(entry).agg(best_and_worst(settled(pl.col("score"))))
        seen = seen.join(ends, on=entry, how="left", nulls_equal=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return (
        table.drop("best_segment", "worst_segment", strict=False)
        .join(seen, on=entry, how="left", nulls_equal=True)
        .sort(*group, -settled(pl.col("score")), FIRST, nulls_last=True)
        .with_columns(rank=place.over(group) if group else place)
        .select(table.collect_schema().names())
    )


@like_input
def consistency(
    scored: Frame, *, by: By = None, min_segments: int = 1, baselines: bool = True
) -> pl.LazyFrame:
    """Models by the deviation of their segment scores, see `ef.survey.consistency`.

    Models with a single segment come first, with 0, and baselines are among the others. Equal
    deviations are in the order of the overall leaderboard.
    """
    if min_segments < 1:
        raise ParameterError(f"min_segments must be 1 or more, got {min_segments!r}")
    runs = runs_of(scored_rows("consistency", scored, by))
    return runs.named(_by_deviation(runs, min_segments, baselines=baselines))


def _by_deviation(runs: Runs, min_segments: int = 1, *, baselines: bool = True) -> pl.LazyFrame:
    """The table of `consistency`."""
    table = ranked_by_deviation(runs.rows, runs.segments, min_segments, baselines=baselines)
    seen = runs.segments.group_by(runs.entry).agg(pl.col(FIRST).min())
    group = runs.rows.keys.inner
    place = pl.when(pl.col("rank").is_not_null()).then(pl.int_range(1, pl.len() + 1))
    return (
        table.join(seen, on=runs.entry, how="left", nulls_equal=True)
        .sort(*group, "rank", -settled(pl.col("score")), FIRST, nulls_last=True)
        .with_columns(rank=place.over(group) if group else place)
        .drop(FIRST)
    )


@like_input
def attribute_breakdown(scored: Frame, attributes: Frame, *, by: By = None) -> pl.LazyFrame:
    """Scores by the values of attributes, see `ef.survey.attribute_breakdown`."""
    taken = ("attribute", "value", "deviation")
    runs = runs_of(scored_rows("attribute_breakdown", scored, by, taken=taken))
    return runs.named(breakdown(runs.rows, runs.segments, attributes))


@like_input
def category_leaders(
    scored: Frame, *, by: By = None, attributes: Frame | None = None
) -> pl.LazyFrame:
    """The best model of each category, one of tied ones, see `ef.survey.category_leaders`."""
    runs = runs_of(scored_rows("category_leaders", scored, by))
    return runs.named(_leaders(runs, _board(runs, "category", attributes)))


def _leaders(runs: Runs, categories: pl.LazyFrame) -> pl.LazyFrame:
    """The first model of each category of a leaderboard."""
    columns = [*runs.rows.keys.inner, "category", "model", "score", "n_segments"]
    return categories.filter(pl.col("rank") == 1).select(columns)


@like_input
def segment_overview(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """Segments with their best model, the first of tied ones, see `ef.survey.segment_overview`."""
    taken = ("best_model", "best_score", "mean_score", "n_models")
    runs = runs_of(scored_rows("segment_overview", scored, by, taken=taken))
    return runs.named(_overview(runs))


def _overview(runs: Runs) -> pl.LazyFrame:
    """The table of `segment_overview`."""
    table = overview(runs.rows, runs.segments)
    on = [*runs.rows.keys.inner, "segment_id"]
    best = pl.col("model").sort_by(-settled(pl.col("score")), FIRST).first()
    models = runs.segments.group_by(on).agg(best_model=best)
    joined = table.drop("best_model").join(
        models, on=on, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.select(table.collect_schema().names())


@any_frame
def leaderboards(
    scored: Frame, *, by: By = None, baselines: bool = True, attributes: Frame | None = None
) -> dict[str, pl.DataFrame]:
    """All leaderboards of a table of scores, see `ef.survey.leaderboards`."""
    taken = ("gap", "slope", "improvement", "overall_gap", "best_score", "worst_score")
    rows = scored_rows("leaderboards", scored, by, taken=taken, baselines=baselines).encoded()
    runs = runs_of(rows)
    runs = replace(runs, segments=runs.segments.collect().lazy())
    gaps = ordered_gaps(runs, attributes)
    categories = _board(runs, "category", attributes)
    tables = {
        "overall": _board(runs, "overall"),
        "segment": _board(runs, "segment"),
        "category": categories,
        "consistency": _by_deviation(runs),
        "disparity": gaps,
        "model_disparity": largest_gaps(gaps, runs.rows.keys.inner),
        "category_leaders": _leaders(runs, categories),
        "segment_overview": _overview(runs),
    }
    if "question_id" in rows.columns:
        tables["question"] = _board(runs, "question")
        tables["question_disparity"] = question_gaps(runs)
    if "context_count" in rows.columns:
        tables["context_responsiveness"] = slopes(runs)
        tables["stereotype_score"] = stereotypes(runs)
    return {name: runs.named(table).collect() for name, table in tables.items()}


_LISTED = 10
_COUNTED = ("counted", "experiment", "no_segment")
_BASELINES = {
    "populationMarginal": "baseline:population-marginal",
    "uniform": "baseline:uniform",
    "randomDirichlet": "baseline:random-dirichlet",
    "shuffled": "baseline:shuffled-null",
}


def summary(results: RunResults) -> dict[str, Any]:
    """The summary that dtef-app would write about these runs, without its wall-clock times.

    Args:
        results: Result of `open_runs`.

    Returns:
        `surveyId` (of the first run, `unknown` without one), `resultCount` (including experiments
        and runs without a segment, which are not used otherwise), `baselines` if any, `topModels`
        (the first ten without baselines), `fairnessConcerns` (the first ten) and
        `contextResponsiveness` if there are several amounts of context, even if one has only
        errors. The `aggregation` that dtef-app repeats in it is left out; `leaderboards` has its
        tables.

    Examples:
        >>> import evalframe as ef
        >>> from evalframe.compat.dtef import open_runs
        >>> ef.compat.dtef.summary(open_runs({"config": {"tags": []}}))["surveyId"]
        'unknown'
    """
    items, runs = results.items, results.runs.filter(pl.col("use").is_in(_COUNTED))
    counted = runs.filter(pl.col("use") == "counted")
    overall = leaderboard(items)
    labels = dict(results.labels.iter_rows())
    of_survey = runs.filter(pl.col("use") != "experiment")
    result: dict[str, Any] = {
        "surveyId": of_survey["round"].first() or "unknown",
        "resultCount": len(runs),
    }
    scores = dict(overall.select("model", "score").iter_rows())
    baselines = {name: scores[model] for name, model in _BASELINES.items() if model in scores}
    if baselines:
        result["baselines"] = baselines
    top = overall.filter(~is_baseline()).head(_LISTED)
    result["topModels"] = top.select(
        modelId="model",
        modelName=display_name(),
        overallScore="score",
        segmentCount="n_segments",
    ).to_dicts()
    gaps = disparity(items).filter("concern").head(_LISTED)
    label = [pl.col(f"{end}_segment").replace(labels) for end in ("best", "worst")]
    result["fairnessConcerns"] = gaps.select(
        modelId="model",
        category="category",
        categoryLabel="category_label",
        bestSegment=label[0],
        worstSegment=label[1],
        gap="gap",
    ).to_dicts()
    # Runs without any answer have an amount of context, too.
    empty = counted.join(items, on="run_id", how="anti")
    rows = pl.concat([items, empty.select("segment_id", "context_count")], how="diagonal_relaxed")
    slopes = context_responsiveness(rows)
    levels = counted["context_count"].drop_nulls().unique().sort().to_list()
    if len(levels) > 1:
        models = slopes.select(modelId="model", displayName=display_name(), slope="slope")
        result["contextResponsiveness"] = {
            "models": models.to_dicts(),
            "contextLevelsFound": levels,
        }
    return result


def write_summary(results: RunResults, path: str | Path) -> None:
    """Write the `summary` of runs as JSON, in UTF-8.

    Args:
        results: Result of `open_runs`.
        path: The file, replaced if it exists.

    Raises:
        OutputError: The file cannot be written.

    Examples:
        >>> from pathlib import Path
        >>> from evalframe.compat.dtef import write_summary
        >>> import tempfile
        >>> from evalframe.compat.dtef import open_runs
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_summary(open_runs({"config": {"tags": []}}), f"{folder}/summary.json")
        ...     Path(folder, "summary.json").read_text().splitlines()[1]
        '  "surveyId": "unknown",'
    """
    text = json.dumps(summary(results), ensure_ascii=False, indent=2, allow_nan=False)
    with replacing(Path(path)) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def display_name() -> pl.Expr:
    """A model's id without its router."""
    return pl.col("model").str.strip_prefix("openrouter:")
