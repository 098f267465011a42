"""The laws of design section 1, and bounds and shifts, for every registered metric."""

import functools
import inspect
import itertools
import math
from typing import get_args

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricExpr, make, registered
from evalframe.core.nested import over_columns
from evalframe.selective import conventions
from evalframe.testing import laws
from evalframe.testing.laws import check_laws

JUMPS = ("risk_at", "achieved_coverage_at", "coverage_at_risk", "threshold_at_coverage")
JUMPS += ("threshold_at_risk", "quantile", "mean_at_highest", "mode", "at_least")


def choices(metric, param):
    """Values to try for a parameter."""
    if param == "convention":
        declared = inspect.signature(metric.define).parameters[param].annotation
        return get_args(getattr(conventions, declared))
    if metric.name == "concordance_correlation":
        return ("documented",)  # the original counts pairs: one of weight 2 is not two
    if param == "bins":
        return (None, 4) if metric.params[param] is None else (4,)
    known = {
        "coverage": (0.05, 0.5, 1.0),
        "risk": (0.3,),
        "positive": (1,),
        "binning": ("equal_width", "equal_mass"),
        "closed": ("left", "right"),
        "debiased": (True, False),
        "rules": ("documented", "reference"),
        "tolerance": (0.0, 0.5),
        "k": (1, 2),
        "q": (0.0, 0.5, 1.0),
        "missing": (None, 0.5),
    }
    return known[param]


def pairs(choices):
    """Values of all parameters, so that any two values of two parameters meet."""
    numbered = [[*enumerate(values)] for values in choices]
    free = sum(len(values) > 1 for values in numbered) < 3
    for chosen in itertools.product(*numbered):
        if free or sum(place for place, _ in chosen) % 2 == 0:
            yield [value for _, value in chosen]


def roles(metric):
    """Columns for the roles whose own names mean different things in two families."""
    named = {
        "rag": {"label": "groups_found"},
        "standard": {"value": "score", "condition": "correct", "height": "confidence"},
        "survey": {"score": "correct"},
        "replication": {"pas": "correct", "x": "score", "y": "confidence"},
    }
    mine = named.get(metric.family, {})
    return {role: column for role, column in mine.items() if role in metric.roles}


@functools.cache
def every(weight=None, *, jumps=True):
    """All metrics with all parameters, named by what is not the default, as expressions."""
    exprs = []
    for name, metric in registered().items():
        if metric.family == "user" or (name in JUMPS and not jumps):
            continue
        for values in pairs(choices(metric, param) for param in metric.params):
            params = dict(zip(metric.params, values, strict=True))
            shown = [str(value) for param, value in params.items() if value != metric.params[param]]
            alias = " ".join([name, *shown])
            exprs.append(make(name, roles=roles(metric), weight=weight, params=params, alias=alias))
    chosen = ef.auroc("confidence", "label", "prediction", positive=1, weight=weight)
    clipped = ai_psychiatrist.negative_log_likelihood(weight=weight)
    return [*exprs, chosen.alias("auroc of predictions"), clipped.alias("clipped")]


# Eighths and halves add up exactly, so that no route sees another side of a threshold.
EIGHTHS = st.integers(0, 16).map(lambda eighths: eighths / 8)
LOSSES = st.one_of(st.none(), EIGHTHS, EIGHTHS, st.just(math.nan))
CONFIDENCES = st.sampled_from(
    [0.1, 0.1, 0.5, 0.5, 0.9, 1.0, 0.0, -0.0, -3.0, math.inf, -math.inf, math.nan, None]
)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])


@st.composite
def frames(draw, losses=LOSSES, confidences=CONFIDENCES, weights=WEIGHTS, least=1):
    columns = {
        "model": st.sampled_from(["a", "a", "a", "b", None]),
        "person": st.integers(0, 6),
        "prediction": st.one_of(st.integers(0, 3), st.none()),
        "label": st.one_of(st.integers(0, 3), st.none()),
        "score": st.one_of(st.integers(0, 3), st.none()),
        "item_index": st.integers(0, 2),
        "loss": losses,
        "confidence": confidences,
        "correct": st.sampled_from([0.0, 1.0, 1.0, 0.5, None, math.nan]),
        "weight": weights,
        "noise_rate": st.sampled_from([1.0, 1.0, 0.2, None, math.nan]),
        "factlabel": st.sampled_from([0, 1, 1, None]),
        "evaluation": st.sampled_from([None, "Yes", "No, not addressed", ""]),
        "status": st.sampled_from(["ok", "ok", "unparsed", "failed", None]),
        "groups_found": st.sampled_from([None, [], [1], [1, 1], [1, 0], [0], [-1], [-1, 1]]),
    }
    rows = draw(st.lists(st.tuples(*columns.values()), min_size=least, max_size=40))
    floats, groups = [pl.Float64] * 5, pl.List(pl.Int8)
    types = [pl.String, *[pl.Int64] * 5, *floats, pl.Int64, pl.String, pl.String, groups]
    return pl.DataFrame(rows, schema=dict(zip(columns, types, strict=True)), orient="row")


