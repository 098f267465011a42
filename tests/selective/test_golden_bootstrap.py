"""All of bootstrap.json: intervals of ai-psychiatrist 36e9fba, digit for digit."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.resample.draws import indices
from evalframe.selective.contract import loss

COLUMNS = ["participant_id", "item_index", "pred", "gt"]
RESULT = ["estimate", "lower", "upper", "std_error", "drop_rate"]
PAIRED = ["estimate_left", "estimate_right", "delta", "lower", "upper", "std_error", "drop_rate"]


@pytest.fixture(scope="module")
def bootstraps(golden):
    return golden("selective/bootstrap")


@pytest.fixture(scope="module")
def participants(bootstraps):
    return pl.DataFrame(bootstraps["dataset_41x8"]).with_columns(loss("abs_norm", "pred", "gt"))


def items_of(case, name):
    """The items of a small case with their loss."""
    schema = dict.fromkeys(COLUMNS, pl.Int64) | {"confidence": pl.Float64}
    items = pl.DataFrame({column: case[column] for column in schema}, schema=schema)
    return items.with_columns(loss(name, "pred", "gt"))


def metrics(confidence, names):
    """The metrics under the names that the original gives them."""
    known = {
        "cmax": ef.coverage("pred"),
        "aurc_full": ef.aurc("loss", confidence),
        "augrc_full": ef.augrc("loss", confidence),
        "aurc_at_0.5": ef.aurc_at(0.5)("loss", confidence),
        "augrc_at_0.5": ef.augrc_at(0.5)("loss", confidence),
    }
    risks = {f"risk_at_0.{i}": ef.risk_at(i / 10)("loss", confidence) for i in range(1, 10)}
    return [(known | risks)[name].alias(name) for name in names]


def reference(case, **more):
    given = {"n": case["n_resamples"], "seed": case["seed"]}
    return ef.Bootstrap(cluster="participant_id", interval="percentile", **given | more)


def assert_agree(result, expected, columns, points):
    """Every column of the result, in units of 1e-12; null where the original has none."""
    values = [
        (metric, *(e[p] for p in points), *e["ci95"], e["std_error"], e["drop_rate"])
        for metric, e in expected.items()
    ]
    schema = {"metric": pl.String} | dict.fromkeys(columns, pl.Float64)
    wanted = pl.DataFrame(values, schema=schema, orient="row")
    result = result.lazy().collect().select("metric", *columns)
    assert_frame_equal(result, wanted, abs_tol=1e-12, rel_tol=0)


def test_main(bootstraps, participants):
    for case in bootstraps["main"]:
        assert case["loss"] == "abs_norm"
        asked = metrics(case["variant"], case["expected"])
        result = ai_psychiatrist.evaluate(participants, asked, resample=reference(case))
        assert_agree(result, case["expected"], RESULT, ["point"])


def test_small(bootstraps):
    for case in bootstraps["small"]:
        items = items_of(case, case["loss"])
        asked = metrics("confidence", case["expected"])
        result = ai_psychiatrist.evaluate(items, asked, resample=reference(case))
        assert_agree(result, case["expected"], RESULT, ["point"])


def test_paired(bootstraps):
    for case in bootstraps["paired"]:
        left, right = (items_of(case[side], case["loss"]) for side in ("left", "right"))
        asked = metrics("confidence", case["expected"])
        result = ai_psychiatrist.compare(left, asked, other=right, resample=reference(case))
        assert_agree(result, case["expected"], PAIRED, ["left", "right", "delta"])


def test_draws(bootstraps):
    for check in bootstraps["resample_index_check"]:
        method = ef.Bootstrap(
            cluster="participant_id", n=3, seed=check["seed"], interval="percentile"
        )
        together = next(indices(method, check["n"], chunk=3))
        one_by_one = np.concatenate(list(indices(method, check["n"], chunk=1)))
        assert np.array_equal(together, one_by_one)
        stored = len(check["first_3"][0])  # of a long draw only its beginning
        assert together[:, :stored].tolist() == check["first_3"]


def test_first_replicates(bootstraps, participants):
    """The first 20 replicates are plain metrics of resampled tables."""
    wanted = bootstraps["first_20_replicates"]
    method = ef.Bootstrap(cluster="participant_id", n=20, seed=42, interval="percentile")
    ids = participants["participant_id"].unique().sort().to_numpy()
    drawn = pl.DataFrame(
        [
            (replicate, ids[place])
            for replicate, places in enumerate(next(indices(method, len(ids), 20)))
            for place in places
        ],
        schema=["replicate", "participant_id"],
        orient="row",
    )
    sampled = drawn.join(participants, on="participant_id")
    asked = metrics("continuous", ["aurc_full", "augrc_full", "cmax"])
    values = sampled.group_by("replicate").agg(asked).sort("replicate")
    for name in ("aurc_full", "augrc_full", "cmax"):
        np.testing.assert_allclose(values[name], wanted[name], rtol=0, atol=1e-12)
    result = ai_psychiatrist.evaluate(participants, asked, resample=method)
    for name, lower, upper in result.select("metric", "lower", "upper").iter_rows():
        ends = np.quantile(wanted[name], [0.025, 0.975])
        np.testing.assert_allclose([lower, upper], ends, rtol=0, atol=1e-12)


@pytest.mark.parametrize("verb", [ef.evaluate, ai_psychiatrist.evaluate])
@pytest.mark.parametrize("undefined", [None, math.nan])
def test_undefined_replicates_are_dropped(bootstraps, undefined, verb):
    predicted = pl.col("pred").is_not_null().mean()
    metric = pl.when(predicted >= 0.8).then(predicted).otherwise(undefined).alias("enough")
    case = bootstraps["none_dropping"]
    result = verb(pl.DataFrame(case["items"]), metric, resample=reference(case))
    assert_agree(result, {"enough": case["expected"]}, RESULT, ["point"])


@pytest.mark.parametrize("draws", ["reference", "counter", "poisson"])
def test_another_generator_stays_within_monte_carlo_error(bootstraps, participants, draws):
    # Poisson weights are another scheme: the number of participants varies as well.
    slack = 2 if draws == "poisson" else 1
    for case in bootstraps["other_rng_reference"]:
        expected = case["expected"]
        method = ef.Bootstrap(
            cluster="participant_id", n=2000, seed=5, draws=draws, interval="percentile"
        )
        result = ai_psychiatrist.evaluate(
            participants, metrics(case["variant"], expected), resample=method
        )
        assert_within(result, expected, "2000", slack)


@pytest.mark.parametrize("draws", ["reference", "counter", "poisson"])
def test_paired_with_another_generator(bootstraps, draws):
    reference = bootstraps["paired_other_rng_reference"]
    (case,) = (case for case in bootstraps["paired"] if case["id"] == reference["id"])
    left, right = (items_of(case[side], case["loss"]) for side in ("left", "right"))
    method = ef.Bootstrap(
        cluster="participant_id", n=1000, seed=5, draws=draws, interval="percentile"
    )
    asked = metrics("confidence", reference["expected"])
    result = ai_psychiatrist.compare(left, asked, other=right, resample=method)
    assert_within(result, reference["expected"], "1000", 2 if draws == "poisson" else 1)


def assert_within(result, expected, n, slack):
    """Both ends of every interval within the tolerances given for n replicates."""
    ends = result.select("metric", "lower", "upper").lazy().collect()
    assert ends["metric"].to_list() == list(expected)
    for metric, *found in ends.iter_rows():
        off = np.abs(np.subtract(found, expected[metric]["ci95"]))
        assert (off <= slack * np.array(expected[metric]["tolerance_abs"][n])).all(), metric
