"""Leaderboards: models by mean score, overall, by segment, by category and by question."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rules import check_choice
from evalframe.core.special import ranks, settled
from evalframe.core.tables import lazy
from evalframe.evaluation import named_cluster
from evalframe.survey.leaderboards.rows import (
    CLUSTER,
    MASS,
    SIZE,
    category_source,
    check_categories,
    deviation,
    scored_rows,
)
from evalframe.survey.leaderboards.segments import (
    N_ATTEMPTED,
    N_OK,
    kept_segments,
    parse_rate,
)

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.resample.methods import Bootstrap
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows

Level: TypeAlias = Literal["overall", "segment", "category", "question"]
Weighting: TypeAlias = Literal["segment", "question", "sample_size"]

_SPREAD = (
    "std_error",
    "lower",
    "upper",
    "n_clusters",
    "drop_rate",
    "rank_lower",
    "rank_upper",
    "rank_set_lower",
    "rank_set_upper",
    "tied_with_best",
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
) -> pl.LazyFrame:
    """Models by mean score, in two stages: items to segments, segments to models.

    Where a segment was asked with several amounts of context, `context` says which of them counts,
    by default the highest, see `at_context`. Rounds never overwrite each other: a segment counts
    once for each round that it stands in. Tied models share the better rank.

    Args:
        scored: One row per item, see `segment_scores`; `question_id` too if questions are asked
            for. Prompts about several questions (a null one) are in no table of questions.
        level: `overall`, or a leaderboard for each `segment`, `category` or `question`.
        by: Group keys; each group has leaderboards of its own.
        weighting: What counts alike overall and in a category: each `segment` (where
            countries thereby dominate), each `question` (items to questions to models), or
            each respondent (`sample_size`: segments weigh by it, and those of unknown size, or of
            none above 0, are left out). Within a segment all items weigh the same; within a
            question, segments.
        context: Which amount of context counts: `highest`, `lowest`, a number of answers shown,
            or `all` of them, pooled. For a leaderboard per amount group `by="context_count"`.
        baselines: Whether pseudo-models such as `baseline:uniform` take part.
        attributes: A row per attribute of a segment (`segment_id`, `attribute`, perhaps `round`),
            for categories of segments with several attributes; by default the category is
            `segment_attribute`, or the prefix of the id, see `disparity`.
        resample: `ef.Bootstrap(cluster=...)`: over segments with `cluster="segment_id"`, over
            questions with `cluster="question_id"`, or over anything else. All models of a
            leaderboard are resampled by the same draws. Where each segment (or what else counts
            alike) lies in one cluster, one that is drawn twice counts twice; where clusters cut
            through segments, their means are drawn.

    Returns:
        by..., then `category`, `segment_id` or `question_id` (with `round`), `rank` (Int64),
        `model`, `score` (Float64, null where no item has one), `weighting` (String, the one asked
        for), `n_segments` and `n_items` (Int64, with a score), `sd_segments` (population standard
        deviation of segment scores), `best_score`, `worst_score`, their difference `gap`, and
        overall and in categories `best_segment` and `worst_segment` with their rounds; without
        these in a segment. In a question repeated items of a segment are averaged first. With a
        status there is `parse_rate`; with amounts of context `context_count` (Int64, the one that
        counts; null for several) and `n_other_context` (Int64, rows of others, which do not count).

        With `resample`: `std_error`, `lower`, `upper`, `n_clusters` (those with items of the model)
        and `drop_rate` of the score, `rank_lower` and `rank_upper` (the central ranks of the
        replicates), `rank_set_lower` and `rank_set_upper` (the ranks that are left after all pairs
        of models were compared at once at the level of the bootstrap), and `tied_with_best` (no
        model is better beyond doubt). Nothing is known of the spread of a model with one cluster:
        its error and its limits are null, and any rank may be its own.

        Sorted by groups and rank. Lazy if the table is; the bootstrap is computed at once.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or no segment has a category.

    References:
        dtef-app 52d79c0, demographic aggregation; rank sets: Mogstad, Romano, Shaikh and Wilhelm
        (2024), Inference for ranks.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import leaderboard
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "a", "b", "b"],
        ...         "segment_id": ["gender:male"] * 2 + ["gender:female"] * 2 + ["gender:male"],
        ...         "score": [0.6, 0.8, 0.9, 0.75, None],
        ...     }
        ... )
        >>> leaderboard(scored).select("rank", "model", "score", "n_segments", "gap")
        shape: (2, 5)
        ┌──────┬───────┬───────┬────────────┬─────┐
        │ rank ┆ model ┆ score ┆ n_segments ┆ gap │
        │ ---  ┆ ---   ┆ ---   ┆ ---        ┆ --- │
        │ i64  ┆ str   ┆ f64   ┆ i64        ┆ f64 │
        ╞══════╪═══════╪═══════╪════════════╪═════╡
        │ 1    ┆ a     ┆ 0.8   ┆ 2          ┆ 0.2 │
        │ 2    ┆ b     ┆ 0.75  ┆ 1          ┆ 0.0 │
        └──────┴───────┴───────┴────────────┴─────┘
    """
    check_choice("level", level, Level)
    check_choice("weighting", weighting, Weighting)
    extra = {} if resample is None else {CLUSTER: cluster_of(resample)}
    rows = scored_rows(
        "leaderboard",
        scored,
        by,
        needs=required_columns(level, weighting),
        taken=(*_SPREAD, *_ENDS),
        baselines=baselines,
        extra=extra,
    ).at(context)
    if level == "question" or weighting == "question":
        rows = rows.checked(scored)
    kept = kept_segments(rows)
    table = board(rows, kept, level, weighting, attributes)
    if resample is None:
        return table.rename(rows.keys.restore())
    from evalframe.survey.leaderboards.replicates import with_spread

    detail = details(rows, kept, level, weighting, attributes)
    group = [*rows.keys.inner, *level_keys(rows, level)]
    spread = with_spread(resample, table.collect(), detail, group, unit_of(rows, level, weighting))
    return spread.lazy().rename(rows.keys.restore())


def required_columns(level: Level, weighting: Weighting) -> list[str]:
    """Columns that a leaderboard needs besides model, segment and score."""
    if level == "segment":
        return []
    by_question = level == "question" or weighting == "question"
    return ["question_id"] * by_question + ["sample_size"] * (weighting == "sample_size")


def level_keys(rows: Rows, level: Level) -> list[str]:
    """What a leaderboard of the level is about."""
    return {
        "overall": [],
        "segment": rows.segment,
        "category": ["category"],
        "question": rows.question,
    }[level]


def unit_of(rows: Rows, level: Level, weighting: Weighting) -> list[str] | None:
    """What is averaged last; None for items."""
    if level == "segment":
        return None
    if level != "question" and weighting == "question":
        return rows.question
    return rows.segment


def board(
    rows: Rows,
    kept: pl.LazyFrame,
    level: Level,
    weighting: Weighting,
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The leaderboard without uncertainty, under internal names of the keys.

    Args:
        rows: Scored predictions.
        kept: The runs that count.
        level: Of the leaderboard.
        weighting: What counts alike.
        attributes: Attributes of segments.
    """
    group = [*rows.keys.inner, *level_keys(rows, level)]
    entry = [*group, "model"]
    if level == "question":
        units = _by_question(rows, weighting)
    else:
        units = kept if level != "category" else with_category(rows, kept, attributes)
        size = pl.col("sample_size") if weighting == "sample_size" else pl.lit(1.0)
        units = units.with_columns(size.alias(SIZE))
    if level == "segment":
        table = units
    else:
        ends = _ends(rows) if level != "question" else {}
        table = rows.decoded(units.group_by(entry).agg(**_summary(rows), **ends))
    if level != "question" and weighting == "question" and level != "segment":
        items = details(rows, kept, level, weighting, attributes)
        score = (pl.col("score") * pl.col(MASS)).sum() / pl.col(MASS).sum()
        questions = items.group_by([*entry, *rows.question]).agg(score=score)
        means = questions.group_by(entry).agg(pl.col("score").mean())
        table = table.drop("score").join(means, on=entry, how="left", nulls_equal=True)
    shown = ["rank", "model", "score", "weighting"]
    shown += ["n_segments"] * (level != "segment") + ["n_items"]
    if level != "segment":
        shown += ["sd_segments", *(name for name in _ENDS if _is_shown(rows, level, name)), "gap"]
        table = table.with_columns(gap=pl.col("best_score") - pl.col("worst_score"))
    rate = [parse_rate()] if "status" in rows.columns else []
    named = table.with_columns(*rate, weighting=pl.lit(weighting))
    shown += ["parse_rate"] * len(rate)
    return _ranked(named, group).select(*group, *shown, **rows.told)


