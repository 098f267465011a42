"""What section 21 of the specification asks to decide, and the degenerate inputs of section 11."""

import functools
import math
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal as assert_equal

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.metric import registered
from evalframe.selective.contract import items_contract
from evalframe.selective.curves import rc_curve

assert_same = functools.partial(assert_equal, abs_tol=1e-14, rel_tol=1e-14)
SCHEMA = {"participant_id": pl.Int64, "loss": pl.Float64, "confidence": pl.Float64}


def table(*rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


ITEMS = table(
    (1, 0.0, 0.9), (1, 1.0, 0.7), (1, None, 0.8), (2, 0.5, 0.7), (2, 0.0, 0.2), (3, 1.0, 0.1)
)


def all_metrics():
    """Every metric of the curve and its parts, points and areas at a coverage or risk of 0.5."""
    own = [{"loss"}, {"loss", "confidence"}, {"prediction"}]
    family = [m for m in registered().values() if m.roles.keys() in own]
    family = [m for m in family if m.define.__module__.startswith("evalframe.selective.")]
    halves = {name: 0.5 for name in ("coverage", "risk")}
    for metric in family:
        columns = {"prediction": "loss"} if "prediction" in metric.roles else {}
        columns |= {"confidence": "confidence"} if "confidence" in metric.roles else {}
        params = {name: halves[name] for name in metric.params if name in halves}
        yield metric.bind((), columns, params=params)


ALL = list(all_metrics())
CURVES = [metric for metric in ALL if "confidence" in metric.metric.roles]
PLAIN = ["metric", "estimate", "n", "n_missing"]


UNUSABLE = [(0.0, math.nan), (0.0, None), (math.nan, 0.95)]
WITH_UNUSABLE = pl.concat(
    [
        pl.concat([table((3, *unusable)), ITEMS]).with_columns(case=pl.lit(case))
        for case, unusable in enumerate(UNUSABLE)
    ]
)


@pytest.mark.parametrize("plan", ["sorted", "levels"])
def test_an_unusable_item_is_left_out_and_counted(plan):
    """NaN sorts as the largest float: it must never be the most confident."""
    result = ef.evaluate(WITH_UNUSABLE, CURVES, by="case", plan=plan)
    assert result["n_missing"].unique().to_list() == [1]
    expected = ef.evaluate(ITEMS, CURVES, plan=plan).select(PLAIN).drop("n_missing")
    for case in range(3):
        assert_same(result.filter(case=case).select(expected.columns), expected)


def test_an_unusable_item_does_not_move_expressions():
    made = WITH_UNUSABLE.group_by("case").agg(CURVES).drop("case")
    assert_same(made, pl.concat([ITEMS.select(CURVES)] * 3))


def test_nothing_but_unusable_items():
    items = table((1, 1.0, math.nan), (2, 0.0, math.nan))
    result = ef.evaluate(items, [ef.aurc(), ef.risk_at(0.5)()]).select(PLAIN)
    assert result.rows() == [("aurc", None, 0, 2), ("risk_at_0.50", None, 0, 2)]


def test_an_abstention_may_have_any_confidence():
    others = ITEMS.with_columns(
        confidence=pl.when(pl.col("loss").is_null()).then(math.nan).otherwise("confidence")
    )
    assert_same(others.select(ALL), ITEMS.select(ALL))


@pytest.mark.parametrize("confidence", [math.inf, -math.inf, math.nan])
def test_the_contract_rejects_what_expressions_let_through(confidence):
    items = ITEMS.with_columns(confidence=pl.Series([confidence, 0.5, 0.4, 0.3, 0.2, 0.1]))
    assert items.select(ef.aurc()).item() is not None
    contract = items_contract(loss="loss", item=None)
    with pytest.raises(ContractError, match="confidence is finite where loss is: not so in 1 of 6"):
        validate(items, contract)


def test_infinite_confidences_rank_like_any_other():
    items = ITEMS.with_columns(
        pl.col("confidence").replace({0.9: math.inf, 0.1: -math.inf}), rank=pl.col("confidence")
    )
    ranked = items.with_columns(confidence="rank")
    alike = [metric for metric in ALL if not metric.metric.name.startswith("threshold")]
    assert_same(items.select(alike), ranked.select(alike))
    assert rc_curve(items)["threshold"].to_list() == [math.inf, 0.7, 0.2, -math.inf]


def test_signed_zeros_are_one_plateau():
    signed = table((1, 1.0, 0.0), (2, 0.0, -0.0), (3, 1.0, -0.5))
    merged = signed.with_columns(pl.col("confidence") + 0.0)
    for plan in ("sorted", "levels"):
        result = ef.evaluate(signed, ALL, plan=plan)
        assert_same(result, ef.evaluate(merged, ALL, plan=plan))


def test_areas_reward_abstention_and_normalized_forms_do_not():
    always_wrong = table(*[(i, 1.0, i / 10) for i in range(10)])
    half_abstains = always_wrong.with_columns(loss=pl.when(pl.col("participant_id") >= 5).then(1.0))
    metrics = [ef.aurc(), ef.augrc(), ef.aurc_normalised(), ef.augrc_normalised()]
    assert always_wrong.select(metrics).row(0) == pytest.approx((1.0, 0.5, 1.0, 0.5))
    assert half_abstains.select(metrics).row(0) == pytest.approx((0.5, 0.125, 1.0, 0.5))
    silent = always_wrong.with_columns(loss=pl.lit(None, dtype=pl.Float64))
    assert silent.select(metrics).row(0) == (0.0, 0.0, None, None)


def test_a_truncated_area_ends_at_cmax():
    """Below the bound it covers less than was asked for, also in single replicates."""
    reach = ITEMS.select(ef.coverage("loss")).item()
    beyond = [ef.aurc_at(0.9)(), ef.augrc_at(0.9)()]
    assert reach < 0.9
    whole = ITEMS.select(ef.aurc(), ef.augrc()).row(0)
    assert ITEMS.select(beyond).row(0) == pytest.approx(whole, abs=1e-15)
    method = ef.Bootstrap(cluster="participant_id", n=200)
    result = ef.evaluate(ITEMS, [*beyond, ef.coverage("loss")], resample=method)
    assert result["drop_rate"].to_list() == [0.0, 0.0, 0.0]
    assert result["lower"][2] < 0.9 < result["upper"][2]


def test_the_interval_of_a_risk_comes_with_its_drop_rate():
    """It is conditional on reaching the coverage, and says how often that was not so."""
    method = ef.Bootstrap(cluster="participant_id", n=200)
    metrics = [ef.risk_at(0.5)(), ef.risk_at(0.9)(), ef.achieved_coverage_at(0.9)()]
    result = ef.evaluate(ITEMS, metrics, resample=method)
    reached, rarely, achieved = result.rows(named=True)
    assert reached["drop_rate"] == 0.0
    assert rarely["estimate"] is None
    assert 0.0 < rarely["drop_rate"] < 1.0
    assert rarely["lower"] is not None
    assert rarely["drop_rate"] == achieved["drop_rate"]
    assert achieved["lower"] >= 0.9


ZERO = ["aurc", "augrc", "aurc_optimal", "augrc_optimal", "eaurc", "eaugrc", "aurc_achievable"]
ZERO += ["aurc_at_0.50", "augrc_at_0.50", "aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct"]
NOTHING = dict.fromkeys(ZERO, 0.0)
NO_POINT = {"risk_at_0.30": None, "risk_at_0.90": None, "achieved_coverage_at_0.30": None}
UNKNOWN = dict.fromkeys(ZERO)
LOST = math.nan
DEGENERATE = {
    "no records": (table(), NOTHING | NO_POINT | {"coverage": 0.0}),
    "no confidence": (
        table((1, 1.0, None), (1, 1.0, LOST), (2, 1.0, None)),
        UNKNOWN | NO_POINT | {"coverage": 1.0},
    ),
    "no loss that is known": (
        table((1, LOST, 0.5), (1, LOST, None), (2, LOST, 0.1)),
        UNKNOWN | NO_POINT | {"coverage": 1.0},
    ),
    "no confidence beside an abstention": (
        table((1, 1.0, None), (1, None, 0.5), (2, 1.0, LOST)),
        UNKNOWN | NO_POINT | {"coverage": 2 / 3},
    ),
    "nothing predicted": (
        table((1, None, 0.5), (1, None, None), (2, None, 0.1)),
        NOTHING | NO_POINT | {"coverage": 0.0},
    ),
    "one plateau": (
        table((1, 1.0, 0.5), (1, 0.0, 0.5), (2, 2.0, 0.5), (2, None, 0.9)),
        NO_POINT
        | {"coverage": 0.75, "aurc": 0.75, "augrc": 0.28125, "aurc_achievable": 0.75}
        | {"aurc_at_0.50": 0.5, "augrc_at_0.50": 0.125, "achievable_gain_pct": 0.0}
        | {"risk_at_0.30": 1.0, "achieved_coverage_at_0.30": 0.75},
    ),
    "one prediction": (
        table((1, 2.0, 0.5), (2, None, 0.4), (2, None, 0.3)),
        NO_POINT
        | {"coverage": 1 / 3, "aurc": 2 / 3, "aurc_optimal": 2 / 3, "aurc_achievable": 2 / 3}
        | {"augrc": 1 / 9, "augrc_optimal": 1 / 9, "eaurc": 0.0, "eaugrc": 0.0}
        | {"risk_at_0.30": 2.0, "achieved_coverage_at_0.30": 1 / 3},
    ),
    "no losses": (
        table((1, 0.0, 0.5), (1, 0.0, 0.4), (2, 0.0, 0.4), (2, None, 0.1)),
        NOTHING
        | {"coverage": 0.75, "risk_at_0.30": 0.0, "risk_at_0.90": None}
        | {"achieved_coverage_at_0.30": 0.75},
    ),
}
TABLED = [
    *(getattr(ef, name)() for name in ZERO if "_at_" not in name),
    *(at(0.5)() for at in (ef.aurc_at, ef.augrc_at)),
    *(at(0.3)() for at in (ef.risk_at, ef.achieved_coverage_at)),
    ef.risk_at(0.9)(),
    ef.coverage("loss"),
]


def wide(found):
    """The values by case and metric, of a row for each case."""
    return {row.pop("case"): row for row in found.iter_rows(named=True)}


def estimates(long):
    return wide(long.pivot("metric", index="case", values="estimate"))


ROUTES = {
    "streaming": lambda items, m: wide(
        items.lazy().group_by("case").agg(m).collect(engine="streaming")
    ),
    "sorted": lambda items, m: estimates(ef.evaluate(items, m, by="case", plan="sorted")),
    "levels": lambda items, m: estimates(ef.evaluate(items, m, by="case", plan="levels")),
    "finish": lambda items, m: estimates(ef.finish(ef.partial(items, m, by="case"))),
    "merge": lambda items, m: estimates(
        ef.finish(ef.merge(*(ef.partial(items.gather_every(2, k), m, by="case") for k in (0, 1))))
    ),
    "agg": lambda items, m: wide(items.group_by("case").agg(m)),
    "over": lambda items, m: wide(
        items.select("case", *(each.over("case") for each in m)).unique("case")
    ),
    "bootstrap": lambda items, m: estimates(
        ef.evaluate(items, m, by="case", resample=ef.Bootstrap(cluster="participant_id", n=5))
    ),
}
FILLED = [case for case, (items, _) in DEGENERATE.items() if len(items)]


@pytest.mark.parametrize("route", ROUTES)
def test_degenerate_inputs(route):
    cases = pl.concat([DEGENERATE[case][0].with_columns(case=pl.lit(case)) for case in FILLED])
    found = ROUTES[route](cases, TABLED)
    for case in FILLED:
        expected = DEGENERATE[case][1]
        made = {name: found[case][name] for name in expected}
        assert made == pytest.approx(expected, abs=1e-15), case


def test_degenerate_inputs_without_groups():
    for case, (items, expected) in DEGENERATE.items():
        found = items.select(TABLED).row(0, named=True)
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-15), case
    items, expected = DEGENERATE["no records"]
    for found in (
        ef.evaluate(items, TABLED, plan="sorted"),
        ef.evaluate(items, TABLED, plan="levels"),
        ef.finish(ef.partial(items, TABLED)),
        ef.finish(ef.merge(*(ef.partial(items, TABLED) for _ in range(2)))),
    ):
        values = dict(found.select("metric", "estimate").iter_rows())
        assert {name: values[name] for name in expected} == expected


