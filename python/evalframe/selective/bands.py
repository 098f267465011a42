"""Bands of risk-coverage curves and reliability tables, from joint draws of clusters.

Two kinds. An interval holds at one point: of intervals of 0.95 around a curve, some miss the true
curve somewhere in far more than 0.05 of all worlds. A band holds for all points at once: it is the
curve plus and minus q standard errors, where q is a quantile of the largest deviation of a
replicate, in its standard errors, over all points (max-t), wider for few clusters. Where hardly
anything is accepted, or nothing that has a loss, replicates hardly vary while the truth may lie far
away: bands start where enough is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ParameterError
from evalframe.core.state import LEVEL, First, State, before, own, ratio, total
from evalframe.core.state import at as until
from evalframe.core.states import CLUSTER, States
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.evaluation import clustered
from evalframe.resample.contraction import GROUP
from evalframe.resample.methods import Bootstrap, Method
from evalframe.resample.pools import BOARD, Boards, pools
from evalframe.resample.uncertainty import Estimated, estimated, number_groups
from evalframe.selective.areas import aurc
from evalframe.selective.conventions import TINY, Items, check_none, counted, is_negative
from evalframe.standard.summaries import mean

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints

STEPS = 50
"""Coverages at which the bands of a curve are computed, from 0 to 1 without 0."""

ITEMS, CLUSTERS = 10, 5
"""Items, and clusters with some loss, that must be accepted for a band."""

IN_BIN = 5
"""Items that a bin must have for a band."""

BANDS = ("lower", "upper", "band_lower", "band_upper")
WITH_BANDS = (
    *("coverage", "selective_risk", "generalized_risk", "threshold"),
    *(*BANDS, "n_clusters"),
)
"""Columns of a curve with bands, after the group keys."""

_SCHEMA = {
    GROUP: pl.UInt32,
    **dict.fromkeys(("coverage", "selective_risk", *BANDS), pl.Float64),
    "n_clusters": pl.Int64,
}

_VARIES = 1e-12
"""Standard errors of at most this are 0 but for rounding."""


def _risk_near(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None, coverage: float
) -> State:
    """Selective risk at a coverage, linear in accepted items and in their loss within a plateau.

    If fewer items are predicted, this is the risk of all of them.
    """
    items = Items(loss, confidence, weight)
    wanted = coverage * total.items
    part = (wanted - before.mass) / (own.mass + TINY)
    risk = (before.loss + part * own.loss) / wanted
    state = items.state(
        items.axis(firsts={"risk": First(until.mass, wanted, risk)}),
        finish=lambda t: pl.coalesce(t.risk.fill_nan(None), ratio(t.loss, t.mass)),
    )
    negative = {"negative": counted(is_negative(loss), weight)}
    return replace(state, left_out={**state.left_out, **negative})


_RISK_NEAR = replace(aurc.metric, name="rc_curve", define=_risk_near, params={}, checked=set())


def joint(caller: str, method: Method) -> Bootstrap:
    """The method; ParameterError unless it draws clusters jointly for all points."""
    if not isinstance(method, Bootstrap):
        raise ParameterError(
            f"{caller}: bands are of joint draws; use ef.Bootstrap(cluster=...), got {method!r}"
        )
    return method


def curve_with_bands(
    frame: Frame,
    roles: Sequence[IntoExpr],
    weight: IntoExpr | None,
    keys: tables.Keys,
    method: Bootstrap,
) -> pl.DataFrame:
    """The curve at `STEPS` coverages and at its end, with `BANDS`; keys have internal names."""
    lazy, cluster = clustered(tables.lazy(frame), method)
    steps = np.arange(1, STEPS + 1) / STEPS
    metrics = [
        _RISK_NEAR.bind(roles, weight=weight, params={"coverage": float(c)}, name=f"{c}")
        for c in steps
    ]
    tables.check_columns(lazy, metrics[:1], *keys.exprs, cluster)
    states = States.of(lazy, [metric.bound for metric in metrics], keys, cluster).collected()
    groups = states.groups()
    states = number_groups(states, groups)
    check_none(states.tables[0], "negative", "rc_curve")
    plateaus, begins = _plateaus(states.tables[0])
    parts = []
    for pool in pools(method, states) if len(plateaus) else ():
        result = estimated(method, pool)
        first = pool.groups.to_frame(GROUP).join(
            begins, on=GROUP, how="left", maintain_order="left"
        )[":first"]
        enough = steps[:, None] >= first.fill_null(np.inf).to_numpy()
        ends = _bands(method.level, result, enough, pool.free)
        columns = {"selective_risk": result.points, **dict(zip(BANDS, ends, strict=True))}
        parts.append(
            pl.DataFrame(
                {
                    GROUP: np.tile(pool.groups.to_numpy(), STEPS),
                    "coverage": np.repeat(steps, len(pool.groups)),
                    **{name: values.ravel() for name, values in columns.items()},
                    "n_clusters": np.tile(pool.counts, STEPS),
                }
            )
        )
    rows = pl.concat(parts) if parts else pl.DataFrame(schema=_SCHEMA)
    keyed = _placed(rows, plateaus).join(groups.with_row_index(GROUP), on=GROUP)
    return keyed.select(*keys.inner, *WITH_BANDS).sort(*keys.inner, "coverage")


def _plateaus(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Coverage and threshold of plateaus by group, and from where on (`:first`) bands are drawn."""
    items = table.group_by(GROUP).agg(pl.col("items").sum())
    predicted = table.filter(pl.col(LEVEL).is_not_null() & (pl.col("mass") > 0))
    plateaus = (
        predicted.group_by(GROUP, LEVEL)
        .agg(pl.col("mass").sum())
        .join(items, on=GROUP)
        .sort(GROUP, LEVEL, descending=[False, True])
        .select(
            GROUP,
            pl.col(LEVEL).alias("threshold"),
            (pl.col("mass").cum_sum().over(GROUP) / pl.col("items")).alias("coverage"),
        )
    )
    losing = predicted.filter(pl.col("loss") > 0)
    entered = losing.group_by(GROUP, CLUSTER).agg(pl.col(LEVEL).max().alias("threshold"))
    begins = (
        entered.join(plateaus, on=[GROUP, "threshold"])
        .group_by(GROUP)
        .agg(pl.col("coverage").bottom_k(CLUSTERS).max().alias(":entered"), pl.len())
        .filter(pl.col("len") >= CLUSTERS)
        .join(items, on=GROUP)
    )
    first = pl.max_horizontal(":entered", ITEMS / pl.col("items"))
    return plateaus, begins.select(GROUP, first.alias(":first"))


