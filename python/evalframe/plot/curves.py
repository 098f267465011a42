"""Charts of selective prediction: risk at every coverage, and whether confidence is deserved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import (
    POINTS,
    check_points,
    figures,
    keys_before,
    left_out,
    limits,
    panels,
    taken,
    thinned,
    varying,
)

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

_BAND = ("band_lower", "band_upper")
_INTERVAL = ("lower", "upper")


@any_frame
def risk_coverage(
    curve: Frame, *, optimal: Frame | None = None, level: float | None = None, width: int = 220
) -> Chart:
    """Draw the risk of what is answered when only the surest items are, at every coverage.

    Args:
        curve: The result of `ef.selective.rc_curve`; with `resample` its bands are drawn, too. Each
            group has its panel.
        optimal: The curve of the same items in the best order, by the same keys:
            `ef.selective.rc_curve(items, confidence=-pl.col("loss"))`.
        level: Confidence level of the bands, for the caption: the table does not hold it.
        width: Width of a panel in pixels.

    Returns:
        The chart, of at most 5,000 points; its subtitle says if there are more.

    Raises:
        MissingColumnsError: The table is no curve.
        ParameterError: The table has no rows, or more groups than a chart can show.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, None], "confidence": [0.9, 0.8, 0.1]})
        >>> chart = ef.plot.risk_coverage(ef.selective.rc_curve(items))
        >>> chart.title.text, chart.title.subtitle[0]
        (['Risk at every coverage'], 'Line: risk when the surest are answered; lower is better')
    """
    maker = "ef.selective.rc_curve"
    table = figures(taken(curve, "risk_coverage", ["coverage", "selective_risk"], maker))
    keys = keys_before(table, "coverage")
    differ, same = varying(table, keys)
    parts = panels(table, differ, "risk_coverage")
    has_bands = {*_BAND, *_INTERVAL} <= {*table.columns}
    most = POINTS // (len(parts) * (2 + 2 * has_bands))
    best = None
    if optimal is not None:
        columns = [*keys, "coverage", "selective_risk"]
        best = figures(taken(optimal, "risk_coverage", columns, maker))
    heights = [table["selective_risk"], *(table[end] for end in _BAND if has_bands)]
    top = limits(*heights, include=[0.0])[1]
    charts, drawn = [], 0
    for name, part in parts:
        line, other = thinned(part, "selective_risk", most), best
        if best is not None and keys:
            other = best.join(part.select(keys).unique(), on=keys, nulls_equal=True)
        dotted = None if other is None else thinned(other, "selective_risk", most)
        charts.append(theme.headed(_risk_panel(line, dotted, top, width), name))
        drawn += len(line)
    told = ["Line: risk when the surest are answered; lower is better"]
    if has_bands:
        each = theme.interval(level)
        told.append(f"Dark band: {each} at each coverage; light band: for the whole curve at once")
    told.append(
        "Dashed: random order"
        + "; dotted: optimal order" * (best is not None)
        + "; a curve ends where the system abstains from the rest"
    )
    told += [*left_out(drawn, len(table), "points"), *same]
    side = min(3, len(charts)) * (width + 70)
    return theme.finished(theme.side_by_side(charts), "Risk at every coverage", told, side)


def _risk_panel(line: pl.DataFrame, optimal: pl.DataFrame | None, top: float, width: int) -> Any:
    """The curve of one group, from the surest item on."""
    alt = theme.library()
    x = {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(title="Coverage (share answered)", format="%", tickCount=5),
    }
    y = {
        "scale": alt.Scale(domain=[0, top], nice=False),
        "axis": alt.Axis(title="Risk", tickCount=5),
    }

    def drawn(table: pl.DataFrame, **columns: str) -> Any:
        safe = table.select(pl.col(name).alias(ours) for ours, name in columns.items())
        return alt.Chart(safe.drop_nulls()).encode(x=alt.X("x:Q", **x))

    layers = []
    if {*_BAND, *_INTERVAL} <= {*line.columns}:
        for ends, opacity in ((_BAND, 0.16), (_INTERVAL, 0.28)):
            band = drawn(line, x="coverage", low=ends[0], high=ends[1])
            area = band.mark_area(color=theme.BEST, opacity=opacity)
            layers.append(area.encode(y=alt.Y("low:Q", **y), y2="high:Q"))
    end = line.sort("coverage").tail(1).select("coverage", "selective_risk")
    level = pl.concat([end.with_columns(coverage=0.0), end])
    random = drawn(level, x="coverage", y="selective_risk").mark_line(
        strokeDash=[5, 3], strokeWidth=1.2, color=theme.REFERENCE
    )
    layers.append(random.encode(y=alt.Y("y:Q", **y)))
    if optimal is not None:
        dotted = drawn(optimal, x="coverage", y="selective_risk").mark_line(
            strokeDash=[1.5, 2.5], strokeWidth=1.6, color=theme.TEXT
        )
        layers.append(dotted.encode(y=alt.Y("y:Q", **y)))
    curve = drawn(line, x="coverage", y="selective_risk")
    tooltip = [
        alt.Tooltip("x:Q", title="coverage", format=".1%"),
        alt.Tooltip("y:Q", title="risk", format=".3g"),
    ]
    layers.append(
        curve.mark_line(strokeWidth=2, color=theme.BEST, point=len(line) < 3).encode(
            y=alt.Y("y:Q", **y), tooltip=tooltip
        )
    )
    return alt.layer(*layers).properties(width=width, height=round(width * 0.86))


_NEEDED = (
    *("bin", "lower_edge", "upper_edge", "n", "mean_confidence", "accuracy"),
    *_INTERVAL,
)


@any_frame
def reliability(table: Frame, *, level: float | None = None, width: int = 230) -> Chart:
    """Draw how often answers of each confidence are correct.

    Args:
        table: The result of `ef.selective.reliability_table`; with `resample` its band is drawn,
            too. Each group has its panel.
        level: Confidence level of the intervals, for the caption: the table does not hold it.
        width: Width of a panel in pixels.

    Returns:
        The chart: a diagram of each group, above the number of answers in each bin.

    Raises:
        MissingColumnsError: The table is no reliability table.
        ParameterError: It has no rows, or too many bins or groups.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75], "correct": [True, False]})
        >>> chart = ef.plot.reliability(ef.selective.reliability_table(items))
        >>> chart.title.subtitle[-1]
        'Dashed: perfectly calibrated; below it: overconfident'
    """
    bins = figures(taken(table, "reliability", _NEEDED, "ef.selective.reliability_table"))
    differ, same = varying(bins, keys_before(bins, "bin"))
    check_points(len(bins), "reliability", "bins", "groups, or make it with fewer bins")
    parts = panels(bins, differ, "reliability")
    most = max(bins["n"].to_list())
    charts = [theme.headed(_bins_panel(part, most, width), name) for name, part in parts]
    told = [
        f"Point: share correct of a bin with its {theme.interval(level)}, at its mean confidence; "
        "bars: answers in the bin"
    ]
    if {*_BAND} <= {*bins.columns}:
        told.append("Shaded: band that holds for all bins at once")
    told += ["Dashed: perfectly calibrated; below it: overconfident", *same]
    side = min(3, len(charts)) * (width + 70)
    title = "Is stated confidence deserved?"
    return theme.finished(theme.side_by_side(charts), title, told, side)


def _bins_panel(rows: pl.DataFrame, most: float, width: int) -> Any:
    """The diagram of one group above the counts of its bins."""
    alt = theme.library()
    drawn = rows.select(
        x="mean_confidence",
        y="accuracy",
        low="lower",
        high="upper",
        n="n",
        bin="bin",
        left="lower_edge",
        right=pl.max_horizontal("upper_edge", pl.col("lower_edge") + 0.005),
        zero=pl.lit(0),
    )
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = {"scale": unit, "axis": alt.Axis(title=None, labels=False, tickCount=5)}
    y = {"scale": unit, "axis": alt.Axis(title="Share correct", format="%", tickCount=5)}
    base = alt.Chart(drawn).encode(
        x=alt.X("x:Q", **x),
        tooltip=[
            alt.Tooltip("x:Q", title="mean confidence", format=".1%"),
            alt.Tooltip("y:Q", title="correct", format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="answers", format=","),
        ],
    )
    diagonal = alt.Chart(pl.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]}))
    dashed = diagonal.mark_line(strokeDash=[4, 3], strokeWidth=1.2, color=theme.REFERENCE)
    layers = [dashed.encode(x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y))]
    if {*_BAND} <= {*rows.columns}:
        band = rows.select(x="mean_confidence", low="band_lower", high="band_upper").drop_nulls()
        wide = alt.Chart(band).mark_rule(strokeWidth=10, opacity=0.2, color=theme.BEST)
        layers.append(wide.encode(x=alt.X("x:Q", **x), y=alt.Y("low:Q", **y), y2="high:Q"))
    layers += [
        base.mark_line(strokeWidth=1.5, opacity=0.5, color=theme.BEST).encode(y=alt.Y("y:Q", **y)),
        base.mark_rule(strokeWidth=2, color=theme.BEST).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_point(filled=True, size=55, opacity=1, color=theme.BEST).encode(
            y=alt.Y("y:Q", **y)
        ),
    ]
    share = {"scale": unit, "axis": alt.Axis(title="Confidence", format="%", tickCount=5)}
    count = alt.Axis(title="Answers", tickCount=2, format="~s")
    bars = alt.Chart(drawn).mark_rect(color=theme.COUNT, stroke="white", strokeWidth=0.5)
    counts = bars.encode(
        x=alt.X("left:Q", **share),
        x2="right:Q",
        y=alt.Y("n:Q", axis=count, scale=alt.Scale(domain=[0, most])),
        y2="zero:Q",
        tooltip=[alt.Tooltip("n:Q", title="answers", format=",")],
    )
    above = alt.layer(*layers).properties(width=width, height=width)
    return alt.vconcat(above, counts.properties(width=width, height=54), spacing=6)