WEIGHTS = {"null": None, "negative": -1.0, "NaN": LOST, "zero": 0.0}


@pytest.mark.parametrize("route", ROUTES)
def test_without_a_usable_weight_nothing_is_known(route):
    """Rows that count 0 times are as if they were not there."""
    items = table((1, 1.0, 0.5), (1, 0.5, 0.4), (2, None, 0.3))
    cases = [
        items.with_columns(weight=pl.lit(weight, pl.Float64), case=pl.lit(case))
        for case, weight in WEIGHTS.items()
    ]
    metrics = [metric.bound.reweighted("weight") for metric in TABLED]
    found = ROUTES[route](pl.concat(cases), metrics)
    for case in WEIGHTS:
        of_areas = NOTHING if case == "zero" else UNKNOWN
        expected = of_areas | NO_POINT | {"risk_at_0.90": None, "coverage": of_areas["aurc"]}
        assert found[case] == expected, case


def test_a_weight_of_0_takes_a_missing_confidence_away():
    items = table((1, None, 0.5), (2, 1.0, None)).with_columns(weight=pl.Series([1.0, 0.0]))
    assert items.select(ef.aurc(weight="weight"), ef.aurc().alias("unweighted")).row(0) == (0, None)
    assert items.select(ef.generalized_risk(weight="weight")).item() == 0.0


