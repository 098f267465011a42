"""A chart of retrieval-augmented generation: answers as unhelpful documents grow in number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import (
    check_models,
    figures,
    keys_before,
    left_out,
    limits,
    panels,
    taken,
    varying,
)
from evalframe.reporting.names import labels, whole

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

NOISE = "noise_rate"
RATES = {"accuracy": "Correct", "rejection_rate": "Rejected"}
"""What is drawn, with the titles of its axes."""

_SHIFT = 0.014
"""How far models stand apart, as a share of the axis, so that bars do not hide each other."""


@any_frame
def noise(rates: Frame, *, level: float | None = None, width: int = 230) -> Chart:
    """Draw the shares of correct and of rejected answers at each share of unhelpful documents.

    Args:
        rates: The result of `ef.rag.rates` with the key `noise_rate`, and `model` if there are
            several. Other keys, such as `dataset`, have two panels for each of their values.
        level: Confidence level of the intervals, for the caption: the table does not hold it.
        width: Width of a panel in pixels.

    Returns:
        The chart.

    Raises:
        MissingColumnsError: The table has no rates, or no `noise_rate`.
        ParameterError: The table has no rows, more than 6 models, more groups than a chart can
            show, or a `noise_rate` that is no number.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labels = {"label": [[1], [-1], [0], [-1]], "noise_rate": [0.0, 0.0, 0.8, 0.8]}
        >>> rates = ef.rag.rates(pl.DataFrame(labels), by="noise_rate", intervals="wilson")
        >>> ef.plot.noise(rates, level=0.95).title.subtitle[0]
        'Left: correct, higher is better; right: rejected; bars: 95% interval of each share'
    """
    maker = "ef.rag.rates(..., by=[..., 'noise_rate'])"
    table = figures(taken(rates, "noise", ["n", NOISE, *RATES], maker))
    keys = [key for key in keys_before(table, "n") if key != NOISE]
    model = next((key for key in ("model", *keys) if key in keys), None)
    differ, same = varying(table, [key for key in keys if key != model])
    models = table[model].unique().sort(nulls_last=True).to_list() if model else [None]
    check_models(models, "noise")
    known = table.drop_nulls(NOISE)
    if known.is_empty():
        raise ParameterError(f"ef.plot.noise: every {NOISE!r} is null; there is nothing to draw")
    colours = theme.of_models(labels(models)) if model else {}
    ends = limits(known[NOISE])
    charts = []
    for name, part in panels(known, differ, "noise"):
        rows = _points(part, model, models, ends[1] - ends[0])
        charts += [
            theme.headed(_rate_panel(rows, rate, colours, ends, width), name) for rate in RATES
        ]
    has_bars = any(f"{rate}_lower" in table.columns for rate in RATES)
    bars = f"bars: {theme.interval(level)} of each share" if has_bars else "no intervals"
    told = [f"Left: correct, higher is better; right: rejected; {bars}"]
    if len(models) > 1:
        told.append("Models are shifted sideways so that bars do not hide each other")
    told += [*left_out(len(known), len(table), f"rows, those with a {NOISE}"), *same]
    title = "Answers as unhelpful documents grow in number"
    return theme.finished(theme.side_by_side(charts, columns=2), title, told, 2 * width + 140)


def _points(rows: pl.DataFrame, model: str | None, models: list[Any], axis: float) -> pl.DataFrame:
    """The rates of a panel under safe names, models apart."""
    number = [models.index(each) for each in rows[model]] if model else [0] * len(rows)
    shift = pl.Series(number) - (len(models) - 1) / 2
    ends = [
        (
            pl.col(rate + end) if rate + end in rows.columns else pl.lit(None, dtype=pl.Float64)
        ).alias(rate + end)
        for rate in RATES
        for end in ("_lower", "_upper")
    ]
    names, full = labels(models), whole(models)
    return rows.select(
        pl.Series("model", [names[each] for each in number]),
        pl.Series("name", [full[each] for each in number]),
        (pl.col(NOISE) + shift * _SHIFT * axis).alias("x"),
        pl.col(NOISE).alias("noise"),
        "n",
        *RATES,
        *ends,
    ).sort("model", "noise")


def _rate_panel(
    rows: pl.DataFrame, rate: str, colours: dict[str, Any], x_ends: list[float], width: int
) -> Any:
    """The shares of one kind of answer."""
    alt = theme.library()
    drawn = rows.select(
        "model", "name", "x", "noise", "n", y=rate, low=f"{rate}_lower", high=f"{rate}_upper"
    ).drop_nulls("y")
    y = {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(title=RATES[rate], format="%", tickCount=5),
    }
    title = "Share of unhelpful documents"
    levels = sorted({*rows["noise"].to_list()})
    axis = alt.Axis(title=title, format="%", values=levels if len(levels) <= 8 else None)
    tooltip = [
        alt.Tooltip("name:N"),
        alt.Tooltip("noise:Q", title="unhelpful", format="%"),
        alt.Tooltip("y:Q", title="share", format=".1%"),
        alt.Tooltip("n:Q", title="answers", format=","),
    ]
    base = alt.Chart(drawn).encode(
        x=alt.X("x:Q", axis=axis, scale=alt.Scale(domain=x_ends, nice=False)),
        tooltip=tooltip,
        **({"color": colours["color"]} if colours else {"color": alt.value(theme.BEST)}),
    )
    point = base.mark_point(filled=True, size=55, opacity=1).encode(y=alt.Y("y:Q", **y))
    layers = [
        base.mark_line(strokeWidth=1.6).encode(y=alt.Y("y:Q", **y)),
        base.mark_rule(strokeWidth=1.4).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        point.encode(shape=colours["shape"]) if colours else point,
    ]
    return alt.layer(*layers).properties(width=width, height=round(width * 0.83))