KEYS = st.sampled_from([None, "model", ["model", "person"]])
EXACT = frames()


# The first frame that is tried has rows all alike: a law that is tried once needs another.
def hard(frames):
    return frames.filter(lambda frame: frame["model"].n_unique() == 3)


HARD = hard(frames(least=12))
ROUGH = hard(
    frames(
        losses=st.one_of(st.none(), st.just(0.0), st.floats(1e-3, 1e3)),
        confidences=st.floats(-1e3, 1e3),
        weights=st.floats(0.01, 10),
        least=12,
    )
)


def examples(number):
    """So many frames; all metrics are held to a law on each of them, and others in the next run."""
    return settings(max_examples=number, deadline=None)


@examples(1)
@given(HARD, KEYS, st.sampled_from([None, "weight"]))
def test_expressions_equal_tables(frame, by, weight):
    laws.expressions_equal_tables(every(weight), frame, by=by)


def copy(column):
    """The column, computed."""
    return pl.when(column.is_not_null()).then(column)


@examples(1)
@given(HARD, st.sampled_from([None, "weight"]))
def test_computed_roles_are_the_columns_that_they_compute(frame, weight):
    computed = [MetricExpr.of(over_columns(expr.bound, copy)) for expr in every(weight)]
    made, expected = frame.select(computed), frame.select(every(weight))
    assert_frame_equal(made, expected, rel_tol=1e-12, abs_tol=1e-12)


@examples(1)
@given(HARD, KEYS, st.sampled_from([None, "weight"]))
def test_shards_add_up(frame, by, weight):
    laws.shards_add_up(every(weight), frame, by=by)


@examples(1)
@given(HARD, KEYS, st.sampled_from([None, "weight"]))
def test_parts_can_be_taken_away(frame, by, weight):
    laws.parts_can_be_taken_away(every(weight), frame, by=by)


@examples(1)
@given(HARD, KEYS)
def test_integer_weights_repeat_rows(frame, by):
    laws.integer_weights_repeat_rows(every(), frame, by=by)


@examples(1)
@given(HARD, KEYS, st.sampled_from([None, "weight"]))
def test_zero_weights_remove_rows(frame, by, weight):
    laws.zero_weights_remove_rows(every(weight), frame, by=by)


@examples(1)
@given(HARD, KEYS, st.sampled_from([None, "weight"]))
def test_row_order_does_not_matter(frame, by, weight):
    laws.row_order_does_not_matter(every(weight), frame, by=by)


@examples(1)
@given(HARD, st.sampled_from([None, "model"]), st.sampled_from([None, "person"]))
def test_clusters_add_up(frame, by, cluster):
    laws.clusters_add_up(every(), frame, by=by, cluster=cluster)


@examples(1)
@given(HARD, st.sampled_from([None, "model"]), st.sampled_from([None, "person"]))
def test_replicates_resample_rows(frame, by, cluster):
    laws.replicates_resample_rows(every(), frame, by=by, cluster=cluster, n=10)


@examples(1)
@given(ROUGH, st.sampled_from([None, "model"]), st.sampled_from([None, "weight"]))
def test_laws_of_smooth_metrics_on_any_numbers(frame, by, weight):
    usual = {expr.bound.name.partition(" ")[0]: expr for expr in every(weight, jumps=False)}
    check_laws([*usual.values()], frame, by=by, cluster="person", rtol=1e-10)


def areas():
    """Areas under curves, of ideal ones, and what lies between."""
    starts = ("aurc", "augrc", "eaurc", "eaugrc")
    return [expr for expr in every() if expr.metric.name.startswith(starts)]


def values(exprs, frame):
    return frame.select(exprs).row(0, named=True)


@examples(3)
@given(EXACT, st.sampled_from([None, "weight"]))
def test_values_lie_in_the_range_of_their_metric(frame, weight):
    for expr, value in zip(every(weight), values(every(weight), frame).values(), strict=True):
        low, high = expr.metric.range
        assert value is None or low - 1e-12 <= value <= high + 1e-12, expr.metric.name


@examples(5)
@given(EXACT)
def test_areas_under_losses_at_most_one(frame):
    for name, value in values(areas(), frame.with_columns(pl.col("loss").clip(0, 1))).items():
        if not name.startswith("e") and "gap" not in name and value is not None:
            # Item by item, n losses of one add up to n (n + 1) / 2: a little more than a half.
            half = name.startswith("augrc") and "per_item" not in name
            assert value <= (0.5 if half else 1.0) + 1e-12, name


