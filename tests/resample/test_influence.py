"""Derivatives by the weights of clusters, against weights that are moved."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.metric import make, metric, registered
from evalframe.resample import replicates

PEOPLE = 9


def world(seed, *, ties):
    """Rows of two models, whose people have some each."""
    rng = np.random.default_rng(seed)
    n = 90
    confidence = rng.integers(0, 8, n) / 8 if ties else rng.random(n)
    return pl.DataFrame(
        {
            "model": rng.choice(["a", "b"], n),
            "person": np.arange(n) % PEOPLE,
            "prediction": rng.integers(0, 4, n),
            "label": rng.integers(0, 4, n),
            "score": rng.integers(0, 4, n),
            "item_index": rng.integers(0, 3, n),
            "loss": pl.Series(np.where(rng.random(n) < 0.2, np.nan, rng.gamma(2.0, size=n))),
            "confidence": confidence,
            "correct": rng.random(n).round(2),
            "weight": rng.integers(0, 4, n).astype(float),
            "noise_rate": 1.0,
            "factlabel": rng.integers(0, 2, n),
            "evaluation": rng.choice(["Yes", "No, not addressed", ""], n),
            "status": rng.choice(["ok", "unparsed", "failed"], n),
            "groups_found": [[[], [1], [1, 0], [-1]][i] for i in rng.integers(0, 4, n)],
            "condition": rng.random(n) < 0.5,
        }
    ).with_columns(pl.col("loss").fill_nan(None))


PARAMS = {"coverage": 0.5, "risk": 1.9, "positive": 1, "bins": 4}
ROLES = {
    "standard": {"value": "score", "height": "item_index"},
    "rag": {"label": "groups_found"},
    "survey": {"score": "correct"},
    "replication": {"pas": "correct", "x": "score", "y": "confidence"},
}
OTHERS = {
    "aurc": {"convention": "rectangle_per_item"},
    "aurc_at": {"convention": "trapezoid_predicted"},
    "expected_calibration_error": {"binning": "equal_mass"},
}


def every(weight):
    """All metrics that have derivatives, some with other parameters than the default."""
    for name, known in registered().items():
        if name == "mode":  # which orders by what draws recompute, and is refused
            continue
        named = ROLES.get(known.family, {})
        roles = {role: named[role] for role in named if role in known.roles}
        params = {param: value for param, value in PARAMS.items() if param in known.params}
        more = {"": {}, " other": OTHERS[name]} if name in OTHERS else {"": {}}
        for suffix, other in more.items():
            given = {"roles": roles, "weight": weight, "params": params | other}
            if known.family != "user":
                yield make(name, **given, alias=name + suffix)


def linearised(frame, metrics):
    method = ef.Linearized(cluster="person")
    return ef.evaluate(frame, metrics, by="model", resample=method)


def moved(frame, metrics, step=1e-5):
    """Standard errors from values at weights that are a little more and less, one person each."""
    near = pl.DataFrame({"moved": range(PEOPLE)}).join(
        pl.DataFrame({"side": [-step, step]}), how="cross"
    )
    rows = frame.join(near, how="cross").with_columns(
        own=1.0 + pl.when(pl.col("person") == pl.col("moved")).then("side").otherwise(0.0)
    )
    by = ["model", "moved", "side"]
    values = ef.evaluate(rows, metrics, by=by, weight="own")
    slope = pl.col("estimate").sort_by("side").diff().last() / (2 * step)
    slopes = values.group_by("model", "metric", "moved").agg(slope)
    error = (PEOPLE / (PEOPLE - 1) * pl.col("estimate").var(ddof=0) * PEOPLE).sqrt()
    return slopes.group_by("model", "metric").agg(error.alias("expected"))


@pytest.mark.parametrize(("weight", "ties"), [(None, True), ("weight", False)])
def test_errors_are_those_of_weights_that_are_moved(weight, ties):
    frame, metrics = world(5, ties=ties), [*every(weight)]
    found = linearised(frame, metrics).join(moved(frame, metrics), on=["model", "metric"])
    known = found.drop_nulls(["std_error", "expected"])
    np.testing.assert_allclose(known["std_error"], known["expected"], rtol=1e-6, atol=1e-9)
    # What jumps has no error; all else has one.
    unknown = found.filter(pl.col("std_error").is_null(), pl.col("estimate").is_not_null())
    assert set(unknown["metric"].str.strip_suffix(" other")) <= {
        "quantile",
        "risk_at",
        "achieved_coverage_at",
        "threshold_at_coverage",
        "coverage_at_risk",
        "aurc_achievable",
        "achievable_gain_pct",
        "adaptive_calibration_error",
    }


def test_the_error_of_a_mean_is_exact():
    frame = world(1, ties=False).drop_nulls("loss")
    loss, person = frame["loss"].to_numpy(), frame["person"].to_numpy()
    by_person = np.bincount(person, loss - loss.mean())
    error = np.sqrt(PEOPLE / (PEOPLE - 1) * (by_person**2).sum()) / len(loss)
    method = ef.Linearized(cluster="person")
    found = ef.evaluate(frame, ef.selective_risk(), resample=method)
    assert found["std_error"].item() == pytest.approx(error, rel=1e-11)


def test_errors_of_totals_are_about_their_mean():
    frame = pl.DataFrame({"person": range(30), "prediction": 1, "label": [1] * 20 + [0] * 10})
    errors = [
        ef.evaluate(frame, ef.true_positives(positive=1), resample=method)["std_error"].item()
        for method in (ef.Linearized(), ef.Jackknife(cluster="person"))
    ]
    by_hand = np.sqrt(30 / 29 * 30 * (2 / 3 * 1 / 3))
    assert errors[0] == pytest.approx(by_hand, rel=1e-11)
    assert errors[1] == pytest.approx(by_hand * 29 / 30, rel=1e-11)


def test_nothing_is_done_anew_for_each_cluster(monkeypatch):
    monkeypatch.setattr(replicates, "HOPELESS", 1)
    frame = world(2, ties=False)
    metrics = [
        ef.aurc(),
        ef.eaurc(),
        ef.risk_at(0.45)(),
        ef.aurc_at(0.5)(),
        ef.coverage_at_risk(1.9)(),
        ef.pearson_correlation(),
        ef.expected_calibration_error(),
        ef.maximum_calibration_error(),
    ]
    assert linearised(frame, metrics)["std_error"].null_count() == 0


def test_metrics_of_a_hull_stand_beside_others():
    frame = world(3, ties=True)
    metrics = [ef.aurc_achievable(), ef.aurc(), ef.achievable_gain_pct(), ef.coverage("loss")]
    together = linearised(frame, metrics)
    alone = [linearised(frame, each) for each in metrics]
    place = pl.col("metric").replace_strict([m.bound.name for m in metrics], range(4))
    apart = pl.concat(alone).sort("model", place)
    assert_frame_equal(together, apart, check_exact=False, rel_tol=1e-8)


@metric(direction="none", range=(-float("inf"), float("inf")), name="made_for_influence")
def made(value="value", *, weight=None):
    """A curve whose sum has both signs and a kink where it is 0."""
    return ef.State(
        axes=(
            ef.Axis(
                level=value,
                sums={"gap": weight * value, "mass": weight},
                terms={"bent": ef.own.gap.abs(), "smooth": ef.at.gap * ef.before.mass},
            ),
        ),
        finish=lambda t: t.bent + t.smooth / t.mass,
    )


def test_what_never_moves_has_no_kink():
    frame = pl.DataFrame({"value": [-1.0, 0.0, 3.0]})
    found = ef.evaluate(frame, made(), resample=ef.Linearized())
    moved = [
        (
            ef.evaluate(
                frame.with_columns(w=1.0 + 1e-5 * sign * np.eye(3)[row]), made(), weight="w"
            )["estimate"].item()
        )
        for row in range(3)
        for sign in (-1, 1)
    ]
    slopes = np.diff(np.reshape(moved, (3, 2)))[:, 0] / 2e-5
    expected = np.sqrt(3 / 2 * ((slopes - slopes.mean()) ** 2).sum())
    assert found["std_error"].item() == pytest.approx(expected, rel=1e-6)


@metric(direction="none", range=(0.0, float("inf")), name="kink_for_influence")
def kink(value="value", *, weight=None):
    """The size of a sum."""
    return ef.State(sums={"sum": weight * value}, finish=lambda t: t.sum.abs())


def test_a_kink_has_no_error_and_one_nearby_does_not_matter():
    for rows, known in (([1.0, -1.0], False), ([1.0, -1.0 + 1e-5], True), ([1.0, 2.0], True)):
        found = ef.evaluate(pl.DataFrame({"value": rows}), kink(), resample=ef.Linearized())
        assert (found["std_error"].item() is not None) == known, rows


def test_no_levels_have_no_error():
    items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [None, math.nan]})
    found = ef.evaluate(
        items, [ef.risk_at(0.5), ef.coverage_at_risk(0.3)], resample=ef.Linearized()
    )
    assert found["std_error"].to_list() == [None, None]
