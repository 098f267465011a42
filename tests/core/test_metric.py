"""Metrics of the user's own."""

from __future__ import annotations

import copy
import inspect
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.metric import MetricExpr, lookup, make, registered
from evalframe.testing.laws import check_laws

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "a", "b", "b", None],
        "loss": [0.0, 1.0, None, 0.5, float("nan"), 1.0],
        "confidence": [0.9, 0.9, 0.1, 0.7, 0.2, 0.3],
        "times": [1, 2, 3, 0, 1, 2],
    }
)


@ef.metric(direction="minimize", range=(0, float("inf")))
def loss_spread(loss="loss", *, weight=None, ddof: int = 0):
    """Standard deviation of the losses."""
    return ef.State(
        sums={"mass": weight, "sum": weight * loss, "squares": weight * loss**2},
        finish=lambda t: ef.ratio(t.squares - t.sum**2 / t.mass, t.mass - ddof).sqrt(),
    )


@ef.metric(direction="minimize", range=(0, float("inf")), label="worst_loss_above_{threshold}")
def worst_loss(loss="loss", confidence="confidence", *, weight=None, threshold: float):
    """Largest mean loss of a confidence level above a threshold."""
    risk = pl.when((ef.level > threshold) & (ef.own.mass > 0)).then(ef.own.loss / ef.own.mass)
    return ef.State(
        axes=(
            ef.Axis(
                level=confidence,
                sums={"mass": weight, "loss": weight * loss},
                maxima={"worst": risk},
            ),
        ),
        finish=lambda t: t.worst.fill_nan(None),
    )


def test_a_metric_of_the_users_own_keeps_all_laws():
    metrics = [loss_spread, ef.variant(loss_spread, ddof=1, name="sample"), ef.aurc]
    metrics += [ef.variant(worst_loss, threshold=0.2), ef.variant(worst_loss, threshold=0.8)]
    check_laws(metrics, ITEMS, by="model")
    check_laws(metrics, ITEMS, cluster="times")


def test_its_values():
    complete = pl.col("loss").is_not_nan().fill_null(value=False)
    shown = ITEMS.select(
        loss_spread(), worst_loss(threshold=0.5), sd=pl.col("loss").filter(complete).std(ddof=0)
    )
    assert shown["loss_spread"].item() == pytest.approx(shown["sd"].item())
    assert shown["worst_loss_above_0.50"].item() == 0.5
    assert ITEMS.select(worst_loss(threshold=0.95)).item() is None


def test_a_term_that_is_null_adds_nothing_to_a_mean_and_is_counted():
    @ef.metric(direction="minimize", range=(0, float("inf")))
    def mean_excess(value="value", *, weight=None):
        excess = pl.when(value > 1).then(value - 1)
        return ef.State(
            sums={"mass": weight, "excess": weight * (excess * 1)},
            finish=lambda t: ef.ratio(t.excess, t.mass),
        )

    rows = pl.DataFrame({"value": [3.0, 0.5, None, float("nan"), 2.0, None], "of": [*"aaabcc"]})
    check_laws([mean_excess], rows, by="of")
    assert rows.group_by("of").agg(mean_excess()).sort("of").rows() == [
        ("a", 1.0),
        ("b", None),
        ("c", 1.0),
    ]


@pytest.mark.parametrize("plan", ["sorted", "levels"])
def test_a_row_whose_condition_is_null_is_left_out_and_counted(plan):
    @ef.metric(direction="none", range=(0, float("inf")))
    def of_large(value="value", *, weight=None):
        above = ef.Axis(value, {"mass": weight}, terms={"rows": ef.own.mass}, where=value != 3)
        return ef.State(axes=(above,), finish=lambda t: t.rows, valid=value > 1)

    rows = pl.DataFrame({"value": [3.0, 0.5, None, 2.0]})
    assert rows.select(of_large()).item() == 1.0
    result = ef.evaluate(rows, of_large(), plan=plan)
    assert result.select("estimate", "n", "n_missing").row(0) == (1.0, 2, 2)


def test_the_declaration_is_kept_beside_the_function():
    metric = loss_spread.metric
    assert registered()["loss_spread"] is lookup("loss_spread") is metric
    assert (metric.direction, metric.range, metric.family) == (
        "minimize",
        (0, float("inf")),
        "user",
    )
    assert metric.roles == {"loss": "loss"}
    assert metric.params == {"ddof": 0}
    assert metric.summary == "Standard deviation of the losses."
    assert list(inspect.signature(loss_spread).parameters) == ["loss", "weight", "ddof"]


def test_every_metric_here_says_what_it_is():
    for name, metric in registered().items():
        assert metric.summary or metric.family == "user", name
        assert metric.range[0] < metric.range[1], name
        assert metric.direction in ("minimize", "maximize", "none"), name


