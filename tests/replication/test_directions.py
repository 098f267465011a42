"""Directions of effects: given, derived from signed statistics, or none, so that PAS is two-way."""

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ContractError, ParameterError
from evalframe.replication import (
    finding_scores,
    model_scores,
    participant_intervals,
    participant_statistics,
    replication_contract,
    study_scores,
    with_bayes_factors,
    with_effect_sizes,
    with_evidence,
    with_pas,
    with_posteriors,
)
from evalframe.replication.sample import sample_designs, sample_participants, sample_tests

GROUPS = {f"{n}_{side}": 40 for n in ("n1", "n2") for side in ("human", "agent")}
OPPOSITE = pl.DataFrame(
    {"test_type": ["t-test"], "stat_human": [2.5], "stat_agent": [-2.0], **GROUPS}
)
DIRECTIONS = ["direction_human", "direction_agent"]


def made(tests, room=ef.replication, **options):
    return room.with_evidence(tests, **options)


def sides(test_type, human, agent):
    given = {"human": human, "agent": agent}
    row = {f"{name}_{side}": [v] for side, each in given.items() for name, v in each.items()}
    return pl.DataFrame({"test_type": [test_type], **row})


def test_opposite_effects_do_not_agree():
    found = made(OPPOSITE)
    given = made(OPPOSITE.with_columns(direction_human=1, direction_agent=-1))
    assert found["pas"].item() == pytest.approx(0.0128514, abs=1e-7)
    assert found["pas"].item() == given["pas"].item()
    assert found.select(*DIRECTIONS, "is_two_way").row(0) == (1, -1, False)
    two_way = with_pas(found, ways="two")
    assert two_way.select(pl.col("pas").round(2), "is_two_way").row(0) == (0.56, True)
    assert_frame_equal(made(found), found, check_column_order=False)


SIZES = {"n1": 40, "n2": 40}
CELLS = dict(zip("abcd", (30, 10, 12, 28), strict=True))
SIGNED = {
    "t-test": [{"stat": s, **SIZES} for s in (2.0, -2.0)],
    "pearson": [{"stat": r, "n": 40} for r in (0.4, -0.4)],
    "spearman": [{"stat": r, "n1": 40} for r in (0.4, -0.4)],
    "mannwhitneyu": [{"stat": u, **SIZES} for u in (1100.0, 500.0)],
    "binomial": [{"k": k, "n_total": 40, "p0": 0.25} for k in (16, 4)],
    "sign_test": [{"stat": k, "n": 40} for k in (26.0, 14.0)],
    "chi-square": [CELLS, dict(zip("abcd", (12, 28, 30, 10), strict=True))],
    "p-value": [{"p_value": 0.01, "effect_d": d} for d in (0.5, -0.5)],
}


def test_a_statistic_says_the_direction():
    rows = [
        sides(test_type, *pair)
        for test_type, (up, down) in SIGNED.items()
        for pair in ((up, up), (up, down), (down, up))
    ]
    tests = pl.concat(rows, how="diagonal_relaxed")
    found = made(tests)
    expected = [(1, 1), (1, -1), (-1, 1)] * len(SIGNED)
    assert found.select(DIRECTIONS).rows() == expected
    for (human, agent), (pi_human, pi_agent, pas) in zip(
        expected, found.select("pi_human", "pi_agent", "pas").rows(), strict=True
    ):
        same = 0.9999**2 + 0.0001**2 if human == agent else 2 * 0.9999 * 0.0001
        assert pas == pytest.approx(pi_human * pi_agent * same + (1 - pi_human) * (1 - pi_agent))
    original = made(tests, humanstudy_bench)
    assert not {*DIRECTIONS, "pi_plus_human"} & {*original.columns}
    assert original["is_two_way"].all()


def test_no_effect_goes_neither_way():
    none = {"stat": 0.0, **SIZES}
    found = made(sides("t-test", SIGNED["t-test"][0], none))
    assert found.select(DIRECTIONS).row(0) == (1, 0)
    assert found["pi_plus_agent"].item() == found["pi_minus_agent"].item() > 0


F = {"stat": 6.0, "df1": 2, "df2": 80}
MAGNITUDES = {
    "anova": F,
    "f-test": {**F, "df1": 1, "effect_d": -0.5},
    "chi-square": {"stat": 6.0, "n": 80},
    "variance-ratio": {"stat": 3.0, "df1": 20, "df2": 20},
    "p-value": {"p_value": 0.01},
}


