"""Methods of uncertainty: bootstrap, jackknife, linearised errors; and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeAlias

from evalframe.core.choices import check_choice, check_level
from evalframe.core.errors import Argument, ParameterError

if TYPE_CHECKING:  # the command line reads this module without polars
    import polars as pl

    from evalframe.core.progress import Progress
    from evalframe.core.typing import IntoExpr

# The names of `intervals.INTERVALS`, for type checkers and without loading it.
Interval: TypeAlias = Literal["percentile", "basic", "normal", "bca", "expanded", "expanded_bca"]
Draws: TypeAlias = Literal["reference", "counter", "poisson"]


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """Resample whole clusters with replacement.

    Draws are shared by all metrics and by all groups with the same number of clusters, so groups
    with the same clusters are resampled equally. Clusters are numbered in the order of their ids.
    Replicates in which a metric is undefined are dropped; `drop_rate` is their share. The standard
    error is that of the replicates.

    On an engine, Poisson draws are added up by each shard: some 15 ns for each of its clusters and
    replicates, 1 ns for each sum of a cluster, group and level and each replicate; then as many
    numbers travel as there are groups x levels x replicates. Other draws number the clusters of a
    group, so that its sums by cluster travel to one process, which takes as long as without an
    engine and needs memory for them. Poisson draws go the way that moves fewer bytes, which a
    terminal shows; with nearly unique levels, with metrics over units that are drawn whole, and
    with `bca` that is the second one.

    Attributes:
        cluster: What is drawn: participants, questions, studies; a column or an expression. None
            takes every row as a cluster, which is right for independent rows only.
        within: Strata: clusters are drawn separately within each, such as findings within their
            study. Each stratum keeps its number of clusters, so a lone cluster is always drawn, and
            replicates of a few vary too little, which only expanded intervals make up for. Equal
            ids in two strata are two clusters. Groups with as many clusters in a stratum see the
            same draws of it.
        n: Number of replicates, 1 or more.
        seed: Of the random draws, in [0, 2**32): the same seed gives the same draws.
        interval: From the replicates to an interval. With few clusters most are too short: with 30
            simulated clusters, intervals of 0.95 contained the true area under a risk-coverage
            curve, which is skewed, and the true mean of a score in these shares of all worlds
            (`python -m benchmarks truth` has all families, and 300 clusters).

            `expanded_bca`, 0.95 and 0.95: the best calibrated, and the default. The outer ends of
            `expanded` and of percentiles that are bias-corrected by at most half a standard error,
            accelerated by a jackknife, and widened likewise. For differences it becomes
            `expanded`, since a correction there is mostly noise.
            `expanded`, 0.93 and 0.94: percentiles, wider by the ratio of Student's t to the normal
            distribution, with the clusters less the strata (one if there are none) for degrees of
            freedom; by Student's t where no replicate lies so far out, as with three clusters.
            `percentile`, 0.91 and 0.93: quantiles of the replicates, as in published results of
            selective prediction.
            `basic`, 0.89 and 0.92: percentiles reflected at the estimate, cut off at the range that
            the metric declares.
            `normal`, 0.91 and 0.92: estimate plus and minus standard errors, cut off likewise.
            `bca`, 0.93 and 0.93: bias-corrected and accelerated, by leaving out each cluster.

            No method corrects the bias of a calibration error in bins: with 30 clusters
            `percentile` contained the true value in 0.63, `expanded_bca` in 0.89 of all worlds. Of
            a calibrated system, whose true error is 0, `expanded_bca` contained it in none of 300
            worlds of 100 clusters, `Jackknife` in 0.18.
            No method sees what did not happen: with 30 clusters, intervals of the share of an event
            of 0.05 contained it in 0.76, with 8 clusters in 0.29; they have no width where nothing
            happens. Of lognormal clusters `expanded_bca` contained the mean in 0.90 with 30 and in
            0.85 with 8.
        level: Nominal coverage of the interval, in (0, 1).
        draws: `reference`: numpy's legacy Mersenne Twister, which reproduces published `percentile`
            intervals of selective prediction digit for digit. `counter`: each draw is a hash of
            seed, replicate and slot, independent of chunks and order. `poisson`: Poisson(1)
            weights, each a hash of seed, replicate and cluster id, also independent of the other
            clusters, hence for shards that are resampled separately. Ids are integers or text. The
            number of clusters varies, too, so that errors of counts and totals are those of a
            sample whose size is random: of 50 clusters of 5 +- 1, the error of the total is 35, by
            other draws 7.
        progress: Called with the numbers of finished and of all replicates, those without some
            clusters included; by default long runs show a bar in a terminal or a notebook.

    Raises:
        ParameterError: A value lies outside its domain.

    References:
        Efron (1987), Better bootstrap confidence intervals; Hesterberg (2015), What teachers should
        know about the bootstrap, of the expansion.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = [0.2, 0.4, 0.9, 0.5, 0.1, 0.3, 0.6, 0.7]
        >>> scores = pl.DataFrame({"user": [*"aabcdeff"], "loss": loss})
        >>> method = ef.Bootstrap(cluster="user", n=200)
        >>> found = ef.evaluate(scores, ef.selective_risk(), resample=method)
        >>> found.select(pl.col("estimate", "std_error", "lower", "upper").round(3)).row(0)
        (0.462, 0.104, 0.17, 0.755)
    """

    cluster: IntoExpr | None = None
    n: int = 1000
    seed: int = 42
    interval: Interval = "expanded_bca"
    level: float = 0.95
    draws: Draws = "reference"
    within: IntoExpr | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, SupportsIndex) or self.n < 1:
            raise ParameterError(
                f"n, the number of replicates, must be a whole number of at least 1, got {self.n!r}"
            )
        if not isinstance(self.seed, SupportsIndex) or not 0 <= self.seed < 2**32:
            raise ParameterError(f"seed must lie in [0, 2**32), got {self.seed!r}")
        check_choice("interval", self.interval, Interval)
        check_choice("draws", self.draws, Draws)
        check_level(self.level)
        _check_within(self.within, self.cluster)

    @property
    def of_differences(self) -> Bootstrap:
        """The same, with the interval for differences: `expanded` instead of `expanded_bca`."""
        from evalframe.resample.intervals import INTERVALS

        interval = INTERVALS[self.interval].for_differences
        return self if interval is None else replace(self, interval=interval)


@dataclass(frozen=True, kw_only=True)
class Jackknife:
    """Leave out one cluster at a time.

    The best of the methods without draws where few clusters have most of the rows: intervals of
    0.95 of a mean held in 0.86 to 0.92 of simulated worlds in which one cluster of 3 to 30 had 90%
    of the rows. Not for metrics that jump when a row is left out, such as `coverage_at_risk`: in
    0.85 with 100 clusters; there use the bootstrap.

    Attributes:
        cluster: What is left out; a column or an expression. None takes every row as a cluster.
        within: Strata, such as tasks: each has its own mean of estimates, and what they add up to
            has no error from small strata; a stratum of one cluster adds nothing.
        level: Nominal coverage of the interval, in (0, 1): standard errors times a quantile of
            Student's t with the clusters less the strata (one if there are none) for degrees of
            freedom, cut off at the range that the metric declares.
        progress: Called with the numbers of finished and of all replicates.

    Raises:
        ParameterError: `level` is not in (0, 1), or there are strata without a cluster.

    References:
        Efron and Stein (1981), The jackknife estimate of variance.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = [0.2, 0.4, 0.9, 0.5, 0.1, 0.3, 0.6, 0.7]
        >>> scores = pl.DataFrame({"user": [*"aabcdeff"], "loss": loss})
        >>> method = ef.Jackknife(cluster="user")
        >>> found = ef.evaluate(scores, ef.selective_risk(), resample=method)
        >>> found.select(pl.col("estimate", "std_error", "lower", "upper").round(3)).row(0)
        (0.462, 0.108, 0.185, 0.74)
    """

    cluster: IntoExpr | None = None
    level: float = 0.95
    within: IntoExpr | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        _check_within(self.within, self.cluster)


@dataclass(frozen=True, kw_only=True)
class Linearized:
    """Standard errors without resampling: the metric's derivative by each cluster's weight.

    For a mean this is the cluster-robust (sandwich) standard error, with the usual factor
    P / (P - 1) for P clusters; without a cluster, the naive one of independent rows. Derivatives of
    a count are taken about their mean. Null if the metric jumps, as `risk_at` does at a coverage
    that is just reached: use the bootstrap, also for `coverage_at_risk`, whose derivative at a
    fixed threshold is too small: intervals of 0.95 held in 0.35 of simulated worlds.

    Clusters should weigh alike. Where one of 30 had 90% of the rows, intervals of 0.95 of a mean
    held in 0.06 of simulated worlds (by `Jackknife` 0.92, by the bootstrap 0.95), and in 0.90 where
    sizes were lognormal.

    One pass over the sums serves all clusters; metrics of a convex hull and of bins of equal mass
    are computed anew for each, which takes long if both clusters and levels are many.

    Attributes:
        cluster: What is independent; None takes every row as a cluster.
        within: Strata, as for `Jackknife`.
        level: Nominal coverage of the interval, in (0, 1): standard errors times a quantile of
            Student's t with the clusters less the strata (one if there are none) for degrees of
            freedom, cut off at the range that the metric declares.
        progress: Called with the numbers of finished and of all replicates.

    Raises:
        ParameterError: As for `Jackknife`.

    References:
        Liang and Zeger (1986), Longitudinal data analysis using generalized linear models.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = [0.2, 0.4, 0.9, 0.5, 0.1, 0.3, 0.6, 0.7]
        >>> scores = pl.DataFrame({"user": [*"aabcdeff"], "loss": loss})
        >>> method = ef.Linearized(cluster="user")
        >>> found = ef.evaluate(scores, ef.selective_risk(), resample=method)
        >>> found.select(pl.col("estimate", "std_error", "lower", "upper").round(3)).row(0)
        (0.462, 0.106, 0.191, 0.734)
    """

    cluster: IntoExpr | None = None
    level: float = 0.95
    within: IntoExpr | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        _check_within(self.within, self.cluster)


Method: TypeAlias = Bootstrap | Jackknife | Linearized


def _check_within(within: IntoExpr | None, cluster: IntoExpr | None) -> None:
    if within is not None and cluster is None:
        raise ParameterError("within says where clusters are drawn; name the cluster, too")


def check_known(clusters: pl.Series) -> None:
    """Raise ParameterError if the id of a cluster, or a field of it, is null or NaN."""
    if _some_unknown(clusters):
        raise ParameterError(
            "the cluster column has null or NaN ids, and a row without a cluster cannot be "
            "resampled; fill them in or filter those rows"
        )


def check_enough(sizes: pl.Series, clusters: pl.Series) -> None:
    """Raise ParameterError if no group has two clusters; `sizes` are numbers of clusters."""
    if sizes.to_numpy().max(initial=0) < 2:
        first = f" (first id: {clusters[0]!r})" if len(clusters) else ""
        raise ParameterError(
            "the resampling needs at least two clusters in a group, or on each side of a pair, and "
            f"none has two{first}; name a finer column by ",
            Argument("cluster"),
            ", or leave out ",
            Argument("resample"),
        )


def _some_unknown(clusters: pl.Series) -> bool:
    import polars as pl

    if isinstance(clusters.dtype, pl.Struct):
        fields = clusters.struct.unnest()
        return clusters.has_nulls() or any(_some_unknown(field) for field in fields)
    return clusters.has_nulls() or bool(clusters.dtype.is_float() and clusters.is_nan().any())
