"""Charts of surveys: whom models know best, and one question's answers against predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.special import wilson
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import (
    POINTS,
    check_models,
    figures,
    left_out,
    only,
    panels,
    taken,
    varying,
)
from evalframe.reporting.names import cut, labels, number, visible, whole

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

_MODELS, _SEGMENTS = 40, 30
"""Rows and columns of a category at most."""

_CELL, _STEP, _GAP = 84, 22, 150


@any_frame
def segments(scores: Frame, *, gaps: Frame | None = None) -> Chart:
    """Draw the score of every model for every segment, and how far the best and worst are apart.

    Args:
        scores: The result of `ef.survey.segment_scores`. Each category, and each round, has its
            panel.
        gaps: The result of `ef.survey.respondent_gaps` of the same rows, to be drawn to the right.

    Returns:
        The chart, of the first 40 models (fewer if there are many panels) and 30 segments of a
        category; its subtitle says if there are more.

    Raises:
        MissingColumnsError: A table is not such a result.
        ParameterError: It has no rows, no score, or too many categories.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = {"segment_id": ["age:young", "age:old"], "score": [0.9, 0.8]}
        >>> rows = pl.DataFrame({"model": "a", "question_id": "q", **people})
        >>> chart = ef.plot.segments(ef.survey.segment_scores(rows))
        >>> chart.title.text, chart.title.subtitle
        (['Whom models know best'], ['Cells: mean score, higher is better (bluer)',
        'category: age'])
    """
    needed = ["model", "segment_id", "category", "score"]
    table = figures(taken(scores, "segments", needed, "ef.survey.segment_scores"))
    if table["score"].null_count() == len(table):
        raise ParameterError("ef.plot.segments: every 'score' is null; nothing can be drawn")
    keys = [key for key in ("round", "category") if key in table.columns]
    differ, same = varying(table, keys)
    order = table.group_by("model").agg(pl.col("score").mean())
    order = order.sort("score", "model", descending=[True, False], nulls_last=True)
    models = order["model"].to_list()
    apart = None
    if gaps is not None:
        wanted = ["model", "category", "gap", "noise_gap"]
        apart = figures(taken(gaps, "segments", wanted, "ef.survey.respondent_gaps"))
    known = table["score"].drop_nulls().to_list()
    ends = (min(known), max(known))
    parts = panels(table, differ, "segments")
    first = models[: min(_MODELS, POINTS // (len(parts) * _SEGMENTS))]
    charts, drawn = [], 0
    for name, part in parts:
        chart, cells = _category(part, first, ends)
        drawn += cells
        if apart is not None:
            here = apart.join(part.select(_shared(apart, keys)).unique(), on=_shared(apart, keys))
            most = apart.select(pl.max_horizontal("gap", "noise_gap").max()).item() or 1.0
            chart = theme.library().hconcat(chart, _gaps(here, first, most), spacing=12)
        charts.append(theme.headed(chart, name))
    told = ["Cells: mean score, higher is better (bluer)"]
    if apart is not None:
        told.append(
            "Right: gap between best and worst segment (point); grey bar: gap that sampling alone "
            "makes (noise_gap)"
        )
    told += [*left_out(drawn, len(table), "cells"), *same]
    chart = theme.side_by_side(charts, columns=1)
    return theme.finished(chart, "Whom models know best", told, 620)


def _shared(gaps: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The keys of panels that both tables have."""
    return [key for key in keys if key in gaps.columns]