def test_magnitudes_have_no_direction():
    rows = [sides(test_type, row, row) for test_type, row in MAGNITUDES.items()]
    tests = pl.concat(rows, how="diagonal_relaxed")
    found = made(tests)
    assert found["is_two_way"].to_list() == [True] * len(MAGNITUDES)
    human, agent = pl.col("pi_human"), pl.col("pi_agent")
    expected = found.select(human * agent + (1 - human) * (1 - agent)).to_series().to_list()
    assert found["pas"].to_list() == pytest.approx(expected)
    opposite = made(tests.with_columns(direction_human=1, direction_agent=-1))
    assert (opposite["pas"] < found["pas"]).all()


def mixed():
    """Tests of two models: signed ones, magnitudes, one without data and one of a finished PAS."""
    rows = pl.DataFrame(
        {
            "study_id": ["s1", "s1", "s1", "s2", "s2"],
            "finding_id": ["F1", "F1", "F2", "F1", "F2"],
            "test_type": ["t-test", "anova", "anova", "t-test", "anova"],
            **{f"stat_{side}": [2.5, 5.0, 6.0, -2.0, 4.0] for side in ("human", "agent")},
            **{f"df{i}_{side}": 2 * i * i for i in (1, 2) for side in ("human", "agent")},
            **{name: float(size) for name, size in GROUPS.items()},
        }
    ).with_columns(pl.lit(80.0).alias(f"df2_{side}") for side in ("human", "agent"))
    other = rows.with_columns(
        stat_agent=pl.when(pl.int_range(pl.len()) != 2).then(0.9 * pl.col("stat_agent"))
    )
    models = [rows.with_columns(model=pl.lit("a")), other.with_columns(model=pl.lit("b"))]
    return pl.concat(models).with_row_index("test_id")


def test_two_way_tests_are_counted_on_every_level():
    tests = made(mixed())
    of_models = [False, True, True, False, True, False, True, None, False, True]
    assert tests["is_two_way"].to_list() == of_models
    findings = finding_scores(tests)
    assert findings["n_two_way"].to_list() == [1, 1, 0, 1, 1, None, 0, 1]
    studies = study_scores(tests)
    assert studies["n_two_way"].to_list() == [2, 1, 1, 1]
    for level in (tests, findings, studies):
        found = model_scores(level)
        assert found.select("n_tests", "n_two_way").rows() == [(5, 3), (4, 2)]
    # Who gives nothing but PAS does not say.
    unknown = model_scores(tests.drop("is_two_way"))
    assert unknown["n_two_way"].to_list() == [None, None]


def test_every_way_to_scores_gives_the_same():
    tests = mixed()
    expected = model_scores(made(tests))
    posteriors = with_posteriors(with_bayes_factors(tests))
    keys = ["model", "study_id", "finding_id", "test_id"]
    two_way = posteriors.select(*keys, "pi_human", "pi_agent", *DIRECTIONS)
    statistics = posteriors.select(*keys, "pi_human", "pi_agent", "test_type", "^stat_.*$")
    for given in (posteriors, with_pas(posteriors), two_way, statistics, with_pas(two_way)):
        assert_frame_equal(model_scores(given), expected, abs_tol=1e-12)
    for given in (two_way, statistics):
        found = made(given)
        assert_frame_equal(model_scores(found), expected, abs_tol=1e-12)


def test_normalised_pas_has_the_ceiling_of_as_many_ways():
    found = made(mixed())[:2].with_columns(finding_id=pl.Series(["F1", "F2"]))
    rows = finding_scores(found).select("pas", "pas_normalised").rows()
    for (pas, normalised), two_way, (pi, plus, minus, zero) in zip(
        rows,
        (False, True),
        found.select("pi_human", "^pi_(plus|minus|zero)_human$").rows(),
        strict=True,
    ):
        ways = [pi, 1 - pi] if two_way else [plus, minus, zero]
        ceiling = sum(way**2 for way in ways)
        assert normalised == pytest.approx((2 * pas - 1) / (2 * ceiling - 1))


def test_directions_in_words_are_refused():
    words = OPPOSITE.with_columns(direction_human=pl.lit("up"), direction_agent=pl.lit("down"))
    posteriors = words.select(*DIRECTIONS, pi_human=0.9, pi_agent=0.9)
    for call, tests in ((with_evidence, words), (with_pas, posteriors)):
        with pytest.raises(ParameterError, match=r"direction_human.* must be numbers"):
            call(tests)
    # Reports of statistics are no statistics.
    texts = pl.DataFrame({"pi_human": [0.9], "pi_agent": [0.9], "stat_human": ["t = 2"]})
    assert with_pas(texts.with_columns(test_type=pl.lit("t")))["is_two_way"].item()


