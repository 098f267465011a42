"""Estimates with their intervals, one row each: the forest, and simulated coverage of intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.choices import check_level
from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.special import wilson
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import (
    figures,
    keys_before,
    left_out,
    limits,
    only,
    panels,
    taken,
    varying,
)
from evalframe.reporting.names import MINUS, Measure, cell, cut, digits, labels, some, whole
from evalframe.reporting.results import MAKERS, Form, checked, form_of

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

ROWS = 100
"""Rows at most of a chart with a row for each entry."""

STEP, LETTER = 22, 6.0
"""Height of a row, and width of a letter in it, in pixels."""

_ENTRY, _PLACE = ":entry", ":place"
_X, _LOW, _HIGH = ":x", ":low", ":high"
_COLOUR = ":colour"

_MAKER = "a simulation of intervals, such as those of ef.evaluate, counted by group"


@any_frame
def forest(result: Frame, *, level: float | None = None, width: int = 360) -> Chart:
    """Draw estimates and their intervals, one row each, the best first.

    Overlapping intervals are no test: draw the result of `ef.compare` for differences, of all pairs
    or, with its `baseline`, from one system. Further keys give a panel for each of their values;
    all panels have the same rows and the same axis.

    Args:
        result: Estimates of one metric: the result of `ef.evaluate`, `ef.finish`, `ef.compare`,
            `ef.rank`, `ef.survey.leaderboard` or `ef.replication.model_scores`. Blue is
            `tied_with_best`, if there is that column.
        level: Confidence level of the intervals, for the caption: the table does not hold it.
        width: Width of the plot in pixels; panels have three fifths of it.

    Returns:
        The chart, of the first 100 rows; its subtitle says if there are more.

    Raises:
        MissingColumnsError: The table lacks the columns of these results.
        ParameterError: It has several metrics, no rows, no estimate, or too many panels.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
        >>> chart = ef.plot.forest(ef.evaluate(items, ef.selective_risk(), by="model"))
        >>> chart.title.text, chart.title.subtitle
        (['selective_risk by model'], ['Point: estimate; 2 rows, best first',
        'No intervals were computed'])
    """
    table = taken(result, "forest", [], MAKERS)
    form = form_of(table, "ef.plot.forest draws")
    table = checked(table, "ef.plot.forest", form.columns)
    is_difference = form.value == "delta"
    if is_difference:
        taken(table, "forest", ["metric", "left", "right"], MAKERS)
    if form.measure is None:
        only(table, "metric", "forest")
    measure = form.measured(table)
    table, keys, base = _keyed(_valued(table, form), form)
    differ, _ = varying(table, keys)
    entry, *others = differ or keys[:1]
    _, same = varying(table, [key for key in keys if key != entry])
    order = _order(table, entry, measure)
    shown = order.head(ROWS)
    rows = table.join(shown, on=entry, nulls_equal=True).sort(_PLACE)
    tied = pl.col("tied_with_best") if "tied_with_best" in rows.columns else pl.lit(value=True)
    rows = rows.with_columns(_coloured(tied, theme.BEST, theme.REST))
    zero = [0.0] if is_difference else []
    axis = f"Difference in {measure.plain}" if is_difference else measure.axis
    parts = panels(rows, others, "forest")
    width = theme.panel_width(width, len(parts))
    look = _Look.of(rows, axis, width, zero)
    charts = [_panel(part, shown[":label"].to_list(), name, look) for name, part in parts]
    point = "difference" if is_difference else "estimate"
    point += "" if base is None else f" from {cut(base)}"
    told = _told(rows, f"Point: {point}", level, measure)
    what = f"Differences in {measure.short}" if is_difference else measure.short
    named = [cut(key) for key in (entry, *others) if key != _ENTRY]
    title = f"{what} by {' and '.join(named)}" if named else what
    told += [*left_out(len(shown), len(order), "rows"), *same]
    side = min(len(charts), 3) * (width + LETTER * 24)
    return theme.finished(theme.side_by_side(charts), title, told, side)


@any_frame
def coverage_simulation(table: Frame, *, level: float = 0.95, width: int = 360) -> Chart:
    """Draw how often intervals held the true value in simulated worlds, beside what they promise.

    A line is the 95% interval (Wilson's) of a share of so many worlds, the Monte Carlo error. It is
    orange if it ends below the level: such intervals are too short, beyond what chance explains in
    one row in forty.

    Args:
        table: Keys, `covered` (in how many worlds the interval held the true value), `trials` (how
            many worlds there were), in this order, one row for each combination of keys. Rows are
            those of the first key, such as the method, in the order of the table; further keys,
            such as the number of clusters, give a panel for each of their values.
        level: The confidence level of the intervals, dashed.
        width: Width of the plot in pixels; panels have three fifths of it.

    Returns:
        The chart.

    Raises:
        MissingColumnsError: The table lacks `covered` or `trials`.
        ParameterError: It has no rows, too many panels, no key, more covered worlds than trials, or
            two rows of equal keys; `level` does not lie between 0 and 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> worlds = pl.DataFrame({"method": ["bca", "basic"], "covered": [475, 440]})
        >>> chart = ef.plot.coverage_simulation(worlds.with_columns(trials=500))
        >>> chart.title.subtitle[1]
        'Orange: 1 of 2 below the level beyond Monte Carlo error'
    """
    check_level(level)
    counted = taken(table, "coverage_simulation", ["covered", "trials"], _MAKER)
    keys = keys_before(counted, "covered")
    if not keys:
        raise ParameterError(
            "ef.plot.coverage_simulation needs a key before 'covered', such as the method of the "
            f"intervals; this table has {counted.columns}"
        )
    wrong = counted.filter(~pl.col("covered").is_between(0, pl.col("trials")))
    if len(wrong):
        row = wrong.select("covered", "trials").row(0)
        raise ParameterError(
            f"ef.plot.coverage_simulation: covered {row[0]} of {row[1]} trials; count worlds, as "
            ".agg(covered=pl.col('held').sum(), trials=pl.len()) does"
        )
    if counted.select(keys).is_duplicated().any():
        raise ParameterError(
            f"ef.plot.coverage_simulation: rows have equal keys {keys}; put what tells them apart "
            "before 'covered'"
        )
    share, trials = pl.col("covered") / pl.col("trials"), pl.col("trials").cast(pl.Float64)
    ends = zip((_X, _LOW, _HIGH), (share, *wilson(share, trials, 0.95)), strict=True)
    counted = figures(counted.with_columns((100 * value).alias(ours) for ours, value in ends))
    entry, *others = keys
    names = counted[entry].unique(maintain_order=True)
    order = pl.DataFrame({entry: names}).with_columns(
        pl.Series(":label", labels(names)), pl.Series(":name", whole(names))
    )
    shown = order.head(ROWS)
    rows = counted.join(shown, on=entry, nulls_equal=True, maintain_order="left")
    below = pl.col(_HIGH) < 100 * level
    rows = rows.with_columns(_coloured(below, theme.WORSE, theme.BEST))
    differ, same = varying(rows, others)
    parts = panels(rows, differ, "coverage_simulation")
    width = theme.panel_width(width, len(parts))
    axis, line = "Simulated coverage (%)", [100 * level]
    look = _Look.of(rows, axis, width, line)
    charts = [_panel(part, shown[":label"].to_list(), name, look) for name, part in parts]
    told = [
        f"Point: share of worlds; line: its 95% Monte Carlo interval; dashed: {100 * level:g}%",
        f"Orange: {(rows[_COLOUR] == theme.WORSE).sum():,} of {len(rows):,} below the level beyond "
        "Monte Carlo error",
        *left_out(len(shown), len(order), "rows"),
        *same,
    ]
    title = (
        f"How often intervals hold the true value, by {' and '.join(map(cut, [entry, *differ]))}"
    )
    side = min(len(charts), 3) * (width + LETTER * 24)
    return theme.finished(theme.side_by_side(charts), title, told, side)


class _Look(NamedTuple):
    """What all panels have in common; `line` is where a dashed line stands."""

    axis: str
    ends: list[float]
    decimals: int
    width: int
    line: list[float]

    @classmethod
    def of(cls, rows: pl.DataFrame, axis: str, width: int, line: list[float]) -> _Look:
        """With an axis and decimals that fit the rows of all panels."""
        ends = limits(rows[_X], rows[_LOW], rows[_HIGH], include=line)
        half = ((rows[_HIGH] - rows[_LOW]) / 2).to_list()
        return cls(axis, ends, digits(half, ends[1] - ends[0]), width, line)


def _coloured(condition: pl.Expr, one: str, other: str) -> pl.Expr:
    """The colour of each row; the other one where the condition is null."""
    return pl.when(condition).then(pl.lit(one)).otherwise(pl.lit(other)).alias(_COLOUR)


def _valued(table: pl.DataFrame, form: Form) -> pl.DataFrame:
    """The table with its estimates and ends as numbers of ours."""
    ends = zip(form.ends(table), (_X, _LOW, _HIGH), strict=True)
    drawn = figures(pl.DataFrame([column.alias(ours) for column, ours in ends]))
    valued = table.with_columns(drawn.get_columns())  # keys stay as they are
    if valued[_X].null_count() == len(valued):
        raise ParameterError(f"ef.plot.forest: every {form.value!r} is null; nothing can be drawn")
    return valued


def _keyed(table: pl.DataFrame, form: Form) -> tuple[pl.DataFrame, list[str], Any]:
    """The table with its keys, that of a row first; and the system that differences are from."""
    keys = form.keys(table)
    if form.value == "delta":
        base = table["left"][0] if table["left"].n_unique() == 1 else None
        pair = pl.format(f"{{}} {MINUS} {{}}", "right", "left") if base is None else pl.col("right")
        entry = table.select(pl.col("left", "right").cast(pl.String).fill_null("null"))
        entry = entry.select(pair.alias(_ENTRY))
        return table.with_columns(entry), [_ENTRY, *keys], base
    if not keys:
        return table.with_columns(pl.lit("all rows").alias(_ENTRY)), [_ENTRY], None
    return table, keys, None


def _order(table: pl.DataFrame, entry: str, measure: Measure) -> pl.DataFrame:
    """Entries with their places and labels, the best on average first."""
    descending = measure.direction != "minimize"
    order = table.group_by(entry).agg(pl.col(_X).mean())
    order = order.sort(_X, entry, descending=[descending, False], nulls_last=True)
    names = order[entry].to_list()
    return (
        order.select(entry)
        .with_columns(pl.Series(":label", labels(names)), pl.Series(":name", whole(names)))
        .with_row_index(_PLACE)
    )


def _panel(rows: pl.DataFrame, order: list[str], name: str, look: _Look) -> Any:
    """One panel: lines, points, and the numbers to the right of it."""
    alt = theme.library()
    ends = zip(rows[_X], rows[_LOW], rows[_HIGH], strict=True)
    drawn = rows.select(
        pl.col(":label", ":name", _X, _LOW, _HIGH, _COLOUR).name.map(
            lambda own: own.removeprefix(":")
        ),
        pl.Series("text", [cell(*each, look.decimals) for each in ends]),
    )
    scale = {"scale": alt.Scale(domain=look.ends, nice=False), "title": look.axis}
    x = alt.X("x:Q", **scale)
    base = alt.Chart(drawn).encode(
        y=alt.Y("label:N", scale=alt.Scale(domain=order), title=None),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("text:N", title="estimate")],
    )
    line = base.mark_rule(strokeWidth=2, strokeCap="round")
    layers = [
        line.encode(x=alt.X("low:Q", **scale), x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x),
        base.mark_text(align="left", dx=12, fontSize=11).encode(
            x=alt.value(look.width), text="text:N", color=alt.value(theme.TEXT)
        ),
    ]
    if look.line:
        line = alt.Chart(pl.DataFrame({"x": look.line}))
        layers.insert(0, line.mark_rule(strokeDash=[4, 3], color=theme.REFERENCE).encode(x=x))
    chart = alt.layer(*layers).properties(width=look.width, height=STEP * len(order))
    return theme.headed(chart, name)


def _told(rows: pl.DataFrame, point: str, level: float | None, measure: Measure) -> list[str]:
    """Lines of the subtitle about points, lines and colours."""
    parts = [point]
    known = rows.filter(pl.col(_LOW).is_not_null() & pl.col(_HIGH).is_not_null())
    if len(known):
        parts.append(f"line: {theme.interval(level)}{_clusters(known)}")
    first = {"minimize": "best", "maximize": "best", "none": "highest"}[measure.direction]
    parts.append(f"{some(rows[_PLACE].n_unique(), 'row')}, {first} first")
    lines = ["; ".join(parts)]
    if "tied_with_best" in rows.columns:
        lines.append("Blue: not told apart from the best")
    lacking = len(rows) - rows[_X].null_count() - len(known)
    if not len(known):
        lines.append("No intervals were computed")
    elif lacking:
        lines.append(f"{lacking:,} without an interval")
    if absent := rows[_X].null_count():
        lines.append(f"{absent:,} without an estimate (—)")
    return lines


def _clusters(rows: pl.DataFrame) -> str:
    """How many clusters the intervals are of, if the table says it."""
    if "n_clusters" not in rows.columns or rows["n_clusters"].null_count() == len(rows):
        return ""
    ends = rows["n_clusters"].drop_nulls().sort()[[0, -1]].unique(maintain_order=True)
    return f" over {' to '.join(f'{end:,}' for end in ends)} clusters"