def test_a_negative_loss_is_left_out_and_counted():
    worse = pl.concat([table((3, -0.5, 0.95)), ITEMS])
    made = ef.evaluate(worse, CURVES)
    assert made["n_missing"].unique().to_list() == [1]
    expected = ef.evaluate(ITEMS, CURVES)
    assert_same(made.select("estimate", "n"), expected.select("estimate", "n"))
    nothing_else = table((1, -1.0, 0.5), (2, -0.5, 0.4))
    assert nothing_else.select(ef.aurc(), ef.selective_risk()).row(0) == (None, -0.75)


def test_functions_of_frames_and_the_contract_refuse_negative_losses():
    worse = pl.concat([table((3, -0.5, 0.95)), ITEMS]).with_columns(
        system=pl.lit("a"), weight=pl.lit(1.0)
    )
    told = "a loss is negative in 1 row.*; correct it, or make it a loss"
    curve = rc_curve(worse.lazy(), by="system", weight="weight")
    with pytest.raises(ContractError, match=f"rc_curve: {told}"):
        curve.collect()
    both = pl.concat([worse, worse.with_columns(system=pl.lit("b"))])
    with pytest.raises(ContractError, match=r"loss is negative in 2 rows; correct it"):
        ef.selective.compare_at_coverage(both, between="system", pair_on="participant_id")
    with pytest.raises(
        ContractError, match=r"loss is not negative: not so in 1 of 7 rows[^!]*-0.5"
    ):
        validate(worse, items_contract(loss="loss", item=None))
    assert len(
        rc_curve(worse.with_columns(weight=(pl.col("loss") >= 0).cast(float)), weight="weight")
    )


