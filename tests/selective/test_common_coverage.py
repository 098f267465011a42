"""Systems compared over the same range of coverage."""

import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.selective import common_coverage, compare_at_coverage
from evalframe.testing.laws import check_laws

# Declared as a user would, so that the laws can look them up.
AURC, AUGRC, RISK = (
    ef.metric(name=f"_{name}_up_to_bound", direction="minimize", range=(0, float("inf")))(
        metric.define
    )
    for name, metric in common_coverage._METRICS.items()
)
AT = {AURC: ef.aurc_at, AUGRC: ef.augrc_at, RISK: ef.risk_at}
METHOD = ef.Bootstrap(cluster="person", n=60, seed=7)


def items(losses, **more):
    rows = len(losses)
    confidence = [1 - k / rows for k in range(rows)]
    return pl.DataFrame(
        {"loss": losses, "confidence": confidence, **more}, schema_overrides={"loss": pl.Float64}
    )


def up_to(frame, metric, bound):
    return frame.select(metric(bound=pl.lit(bound))).item()


def filled(frame, keys=()):
    """The curve continued with its last risk: abstentions become items of mean loss, least sure."""
    last, mean = pl.col("loss").is_null(), pl.col("loss").mean()
    return frame.with_columns(
        loss=pl.col("loss").fill_null(mean.over(keys) if keys else mean),
        confidence=pl.when(last).then(-1e9).otherwise("confidence"),
    )


EIGHTHS = st.integers(0, 8).map(lambda eighths: eighths / 8)
ROWS = st.lists(
    st.tuples(st.one_of(st.none(), EIGHTHS, EIGHTHS), st.sampled_from([0.1, 0.5, 0.9, 1.0])),
    min_size=1,
    max_size=30,
)
BOUNDS = st.one_of(st.sampled_from([0.1, 0.3, 0.5, 1.0]), st.floats(1e-6, 1.0))


def frame_of(rows):
    return pl.DataFrame(rows, schema={"loss": pl.Float64, "confidence": pl.Float64}, orient="row")


# the metrics up to a bound


def test_beyond_its_end_a_curve_goes_on_with_its_last_risk():
    half = items([1.0, None])
    assert up_to(half, AURC, 0.75) == 0.75
    assert up_to(half, AUGRC, 0.75) == 0.75**2 / 2
    assert up_to(half, RISK, 0.75) == 1.0
    # AURC 0 until 1/4, then the chord to 1/2 at 1/2, then 1/2 until 1.
    curve = items([0.0, 1.0, None, None])
    assert up_to(curve, AURC, 1.0) == 0.0625 + 0.25
    assert up_to(curve, AUGRC, 1.0) == 0.25 * 0.25 / 2 + 0.5 * (0.25 + 0.25 / 2)


@settings(deadline=None, max_examples=12)
@given(ROWS, BOUNDS)
def test_up_to_any_bound_it_is_the_truncated_area_of_the_continued_curve(rows, bound):
    frame = frame_of(rows)
    for metric, at in AT.items():
        expected = filled(frame).select(at(bound)()).item() if frame["loss"].count() else None
        assert up_to(frame, metric, bound) == (expected and pytest.approx(expected, rel=1e-12))


@settings(deadline=None, max_examples=12)
@given(ROWS, BOUNDS, st.sampled_from([1, 3]))
def test_where_the_bound_is_reached_it_is_the_truncated_area_to_the_last_digit(rows, bound, times):
    """Whatever the bound's digits: it is put together from halves whose sums are exact."""
    frame = pl.concat([frame_of(rows)] * times).with_columns(bound=pl.lit(bound))
    if frame.select(ef.coverage("loss")).item() < bound:
        return
    for metric, at in AT.items():
        assert frame.select(metric()).item() == frame.select(at(bound)()).item()


def test_the_bound_of_many_rows_is_exact():
    bound = 1 / 3
    frame = pl.DataFrame({"loss": [1.0, 0.0, 0.0] * 20_000}).with_columns(
        confidence=-pl.col("loss").cum_count().cast(pl.Float64), bound=pl.lit(bound)
    )
    assert frame.select(RISK()).item() == frame.select(ef.risk_at(bound)()).item()
    assert frame.select(AURC()).item() == frame.select(ef.aurc_at(bound)()).item()


