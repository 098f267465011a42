"""Differences of all pairs of systems, as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import check_points, figures, keys_before, only, panels, taken, varying
from evalframe.reporting.names import MINUS, Measure, cell, digits, labels, number, p_value, whole
from evalframe.reporting.results import Form
from evalframe.reporting.verdict import ALPHA, too_few_draws

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

_NEEDED = ("metric", "left", "right", "delta", "p_adjusted")
_WRITTEN, _LABEL = 14, 24
"""Systems at most whose differences are written out, and letters of their names."""


@any_frame
def pairs(comparison: Frame) -> Chart:
    """Draw the differences of all pairs of systems, coloured where they are told apart.

    A cell is the system of its row minus that of its column. It has a colour if its adjusted
    p-value is below 0.05, stronger for larger differences.

    Args:
        comparison: The result of `ef.compare` without a baseline, or of
            `ef.replication.model_differences`, of one metric. Each group has its panel.

    Returns:
        The chart; with more than 14 systems numbers are in tooltips only.

    Raises:
        MissingColumnsError: The table is no comparison.
        ParameterError: It has several metrics, no rows, no difference, or too many systems.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> score = {"a": [1, 1, 1, 1, 1, 1, 1], "b": [0, 0, 0, 0, 0, 0, 1]}
        >>> items = pl.DataFrame(score).with_row_index("item")
        >>> items = items.unpivot(index="item", variable_name="model", value_name="score")
        >>> found = ef.compare(items, ef.mean("score"), between="model", pair_on="item")
        >>> ef.plot.pairs(found).title.subtitle[0]
        'Row minus column; 1 of 1 pairs differs (adjusted p < 0.05)'
    """
    found = taken(comparison, "pairs", _NEEDED, "ef.compare")
    table = figures(found)
    measure = Measure.of(only(table, "metric", "pairs"))
    table = table.with_columns(pl.col("left", "right").cast(pl.String))
    differ, same = varying(table, keys_before(table, "metric"))
    most = table.select(pl.col("delta").abs().max()).item()
    if most is None:
        raise ParameterError("ef.plot.pairs: every difference is null; nothing can be drawn")
    check_points(2 * len(table), "pairs", "cells", "systems")
    parts = panels(table, differ, "pairs")
    charts = [_panel(part, name, measure, most or 1.0) for name, part in parts]
    told = [*_told(found, measure), *same]
    side = sum(chart.width + 150 for chart in charts[:3])
    chart = theme.side_by_side(charts)
    return theme.finished(chart, f"Differences in {measure.title}", told, max(side, 420))


def _panel(table: pl.DataFrame, name: str, measure: Measure, most: float) -> Any:
    """The matrix of one group."""
    alt = theme.library()
    cells = _cells(table)
    better = -1.0 if measure.direction == "minimize" else 1.0
    place = (better * pl.col("delta")).mean()
    order = cells.group_by("row").agg(place.alias("score"))
    order = order.sort("score", "row", descending=[True, False], nulls_last=True)
    systems = order["row"].to_list()
    if len(systems) > 2 and table["left"].n_unique() == 1 and len(table) == len(systems) - 1:
        raise ParameterError(
            f"ef.plot.pairs draws all pairs, and these are differences from {systems[0]!r} alone; "
            "draw them with ef.plot.forest"
        )
    shown = labels(systems, _LABEL)
    label = dict(zip(systems, shown, strict=True))
    half = ((cells["upper"] - cells["lower"]) / 2).to_list()
    decimals = digits(half, most)
    told = (cells["p_adjusted"] < ALPHA).fill_null(value=False)
    shares = (better * cells["delta"] / most).fill_null(0.0)
    fills = [
        theme.mixed(share) if is_told else theme.UNTOLD
        for share, is_told in zip(shares, told, strict=True)
    ]
    inks = [
        theme.UNTOLD_TEXT if not is_told else "#FFFFFF" if abs(share) > 0.65 else theme.TEXT
        for share, is_told in zip(shares, told, strict=True)
    ]
    numbers = cells.select("delta", "lower", "upper").rows()
    whole_names = whole(cells["row"]), whole(cells["column"])
    drawn = pl.DataFrame(
        {
            "row": [label[system] for system in cells["row"]],
            "column": [label[system] for system in cells["column"]],
            "names": [f"{a} {MINUS} {b}" for a, b in zip(*whole_names, strict=True)],
            "fill": fills,
            "ink": inks,
            "delta": [number(delta, decimals) for delta, _, _ in numbers],
            "text": [cell(delta, low, high, decimals) for delta, low, high in numbers],
            "p": [*map(p_value, cells["p_adjusted"])],
        }
    )
    written = len(systems) <= _WRITTEN
    wide = 58 if written else 22
    base = alt.Chart(drawn).encode(
        x=alt.X(
            "column:N",
            scale=alt.Scale(domain=shown),
            axis=alt.Axis(orient="top", labelAngle=-40, title=None, domain=False, ticks=False),
        ),
        y=alt.Y(
            "row:N",
            scale=alt.Scale(domain=shown),
            axis=alt.Axis(title=None, domain=False, ticks=False),
        ),
        tooltip=[
            alt.Tooltip("names:N", title=f"row {MINUS} column"),
            alt.Tooltip("text:N", title="difference"),
            alt.Tooltip("p:N", title="adjusted p"),
        ],
    )
    rect = base.mark_rect(stroke="white", strokeWidth=1)
    layers = [rect.encode(color=alt.Color("fill:N", scale=None))]
    if written:
        text = base.mark_text(fontSize=11)
        layers.append(text.encode(text="delta:N", color=alt.Color("ink:N", scale=None)))
    chart = alt.layer(*layers)
    chart = chart.properties(width=wide * len(shown), height=(28 if written else 20) * len(shown))
    return theme.headed(chart, name)


def _cells(table: pl.DataFrame) -> pl.DataFrame:
    """Every pair twice: `row` minus `column`, and the other way round."""
    known = table.select("left", "right", "p_adjusted", *Form("delta").ends(table))
    forth = known.rename({"right": "row", "left": "column"})
    back = known.rename({"left": "row", "right": "column"}).with_columns(
        -pl.col("delta"), lower=-pl.col("upper"), upper=-pl.col("lower")
    )
    return pl.concat([forth, back], how="diagonal")


def _told(table: pl.DataFrame, measure: Measure) -> list[str]:
    """Lines of the subtitle: how many pairs differ, or why that cannot be said."""
    tested = table.drop_nulls("p_adjusted")
    found, tests = int((tested["p_adjusted"] < ALPHA).sum()), len(tested)
    p_values = tested["p_value" if "p_value" in tested.columns else "p_adjusted"]
    said = f"{found:,} of {tests:,} pairs differ{'s' * (found == 1)} (adjusted p < {ALPHA})"
    clusters = tested.to_dict().get("n_clusters")
    if reason := too_few_draws(tested["p_adjusted"], p_values, clusters):
        said = f"no pair can be told apart, since {reason}"
    lines = [f"Row minus column; {said}"]
    if untested := len(table) - tests:
        lines[0] += f"; {untested:,} without a test"
    better, worse = ("higher", "lower") if measure.direction == "none" else ("better", "worse")
    lines.append(f"Blue: row is {better}; orange: row is {worse}; grey: cannot be told apart")
    return lines