def test_risks_of_labels_that_are_missing():
    items = table((1, LOST, 0.5), (2, None, 0.5))
    assert items.select(ef.generalized_risk(), ef.selective_risk()).row(0) == (None, None)


HALF_LOST = table(
    *(
        (who, loss, confidence)
        for who in (1, 2, 3)
        for loss, confidence in [(1.0, 0.9), (0.0, 0.5)]
    ),
    *((who, loss, None) for who in (4, 5, 6) for loss in (1.0, None)),
)


def test_replicates_of_clusters_without_a_confidence_are_undefined_and_dropped():
    areas = [metric for metric in TABLED if metric.meta.output_name() in ZERO]
    method = ef.Bootstrap(cluster="participant_id", n=400, interval="percentile")
    expected = 0.5**6  # of the draws take none of the three that have confidences
    for resample, rows in ((method, areas), (method, [metric.bound.expr for metric in areas])):
        made = ef.evaluate(HALF_LOST, rows, resample=resample)
        assert made["drop_rate"].to_list() == pytest.approx([expected] * len(areas), abs=0.015)
        assert (made["drop_rate"] > 0).all()
    one_left = HALF_LOST.filter(pl.col("participant_id") > 2)
    left_out = ef.evaluate(one_left, areas, resample=ef.Jackknife(cluster="participant_id"))
    assert left_out["drop_rate"].unique().to_list() == [0.25]