def _category(rows: pl.DataFrame, models: list[Any], ends: tuple[float, float]) -> tuple[Any, int]:
    """Scores of models for the segments of a category, and how many cells are drawn."""
    alt = theme.library()
    segments = rows["segment_id"].unique().sort(nulls_last=True).to_list()[:_SEGMENTS]
    cells = rows.filter(
        pl.col("model").is_in(models, nulls_equal=True),
        pl.col("segment_id").is_in(segments, nulls_equal=True),
    )
    prefix = f"{rows['category'][0]}:"
    short = labels([str(segment).removeprefix(prefix) for segment in segments], 14)
    model = dict(zip(models, labels(models), strict=True))
    segment = dict(zip(segments, short, strict=True))
    least, most = ends
    shares = ((cells["score"] - least) / ((most - least) or 1.0)).to_list()
    tones = [
        (theme.UNTOLD, theme.UNTOLD_TEXT)
        if share is None
        else (theme.mixed(0.06 + 0.94 * share), "#FFFFFF" if share > 0.65 else theme.TEXT)
        for share in shares
    ]
    names = zip(whole(cells["model"]), whole(cells["segment_id"]), strict=True)
    drawn = pl.DataFrame(
        {
            "model": [model[each] for each in cells["model"]],
            "segment": [segment[each] for each in cells["segment_id"]],
            "name": [f"{one}, {other}" for one, other in names],
            "text": [number(value, 2) for value in cells["score"]],
            "fill": [fill for fill, _ in tones],
            "ink": [ink for _, ink in tones],
        }
    )
    bare = {"title": None, "domain": False, "ticks": False}
    base = alt.Chart(drawn).encode(
        x=alt.X(
            "segment:N",
            scale=alt.Scale(domain=short),
            axis=alt.Axis(orient="top", labelAngle=0, labelLimit=_CELL - 4, **bare),
        ),
        y=alt.Y("model:N", scale=alt.Scale(domain=list(model.values())), axis=alt.Axis(**bare)),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("text:N", title="score")],
    )
    rect = base.mark_rect(stroke="white", strokeWidth=1)
    text = base.mark_text(fontSize=11)
    chart = alt.layer(
        rect.encode(color=alt.Color("fill:N", scale=None)),
        text.encode(text="text:N", color=alt.Color("ink:N", scale=None)),
    )
    return chart.properties(width=_CELL * len(short), height=_STEP * len(models)), len(cells)


def _gaps(rows: pl.DataFrame, models: list[Any], most: float) -> Any:
    """Gaps over those that sampling alone makes."""
    alt = theme.library()
    model = dict(zip(models, labels(models), strict=True))
    rows = rows.filter(pl.col("model").is_in(models, nulls_equal=True))
    drawn = rows.select(
        pl.Series("model", [model[each] for each in rows["model"]]),
        pl.Series("name", whole(rows["model"])),
        "gap",
        noise="noise_gap",
        zero=pl.lit(0.0),
    )
    scale = alt.Scale(domain=[0, 1.05 * most], nice=False)
    x = {"scale": scale, "axis": alt.Axis(title="Gap", tickCount=4)}
    base = alt.Chart(drawn).encode(
        y=alt.Y("model:N", scale=alt.Scale(domain=list(model.values())), axis=None),
        tooltip=[
            alt.Tooltip("name:N"),
            alt.Tooltip("gap:Q", format=".3f"),
            alt.Tooltip("noise:Q", title="from sampling", format=".3f"),
        ],
    )
    bar = base.mark_bar(height=9, color=theme.BAR)
    point = base.mark_point(filled=True, size=60, opacity=1, color=theme.BEST)
    chart = alt.layer(
        bar.encode(x=alt.X("zero:Q", **x), x2="noise:Q"), point.encode(x=alt.X("gap:Q", **x))
    )
    return chart.properties(width=_GAP, height=_STEP * len(models))


_OPTION = 30
"""Height of an option in pixels."""


@any_frame
def distribution(question: Frame, *, width: int = 420) -> Chart:
    """Draw what a segment answered to one question, and what models predicted.

    Args:
        question: Predictions of one question for one segment, as `ef.survey.parse` or
            `ef.survey.score` return them: `model`, `options`, `actual` and `predicted` (one number
            for each option, scaled to sum to 1), and if there `sample_size`, for the interval of
            the actual shares, and `question_text`, for the title.
        width: Width of the plot in pixels.

    Returns:
        The chart.

    Raises:
        MissingColumnsError: The table lacks a column.
        ParameterError: It has no rows, several questions or segments, more than 6 models, several
            predictions of a model, or no actual answers.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> lists = {"options": [["no", "yes"]], "actual": [[0.3, 0.7]], "predicted": [[40, 60]]}
        >>> chart = ef.plot.distribution(pl.DataFrame({"model": "a", **lists}))
        >>> chart.title.subtitle
        ['Grey: actual answers; points: predictions']
    """
    needed = ["model", "options", "actual", "predicted"]
    table = taken(question, "distribution", needed, "ef.survey.parse or ef.survey.score")
    about = only(table, "segment_id", "distribution") if "segment_id" in table.columns else None
    title = "Answers and predictions"
    for key in ("question_id", "question_text"):
        title = only(table, key, "distribution") if key in table.columns else title
    _check_single(table)
    models = table["model"].sort(nulls_last=True).to_list()
    check_models(models, "distribution")
    options = table["options"][0]
    actual = _shares(table["actual"][0], options)
    if actual is None:
        raise ParameterError(
            "ef.plot.distribution: the actual answers are no distribution over the options: "
            f"{table['actual'][0]}"
        )
    shown = labels(options)
    truth = pl.DataFrame({"label": shown, "name": whole(options), "x": actual})
    size = table["sample_size"][0] if "sample_size" in table.columns else None
    if size:
        lower, upper = wilson(pl.col("x"), pl.lit(float(size)), 0.95)
        truth = truth.with_columns(low=lower, high=upper)
    names = labels(models)
    points, without = [], []
    for model, name, full in zip(models, names, whole(models), strict=True):
        predicted = table.filter(pl.col("model").eq_missing(model))["predicted"][0]
        shares = _shares(predicted, options)
        if shares is None:
            without.append(name)
            continue
        points.append(pl.DataFrame({"label": shown, "model": name, "name": full, "x": shares}))
    chart = _bars(figures(truth), [figures(each) for each in points], shown, names, width)
    grey = "Grey" if about is None else f"{cut(about)}; grey"
    bars = f"{size:,} respondents with 95% interval" if size else "actual answers"
    told = [f"{grey}: {bars}; points: predictions"]
    if without:
        told.append(f"No distribution in the answer of {', '.join(without)}")
    return theme.finished(chart, visible(title), told, width + 120)


