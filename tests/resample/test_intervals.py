"""Intervals of replicates, against numpy."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from scipy import stats

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.resample import intervals
from evalframe.resample.methods import Interval

RNG = np.random.default_rng(11)
LOSSES = RNG.gamma(2.0, size=30)
PEOPLE = pl.DataFrame({"person": range(30), "loss": LOSSES})


def result(frame, method, metric=ef.selective_risk):
    return ef.evaluate(frame, metric, resample=method).row(0, named=True)


def bootstrap(**options):
    return ef.Bootstrap(
        cluster="person", **{"n": 500, "seed": 3, "interval": "percentile", **options}
    )


def replicate_means(method):
    """Means of the resampled losses, in numpy alone."""
    drawn = np.random.RandomState(method.seed).randint(0, 30, size=(method.n, 30))
    return LOSSES[drawn].mean(axis=1)


def test_percentiles_are_those_of_numpy():
    method = bootstrap(level=0.9)
    means = replicate_means(method)
    found = result(PEOPLE, method)
    assert found["estimate"] == pytest.approx(LOSSES.mean(), rel=1e-14)
    assert found["std_error"] == pytest.approx(means.std(ddof=1), rel=1e-12)
    assert (found["lower"], found["upper"]) == pytest.approx(
        np.quantile(means, [0.05, 0.95]), rel=1e-13
    )
    assert (found["n"], found["n_clusters"], found["drop_rate"]) == (30, 30, 0.0)


@pytest.mark.parametrize(
    ("interval", "name"), [("percentile",) * 2, ("basic",) * 2, ("bca", "BCa")]
)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_are_those_of_scipy(interval, name, level):
    method = bootstrap(interval=interval, level=level)
    means = replicate_means(method)
    ours = stats._resampling.BootstrapResult((0, 0), means, 0.0)
    theirs = stats.bootstrap(
        (LOSSES,),
        np.mean,
        method=name,
        confidence_level=level,
        n_resamples=0,
        bootstrap_result=ours,
    )
    found = result(PEOPLE, method)
    interval = theirs.confidence_interval
    assert (found["lower"], found["upper"]) == pytest.approx(
        (interval.low, interval.high), rel=1e-12
    )
    assert found["std_error"] == pytest.approx(theirs.standard_error, rel=1e-12)


def test_bca_of_a_ratio_by_hand():
    # Clusters of unequal size make the mean a ratio, for which scipy has no plain form.
    frame = pl.DataFrame({"person": [*range(30), *range(10)], "loss": [*LOSSES, *LOSSES[:10] ** 2]})
    sums = np.array([frame.filter(person=p)["loss"].sum() for p in range(30)])
    sizes = np.array([2.0] * 10 + [1.0] * 20)
    method = bootstrap(interval="bca")
    drawn = np.random.RandomState(method.seed).randint(0, 30, size=(method.n, 30))
    made = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    point = sums.sum() / sizes.sum()
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    centred = left_out.mean() - left_out
    a = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    bias = stats.norm.ppf((made < point).mean())
    z = bias + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(made, stats.norm.cdf(bias + z / (1 - a * z)))
    found = result(frame, method)
    assert (found["lower"], found["upper"]) == pytest.approx(expected, rel=1e-12)


def test_normal_intervals_stand_around_the_estimate():
    found = result(PEOPLE, bootstrap(interval="normal", level=0.9))
    half = stats.norm.ppf(0.95) * replicate_means(bootstrap()).std(ddof=1)
    mean = LOSSES.mean()
    assert (found["lower"], found["upper"]) == pytest.approx((mean - half, mean + half), rel=1e-12)


def test_the_jackknife_of_a_mean_is_its_textbook_error():
    found = result(PEOPLE, ef.Jackknife(cluster="person", level=0.9))
    error = LOSSES.std(ddof=1) / math.sqrt(30)
    half = stats.t.ppf(0.95, 29) * error
    assert found["std_error"] == pytest.approx(error, rel=1e-12)
    assert found["upper"] - found["estimate"] == pytest.approx(half, rel=1e-12)


CLUSTERED = pl.DataFrame(
    {
        "person": RNG.integers(0, 12, 100),
        "loss": RNG.gamma(2.0, size=100),
        "confidence": RNG.integers(0, 20, 100) / 20,
        "weight": RNG.integers(0, 4, 100),
    }
)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_linearised_error_is_the_clustered_one_of_a_mean(weight):
    w = np.ones(100) if weight is None else CLUSTERED[weight].to_numpy().astype(float)
    loss, person = CLUSTERED["loss"].to_numpy(), CLUSTERED["person"].to_numpy()
    scores = w * (loss - np.average(loss, weights=w))
    by_person = np.bincount(person, scores)
    error = math.sqrt(12 / 11 * (by_person**2).sum()) / w.sum()
    found = result(CLUSTERED, ef.Linearized(cluster="person"), ef.selective_risk(weight=weight))
    assert found["std_error"] == pytest.approx(error, rel=1e-11)
    assert found["n_clusters"] == 12


def test_without_a_cluster_the_linearised_error_is_the_naive_one():
    found = result(PEOPLE, ef.Linearized())
    error = LOSSES.std(ddof=1) / math.sqrt(30)
    assert found["std_error"] == pytest.approx(error, rel=1e-11)
    half = stats.t.ppf(0.975, 29) * error
    assert found["upper"] - found["estimate"] == pytest.approx(half, rel=1e-11)
    assert found["n_clusters"] == 30


@pytest.mark.parametrize("metric", [ef.aurc(), ef.eaugrc()])
def test_all_errors_of_an_area_are_of_one_size(metric):
    methods = [
        ef.Linearized(cluster="person"),
        ef.Jackknife(cluster="person"),
        *(bootstrap(n=3000, draws=kind) for kind in ("reference", "counter", "poisson")),
    ]
    errors = [result(CLUSTERED, method, metric)["std_error"] for method in methods]
    assert errors == pytest.approx([errors[0]] * 5, rel=0.3)


def test_the_jackknife_leaves_out_the_rows_of_a_cluster():
    metric = ef.aurc()
    left_out = [CLUSTERED.filter(pl.col("person") != p).select(metric).item() for p in range(12)]
    expected = np.std(left_out, ddof=1) * 11 / math.sqrt(12)
    assert result(CLUSTERED, ef.Jackknife(cluster="person"), metric)["std_error"] == pytest.approx(
        expected
    )


# undefined replicates


def spread_of(replicates, point=0.5, **options):
    method = bootstrap(n=len(replicates), **options)
    sample = intervals.Sample(np.array([point]), np.array(replicates)[:, None])
    made = intervals.bootstrap_spread(method, sample)
    return {name: values.item() for name, values in made._asdict().items()}


def test_undefined_replicates_are_dropped():
    found = spread_of([1.0, math.nan, 3.0, 2.0, math.nan])
    assert found["drop_rate"] == pytest.approx(0.4)
    assert found["std_error"] == pytest.approx(1.0)
    assert (found["lower"], found["upper"]) == pytest.approx(np.quantile([1, 2, 3], [0.025, 0.975]))


@pytest.mark.parametrize("replicates", [[math.nan, math.nan], [math.nan, 2.0]])
def test_an_interval_needs_two_replicates(replicates):
    found = spread_of(replicates)
    assert all(math.isnan(found[name]) for name in ("std_error", "lower", "upper"))
    assert found["drop_rate"] == np.isnan(replicates).mean()


def test_a_constant_has_an_interval_of_no_width():
    frame = PEOPLE.with_columns(loss=pl.lit(0.25))
    for interval in get_args(Interval):
        found = result(frame, bootstrap(interval=interval))
        assert (found["std_error"], found["lower"], found["upper"]) == (0.0, 0.25, 0.25), interval


# p-values


def test_p_values_of_a_bootstrap_count_both_sides():
    deltas = np.array([[-1.0, 1.0, 0.0, np.nan], [2.0, 1.0, 0.0, np.nan], [3.0, 1.0, 0.0, np.nan]])
    found = intervals.p_values("percentile", intervals.Sample(np.zeros(4), deltas))
    assert found[:3].tolist() == [1.0, 0.5, 1.0]
    assert math.isnan(found[3])


def test_p_values_of_permutations_count_those_as_far():
    permuted = np.array([[1.0, 0.1], [-2.0, 0.3], [0.5, np.nan]])
    found = intervals.permutation_p_values(permuted, np.array([-1.0, 0.1 + 1e-17]))
    assert found.tolist() == [3 / 4, 1.0]


# what is refused


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (ef.Bootstrap, {"n": 0}, "n, .* must be a whole number of at least 1, got 0"),
        (ef.Bootstrap, {"n": 2.5}, "of at least 1, got 2.5"),
        (ef.Bootstrap, {"seed": 1.5}, r"seed must lie in \[0, 2\*\*32\), got 1.5"),
        (ef.Bootstrap, {"seed": -1}, r"seed must lie in \[0, 2\*\*32\), got -1"),
        (ef.Bootstrap, {"interval": "BCa"}, "interval must be one of .'percentile', 'basic'"),
        (ef.Bootstrap, {"draws": "mt"}, r"draws must be one of .* got 'mt'"),
        (ef.Bootstrap, {"level": 95}, "level must lie between 0 and 1, got 95; usual is 0.95"),
        (ef.Jackknife, {"level": 1.0}, "level must lie between 0 and 1"),
        (ef.Linearized, {"level": 0}, "level must lie between 0 and 1"),
    ],
)
def test_what_no_method_is(method, options, message):
    with pytest.raises(ParameterError, match=message):
        method(cluster="person", **options)


@pytest.mark.parametrize(
    "method", [bootstrap(), ef.Jackknife(cluster="person"), ef.Linearized(cluster="person")]
)
def test_one_cluster_is_too_few(method):
    with pytest.raises(
        ParameterError, match=r"needs at least two clusters.*first id: 7.*finer column by cluster="
    ):
        result(PEOPLE.with_columns(person=pl.lit(7)), method)


@pytest.mark.parametrize("method", [bootstrap(interval="bca"), ef.Jackknife(cluster="person")])
def test_the_jackknife_needs_states(method):
    with pytest.raises(ParameterError, match="need metrics that declare a state; 'loss' does not"):
        result(PEOPLE, method, pl.col("loss").median())


def test_any_expression_can_be_bootstrapped():
    method = bootstrap(n=200)
    drawn = np.random.RandomState(method.seed).randint(0, 30, size=(200, 30))
    medians = np.median(LOSSES[drawn], axis=1)
    found = result(PEOPLE, method, pl.col("loss").median())
    assert (found["lower"], found["upper"]) == pytest.approx(np.quantile(medians, [0.025, 0.975]))


def test_progress_is_told():
    told = []
    result(PEOPLE, bootstrap(progress=lambda done, total: told.append((done, total))))
    assert told[-1] == (500, 500)
    assert told == sorted(told)


def test_a_metric_that_jumps_has_no_linearised_error():
    items = pl.DataFrame(
        {
            "loss": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
            "confidence": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
        }
    )
    metrics = [ef.risk_at(0.5)(), ef.risk_at(0.4)(), ef.aurc()]
    errors = ef.evaluate(items, metrics, resample=ef.Linearized())["std_error"]
    assert [error is None for error in errors] == [True, False, False]


ANSWERS = pl.DataFrame({"person": range(8), "prediction": 1, "label": [1] * 7 + [0]})
CUT = [bootstrap(interval="normal"), bootstrap(interval="basic"), ef.Jackknife(), ef.Linearized()]


@pytest.mark.parametrize("method", CUT)
def test_intervals_keep_to_the_range_of_the_metric(method):
    found = result(ANSWERS, method, ef.accuracy())
    assert found["estimate"] == 0.875
    assert 0.0 < found["lower"] < found["upper"] <= 1.0
    # The same metric under a name that declares no end.
    free = result(ANSWERS.with_columns(loss=pl.col("label")), method)
    if not isinstance(method, ef.Bootstrap) or method.interval == "normal":
        assert found["upper"] == 1.0 < free["upper"]
    assert found["std_error"] == pytest.approx(free["std_error"], rel=1e-12)
    state = ef.partial(ANSWERS, ef.accuracy(), cluster="person")
    named = replace(method, cluster="person")
    assert ef.finish(state, resample=named)["upper"].item() == found["upper"]
    two = pl.concat([ANSWERS.with_columns(system=pl.lit(s), label=pl.lit(s)) for s in (0, 1)])
    if isinstance(method, ef.Bootstrap):
        pairs = ef.compare(two, ef.accuracy(), between="system", resample=named)
        assert pairs.select("lower", "upper").row(0) == (1.0, 1.0)


def test_a_range_that_the_estimate_contradicts_cuts_nothing_off():
    frame = PEOPLE.with_columns(loss=-pl.col("loss"))  # of a risk that is declared as at least 0
    found = result(frame, ef.Jackknife(cluster="person"))
    mirrored = result(PEOPLE, ef.Jackknife(cluster="person"))
    assert (found["lower"], found["upper"]) == pytest.approx(
        (-mirrored["upper"], -mirrored["lower"]), rel=1e-12
    )


@pytest.mark.parametrize("method", [ef.Bootstrap, ef.Jackknife])
def test_without_a_cluster_every_row_is_one(method):
    options = {"n": 100} if method is ef.Bootstrap else {}
    found = result(PEOPLE, method(**options))
    assert found == result(PEOPLE, method(cluster="person", **options))
    assert found["n_clusters"] == 30
    state = ef.partial(PEOPLE, ef.selective_risk(), cluster="person")
    with pytest.raises(ParameterError, match="a state keeps no rows apart"):
        ef.finish(state, resample=method(**options))


def test_strata_are_of_clusters():
    with pytest.raises(ParameterError, match="within says where clusters are drawn; name the clu"):
        ef.Bootstrap(within="side")


@pytest.mark.parametrize("within", [None, "side"])
def test_no_rows_have_no_interval(within):
    rows = pl.DataFrame(schema={"person": pl.Int64, "side": pl.String, "prediction": pl.Int64})
    method = ef.Bootstrap(cluster="person", within=within, n=5)
    found = ef.evaluate(rows, ef.coverage(), resample=method)
    assert found.select("lower", "upper", "n_clusters").rows() == [(None, None, 0)]


def test_an_id_is_known_as_a_whole():
    rows = pl.DataFrame({"set": "a", "id": [1, None, 2], "prediction": [1, None, 1]})
    method = ef.Bootstrap(cluster=pl.struct("set", "id"), n=5)
    with pytest.raises(ParameterError, match="null or NaN ids"):
        ef.evaluate(rows, ef.coverage(), resample=method).collect()


@pytest.mark.parametrize("interval", get_args(Interval))
def test_estimates_may_be_infinite(interval):
    """As thresholds are in infinite confidences. An error is then none, nor what is made of it."""
    ends = [math.inf, math.inf, -math.inf, 0.5]
    rows = pl.DataFrame({"person": range(4), "loss": [0.0, 1.0, 0.0, 1.0], "confidence": ends})
    method = bootstrap(n=40, interval=interval)
    found = result(rows, method, ef.threshold_at_coverage(coverage=0.5))
    assert found["estimate"] == math.inf
    assert found["std_error"] is None
    if interval == "percentile":
        assert (found["lower"], found["upper"]) == (-math.inf, math.inf)