def _placed(rows: pl.DataFrame, plateaus: pl.DataFrame) -> pl.DataFrame:
    """Rows up to the end of each curve, the last one at its end, with thresholds."""
    ends = plateaus.group_by(GROUP).agg(pl.col("coverage").max().alias(":end"))
    at, end = pl.col("coverage"), pl.col(":end")
    placed = rows.join(ends, on=GROUP).filter((at < end * (1 - 1e-12)) | (at == 1.0))
    placed = placed.with_columns(pl.when(at == 1.0).then(end).otherwise(at).alias("coverage"))
    reached = plateaus.sort("coverage")
    placed = placed.sort("coverage").join_asof(
        reached, on="coverage", by=GROUP, strategy="forward", check_sortedness=False
    )
    risk = pl.col("selective_risk") * pl.col("coverage")
    return placed.with_columns(risk.alias("generalized_risk")).drop(":end").fill_nan(None)


def bins_with_bands(
    states: States[pl.LazyFrame], bins: pl.DataFrame, method: Bootstrap
) -> pl.DataFrame:
    """Bands of the accuracies of bins: keys under internal names, `bin`, the ends of its band.

    Args:
        states: Of the reliability table, by cluster.
        bins: The bin of each level: keys, level and `bin`.
        method: The bootstrap.
    """
    # Each bin is a group of its own, and those of one diagram are a board, which draws jointly.
    keys = states.keys.inner
    levels = states.collected().tables[0].filter(pl.col(LEVEL).is_not_null(), pl.col("mass") > 0)
    rows = (
        levels.join(bins, on=[*keys, LEVEL], nulls_equal=True)
        .group_by(*keys, "bin", CLUSTER)
        .agg(pl.col("mass", "correct").sum())
        .with_columns(share=pl.col("correct") / pl.col("mass"))
    )
    if rows.is_empty():
        return rows.select(*keys, "bin", *(pl.col("share").alias(end) for end in BANDS[2:]))
    by = tables.Keys((*keys, "bin"), tuple(map(pl.col, (*keys, "bin"))))
    share = mean("share", weight="mass").bound
    by_bin = States.of(rows.lazy(), [share], by, pl.col(CLUSTER)).collected()
    groups = by_bin.groups()
    diagram = pl.struct(by.inner[:-1]).rank("dense") if keys else pl.repeat(1, pl.len())
    boards = groups.select(diagram.cast(pl.Int64).alias(BOARD))[BOARD]
    mass = (
        groups.rename(by.restore())
        .join(
            rows.group_by(*keys, "bin").agg(pl.col("mass").sum()),
            on=[*keys, "bin"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )["mass"]
        .to_numpy()
    )
    parts = []
    for pool in pools(method, number_groups(by_bin, groups), Boards(boards)):
        here = pool.groups.to_numpy()
        result = estimated(method, pool)
        assert result.drawn is not None
        _, board, sizes = np.unique(boards[pool.groups], return_inverse=True, return_counts=True)
        place = np.arange(len(here)) - np.concatenate([[0], np.cumsum(sizes)])[board]
        shape = (sizes.max(), len(sizes))
        points, enough = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
        drawn = np.full((shape[0], result.drawn.shape[1], shape[1]), np.nan)
        points[place, board], enough[place, board] = _angle(result.points[0]), mass[here] >= IN_BIN
        drawn[place, :, board] = _angle(result.drawn[0].T)
        lower, upper = (
            np.sin(end[place, board].clip(0.0, np.pi / 2)) ** 2
            for end in simultaneous(points, drawn, method.level, enough)
        )
        parts.append(groups[pool.groups].with_columns(band_lower=lower, band_upper=upper))
    return pl.concat(parts).rename(by.restore()).fill_nan(None)


def _angle(share: Floats) -> Floats:
    """A share on a scale on which its standard error does not depend on it (arc sine)."""
    # With few right or few wrong answers replicates of the share itself hardly vary: bands of all
    # bins held in 0.83 to 0.86 of simulated worlds, on this scale in 0.97 to 0.99.
    angle: Floats = np.arcsin(np.sqrt(share.clip(0.0, 1.0)))
    return angle


def _bands(
    level: float, result: Estimated, enough: Bools, sizes: tuple[Ints, Ints]
) -> tuple[Floats, ...]:
    """The `BANDS` of risks; none is inside the interval, which follows the skew of replicates."""
    assert result.drawn is not None
    lower, upper = simultaneous(result.points, result.drawn, level, enough, sizes)
    known = np.where(np.isnan(lower), np.nan, 0.0)
    low, high = result.spread.lower + known, result.spread.upper + known
    return low, high, np.fmin(lower, low).clip(0.0), np.fmax(upper, high)


def simultaneous(
    points: Floats,
    drawn: Floats,
    level: float,
    enough: Bools,
    sizes: tuple[Ints, Ints] | None = None,
) -> tuple[Floats, Floats]:
    """Ends of the bands of several groups, points by groups; NaN where nothing varies.

    Args:
        points: Estimates, points by groups.
        drawn: Their replicates, points by replicates by groups; NaN is none.
        level: The chance that a band holds at all points at once.
        enough: Where there is enough for a band, points by groups.
        sizes: Clusters and strata of the groups, by which bands are wider, as expanded intervals
            are; None is many clusters.
    """
    from scipy.special import ndtr, stdtrit

    away = drawn - points[:, None]
    known = ~np.isnan(away)
    count = known.sum(axis=1)
    mean = np.nansum(away, axis=1) / np.maximum(count, 1)
    squares = np.where(known, away - mean[:, None], 0.0) ** 2
    error = np.sqrt(squares.sum(axis=1) / np.maximum(count - 1, 1))
    error[~enough | (count < 2) | ~(error > _VARIES)] = np.nan
    with np.errstate(invalid="ignore"):  # of points without a band
        largest = np.nan_to_num(np.abs(away) / error[:, None]).max(axis=0)
    place = int(np.ceil(level * len(largest))) - 1
    times = np.sort(largest, axis=0)[place]
    if sizes is not None:
        clusters, strata = sizes
        free = np.maximum(clusters - strata, 1)
        tail = np.maximum(ndtr(-times), 1e-9)
        times = -stdtrit(free, tail) * np.sqrt((free + strata) / free)
    return points - times * error, points + times * error
