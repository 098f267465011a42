"""What would be silently wrong is refused, or comes out as the documentation says."""

import math

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.resample import replicates

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "person": [1, 2, 1, 2],
        "loss": [1.0, 2.0, 10.0, 20.0],
        "confidence": [0.9, 0.1, 0.9, 0.1],
    }
)
BOOTSTRAP = ef.Bootstrap(cluster="person", n=50, seed=1)


def declared(state, **options):
    """A metric whose definition returns this state (or calls this function for it)."""

    @ef.metric(**{"direction": "none", "range": (0, 1), "name": "mine", **options})
    def mine(loss="loss", *, weight=None):
        return state(loss, weight)

    return mine


@pytest.mark.parametrize(
    "loss", [pl.col("loss") / pl.col("loss").max(), pl.col("loss").rank(), pl.col("loss").shift(1)]
)
def test_a_role_computed_from_other_rows(loss):
    for verb in (ef.evaluate, ef.partial):
        with pytest.raises(ParameterError, match="is computed from other rows"):
            verb(ITEMS, ef.aurc(loss))
    with pytest.raises(ParameterError, match="is computed from other rows"):
        ef.compare(ITEMS, ef.aurc(loss), between="model", pair_on="person")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            lambda x, w: ef.State(sums={"n": w}, finish=lambda t: t.n),
            "a sum cannot be named 'n', which is counted for every metric",
        ),
        (
            lambda x, w: ef.State(
                sums={"m": w},
                axes=[ef.Axis(level=x, sums={"m": w * x})],
                finish=lambda t: t.m,
            ),
            "two different sums are named 'm'",
        ),
        (
            lambda x, w: ef.State(sums={"m": w}, left_out={"m": w}, finish=lambda t: t.m),
            "a sum and one of left_out are named 'm'",
        ),
        (
            lambda x, w: ef.State(
                axes=[ef.Axis(level=x, sums={"m": w}, terms={"m": ef.at.m})],
                finish=lambda t: t.m,
            ),
            "a term is named 'm' as another term or sum is",
        ),
    ],
)
def test_a_definition_whose_names_do_not_fit(state, message):
    with pytest.raises(ParameterError, match=message):
        declared(state)()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ef.aurc("loss", loss="loss"), "aurc got 'loss' twice, by place and by name"),
        (lambda: ef.aurc(convention=["x"]), "convention must be a plain value"),
        (lambda: ef.aurc(0.5), "expected a column name or a Polars expression, got 0.5"),
        (lambda: ef.coverage(pl.lit(1)), "none of prediction names a column"),
        (
            lambda: ef.evaluate(ITEMS, ef.aurc(), plan="sort"),
            "plan must be one of",
        ),
        (
            lambda: ef.evaluate(ITEMS, ef.aurc(), resample="bootstrap"),
            r"resample must be ef.Bootstrap\(\.\.\.\)",
        ),
        (
            lambda: ef.evaluate(ITEMS.head(1), pl.col("loss").mean(), resample=BOOTSTRAP),
            "needs at least two clusters",
        ),
        (
            lambda: ef.evaluate(
                ITEMS.with_columns(loss=pl.lit(math.inf)), ef.aurc(), resample=BOOTSTRAP
            ),
            "sums of 2 clusters are infinite",
        ),
        (
            lambda: ef.merge(
                *(
                    ef.partial(
                        ITEMS.with_columns(pl.col("person").cast(dtype)), ef.aurc(), by="person"
                    )
                    for dtype in (pl.Int64, pl.String)
                )
            ),
            "'person' is Int64 and String in different states",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_a_missing_column_comes_with_the_nearest():
    with pytest.raises(MissingColumnsError, match="Did you mean 'confidence'"):
        ef.evaluate(ITEMS, ef.aurc("loss", "confidense"))


def test_leaving_out_each_row_of_a_large_curve(monkeypatch):
    monkeypatch.setattr(replicates, "HOPELESS", 1)
    with pytest.raises(ParameterError, match=r"leaving out each of 4 clusters at .* hours of work"):
        ef.evaluate(ITEMS, ef.aurc_achievable(), resample=ef.Linearized())


def test_unusable_weights_are_missing():
    weights = pl.Series("weight", [1.0, -1.0, math.inf, None])
    result = ef.evaluate(ITEMS.with_columns(weights), ef.selective_risk(), weight="weight")
    assert result.select("estimate", "n", "n_missing").row(0) == (1.0, 1, 3)


def test_constants_stand_for_columns():
    expected = ITEMS.select(ef.aurc()).item()
    assert ITEMS.select(ef.aurc(weight=pl.lit(2.0))).item() == pytest.approx(expected)
    tied = ef.evaluate(ITEMS, ef.aurc("loss", pl.lit(0.5)))
    assert tied.select("estimate", "n").row(0) == (8.25, 4)


def test_keys_and_clusters_may_be_called_as_sums_are():
    renamed = ITEMS.rename({"model": "items", "person": "mass"})
    state = ef.partial(renamed, ef.aurc(), by="items", cluster="mass")
    expected = ef.evaluate(ITEMS, ef.aurc(), by="model")
    assert ef.finish(state)["estimate"].to_list() == expected["estimate"].to_list()


def test_nan_keys_stay_apart_from_null_keys():
    keyed = ITEMS.with_columns(key=pl.Series([math.nan, math.nan, None, None]))
    for resample in (None, BOOTSTRAP, ef.Jackknife(cluster="person")):
        keys = ef.evaluate(keyed, ef.aurc(), by="key", resample=resample)["key"]
        assert keys.null_count() == 1
        assert keys.is_nan().sum() == 1


def test_a_system_may_be_null():
    items = ITEMS.with_columns(model=pl.Series([None, None, "b", "b"]))
    pairs = ef.compare(items, ef.aurc(), between="model", resample=BOOTSTRAP)
    assert pairs.select("left", "right").rows() == [(None, "b")]


def test_poisson_replicates_without_rows_are_dropped_and_counted():
    items = pl.DataFrame({"person": [1, 2, 3], "prediction": [1, 1, 1]})
    resample = ef.Bootstrap(cluster="person", n=2000, draws="poisson")
    row = ef.evaluate(items, ef.coverage(), resample=resample).row(0, named=True)
    assert (row["lower"], row["upper"]) == (1.0, 1.0)
    assert row["drop_rate"] == pytest.approx(math.exp(-3), abs=0.02)


def test_bca_does_not_depend_on_the_order_of_rows():
    loss = np.random.default_rng(2).integers(0, 4, 100) / 3 * 1.1
    items = pl.DataFrame({"person": np.repeat(np.arange(5), 20), "loss": loss})
    resample = ef.Bootstrap(cluster="person", n=200, interval="bca")
    ends = [
        ef.evaluate(frame, ef.selective_risk(), resample=resample).select("lower", "upper").row(0)
        for frame in (items, items.reverse())
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


@pytest.mark.parametrize("of", [ITEMS, ITEMS.lazy()])
def test_no_plan_of_polars_in_an_error(of):
    """Polars raises an error of ours again, with the expression that it came from."""
    answers = of.with_columns(label="model", prediction=pl.lit("a"))
    for ask in (
        lambda: answers.select(ef.precision()).lazy().collect(),
        lambda: answers.group_by("person").agg(ef.accuracy("person", "label")).lazy().collect(),
        lambda: ef.evaluate(answers, ef.f1_score()).collect(),
        lambda: ef.selective.thresholds(of.lazy(), loss=-pl.col("loss"), risk=0.1).collect(),
    ):
        with pytest.raises(ef.EvalframeError) as caught:
            ask()
        assert "\n" not in str(caught.value)


def test_names_in_other_case():
    for name, known in (("AURC", "aurc"), ("eAURC", "eaurc"), ("bootstrap", "Bootstrap")):
        with pytest.raises(AttributeError, match=f"Did you mean '{known}'"):
            getattr(ef, name)