@pytest.mark.parametrize("side", ["human", "agent"])
def test_a_direction_on_one_side_only_is_an_error(side):
    three = pl.concat([OPPOSITE] * 3)
    given = three.with_columns(pl.Series(f"direction_{side}", [None, 1, None]))
    other = given.with_columns(
        pl.lit(math.nan).alias("direction_agent" if side == "human" else "direction_human")
    )
    factors = with_bayes_factors(given)
    for call, tests in ((with_evidence, given), (with_evidence, other), (with_posteriors, factors)):
        with pytest.raises(ContractError) as told:
            call(tests)
        for part in ("both sides or of neither: not so in 1 of 3", "row 1: ", "direction_"):
            assert part in str(told.value)
    keyed = given.with_columns(study_id=pl.lit("s"), finding_id=pl.Series([*"abc"]))
    contract = replication_contract(model=None, sub_study_id=None, test_id=None)
    with pytest.raises(ContractError, match="not so in 1 of 3 rows"):
        ef.validate(keyed, contract)
    # A PAS that is finished, and an agent without data, need none.
    made(given.with_columns(pas=0.5))
    if side == "human":
        silent = given.with_columns(stat_agent=pl.lit(None, pl.Float64))
        assert made(silent)["pas"].to_list() == [None] * 3
    made(given, humanstudy_bench)


def test_directions_that_are_given_win_and_conflicts_are_marked():
    # The human t is stored without its sign, and so is the first of the agents.
    tests = pl.concat([OPPOSITE] * 3).with_columns(
        direction_human=pl.Series([-1, -1, None]),
        direction_agent=pl.Series([1, -1, None]),
    )
    found = made(tests)
    assert found["has_direction_conflict"].to_list() == [True, True, False]
    assert found["direction_human"].to_list() == [-1, -1, 1]
    assert found["pas"][1] > 0.5 > found["pas"][0]
    assert made(OPPOSITE)["has_direction_conflict"].to_list() == [False]


def test_participants_go_where_humans_tell():
    design, responses = sample_designs(), sample_participants()
    human = sample_tests().filter(model="quill-70b")
    people = human.select(pl.exclude("^.*_agent$", "model", "direction_human"))
    statistics = participant_statistics(responses, design)
    on = ["study_id", "sub_study_id", "finding_id", "test_id"]
    tests = statistics.drop("test_type", "direction_agent").join(people, on=on, nulls_equal=True)
    expected = model_scores(made(tests), by="model")
    assert expected["n_two_way"].to_list() == [5, 5, 5]  # F and tables of more than two by two
    method = ef.Bootstrap(cluster="participant_id", n=5)
    found = participant_intervals(responses, design, people, resample=method)
    scores = ["model", "pas", "pas_normalised"]
    assert_frame_equal(found.select(scores), expected.select(scores), abs_tol=1e-9)


def test_magnitudes_that_became_effects_say_no_direction():
    numbers = {"stat": 6.0, "df1": 1, "df2": 58, "n_total": 60}
    tests = pl.concat([sides(name, numbers, numbers) for name in ("wald", "anova")])
    found = made(with_effect_sizes(tests))
    assert found["effect_d_agent"].null_count() == 0
    assert found["is_two_way"].to_list() == [True, True]
    assert made(found)["direction_agent"].to_list() == [None, None]


def test_effect_sizes_carry_their_direction():
    sizes = {"t-test": (0.5, -0.5), "chi-square": (1.1, -0.3), "binomial": (0.6, 0.4)}
    tests = pl.DataFrame(
        [
            {"test_type": name, "effect_size_human": human, "effect_size_agent": agent}
            for name, (human, agent) in {**sizes, "anova": (0.5, 0.5)}.items()
        ]
    ).with_columns(bayes_factor_human=9.0, bayes_factor_agent=3.0)
    found = made(tests)
    assert found.select(*DIRECTIONS).rows() == [(1, -1)] * 3 + [(None, None)]
    assert found["is_two_way"].to_list() == [False, False, False, True]
    of_null = made(tests[2].with_columns(p0_human=0.7, p0_agent=0.3))
    assert of_null.select(*DIRECTIONS).row(0) == (-1, 1)


def test_posteriors_of_three_ways_meet_statistics():
    ways = {"pi_plus_human": 0.9, "pi_minus_human": 0.01, "pi_zero_human": 0.09}
    signed = OPPOSITE.select("test_type", "stat_agent", "n1_agent", "n2_agent")
    found = made(signed.with_columns(**{name: pl.lit(v) for name, v in ways.items()}))
    pi = found["pi_agent"].item()
    shares = (0.9 * 0.0001 * pi, 0.01 * 0.9999 * pi, 0.09 * (1 - pi))
    assert found["pas"].item() == pytest.approx(sum(shares))
    assert found.select("direction_agent", "is_two_way").row(0) == (-1, False)
    two_way = made(pl.DataFrame({name: [v] for name, v in {**ways, "pi_agent": 0.6}.items()}))
    assert two_way["pas"].item() == pytest.approx(0.91 * 0.6 + 0.09 * 0.4)
    assert two_way["is_two_way"].item()
