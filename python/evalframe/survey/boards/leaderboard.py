"""Leaderboards: models by mean score, overall, by segment, by category and by question."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.choices import Weighting, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.special import ranks, settled
from evalframe.core.tables import lazy
from evalframe.core.typing import By, Frame
from evalframe.resample.independence import named_cluster
from evalframe.survey.boards.rows import (
    CLUSTER,
    MASS,
    N_ATTEMPTED,
    N_OK,
    SIZE,
    Rows,
    category_source,
    check_categories,
    deviation,
    scored_rows,
    segments_of,
    share_read,
)
from evalframe.survey.boards.scores import Level, units_of

if TYPE_CHECKING:
    from evalframe.core.choices import Context
    from evalframe.resample.methods import Bootstrap


SPREAD = ("std_error", "lower", "upper", "n_clusters", "drop_rate")
"""Columns of the uncertainty of a score."""

_RANKS = (
    "rank_lower",
    "rank_upper",
    "rank_set_lower",
    "rank_set_upper",
    "tied_with_best",
    "margin_to_best",
)
_ENDS = ("best_round", "best_segment", "best_score", "worst_round", "worst_segment", "worst_score")


@like_input
def leaderboard(
    scored: Frame,
    level: Level = "overall",
    *,
    by: By = None,
    weighting: Weighting = "segment",
    context: Context = "highest",
    baselines: bool = True,
    attributes: Frame | None = None,
    resample: Bootstrap | None = None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """Models by mean score, in two stages: items to segments, segments to models.

    If segments were asked with several amounts of context, one is selected, by default the highest,
    see `at_context`. A segment of several rounds is in the mean once for each round. Tied models
    share the better rank.

    Args:
        scored: As for `segment_scores`; with `question_id` if questions are used. Prompts about
            several questions (a null one) are in no table of questions.
        level: `overall`, or a leaderboard for each `segment`, `category` or `question`.
        by: Group keys; each group has its leaderboards.
        weighting: Units of equal weight overall and in a category: each `segment` (where countries
            dominate), each `question` (items to questions to models), or each respondent
            (`sample_size`: segments are weighted by it; those without a size above 0 are left out).
            Items of a segment, and segments of a question, always have equal weights.
        context: As for `at_context`; `all` pools. For a leaderboard per amount group
            `by="context_count"`.
        baselines: False to leave out pseudo-models such as `baseline:uniform`.
        attributes: A row per attribute of a segment (`segment_id`, `attribute`, optionally
            `round`), for categories of segments with several attributes; by default the category is
            `segment_attribute`, or the text before the first `:` of the id.
        resample: `ef.Bootstrap(cluster=...)`, over segments with `cluster="segment_id"`, questions
            with `cluster="question_id"`, or anything else. All models of a leaderboard have the
            same draws. If each unit of equal weight lies in one cluster, a unit that is drawn twice
            has twice the weight; if clusters cut through all units, their means are resampled.
            If clusters cut through some units only, an error is raised unless `fixed` is True.
        fixed: True if the units are all there are, so that draws change the items within them only.

    Returns:
        by..., then `category`, `segment_id` or `question_id` (with `round`), `rank` (Int64),
        `model`, `score` (Float64, null if no item has one), `weighting` (String), `n_segments` and
        `n_items` (Int64, with a score), `sd_segments` (population standard deviation of segment
        scores), `best_score`, `worst_score`, their difference `gap`, and overall and in categories
        `best_segment` and `worst_segment` with their rounds. Leaderboards of segments lack these;
        in those of questions repeated items of a segment are averaged first. With a status there is
        `parse_rate`; with amounts of context `context_count` (Int64, the included one; null for
        several) and `n_other_context` (Int64, rows of others).

        With `resample`: `std_error`, `lower`, `upper`, `n_clusters` (those with items of the model)
        and `drop_rate` of the score, `rank_lower` and `rank_upper` (the central ranks of the
        replicates), `rank_set_lower` and `rank_set_upper` (the ranks that remain after a
        simultaneous comparison of all pairs of models), `tied_with_best` (no model is
        significantly better), and `margin_to_best` (a difference from the best beyond it would be
        certain in that comparison; null for the best). A model with one cluster has no error and no
        limits, and any rank.

        Sorted by groups and rank. Lazy if the table is; the bootstrap is computed at once.

    Raises:
        ParameterError: An argument lies outside its domain, or no segment has a category.

    References:
        dtef-app 52d79c0, demographic aggregation; rank sets: Mogstad, Romano, Shaikh and Wilhelm
        (2024), Inference for ranks.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> segments = ["gender:male"] * 2 + ["gender:female", "gender:male"]
        >>> scores = {"model": ["a", "a", "a", "b"], "score": [0.6, 0.8, 0.9, 0.75]}
        >>> scored = pl.DataFrame({"segment_id": segments, **scores})
        >>> ef.survey.leaderboard(scored).select("rank", "model", "score", "n_segments").rows()
        [(1, 'a', 0.8, 2), (2, 'b', 0.75, 1)]
    """
    check_choice("level", level, Level)
    check_choice("weighting", weighting, Weighting)
    rows = scored_rows(
        "leaderboard",
        scored,
        by,
        needs=required_columns(level, weighting),
        taken=(*SPREAD, *_RANKS, *_ENDS),
        baselines=baselines,
        extra=cluster_of(resample),
    ).at(context)
    if level == "question" or weighting == "question":
        rows = rows.checked(scored)
    table = resampled_board(rows, segments_of(rows), level, weighting, attributes, resample, fixed)
    return table.rename(rows.keys.restore())


def resampled_board(
    rows: Rows,
    segments: pl.LazyFrame,
    level: Level,
    weighting: Weighting,
    attributes: Frame | None,
    resample: Bootstrap | None,
    fixed: bool = False,
) -> pl.LazyFrame:
    """The leaderboard, with intervals if it is resampled, under internal names of the keys."""
    table = board(rows, segments, level, weighting, attributes)
    if resample is None:
        return table
    from evalframe.survey.boards.replicates import Units, with_spread

    detail = details(rows, segments, level, weighting, attributes)
    group = [*rows.keys.inner, *level_keys(rows, level)]
    last, _ = units_of(level, weighting, rows.rounds)
    return with_spread(resample, table.collect(), Units(detail, group, last, fixed)).lazy()


def required_columns(level: Level, weighting: Weighting) -> list[str]:
    """Columns that a leaderboard needs besides model, segment and score."""
    if level == "segment":
        return []
    by_question = level == "question" or weighting == "question"
    return ["question_id"] * by_question + ["sample_size"] * (weighting == "sample_size")


def level_keys(rows: Rows, level: Level) -> list[str]:
    """Columns that identify a leaderboard of the level."""
    return {
        "overall": [],
        "segment": rows.segment,
        "category": ["category"],
        "question": rows.question,
    }[level]


def board(
    rows: Rows,
    segments: pl.LazyFrame,
    level: Level,
    weighting: Weighting,
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The leaderboard without uncertainty, under internal names of the keys."""
    group = [*rows.keys.inner, *level_keys(rows, level)]
    entry = [*group, "model"]
    if level == "question":
        units = _by_question(rows, weighting)
    else:
        units = segments if level != "category" else with_category(rows, segments, attributes)
        size = pl.col("sample_size") if is_sized(level, weighting) else pl.lit(1.0)
        units = units.with_columns(size.alias(SIZE))
    if level == "segment":
        table = units
    else:
        ends = _ends(rows) if level != "question" else {}
        table = rows.decoded(units.group_by(entry).agg(**_summary(rows), **ends))
    if level != "question" and weighting == "question" and level != "segment":
        items = details(rows, segments, level, weighting, attributes)
        score = (pl.col("score") * pl.col(MASS)).sum() / pl.col(MASS).sum()
        questions = items.group_by([*entry, *rows.question]).agg(score=score)
        means = questions.group_by(entry).agg(pl.col("score").mean())
        table = table.drop("score").join(means, on=entry, how="left", nulls_equal=True)
    columns = ["rank", "model", "score", "weighting"]
    columns += ["n_segments"] * (level != "segment") + ["n_items"]
    if level != "segment":
        columns += ["sd_segments", *(name for name in _ENDS if _is_shown(rows, level, name)), "gap"]
        table = table.with_columns(gap=pl.col("best_score") - pl.col("worst_score"))
    rate = [share_read()] if "status" in rows.columns else []
    complete = table.with_columns(*rate, weighting=pl.lit(weighting))
    columns += ["parse_rate"] * len(rate)
    return _ranked(complete, group).select(*group, *columns, **rows.context_columns)


