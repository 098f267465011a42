"""Ranks that the data allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.estimates import ROWS, STEP
from evalframe.plot.frames import left_out, panels, taken, varying
from evalframe.reporting.names import cut, labels, whole
from evalframe.reporting.results import form_of

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

_MAKERS = "ef.rank, or with resample= of ef.survey.leaderboard or ef.replication.model_scores"
_NEEDED = ("rank", "rank_set_lower", "rank_set_upper", "tied_with_best")


@any_frame
def ranks(board: Frame, *, level: float | None = None, width: int = 320) -> Chart:
    """Draw the rank of each system, and all ranks that it may have as far as the data tell.

    Args:
        board: The result of `ef.rank`, or of `ef.survey.leaderboard` or
            `ef.replication.model_scores` with `resample`. Each group has its panel.
        level: Confidence level of the rank sets, for the caption: the table does not hold it.
        width: Width of the plot in pixels; panels have three fifths of it.

    Returns:
        The chart, of the first 100 systems of each group; its subtitle says if there are more.

    Raises:
        MissingColumnsError: The table has no rank sets.
        ParameterError: The table has no rows, or more groups than a chart can show.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = {"a": [0, 0, 0, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0], "c": [0, 0, 1, 0, 0, 0]}
        >>> items = pl.DataFrame(loss).with_row_index("item")
        >>> items = items.unpivot(index="item", variable_name="model", value_name="loss")
        >>> resample = ef.Bootstrap(cluster="item")
        >>> board = ef.rank(items, ef.selective_risk(), between="model", resample=resample)
        >>> ef.plot.ranks(board).title.subtitle[-1]
        'Blue: 2 of 3 not told apart from the best'
    """
    table = taken(board, "ranks", _NEEDED, _MAKERS)
    form = form_of(table, "ef.plot.ranks draws")
    table, system, by = form.board(table)
    differ, same = varying(table, by)
    parts = panels(table, differ, "ranks")
    width = theme.panel_width(width, len(parts))
    charts = [_panel(part, system, name, width) for name, part in parts]
    tied = table["tied_with_best"].drop_nulls()  # of systems that have a value
    told = [
        f"Point: rank; bar: {theme.interval(level, 'rank set')}, simultaneous over systems",
        f"Blue: {tied.sum():,} of {len(tied):,} not told apart from the best",
    ]
    drawn = sum(min(len(part), ROWS) for _, part in parts)
    told += [*left_out(drawn, len(table), "systems"), *same]
    side = min(len(parts), 3) * (width + 120)
    of = f" by {cut(table['metric'][0])}" if "metric" in table.columns else ""
    title = f"Ranks that the data allow{of}"
    return theme.finished(theme.side_by_side(charts), title, told, side)


def _panel(rows: pl.DataFrame, system: str, name: str, width: int) -> Any:
    """The systems of a group."""
    alt = theme.library()
    most = len(rows)
    rows = rows.sort("rank", system, nulls_last=True).head(ROWS)
    names = rows[system].to_list()
    order = labels(names)
    rank, lower, upper = (pl.col(each) for each in _NEEDED[:3])
    tied = pl.col("tied_with_best").fill_null(value=False)
    drawn = rows.select(
        pl.Series("label", order),
        pl.Series("name", whole(names)),
        rank.alias("x"),
        (lower - 0.35).alias("low"),
        (upper + 0.35).alias("high"),
        pl.format("{} to {}", lower, upper).alias("ranks"),
        colour=pl.when(tied).then(pl.lit(theme.BEST)).otherwise(pl.lit(theme.REST)),
    )
    scale = {
        "scale": alt.Scale(domain=[0.5, most + 0.5], nice=False),
        "axis": alt.Axis(title="Rank (1 is best)", tickMinStep=1, format="d"),
    }
    base = alt.Chart(drawn).encode(
        y=alt.Y("label:N", scale=alt.Scale(domain=order), title=None),
        color=alt.Color("colour:N", scale=None),
        tooltip=[
            alt.Tooltip("name:N"),
            alt.Tooltip("x:Q", title="rank"),
            alt.Tooltip("ranks:N", title="possible ranks"),
        ],
    )
    bar = base.mark_bar(height=11, opacity=0.35, cornerRadius=5)
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=alt.X("x:Q", **scale))
    chart = alt.layer(bar.encode(x=alt.X("low:Q", **scale), x2="high:Q"), point)
    chart = chart.properties(width=width, height=STEP * len(order))
    return theme.headed(chart, name)