def _check_single(table: pl.DataFrame) -> None:
    """ParameterError if a model has several predictions."""
    if table["model"].n_unique() == len(table):
        return
    twice = table.filter(pl.col("model").is_duplicated())
    differ = [
        name
        for name in twice.columns
        if name not in ("model", "response", "predicted", "status", "parse_rule", "score")
        and twice[name].n_unique() > 1
    ]
    hint = f"; filter by {' or '.join(map(repr, differ[:3]))}" if differ else ""
    raise ParameterError(
        f"ef.plot.distribution: model {twice['model'][0]!r} has "
        f"{len(twice.filter(pl.col('model').eq_missing(twice['model'][0])))} predictions{hint}"
    )


def _shares(values: pl.Series | None, options: pl.Series | None) -> list[float] | None:
    """Numbers of options scaled to sum to 1, None if they are no distribution."""
    if values is None or options is None or len(values) != len(options):
        return None
    numbers = [value for value in values.cast(pl.Float64) if value is not None and value >= 0]
    total = sum(numbers)
    if len(numbers) < len(options) or not 0 < total < float("inf"):
        return None
    return [value / total for value in numbers]


def _bars(
    truth: pl.DataFrame,
    points: list[pl.DataFrame],
    options: list[str],
    models: list[str],
    width: int,
) -> Any:
    """Actual shares as bars, predicted ones as points of each model."""
    alt = theme.library()
    drawn = pl.concat([truth, *points], how="diagonal")
    most = max(drawn.select(pl.col("x", "^high$").max()).row(0))
    x = {
        "scale": alt.Scale(domain=[0, min(1.0, 1.05 * most)], nice=False),
        "axis": alt.Axis(title="Share of answers", format="%", tickCount=6),
    }
    y = alt.Y("label:N", scale=alt.Scale(domain=options), title=None)
    base = alt.Chart(truth).encode(y=y)
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("x:Q", title="actual", format=".1%")]
    layers = [
        base.mark_bar(height=18, color=theme.BAR).encode(x=alt.X("x:Q", **x), tooltip=tooltip)
    ]
    if "low" in truth.columns:
        rule = base.mark_rule(strokeWidth=1.5, color=theme.REFERENCE)
        layers.append(rule.encode(x=alt.X("low:Q", **x), x2="high:Q"))
    if points:
        look = theme.of_models(models)
        tooltip = [alt.Tooltip("name:N"), alt.Tooltip("x:Q", title="predicted", format=".1%")]
        mark = alt.Chart(pl.concat(points)).mark_point(
            filled=True, size=75, opacity=1, stroke="white", strokeWidth=1
        )
        ends = [8, 22] if len(models) > 1 else [15, 15]
        offset = alt.YOffset("model:N", scale=alt.Scale(domain=models, range=ends))
        layers.append(
            mark.encode(x=alt.X("x:Q", **x), y=y, yOffset=offset, tooltip=tooltip, **look)
        )
    return alt.layer(*layers).properties(width=width, height=_OPTION * len(options))