def details(
    rows: Rows,
    kept: pl.LazyFrame,
    level: Level,
    weighting: Weighting,
    attributes: Frame | None = None,
) -> pl.LazyFrame:
    """The items behind a leaderboard, each with what it belongs to, its `:size` and `:mass`.

    Repeated items of a segment have less mass where questions count alike.
    """
    items = rows.frame.filter(pl.col("score").is_not_null())
    size, mass = pl.lit(1.0), pl.lit(1.0)
    if weighting == "sample_size" and level != "segment":
        size = pl.col("sample_size")
    if weighting == "question" and level != "segment":
        items = items.filter(pl.col("question_id").is_not_null())
        mass = mass if rows.unrepeated else 1.0 / pl.len().over(rows.asked)
    elif level == "question":
        items = items.filter(pl.col("question_id").is_not_null())
    items = items.with_columns(size.alias(SIZE), mass.alias(MASS))
    if level == "category":
        categories = with_category(rows, kept, attributes)
        on = [*rows.keys.inner, "model", *rows.segment]
        return items.join(categories.select(*on, "category"), on=on, nulls_equal=True)
    return items


def with_category(rows: Rows, kept: pl.LazyFrame, attributes: Frame | None) -> pl.LazyFrame:
    """Segments that have a category, once for each that they have.

    Raises:
        MissingColumnsError: Attributes do not say of which segment, or which.
    """
    if attributes is not None:
        named, on = named_attributes(attributes, rows.segment)
        kept = kept.drop("category").join(named, on=on, how="left")
    known = pl.col("category").is_not_null()
    if rows.caller is not None:
        source = "attributes" if attributes is not None else category_source(rows.columns)
        check = partial(check_categories, rows.caller, source)
        known = pl.struct("segment_id", "category").map_batches(check, pl.Boolean)
    return kept.filter(known)