@pytest.mark.parametrize("metric", [AURC, AUGRC])
def test_it_is_continuous_where_the_curve_ends(metric):
    curve = items([0.25, 1.0, 0.5, None])
    here = up_to(curve, metric, 0.75)
    for bound in (0.75 - 1e-9, 0.75 + 1e-9):
        assert up_to(curve, metric, bound) == pytest.approx(here, abs=2e-9)
        assert up_to(curve, metric, bound) != here


def test_nothing_to_integrate_is_undefined():
    for metric in AT:
        assert up_to(items([None, None]), metric, 0.5) is None
        assert up_to(items([1.0, None]), metric, 0.0) is None
        assert up_to(items([1.0]), metric, None) is None


def test_laws():
    rng = random.Random(0)
    rows = [
        (
            rng.choice(["a", "a", "b", None]),
            rng.randrange(6),
            rng.choice([None, float("nan"), *(eighths / 8 for eighths in range(9))]),
            rng.choice([0.1, 0.5, 0.9, None]),
        )
        for _ in range(50)
    ]
    names = {"model": pl.String, "person": pl.Int64, "loss": pl.Float64, "confidence": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    bounds = pl.when(model="b").then(0.75).otherwise(0.3)
    check_laws([*AT], frame.with_columns(bound=bounds), by="model", cluster="person")


# the comparison

RNG = np.random.default_rng(8)


def system(name, people, abstains, model="m"):
    people = list(people)
    losses = RNG.integers(0, 9, len(people)) / 8
    return pl.DataFrame(
        {
            "model": model,
            "system": name,
            "person": people,
            "loss": np.where(RNG.random(len(people)) < abstains, np.nan, losses),
            "confidence": RNG.integers(0, 5, len(people)) / 4,
        }
    ).with_columns(pl.col("loss").fill_nan(None))


BOTH = pl.concat([system("bold", [*range(12)] * 4, 0.1), system("careful", [*range(12)] * 4, 0.5)])


def compared(frame=BOTH, **options):
    options = {"between": "system", "resample": METHOD, **options}
    return compare_at_coverage(frame, **options)


def reached(frame):
    return dict(frame.group_by("system").agg(ef.coverage("loss")).rows())


def test_common_coverage_is_the_smallest_that_a_system_reaches():
    percentile = replace(METHOD, interval="percentile")
    found = compared(metrics=["aurc", "augrc", "risk"], resample=percentile)
    assert found["metric"].to_list() == ["aurc_at_common", "augrc_at_common", "risk_at_common"]
    cmax = reached(BOTH)
    assert cmax["careful"] < cmax["bold"]
    assert (
        found.select("coverage_used", "coverage_left", "coverage_right").rows()
        == [(cmax["careful"], cmax["bold"], cmax["careful"])] * 3
    )
    careful = BOTH.filter(system="careful").select(ef.aurc(), ef.augrc(), ef.selective_risk())
    assert found["estimate_right"].to_list() == list(careful.row(0))
    bold, used = BOTH.filter(system="bold"), cmax["careful"]
    at = bold.select(ef.aurc_at(used)(), ef.augrc_at(used)(), ef.risk_at(used)())
    assert found["estimate_left"].to_list() == list(at.row(0))


def test_the_columns_are_those_of_a_comparison_and_three_more():
    plain = ef.compare(BOTH, ef.aurc(), between="system", resample=METHOD)
    assert compared().columns == [
        *plain.collect_schema(),
        "coverage_used",
        "coverage_left",
        "coverage_right",
    ]


def test_a_number_is_used_as_it_is():
    at = [ef.aurc_at(0.25), ef.augrc_at(0.25)]
    found = compared(coverage=0.25)
    plain = ef.compare(BOTH, at, between="system", resample=METHOD)
    assert found["coverage_used"].to_list() == [0.25, 0.25]
    # No replicate falls below a quarter, so that nothing is continued.
    assert_frame_equal(found.select(plain.columns), plain)


def test_every_replicate_covers_the_same_range():
    used = reached(BOTH)["careful"]
    at = [ef.aurc_at(used)(), ef.augrc_at(used)(), ef.risk_at(used)()]
    drawn = np.random.RandomState(7).randint(0, 12, size=(60, 12))
    keys = ["replicate", "system"]
    samples = pl.DataFrame({"replicate": np.repeat(np.arange(60), 12), "person": drawn.ravel()})
    samples = samples.join(BOTH, on="person")
    covered = samples.filter(system="careful").group_by("replicate").agg(ef.coverage("loss"))
    assert 15 < (covered["coverage"] < used).sum() < 45
    areas = filled(samples, keys).group_by(keys).agg(at).sort(keys).drop(keys).to_numpy()
    deltas = np.diff(areas.reshape(60, 2, 3), axis=1)[:, 0]
    percentile = replace(METHOD, interval="percentile")
    found = compared(metrics=["aurc", "augrc", "risk"], resample=percentile)
    low, high = np.quantile(deltas, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found["lower"], low, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found["upper"], high, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found["std_error"], np.std(deltas, axis=0, ddof=1), rtol=1e-10)
    assert found["drop_rate"].to_list() == [0, 0, 0]


def test_only_clusters_that_all_systems_share_are_used():
    three = pl.concat([BOTH, system("late", range(3, 15), 0.2)])
    found = compared(three)
    assert found["n_clusters"].to_list() == [9] * 6
    by_hand = three.filter(pl.col("person").is_between(3, 11))
    assert_frame_equal(found, compared(by_hand))
    assert found["coverage_used"].unique().to_list() == [min(reached(by_hand).values())]
    assert found["coverage_used"][0] != reached(BOTH)["careful"]


def test_each_group_has_its_own_bound():
    other = pl.concat([system("bold", range(30), 0.3, "n"), system("careful", range(30), 0.4, "n")])
    unnamed = BOTH.with_columns(model=pl.lit(None, pl.String), loss=1 - pl.col("loss"))
    whole = compared(pl.concat([other, BOTH, unnamed]), by="model", correction="none")
    assert whole["model"].to_list() == [None, None, "m", "m", "n", "n"]
    for model, frame in ((None, unnamed), ("m", BOTH), ("n", other)):
        alone = compared(frame, correction="none")
        mine = whole.filter(pl.col("model").eq_missing(model)).drop("model")
        assert_frame_equal(mine, alone, rel_tol=1e-12)
    assert whole["coverage_used"].n_unique() == 2


def test_options_are_those_of_compare():
    odd = pl.col("person") % 2 == 1
    columns = {"loss": "wrong", "confidence": pl.col("sure") / 2, "weight": "times"}
    named = BOTH.rename({"loss": "wrong", "confidence": "sure"})
    weighted = compared(named.with_columns(times=pl.when(odd).then(2).otherwise(1)), **columns)
    repeated = pl.concat([BOTH, BOTH.filter(odd)])
    assert_frame_equal(weighted, compared(repeated), rel_tol=1e-12)
    expressions = compared(
        repeated.lazy(), between=pl.col("system").str.to_uppercase(), by=pl.col("model")
    ).collect()
    assert expressions["left"].to_list() == ["BOLD", "BOLD"]
    assert expressions.columns[0] == "model"
    permuted = compared(test="permutation", correction="bonferroni")
    assert permuted["p_adjusted"].to_list() == [min(1, 2 * p) for p in permuted["p_value"]]
    assert permuted["p_value"].to_list() != compared()["p_value"].to_list()


def test_unusable_items_do_not_count_as_coverage():
    spoiled = pl.concat([BOTH, BOTH.head(12).with_columns(confidence=pl.lit(None, pl.Float64))])
    usable = spoiled.filter(pl.col("loss").is_null() | pl.col("confidence").is_not_null())
    counts = ["n_missing_left", "n_missing_right"]
    found, expected = (compared(frame) for frame in (spoiled, usable))
    assert_frame_equal(found.drop(counts), expected.drop(counts))
    missing = spoiled.filter(system="bold").height - usable.filter(system="bold").height
    assert found.select(counts).rows() == [(missing, 0)] * 2


def test_a_system_that_predicts_nothing_leaves_nothing_to_compare():
    silent = system("silent", range(12), 1.0)
    found = compared(pl.concat([BOTH, silent]))
    assert found["coverage_used"].to_list() == [0.0] * 6
    blank = ("estimate_left", "estimate_right", "delta", "lower", "upper", "p_value", "p_adjusted")
    assert all(found[name].null_count() == 6 for name in blank)


def test_a_system_short_of_the_coverage_is_named():
    cmax = f"{reached(BOTH)['careful']:.4g}"
    message = (
        f"system 'careful' reaches a coverage of {cmax}, below the 0.75 asked for; lower the "
        "coverage, or compare at coverage='common'"
    )
    with pytest.raises(ParameterError, match=message):
        compared(coverage=0.75)
    keyed = pl.concat([BOTH, BOTH.with_columns(model=pl.lit("n"))])
    with pytest.raises(
        ParameterError, match="in the group model='m', below the 1 asked for, and 3"
    ):
        compared(keyed, by="model", coverage=1.0)


def test_a_system_that_stands_alone_in_its_group_need_not_reach_it():
    alone = system("careful", range(12), 0.9, "n")
    with pytest.warns(UserWarning, match="single system are not compared: 1, such as n"):
        found = compared(pl.concat([BOTH, alone]), by="model", coverage=0.25)
    assert found["model"].unique().to_list() == ["m"]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (
            pl.concat([BOTH, system("apart", range(20, 30), 0.1, "m")]),
            {"by": "model"},
            "no cluster is shared by all of the systems 'apart', 'bold', 'careful' in the group "
            "model='m'; check the column to pair on, or leave a system out",
        ),
        (BOTH.filter(system="bold"), {}, r"a comparison needs two systems, found \['bold'\]"),
        (BOTH.clear(), {}, r"a comparison needs two systems, found \[\]"),
        (BOTH, {"coverage": 0.0}, r"coverage must lie in \(0, 1\], got 0.0"),
        (BOTH, {"coverage": float("nan")}, r"coverage must lie in \(0, 1\], got nan"),
        (BOTH, {"coverage": "usual"}, r"coverage must be 'common' or a number .*, got 'usual'"),
        (BOTH, {"metrics": []}, "no metrics were given; name some of aurc, augrc, risk"),
        (BOTH, {"resample": None}, "name the clusters to pair on"),
        (BOTH, {"by": pl.col("model").alias("coverage_used")}, "'coverage_used' of its own"),
        (BOTH.with_columns(person=None), {}, "the cluster column has null or NaN ids"),
    ],
)
def test_what_cannot_be_compared(frame, options, message):
    with pytest.raises(ParameterError, match=message):
        compared(frame, **options)


def test_names_that_are_not_there():
    with pytest.raises(UnknownNameError, match=r"unknown metric up to a coverage 'eaurc'\. Did"):
        compared(metrics=["eaurc"])
    with pytest.raises(MissingColumnsError, match=r"needs column 'los'.* Did you mean 'loss'"):
        compared(loss="los")
    with pytest.raises(MissingColumnsError, match=r"needs column 'sys'.* Did you mean 'system'"):
        compared(between="sys")


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1 / 3])
def test_equal_weights_change_no_risk_at_the_end_of_the_other_curve(weight):
    rows = {
        "m": ["A"] * 3 + ["B"] * 3,
        "p": [0, 1, 2] * 2,
        "loss": [0.0, None, None, 0.0, 1.0, 1.0],
        "confidence": [0.9] * 4 + [0.1] * 2,
        "w": [weight] * 6,
    }
    made = compare_at_coverage(
        pl.DataFrame(rows), between="m", pair_on="p", metrics="risk", weight="w"
    )
    assert made["estimate_right"].item() == 0.0