def details(
    rows: Rows,
    segments: pl.LazyFrame,
    level: Level,
    weighting: Weighting,
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The items behind a leaderboard with their `:size` and `:mass`.

    Repeated items of a segment share the mass of one if questions have equal weights.
    """
    items = rows.frame.filter(pl.col("score").is_not_null())
    size, mass = pl.lit(1.0), pl.lit(1.0)
    if is_sized(level, weighting):
        size = pl.col("sample_size")
    if weighting == "question" and level != "segment":
        items = items.filter(pl.col("question_id").is_not_null())
        mass = mass if rows.unrepeated else 1.0 / pl.len().over(rows.item)
    elif level == "question":
        items = items.filter(pl.col("question_id").is_not_null())
    items = items.with_columns(size.alias(SIZE), mass.alias(MASS))
    if level == "category":
        categories = with_category(rows, segments, attributes)
        on = [*rows.keys.inner, "model", *rows.segment]
        return items.join(categories.select(*on, "category"), on=on, nulls_equal=True)
    return items


def is_sized(level: Level, weighting: Weighting) -> bool:
    """True if segments are weighted by their sample size."""
    return weighting == "sample_size" and level != "segment"


def with_category(rows: Rows, segments: pl.LazyFrame, attributes: Frame | None) -> pl.LazyFrame:
    """Segments with a category, once for each of their categories."""
    if attributes is not None:
        named, on = named_attributes(attributes, rows.segment)
        segments = segments.drop("category").join(named, on=on, how="left")
    has_category = pl.col("category").is_not_null()
    if rows.caller is not None:
        source = "attributes" if attributes is not None else category_source(rows.columns)
        check = partial(check_categories, rows.caller, source)
        has_category = pl.struct("segment_id", "category").map_batches(check, pl.Boolean)
    return segments.filter(has_category)


def named_attributes(
    attributes: Frame, segment: list[str], *others: str
) -> tuple[pl.LazyFrame, list[str]]:
    """Distinct attributes of segments as categories, and the columns that identify a segment."""
    table = lazy(attributes)
    names = table.collect_schema().names()
    if missing := {"segment_id", "attribute", *others} - {*names}:
        raise MissingColumnsError.of("the table of attributes", missing, names)
    on = segment if "round" in names else ["segment_id"]
    strings = pl.col(*on, *others).cast(pl.String)
    return table.select(strings, category=pl.col("attribute").cast(pl.String)).unique(), on


def _by_question(rows: Rows, weighting: Weighting) -> pl.LazyFrame:
    """The score of each question in each segment, repeated ones averaged."""
    items = rows.frame.filter(pl.col("question_id").is_not_null())
    has_score = pl.col("score").is_not_null()
    size = pl.when(has_score).then("sample_size") if weighting == "sample_size" else pl.lit(1.0)
    columns = {"n_items": has_score.cast(pl.Int64), SIZE: size}
    if "status" in rows.columns:
        status = pl.col("status")
        columns |= {N_OK: (status == "ok").cast(pl.Int64)}
        columns |= {N_ATTEMPTED: status.is_not_null().cast(pl.Int64)}
    units = items.with_columns(**columns)
    if rows.unrepeated:
        return units
    counts = [name for name in (N_OK, N_ATTEMPTED, "n_items") if name in columns]
    sizes = pl.col(SIZE).mean() if weighting == "sample_size" else pl.lit(1.0).alias(SIZE)
    means = [pl.col("score").mean(), sizes]
    return units.group_by(rows.item).agg(*means, pl.col(counts).sum(), **rows.context_sums)


def _summary(rows: Rows) -> dict[str, pl.Expr]:
    """Summaries of the segments of one model."""
    score = pl.when(pl.col(SIZE).is_not_null()).then("score")
    size = pl.when(score.is_not_null()).then(SIZE)
    aggregates = {
        "score": (score * size).sum() / size.sum(),
        "n_segments": score.count().cast(pl.Int64),
        "n_items": pl.col("n_items").filter(score.is_not_null()).sum(),
        "sd_segments": deviation(score),
        "best_score": score.max(),
        "worst_score": score.min(),
    }
    aggregates["score"] = pl.when(size.sum() > 0).then(aggregates["score"])
    if "status" in rows.columns:
        aggregates |= {name: pl.col(name).sum() for name in (N_OK, N_ATTEMPTED)}
    return aggregates | rows.context_sums


def _ends(rows: Rows) -> dict[str, pl.Expr]:
    """The best and the worst segment, the first by name of tied ones."""
    score = settled(pl.when(pl.col(SIZE).is_not_null()).then("score"))
    ends: dict[str, pl.Expr] = {}
    for end, sign in (("best", -1.0), ("worst", 1.0)):
        order = [score * sign, *map(pl.col, rows.segment)]
        for name in rows.segment:
            public = f"{end}_{name.removesuffix('_id')}"
            first = pl.col(name).sort_by(order, nulls_last=True).first()
            ends[public] = pl.when(score.is_not_null().any()).then(first)
    return ends


def _is_shown(rows: Rows, level: Level, name: str) -> bool:
    if level == "question":
        return name in ("best_score", "worst_score")
    return not name.endswith("_round") or "round" in rows.segment


def _ranked(table: pl.LazyFrame, group: list[str]) -> pl.LazyFrame:
    """Sorted by rank within groups."""
    ranked = table.with_columns(rank=ranks(pl.col("score"), group))
    return ranked.sort(*group, "rank", "model", nulls_last=True)


def cluster_of(resample: Bootstrap | None, caller: str = "leaderboard") -> dict[str, pl.Expr]:
    """The column of the cluster of a bootstrap, if there is one."""
    from evalframe.resample.methods import Bootstrap

    if resample is None:
        return {}
    if not isinstance(resample, Bootstrap):
        raise ParameterError(f"{caller}: resample must be ef.Bootstrap(...), got {resample!r}")
    return {CLUSTER: named_cluster(caller, resample)}