@examples(5)
@given(frames(losses=st.one_of(st.none(), st.just(0.0))))
def test_without_losses_every_metric_is_at_its_optimum(frame):
    of_losses = [
        expr
        for expr in every()
        if "optimal" in expr.metric.name
        or (expr.metric.direction == "minimize" and "loss" in expr.metric.roles)
    ]
    for name, value in values(of_losses, frame).items():
        assert value in (0.0, None), name
    predicted = frame.filter(pl.col("confidence").is_finite(), pl.col("loss").is_not_null())
    if len(predicted):
        assert predicted.select(ef.coverage_at_risk(0.3)()).item() == 1.0


@examples(5)
@given(st.lists(EIGHTHS, min_size=1, max_size=30, unique=True), st.randoms())
def test_a_perfect_ranking_of_distinct_losses_has_no_excess(losses, random):
    random.shuffle(losses)
    frame = pl.DataFrame({"loss": losses, "confidence": [-loss for loss in losses]})
    for name, value in values(areas(), frame).items():
        if name.startswith(("eaurc", "eaugrc")) or "gap" in name:
            assert value is None or value == pytest.approx(0, abs=1e-11), name


SHIFTED = [
    ef.selective_risk(),
    ef.aurc_normalised(),
    ef.aurc(convention="rectangle_per_item").alias("rectangle"),
    ef.aurc(convention="population").alias("population"),
    ef.risk_at(0.5)(),
]
UNMOVED = [ef.eaurc(), ef.eaugrc(), ef.achieved_coverage_at(0.5)(), ef.coverage()]
SCALED = {"aurc", "augrc", "aurc_optimal", "augrc_optimal", "eaurc", "eaugrc", "aurc_achievable"}


def close(value, rel=1e-11):
    return None if value is None else pytest.approx(value, rel=rel, abs=rel)


@examples(15)
@given(EXACT, st.integers(1, 80).map(lambda eighths: eighths / 8))
def test_a_constant_added_to_all_losses(frame, constant):
    moved = frame.with_columns(pl.col("loss") + constant)
    for exprs, by in [(SHIFTED, constant), (UNMOVED, 0.0)]:
        after = values(exprs, moved)
        for name, value in values(exprs, frame).items():
            assert after[name] == close(None if value is None else value + by), name


@examples(6)
@given(EXACT, st.sampled_from([0.125, 2.0, 1024.0]))
def test_areas_scale_with_the_loss(frame, scale):
    exprs = [expr for expr in every() if expr.metric.name in SCALED]
    after = values(exprs, frame.with_columns(pl.col("loss") * scale))
    for name, value in values(exprs, frame).items():
        assert after[name] == close(None if value is None else value * scale), name


@examples(5)
@given(frames(losses=st.one_of(st.none(), EIGHTHS), confidences=st.sampled_from([0.1, 0.5, 0.9])))
def test_one_convention_follows_from_another(frame):
    value = values(areas(), frame)
    if frame["loss"].count() == 0:
        assert value["aurc_normalised"] is None
        return
    reached = frame.select(ef.coverage("loss")).item()
    assert value["aurc"] == close(reached * value["aurc_normalised"])
    assert value["augrc"] == close(reached**2 * value["augrc_normalised"])
    assert value["aurc trapezoid_predicted"] == close(value["aurc_normalised"])
    assert value["augrc population"] == close(value["augrc_normalised"])
    assert value["aurc_at 1.0"] == close(value["aurc"])
    assert value["aurc_achievable"] <= value["aurc"] + 1e-12
    for area, convention in itertools.product(["aurc", "augrc"], get_args(conventions.Convention)):
        suffix = "" if convention == "trapezoid_total" else f" {convention}"
        actual, optimal = value[area + suffix], value[f"{area}_optimal{suffix}"]
        expected = None if actual is None else actual - optimal
        assert value[f"e{area}{suffix}"] == close(expected), convention


def test_a_broken_law_names_the_metric_the_group_and_both_numbers():
    last = ef.metric(direction="none", range=(0, 10), name="last_item")(_last)
    items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.25, 0.75, 0.5]})
    message = (
        "integer weights repeat rows: estimate of 'last_item' in the group model='b' is 2.0 by"
    )
    with pytest.raises(AssertionError, match=message):
        check_laws(last(), items, by="model")
    with pytest.raises(ParameterError, match="the frame has no rows, of which every law holds"):
        check_laws(ef.coverage(), items.clear(), by="model")


def _last(loss="loss", *, weight=None):
    return ef.State(sums={"rows": weight**2}, finish=lambda t: t.rows)