def test_a_system_without_confidences_is_not_the_better_one():
    both = pl.concat(
        [
            ITEMS.with_columns(system=pl.lit("sound")),
            ITEMS.with_columns(system=pl.lit("broken"), confidence=pl.lit(None, pl.Float64)),
        ]
    )
    method = ef.Bootstrap(cluster="participant_id", n=50)
    made = ef.compare(both, [ef.aurc, ef.eaurc], between="system", resample=method)
    assert made["left"].unique().to_list() == ["broken"]
    assert made["estimate_left"].null_count() == made["delta"].null_count() == 2
    assert made["p_value"].null_count() == 2
    fair = ef.selective.compare_at_coverage(both, between="system", resample=method)
    assert fair.select("coverage_used", "coverage_left", "estimate_left").unique().rows() == [
        (pytest.approx(5 / 6), None, None)
    ]
    assert fair["estimate_right"].null_count() == 0
    with pytest.raises(ParameterError, match="'broken' reaches no coverage, since none of its"):
        ef.selective.compare_at_coverage(both, between="system", resample=method, coverage=0.5)
    curves = rc_curve(both, by="system")
    assert curves["system"].unique().to_list() == ["sound"]


def test_the_oracle_takes_the_items_that_the_ranking_has():
    more = pl.concat([ITEMS, table((9, 1.0, None))])
    actual, optimal, excess = more.select(ef.aurc(), ef.aurc_optimal(), ef.eaurc()).row(0)
    assert actual - optimal == pytest.approx(excess, abs=1e-15)
    everything = ef.aurc_optimal(confidence=None)
    assert more.select(everything).item() > optimal
    again = pickle.loads(pickle.dumps(everything))
    assert more.select(again).item() == more.select(everything).item()


RANKED = [
    case
    for case, (items, expected) in DEGENERATE.items()
    if len(items) and expected["aurc"] is not None
]


@pytest.mark.parametrize("case", RANKED)
@pytest.mark.parametrize(
    ("verb", "fallback"), [(ef.evaluate, None), (ai_psychiatrist.evaluate, 0.0)]
)
def test_degenerate_intervals(case, verb, fallback):
    """Areas are never dropped; an interval without two replicates is null, or in the original 0."""
    items, _ = DEGENERATE[case]
    method = ef.Bootstrap(cluster="participant_id", n=50)
    result = verb(items.lazy(), TABLED, resample=method).collect()
    areas = result.filter(pl.col("metric").is_in(ZERO))
    assert areas["drop_rate"].unique().to_list() == [0.0]
    assert (
        areas.select(pl.col("lower", "upper", "std_error").is_null().any()).row(0) == (False,) * 3
    )
    if case == "nothing predicted":
        unreached = result.filter(pl.col("metric").is_in(NO_POINT.keys()))
        ends = unreached.select("lower", "upper", "std_error", "drop_rate").unique().rows()
        assert ends == [(fallback, fallback, fallback, 1.0)]
