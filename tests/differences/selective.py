"""What differs in selective prediction: answers of 11 language models in 5 tasks."""

import functools

import polars as pl

import evalframe as ef
from differences.records import parquet, rank_changes
from evalframe.compat import ai_psychiatrist

OF_ANSWERS = (
    "trapezoid_predicted",
    "trapezoid_per_item_renorm",
    "rectangle_per_item",
    "population",
)
"""The conventions that know no abstention."""


@functools.cache
def answers(shared):
    return parquet(shared / "data/selective/lifeeval_llm.parquet").with_columns(
        loss=1 - pl.col("correct").cast(pl.Float64),
        correct=pl.col("correct").cast(pl.Int8),
        confidence="stated_confidence_norm",
    )


@functools.cache
def areas(shared):
    named = {name: ef.aurc(convention=name) for name in ("trapezoid_total", *OF_ANSWERS)}
    return answers(shared).group_by("model", "task").agg(ef.aurc_normalised(), **named)


def coverage_in_areas(shared):
    both = areas(shared)
    more = both.select((pl.col("aurc_normalised") / pl.col("trapezoid_total")).max()).item() - 1
    changed = rank_changes(both, ["trapezoid_total", "aurc_normalised"], over="task")
    return (
        f"normalised up to {more:.0%} higher; {changed} of {len(both)} ranks of a model in a task "
        "change"
    )


def conventions_of_areas(shared):
    found = areas(shared)
    ratios = found.select(pl.max_horizontal(OF_ANSWERS) / pl.min_horizontal(OF_ANSWERS))
    apart = ratios.to_series().max() - 1
    changed = rank_changes(found, OF_ANSWERS, over="task")
    return f"without abstention up to {apart:.0%} apart; {changed} of {len(found)} ranks change"


def temperatures(shared):
    known = answers(shared).filter(pl.col("status") == "answered", pl.col("task") == "boolq")
    parts = known.drop_nulls("confidence").partition_by("model")
    fitted = [
        [
            fit(part).temperature
            for fit in (ef.selective.fit_temperature, ai_psychiatrist.fit_temperature)
        ]
        for part in parts
    ]
    off = max(abs(optimum - grid) for optimum, grid in fitted)
    return f"temperature up to {off:.3f} off, {len(fitted)} models"


def impossible_confidences(shared):
    stated = answers(shared).filter(pl.col("status") == "answered")["confidence"].drop_nulls()
    outside = len(stated) - stated.is_between(0, 1).sum()
    return f"{outside or 'none'} in {len(stated):,} stated confidences"


FIGURES = {
    "`aurc`": coverage_in_areas,
    "`aurc(convention=)`": conventions_of_areas,
    "`fit_temperature`": temperatures,
    "`confidence`": impossible_confidences,
}
