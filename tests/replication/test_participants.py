"""Statistics of participants, against scipy."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
)
from evalframe.replication.participants.rows import unmatched_responses
from evalframe.replication.participants.statistics import participant_statistics
from replication.participant_data import CASES, KEYS, by_scipy, design_of, keyed, responses_of

STAT = "stat_agent"


def made(responses, design=None):
    design = design_of() if design is None else design
    table = participant_statistics(responses, design, by=None)
    return {row["test_id"]: row for row in table.iter_rows(named=True)}


def sample(test_id, values, put=None, **more):
    """The statistics of one test whose responses are these."""
    count = len(values)
    rows = {**keyed(test_id), "participant_id": range(count), "value": values}
    rows |= {
        "condition": put or [None] * count,
        "value_2": more.pop("value_2", [0.0] * count),
    }
    frame = pl.DataFrame(rows, schema_overrides={"condition": pl.String, "value": pl.Float64})
    design = design_of(cases={test_id: CASES[test_id]})
    overridden = design.with_columns(pl.lit(value).alias(name) for name, value in more.items())
    return made(frame, overridden)[test_id]


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("people", [7, 40, 301])
def test_statistics_are_those_of_scipy(people, *, coarse):
    responses = responses_of(np.random.default_rng(people), people, coarse=coarse)
    found = made(responses)
    assert list(found) == sorted(CASES)
    for test_id, row in found.items():
        if people == 7 and test_id == "3x4":
            continue  # scipy refuses a category that nobody is in
        expected = by_scipy(test_id, responses.filter(test_id=test_id))
        assert row[STAT] == pytest.approx(expected, rel=1e-11, abs=1e-12), test_id


def test_sizes_degrees_and_cells():
    found = made(responses_of(np.random.default_rng(0), 30))
    said = {
        test_id: {k.removesuffix("_agent"): v for k, v in row.items() if v is not None}
        for test_id, row in found.items()
    }
    common = {*KEYS, "test_type", "stat", "n_missing"}
    sizes = {test_id: {*row} - common - {"direction"} for test_id, row in said.items()}
    assert sizes["independent"] == sizes["ranks"] == {"n1", "n2", "independent"}
    assert sizes["paired"] == sizes["one"] == {"n1", "independent"}
    assert sizes["anova"] == {"df1", "df2", "n_total", "n"}
    assert sizes["f2"] == {"n1", "n2", "df1", "df2", "n_total"}
    assert sizes["pearson"] == sizes["spearman"] == {"n"}
    assert sizes["2x2"] == {"df1", "n_total", "a", "b", "c", "d"}
    assert sizes["3x4"] == {"df1", "n_total"}
    assert sizes["binomial"] == {"k", "n", "p0"}
    assert (said["anova"]["df1"], said["anova"]["df2"], said["3x4"]["df1"]) == (2, 27, 6)
    assert sum(said["2x2"][name] for name in "abcd") == said["2x2"]["n_total"] == 30
    assert said["paired"]["independent"] is False
    assert said["anova"]["direction"] == said["3x4"]["direction"] == 1


@pytest.mark.parametrize(
    ("test_id", "values", "conditions", "direction"),
    [
        ("independent", [3.0, 5.0, 1.0, 2.0], ["x", "x", "y", "y"], 1),
        ("f2", [3.0, 5.0, 1.0, 2.0], ["x", "x", "y", "y"], -1),
        ("ranks", [1.0, 2.0, 3.0, 0.0], ["x", "y", "y", "x"], -1),
        ("ranks", [1.0, 2.0, 2.0, 1.0], ["x", "x", "y", "y"], 0),
        ("2x2", [1.0, 0.0, 0.0, 0.0, 1.0], ["x", "x", "y", "y", "y"], 1),
        ("binomial", [1.0, 0.0, 0.0, 0.0], None, -1),
        ("binomial", [1.0, 1.0, 1.0] + [0.0] * 7, None, 0),
        ("one", [1.0, 2.0], None, 1),
    ],
)
def test_direction_is_the_sign_of_the_effect(test_id, values, conditions, direction):
    assert sample(test_id, values, conditions)["direction_agent"] == direction


@pytest.mark.parametrize(
    ("test_id", "values", "conditions"),
    [
        ("independent", [0.1, 0.1, 0.7, 0.7], ["x", "x", "y", "y"]),
        ("independent", [0.1, 0.2], ["x", "y"]),
        ("independent", [0.1, 0.2, 0.3], ["x", "x", "x"]),
        ("anova", [0.1, 0.1, 0.3, 0.7, 0.7], ["x", "x", "y", "z", "z"]),
        ("anova", [0.1, 0.2, 0.3, 0.4], ["x", "x", "y", "y"]),
        ("one", [0.3], None),
        ("one", [0.3, 0.3, 0.3], None),
        ("pearson", [0.3, 0.3, 0.3], None),
        ("spearman", [0.3, 0.3], None),
        ("2x2", [1.0, 1.0], ["x", "y"]),
        ("2x2", [1.0, 0.0], ["x", "x"]),
        ("3x4", [0.0, 1.0, 2.0], ["x", "y", "z"]),
        ("ranks", [1.0, 2.0], ["y", "y"]),
        ("binomial", [float("nan")], None),
        ("independent", [None, None], ["x", "y"]),
    ],
)
def test_undefined_is_null(test_id, values, conditions):
    row = sample(test_id, values, conditions)
    assert row[STAT] is None
    assert row["direction_agent"] is None


def test_differences_that_rounding_makes_are_none():
    value = [1.1, 2.1, 3.1, 1000.1]
    row = sample("paired", value, value_2=[x - 1 for x in value], null_value=0.0)
    assert row[STAT] is None
    row = sample("paired", [1.1, 2.1, 3.1], value_2=[0.1, 1.1, 2.1 + 1e-9], null_value=0.0)
    assert row[STAT] > 1e8


def test_missing_is_counted():
    nan, inf = float("nan"), float("inf")
    row = sample("independent", [1.0, 2.0, nan, None, inf, 3.0, 5.0], list("xxxyyzy"))
    assert (row["n1_agent"], row["n2_agent"], row["n_missing_agent"]) == (2, 1, 4)
    row = sample("2x2", [1.0, 0.0, 7.0, None], list("xyxy"))
    assert (row["n_total_agent"], row["n_missing_agent"]) == (2, 2)
    row = sample("pearson", [1.0, 2.0, 3.0, 4.0], value_2=[1.0, nan, 2.0, 2.5])
    assert (row["n_agent"], row["n_missing_agent"], row[STAT]) == (3, 1, pytest.approx(1))


def test_a_single_sample_can_have_a_condition():
    row = sample("one", [1.0, 2.0, 9.0], ["x", "x", "y"], conditions=["x"])
    assert (row["n1_agent"], row["n_missing_agent"]) == (2, 1)


def test_categories_come_in_their_order():
    values, conditions = [5.0, 5.0, 2.0, 2.0, 2.0], list("xxxyy")
    row = sample("2x2", values, conditions, categories=[2.0, 5.0])
    assert [row[f"{name}_agent"] for name in "abcd"] == [1, 2, 2, 0]
    assert row["direction_agent"] == -1


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_repetition(seed, coarse):
    rng = np.random.default_rng(seed)
    responses = responses_of(rng, 12, coarse=coarse)
    times = pl.Series("times", rng.integers(0, 4, len(responses)))
    weighted = responses.with_columns(times)
    repeated = responses[np.repeat(np.arange(len(responses)), times.to_numpy())]
    left = participant_statistics(weighted, design_of(), by=None, weight="times")
    right = participant_statistics(repeated, design_of(), by=None)
    assert_frame_equal(left, right, rel_tol=1e-9, abs_tol=1e-12)


def test_null_weights_are_none():
    responses = responses_of(np.random.default_rng(0), 12).with_columns(
        weight=pl.when(pl.col("participant_id") > 2).then(1)
    )
    left = participant_statistics(responses, design_of(), by=None, weight="weight")
    right = participant_statistics(responses.drop_nulls("weight"), design_of(), by=None)
    assert_frame_equal(left, right)


def test_groups_sides_and_order():
    rng = np.random.default_rng(5)
    alone = {name: responses_of(rng, 15, studies=2) for name in ("b", "a")}
    both = pl.concat(frame.with_columns(model=pl.lit(name)) for name, frame in alone.items())
    found = participant_statistics(both.sample(fraction=1, shuffle=True, seed=1), design_of(2))
    assert found["model"].unique(maintain_order=True).to_list() == ["a", "b"]
    assert found.select("model", *KEYS).equals(found.select("model", *KEYS).sort("model", *KEYS))
    for name, frame in alone.items():
        human = participant_statistics(frame.lazy(), design_of(2).lazy(), by=None, side="human")
        own = found.filter(model=name).drop("model")
        renamed = human.rename(lambda column: column.replace("_human", "_agent")).collect()
        assert_frame_equal(own, renamed, rel_tol=1e-12)


def test_keys_can_be_few_or_null():
    responses = responses_of(np.random.default_rng(0), 15)
    full = made(responses)["anova"]
    one = pl.col("test_id") == "anova"
    few = participant_statistics(
        responses.filter(one).select("study_id", "finding_id", "condition", "value"),
        design_of().filter(one).select("study_id", "finding_id", "test_type", "conditions"),
        by=None,
    )
    assert few.columns[:3] == ["study_id", "finding_id", "test_type"]
    assert few[STAT].item() == pytest.approx(full[STAT])
    null = pl.lit(None, dtype=pl.String).alias("sub_study_id")
    nulls = participant_statistics(
        responses.with_columns(null), design_of().with_columns(null), by=None
    )
    assert len(nulls) == len(CASES)


def test_keys_can_have_other_types():
    responses = responses_of(np.random.default_rng(0), 15)
    categorical = responses.with_columns(pl.col("study_id", "test_id").cast(pl.Categorical))
    tables = (participant_statistics(r, design_of(), by=None) for r in (responses, categorical))
    assert_frame_equal(*tables)
    numbered = responses.with_columns(study_id=pl.lit(1))
    with pytest.raises(ContractError, match="'study_id' is Int32 in the responses, but String"):
        made(numbered)
    short = design_of().with_columns(study_id=pl.lit(1, dtype=pl.Int8))
    assert len(made(numbered, short)) == len(CASES)
    assert unmatched_responses(numbered, short).is_empty()


def test_large_measures_lose_nothing():
    rng = np.random.default_rng(8)
    offset = 2.0**33
    x, y = np.round(rng.normal(size=40) * 64) / 64, rng.permutation(list("xy") * 20)
    shifted = sample("independent", (x + offset).tolist(), y.tolist(), null_value=0.0)[STAT]
    groups = [[Fraction(v) for v in x[y == c]] for c in "xy"]
    means = [sum(g) / 20 for g in groups]
    within = sum((v - m) ** 2 for g, m in zip(groups, means, strict=True) for v in g)
    exact = float(means[0] - means[1]) / float(within / 38 / 10) ** 0.5
    assert shifted == pytest.approx(exact, rel=1e-13)
    f = sample("f2", (x + offset).tolist(), y.tolist())[STAT]
    assert f == pytest.approx(exact**2, rel=1e-12)


def test_what_the_design_does_not_know_is_told():
    responses = responses_of(np.random.default_rng(0), 6)
    assert unmatched_responses(responses, design_of()).is_empty()
    is_2x2 = pl.col("test_id") == "2x2"
    odd = responses.with_columns(
        condition=pl.when(is_2x2 & (pl.col("participant_id") == 0))
        .then(pl.lit("Z"))
        .otherwise("condition"),
        value=pl.when(is_2x2 & (pl.col("participant_id") == 1)).then(9.0).otherwise("value"),
        test_id=pl.col("test_id").replace("one", "uno"),
    )
    told = unmatched_responses(odd, design_of())
    assert told.select("test_id", "reason", "found", "rows").rows() == [
        ("2x2", "no such category", "9.0", 1),
        ("2x2", "no such condition", "Z", 1),
        ("uno", "no such test", None, 6),
    ]


def test_bad_designs_are_refused():
    responses = responses_of(np.random.default_rng(0), 6)

    def refuse(error, match, **columns):
        design = design_of().with_columns(pl.lit(v).alias(name) for name, v in columns.items())
        with pytest.raises(error, match=match):
            participant_statistics(responses, design, by=None)

    refuse(
        UnknownNameError, "unknown test type 'tt-test'. Did you mean 't-test'", test_type="tt-test"
    )
    refuse(ContractError, "two samples have two conditions: not so in", test_type="mannwhitneyu")
    refuse(ContractError, "samples are independent, paired or one", samples="two")
    refuse(ContractError, "p0 lies between 0 and 1", p0=1.0)
    refuse(ContractError, "conditions differ", conditions=["x", "x"])
    refuse(ContractError, "categories differ", categories=[1.0])
    with pytest.raises(ContractError, match="are unique"):
        participant_statistics(responses, pl.concat([design_of()] * 2), by=None)
    with pytest.raises(MissingColumnsError, match="'model'"):
        participant_statistics(responses, design_of())
    with pytest.raises(MissingColumnsError, match="'condition'"):
        participant_statistics(responses.drop("condition"), design_of(), by=None)
    with pytest.raises(MissingColumnsError, match="'test_type'"):
        participant_statistics(responses, design_of().drop("test_type"), by=None)
    with pytest.raises(ParameterError, match="side must be"):
        participant_statistics(responses, design_of(), by=None, side="both")  # type: ignore[arg-type]
    named = responses.with_columns(test_type=pl.lit("a"))
    with pytest.raises(ParameterError, match="column 'test_type' of its own"):
        participant_statistics(named, design_of(), by="test_type")