def named_attributes(
    attributes: Frame, segment: list[str], *further: str
) -> tuple[pl.LazyFrame, list[str]]:
    """Attributes of segments, each once, as categories; and what names a segment there.

    Args:
        attributes: Their table.
        segment: Columns that name a segment.
        further: Columns of it that are asked for beside the segment and the attribute.

    Raises:
        MissingColumnsError: A column is not there.
    """
    table = lazy(attributes)
    names = table.collect_schema().names()
    if missing := {"segment_id", "attribute", *further} - {*names}:
        raise MissingColumnsError.of("the table of attributes", missing, names)
    on = segment if "round" in names else ["segment_id"]
    texts = pl.col(*on, *further).cast(pl.String)
    return table.select(texts, category=pl.col("attribute").cast(pl.String)).unique(), on


def _by_question(rows: Rows, weighting: Weighting) -> pl.LazyFrame:
    """The score of each question in each segment, repeated ones averaged."""
    items = rows.frame.filter(pl.col("question_id").is_not_null())
    known = pl.col("score").is_not_null()
    size = pl.when(known).then("sample_size") if weighting == "sample_size" else pl.lit(1.0)
    made = {"n_items": known.cast(pl.Int64), SIZE: size}
    if "status" in rows.columns:
        status = pl.col("status")
        made |= {N_OK: (status == "ok").cast(pl.Int64)}
        made |= {N_ATTEMPTED: status.is_not_null().cast(pl.Int64)}
    units = items.with_columns(**made)
    if rows.unrepeated:
        return units
    counts = [name for name in (N_OK, N_ATTEMPTED, "n_items") if name in made]
    sizes = pl.col(SIZE).mean() if weighting == "sample_size" else pl.lit(1.0).alias(SIZE)
    means = [pl.col("score").mean(), sizes]
    return units.group_by(rows.asked).agg(*means, pl.col(counts).sum(), **rows.summed)


def _summary(rows: Rows) -> dict[str, pl.Expr]:
    """Summaries of the segments of one model."""
    score = pl.when(pl.col(SIZE).is_not_null()).then("score")
    size = pl.when(score.is_not_null()).then(SIZE)
    made = {
        "score": (score * size).sum() / size.sum(),
        "n_segments": score.count().cast(pl.Int64),
        "n_items": pl.col("n_items").filter(score.is_not_null()).sum(),
        "sd_segments": deviation(score),
        "best_score": score.max(),
        "worst_score": score.min(),
    }
    made["score"] = pl.when(size.sum() > 0).then(made["score"])
    if "status" in rows.columns:
        made |= {name: pl.col(name).sum() for name in (N_OK, N_ATTEMPTED)}
    return made | rows.summed


def _ends(rows: Rows) -> dict[str, pl.Expr]:
    """The best and the worst segment, the first of tied ones by name."""
    score = settled(pl.when(pl.col(SIZE).is_not_null()).then("score"))
    known = score.is_not_null()
    made: dict[str, pl.Expr] = {}
    for end, sign in (("best", -1.0), ("worst", 1.0)):
        order = [score * sign, *map(pl.col, rows.segment)]
        for name in rows.segment:
            public = f"{end}_{name.removesuffix('_id')}"
            first = pl.col(name).sort_by(order, nulls_last=True).first()
            made[public] = pl.when(known.any()).then(first)
    return made


def _is_shown(rows: Rows, level: Level, name: str) -> bool:
    if level == "question":
        return name in ("best_score", "worst_score")
    return not name.endswith("_round") or "round" in rows.segment


def _ranked(table: pl.LazyFrame, group: list[str]) -> pl.LazyFrame:
    """Sorted by rank within groups."""
    ranked = table.with_columns(rank=ranks(pl.col("score"), group))
    return ranked.sort(*group, "rank", "model", nulls_last=True)


def cluster_of(resample: Bootstrap) -> pl.Expr:
    """The cluster of a bootstrap."""
    from evalframe.resample.methods import Bootstrap

    if not isinstance(resample, Bootstrap):
        raise ParameterError(f"leaderboard: resample must be ef.Bootstrap(...), got {resample!r}")
    return named_cluster("leaderboard", resample)