def test_columns_may_be_names_or_expressions_positional_or_named():
    one_minus = 1 - pl.col("confidence")
    ways = [
        ef.aurc("loss", one_minus),
        ef.aurc(pl.col("loss"), confidence=one_minus),
        ef.aurc(confidence=one_minus, loss="loss"),
    ]
    values = [ITEMS.select(way).item() for way in ways]
    assert values == values[:1] * 3
    assert values[0] != ITEMS.select(ef.aurc()).item()


def test_integers_and_booleans_are_numbers():
    flags = ITEMS.select(loss=pl.col("loss") > 0.2, confidence=pl.col("times"))
    as_floats = flags.cast(pl.Float64)
    assert flags.select(ef.aurc()).item() == as_floats.select(ef.aurc()).item()


def test_an_alias_stays_the_metric():
    expr = ef.aurc().alias("first").alias("second")
    assert isinstance(expr, MetricExpr)
    assert expr.meta.output_name() == "second"
    result = ef.evaluate(ITEMS, [expr, ef.aurc()])
    assert result["metric"].to_list() == ["second", "aurc"]
    assert result["estimate"].n_unique() == 1


def test_arithmetic_makes_a_plain_expression():
    gain = (ef.aurc() - ef.aurc_optimal()).alias("gain")
    assert not isinstance(gain, MetricExpr)
    assert ITEMS.select(gain).item() == pytest.approx(ITEMS.select(ef.eaurc()).item())


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_registered_metric_survives_copies(duplicate):
    expr = ef.risk_at(0.5)(weight="times").alias("half")
    again = duplicate(expr)
    assert again.metric == expr.metric
    assert again.bound.params == expr.bound.params
    assert_frame_equal(ITEMS.select(again), ITEMS.select(expr))


def test_variants_keep_the_signature_and_can_be_varied_again():
    peer = ef.variant(ef.aurc, convention="population", name="peer")
    again = ef.variant(peer, convention="rectangle_per_item")
    assert peer.preset == {"convention": "population"}
    assert again().bound.params == {"convention": "rectangle_per_item"}
    assert ITEMS.select(peer()).columns == ["peer"]
    assert ITEMS.select(peer(convention="trapezoid_total")).item() == ITEMS.select(ef.aurc()).item()


@pytest.mark.parametrize(
    ("coverage", "name"),
    [(0.5, "risk_at_0.50"), (0.25, "risk_at_0.25"), (1, "risk_at_1.00"), (0.125, "risk_at_0.125")],
)
def test_names_show_parameters_with_two_decimals_or_as_many_as_needed(coverage, name):
    assert ef.risk_at(coverage)().meta.output_name() == name


def test_a_set_binds_all_its_metrics_to_the_same_columns():
    areas = ef.metric_set(ef.aurc, ef.risk_at(0.5), ef.variant(ef.augrc, name="peer"))
    exprs = areas("loss", "times", weight="times")
    assert [expr.meta.output_name() for expr in exprs] == ["aurc", "risk_at_0.50", "peer"]
    alone = ef.aurc("loss", "times", weight="times")
    assert ITEMS.select(exprs)["aurc"].item() == ITEMS.select(alone).item()


def test_make_is_the_metric_of_a_name():
    made = make("risk_at", roles={"loss": "times"}, params={"coverage": 0.5}, alias="x")
    assert_frame_equal(ITEMS.select(made), ITEMS.select(ef.risk_at(0.5)("times").alias("x")))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: lookup("aucr"),
            UnknownNameError,
            "unknown metric 'aucr'. Did you mean 'aurc'.*Known: ",
        ),
        (lambda: make("risk_at"), ParameterError, "risk_at needs a value for coverage"),
        (
            lambda: ef.aurc("a", "b", "c"),
            ParameterError,
            r"aurc takes 2 columns \(loss, confidence\), got 3",
        ),
        (
            lambda: ef.aurc(confidense="x"),
            ParameterError,
            r"aurc has no argument confidense; roles: \['loss', 'confidence'\], parameters: "
            r"\['convention'\]",
        ),
        (
            lambda: ef.variant(ef.aurc, risk=0.3),
            ParameterError,
            r"aurc has no parameter risk; it has \['convention'\]",
        ),
        (
            lambda: ef.aurc(convention="trapezoid"),
            ParameterError,
            "unknown convention 'trapezoid'.*known: trapezoid_total, trapezoid_predicted",
        ),
        (lambda: ef.risk_at(0), ParameterError, r"coverage must lie in \(0, 1\], got 0"),
        (
            lambda: ef.aurc_at(float("nan")),
            ParameterError,
            r"coverage must lie in \(0, 1\], got nan",
        ),
        (lambda: ef.coverage_at_risk(-1), ParameterError, "risk must be at least 0, got -1"),
    ],
)
def test_what_cannot_be_called(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_total_has_the_signature_of_its_metric():
    assert [*inspect.signature(ef.total).parameters] == ["value", "weight"]
