"""Mean, total, quantile, spread and deviation of a number; shares, and tries that succeed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricExpr, metric
from evalframe.core.per import per
from evalframe.core.state import TOTAL, Axis, First, State, Totals, View, at, level, own, ratio
from evalframe.core.state import total as sum_of
from evalframe.core.typing import IntoExpr, Role

_ANY = (float("-inf"), float("inf"))
_SIZE = (0.0, float("inf"))
_SHARE = (0.0, 1.0)
_ROUNDING = 1e-12


@metric(family="standard", direction="none", range=_ANY)
def mean(value: Role = "value", *, weight: Role = None, missing: float | None = None) -> State:
    """Weighted mean of a number.

    Args:
        value: Any number; null or NaN is left out and counted as missing, unless `missing` is set.
        missing: A number that stands for missing ones.

    Returns:
        Null if there is no value.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = pl.DataFrame({"score": [1.0, 0.5, None]})
        >>> scores.select(ef.mean("score"), ef.mean("score", missing=0).alias("filled")).row(0)
        (0.75, 0.5)
    """
    filled = value if missing is None else value.fill_nan(None).fill_null(float(missing))
    return State(
        sums={"mass": weight, "value": weight * filled},
        finish=lambda t: ratio(t.value, t.mass),
        # True for every row, and a column: a literal would be one row, whatever the table has.
        valid=None if missing is None else value.is_null().is_not_null(),
    )


@metric(family="standard", direction="none", range=_ANY, name="total")
def _total(value: Role = "value", *, weight: Role = None) -> State:
    """Weighted sum of a number.

    Returns:
        0.0 over no row of a group; null if a metric over units has no unit.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"cost": [1.0, 0.5, None]}).select(ef.total("cost")).item()
        1.5
    """
    return State(sums={"value": weight * value}, finish=lambda t: t.value)


class _TotalOrView(View):
    """The metric `total` when it is called; as `total.x` the view of a sum, for terms of an axis.

    Both are the sum over a group: of a column of rows, and of a sum that a metric names.
    """

    metric = _total.metric
    preset = _total.preset
    output_name = _total.output_name
    __doc__ = _total.__doc__

    def __call__(self, value: IntoExpr = "value", *, weight: IntoExpr | None = None) -> MetricExpr:
        return _total(value, weight=weight)


total = _TotalOrView(TOTAL)


@metric(family="standard", direction="none", range=_SIZE)
def spread(value: Role = "value", *, weight: Role = None) -> State:
    """Largest number less the smallest one.

    Extremes of noisy numbers are too far apart, and more so in replicates: 8 equal segments of 40
    people have a spread of 0, an estimate of 0.44 and replicates around 0.62. Read it next to its
    value under chance.

    Returns:
        Null if there is no value.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"score": [0.5, 0.75, 0.25]}).select(ef.spread("score")).item()
        0.5
    """
    return State(axes=(_extremes(value, weight, {}),), finish=lambda t: t.highest + t.depth)


@metric(family="standard", direction="none", range=_SIZE)
def deviation(value: Role = "value", *, weight: Role = None) -> State:
    """Population standard deviation of a number, 0 if all are equal.

    Returns:
        Null if there is no value.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"score": [0.5, 0.75, 0.25, 0.5]}).select(ef.deviation("score")).item()
        0.1767766952966369
    """
    mean = sum_of.value / sum_of.mass
    terms = {"squares": own.mass * (level - mean) ** 2}
    return State(
        axes=(_extremes(value, weight, terms),),
        # About the mean, and not from raw squares: equal numbers must give exactly 0.
        finish=lambda t: (
            pl.when(t.highest + t.depth > 0)
            .then((t.squares / t.mass).sqrt())
            .when(t.mass > 0)
            .then(0.0)
        ),
    )


@metric(family="standard", direction="none", range=_ANY, label="quantile_{q}")
def quantile(value: Role = "value", *, weight: Role = None, q: float = 0.5) -> State:
    """Smallest number that a share q of all rows do not exceed; by default the lower median.

    It is always one of the numbers: nothing is interpolated, so that weights and shards are exact.

    Args:
        value: Any number.
        q: Share of the rows, in [0, 1]: 0 is the smallest number, 1 the largest.

    Returns:
        Null if there is no value.

    Raises:
        ParameterError: q lies outside [0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> times = pl.DataFrame({"seconds": [1.0, 2.0, 4.0, 30.0]})
        >>> times.select(ef.quantile("seconds"), ef.quantile("seconds", q=0.9)).row(0)
        (2.0, 30.0)
    """
    if isinstance(q, bool) or not 0 <= q <= 1:
        raise ParameterError(f"q, the share of a quantile, must lie in [0, 1], got {q!r}")
    # Some weight must be reached even for q = 0, since a replicate can lack the smallest number.
    bound = sum_of.mass * max(q - _ROUNDING, _ROUNDING)
    first = First(rising=at.mass, bound=bound, value=level)
    axis = Axis(level=value, sums={"mass": weight}, firsts={"value": first})
    return State(axes=(axis,), finish=lambda t: pl.when(t.mass > 0).then(t.value))


@metric(family="standard", direction="none", range=_ANY)
def mean_at_highest(
    value: Role = "value", height: Role = "height", *, weight: Role = None
) -> State:
    """Weighted mean of a number over the rows in which another one is highest.

    Args:
        value: Any number.
        height: The number that is to be highest.

    Returns:
        Null if there is no row.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> runs = pl.DataFrame({"score": [0.5, 0.75, 0.25], "step": [100, 300, 200]})
        >>> runs.select(ef.mean_at_highest("score", "step")).item()
        0.75
    """
    first = First(rising=at.mass, bound=sum_of.mass * _ROUNDING, value=own.value / own.mass)
    sums = {"mass": weight, "value": weight * value}
    axis = Axis(level=height, sums=sums, firsts={"there": first}, descending=True)
    return State(axes=(axis,), finish=lambda t: pl.when(t.mass > 0).then(t.there))


@metric(family="standard", direction="none", range=_ANY)
def mode(value: Role = "value", *, weight: Role = None) -> MetricExpr:
    """Most common number; of several that are equally common their mean.

    Its units are the different numbers. It is meant for numbers that repeat, such as votes.

    Returns:
        Null if there is no value.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> votes = pl.DataFrame({"vote": [1, 0, 1, None]})
        >>> votes.select(ef.mode("vote")).item()
        1.0
    """
    name = value.meta.output_name()
    counted = _total(value.is_not_null().cast(pl.Float64), weight=weight)
    # Weights by times change no mean of equally common numbers, and leave out what has no weight.
    then = mean_at_highest(name, "times")
    return per(value, times=counted, then=then, weight=counted, fixed=True)


@metric(family="standard", direction="none", range=_SHARE)
def share(condition: Role = "condition", *, weight: Role = None) -> State:
    """Weighted share of the rows in which a condition holds.

    Args:
        condition: True or 1 where it holds, False or 0 where not; else the row is missing.

    Returns:
        Null if there is no row.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"tokens": [10, 2000, 50, None]})
        >>> answers.select(ef.share(pl.col("tokens") > 1000)).item()
        0.3333333333333333
    """
    return State(
        sums={"rows": weight, "held": weight * condition},
        finish=lambda t: ratio(t.held, t.rows),
        valid=condition.is_in([0.0, 1.0]).fill_null(False),
    )


@metric(family="standard", direction="maximize", range=_SHARE, label="pass_at_{k}")
def pass_at(correct: Role = "correct", *, weight: Role = None, k: int = 1) -> State:
    """Probability that one of k tries, drawn without replacement from all, is correct.

    A metric of one problem: over problems take `ef.per("problem", ef.pass_at(k=5))`. Pooled over
    problems it answers another question.

    Args:
        correct: True or 1 if a try is correct; null is missing.
        k: Number of tries, at least 1.

    Returns:
        1 - (n - c)! (n - k)! / ((n - c - k)! n!) for c correct ones of n tries. Null if n < k.

    Raises:
        ParameterError: k is not a whole number from 1.

    References:
        Chen et al. (2021), Evaluating large language models trained on code, equation 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tries = pl.DataFrame({"correct": [True, False, False, False]})
        >>> tries.select(ef.pass_at(k=2)).item()
        0.5
    """
    _check_tries(k)

    def finish(t: Totals) -> pl.Expr:
        wrong = [(t.tries - t.correct - i).clip(0.0) / (t.tries - i) for i in range(k)]
        return pl.when(t.tries >= k).then(1.0 - math.prod(wrong[1:], start=wrong[0]))

    return State(sums={"tries": weight, "correct": weight * correct}, finish=finish)


@metric(family="standard", direction="maximize", range=_SHARE, label="at_least_{k}")
def at_least(correct: Role = "correct", *, weight: Role = None, k: int = 1) -> State:
    """1 if at least k tries are correct, else 0.

    A metric of one problem, as `pass_at` is.

    Args:
        correct: True or 1 if a try is correct; null is missing.
        k: Number of tries, at least 1.

    Returns:
        Null if there is no try.

    Raises:
        ParameterError: k is not a whole number from 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tries = pl.DataFrame({"problem": [*"aaabbb"], "correct": [1, 1, 0, 0, 1, 0]})
        >>> tries.select(ef.per("problem", ef.at_least(k=2))).item()
        0.5
    """
    _check_tries(k)
    return State(
        sums={"tries": weight, "correct": weight * correct},
        finish=lambda t: pl.when(t.tries > 0).then(
            (t.correct >= k * (1 - _ROUNDING)).cast(pl.Float64)
        ),
    )


def _check_tries(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k, the number of tries, must be a whole number from 1, got {k!r}")


def _extremes(value: pl.Expr, weight: pl.Expr, terms: Mapping[str, pl.Expr]) -> Axis:
    """An axis over the numbers, of which those of some weight have a largest and a smallest."""
    return Axis(
        level=value,
        sums={"mass": weight, "value": weight * value},
        terms=terms,
        maxima={
            "highest": pl.when(own.mass > 0).then(level),
            "depth": pl.when(own.mass > 0).then(-level),
        },
    )
