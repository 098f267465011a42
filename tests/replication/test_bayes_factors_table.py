"""Bayes factors of whole tables: types, stand-ins, sides, refusals, the published human tests."""

import math

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench.effects import SOME_KINDS
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
)
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.effects.types import TYPES


def one(test_type, room=replication, **columns):
    """The Bayes factor of a table of one test."""
    frame = pl.DataFrame({"test_type": [test_type]} | {name: [x] for name, x in columns.items()})
    return room.with_bayes_factors(frame, None)["bayes_factor"].item()


def of(name, *row, df=None):
    columns = {str(place): [cell] for place, cell in enumerate(row)}
    freedom = {} if df is None else {"df": pl.lit(df)}
    return pl.DataFrame(columns).select(getattr(replication, name)(*columns, **freedom)).item()


def test_each_type_takes_its_columns():
    cases = [
        ("t-test", {"stat": 2.0, "n1": 20, "n2": 30}, of("bayes_factor_t", 2.0, 20, 30)),
        ("t_test", {"stat": 2.0, "n1": 20}, of("bayes_factor_t", 2.0, 20)),
        ("T-Test", {"stat": 2.0, "n1": 20}, of("bayes_factor_t", 2.0, 20)),
        (
            "t-test",
            {"stat": 2.0, "n1": 20, "n2": 20, "independent": False},
            of("bayes_factor_t", 2.0, 20),
        ),
        ("t-test", {"stat": 2.0, "n1": 20, "n2": None, "independent": True}, None),
        ("anova", {"stat": 4.0, "df1": 2, "df2": 30}, of("bayes_factor_f", 4.0, 2, 30, 33)),
        (
            "f-test",
            {"stat": 4.0, "df1": 1, "df2": 30, "n_total": 60},
            of("bayes_factor_f", 4.0, 1, 30, 60),
        ),
        ("pearson", {"stat": 0.4, "n": 30}, of("bayes_factor_r", 0.4, 30)),
        ("spearman", {"stat": 0.4, "n1": 30}, of("bayes_factor_r", 0.4, 30)),
        ("chi2", {"stat": 5.0, "n": 90}, of("bayes_factor_chi2", 5.0, 1, 90)),
        ("chi-square", {"stat": 5.0, "df1": 3, "n": 90}, of("bayes_factor_chi2", 5.0, 3, 90)),
        (
            "chi_square",
            {"a": 10, "b": 20, "c": 20, "d": 10},
            of("bayes_factor_chi2", 5.4, 1, 60),
        ),
        (
            "welch",
            {"stat": 2.0, "n1": 20, "n2": 30, "df": 31.5},
            of("bayes_factor_t", 2.0, 20, 30, df=31.5),
        ),
        ("ttest_rel", {"stat": 2.0, "n1": 20, "n2": 20}, of("bayes_factor_t", 2.0, 20)),
        ("ttest_1samp", {"stat": 2.0, "n1": 20}, of("bayes_factor_t", 2.0, 20)),
        ("ttest_ind", {"stat": 2.0, "n1": 20, "n2": None}, None),
        ("ttest_ind", {"stat": 2.0, "n1": 20, "n2": 30}, of("bayes_factor_t", 2.0, 20, 30)),
        ("z", {"stat": -2.0, "n1": 20}, of("bayes_factor_t", 2.0, 20, df=math.inf)),
        ("z", {"stat": 2.0, "n_total": 50}, of("bayes_factor_t", 2.0, 25, 25, df=math.inf)),
        ("z", {"stat": 2.0, "n1": None}, None),
        (
            "coefficient",
            {"estimate": 3.0, "std_error": 1.5, "n": 50},
            of("bayes_factor_t", 2.0, 25, 25, df=math.inf),
        ),
        (
            "coefficient",
            {"stat": 2.0, "n_total": 50, "df": 47},
            of("bayes_factor_t", 2.0, 25, 25, df=47),
        ),
        ("coefficient", {"estimate": 3.0, "std_error": 0.0, "n": 50}, None),
        ("wald", {"stat": 5.0, "n_total": 90}, of("bayes_factor_chi2", 5.0, 1, 90)),
        (
            "wald",
            {"stat": 5.0, "df": 3, "n1": 40, "n2": 50},
            of("bayes_factor_chi2", 5.0, 3, 90),
        ),
        ("f_oneway", {"stat": 4.0, "df1": 2, "df2": 30}, of("bayes_factor_f", 4.0, 2, 30, 33)),
        (
            "two-way anova",
            {"stat": 4.0, "df1": 1, "df2": 30, "n1": 20, "n2": 16},
            of("bayes_factor_f", 4.0, 1, 30, 36),
        ),
        ("mannwhitneyu", {"stat": 30, "n1": 10, "n2": 12}, of("bayes_factor_u", 30, 10, 12)),
        ("rank-sum", {"stat": 30, "n1": 10, "n2": None}, None),
        ("binomial", {"k": 8, "n": 9, "p0": 0.4}, of("bayes_factor_binomial", 8, 9, 0.4)),
        ("sign_test", {"stat": 8, "n1": 9}, of("bayes_factor_binomial", 8, 9, 0.5)),
        ("p-value", {"p_value": 0.01}, of("bayes_factor_bound", 0.01)),
        ("p_vsb", {"stat": 0.01}, of("bayes_factor_bound", 0.01)),
        (
            "variance_f_vsb",
            {"stat": 3.0, "df1": 9, "df2": 40},
            of("bayes_factor_variance_ratio", 3.0, 9, 40),
        ),
        (
            "p_half_vsb",
            {"stat": 0.01, "direction": 1},
            of("bayes_factor_directional_bound", 0.01, 1),
        ),
        (None, {"stat": 2.0, "n1": 20}, None),
        ("t-test", {"stat": math.nan, "n1": 20}, None),
        ("t-test", {"stat": 2.0, "n1": math.nan}, None),
    ]
    rows = [{"test_type": test_type, **columns} for test_type, columns, _ in cases]
    tests = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    found = with_bayes_factors(tests, None)["bayes_factor"].to_list()
    for value, (*case, expected) in zip(found, cases, strict=True):
        assert value == (None if expected is None else pytest.approx(expected)), case


def test_names_of_types_are_known():
    known = [name for each in TYPES if each.kind for name in each.names]
    with_bayes_factors(pl.DataFrame({"test_type": known, "stat": None}), None)
    original = pl.DataFrame({"test_type": [*SOME_KINDS], "stat": None})
    humanstudy_bench.with_bayes_factors(original, None)


def two_sides():
    return pl.DataFrame(
        {
            "test_type": ["t-test", "p_half_vsb", "chi2"],
            "stat_human": [2.0, 0.01, 5.0],
            "stat_agent": [-2.0, 0.01, 2000.0],
            "n1_human": [20, None, 300],
            "n1_agent": [20, None, 300],
            "direction_human": [1, 1, None],
            "direction_agent": [-1, -1, None],
        }
    )


def test_both_sides_at_once_and_one_alone():
    frame = two_sides()
    both = with_bayes_factors(frame)
    assert both.columns == [
        *frame.columns,
        "log_bayes_factor_human",
        "bayes_factor_human",
        "log_bayes_factor_agent",
        "bayes_factor_agent",
        "n_from_df_human",
        "n_from_df_agent",
    ]
    made = both
    assert made["bayes_factor_human"][0] == made["bayes_factor_agent"][0]
    assert made["bayes_factor_agent"][1] == pytest.approx(0.1)
    assert made["bayes_factor_agent"][2] == math.inf
    assert math.isfinite(made["log_bayes_factor_agent"][2])
    agent = with_bayes_factors(frame, "agent")
    names = ["log_bayes_factor_agent", "bayes_factor_agent"]
    assert agent.select(names).equals(made.select(names))
    again = with_bayes_factors(made)
    assert again.select(made.columns).equals(made)


def test_the_reference_has_its_caps_and_checks_nothing():
    made = humanstudy_bench.with_bayes_factors(two_sides())
    assert made["bayes_factor_agent"].to_list()[1:] == [0.1, 1.0]
    assert made["log_bayes_factor_agent"][2] == 0.0
    assert one("t-test", humanstudy_bench, stat=2.0, n1=1) == 1.0
    assert one("t-test", humanstudy_bench, stat=2.0, n1=20, n2=None, independent=True) == 1.0


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            {"test_type": ["correlation"], "stat": [1.2], "n": [9]},
            r"stat is a correlation from -1 to 1, in correlation tests: not so in 1 of 1 rows"
            r"\n    row 0: test_type='correlation', stat=1\.2",
        ),
        ({"test_type": ["p_value"], "p_value": [1.5]}, "p_value lies from 0 to 1"),
        ({"test_type": ["t-test"], "stat": ["2"], "n1": [9]}, "column 'stat' is String"),
    ],
)
def test_what_is_impossible_is_told_with_its_rows(columns, text):
    with pytest.raises(ContractError, match=text):
        with_bayes_factors(pl.DataFrame(columns), None)


def test_a_factorial_design_needs_its_size_and_a_guess_is_told():
    f = {"stat": 4.0, "df1": 1, "df2": 76}
    rows = [
        {"test_type": "anova", **f},
        {"test_type": "f_oneway", **f},
        {"test_type": "anova", **f, "n": 80},
        {"test_type": "anova", **f, "stat": None},
        {"test_type": "t-test", "stat": 2.0, "n1": 40},
    ]
    tests = pl.from_dicts([{"n": None, "n1": None, **row} for row in rows], infer_schema_length=9)
    for room in (replication, humanstudy_bench):
        made = room.with_bayes_factors(tests, None)
        assert made["n_from_df"].to_list() == [True, *[False] * 4]
    assert made["bayes_factor"][0] == pytest.approx(of("bayes_factor_f", 4.0, 1, 76, 78))
    factorial = tests.head(1).with_columns(test_type=pl.lit("2x2 ANOVA"))
    with pytest.raises(ContractError, match=r"n_total is known(.|\n)*give n_total, the number"):
        with_bayes_factors(factorial, None)


def test_only_two_groups_are_halves_of_all():
    tests = pl.DataFrame(
        {
            "test_type": ["z", "one-sample z", "z", "one-sample z"],
            "stat": 2.2,
            "independent": [None, None, False, None],
            "n_total": [40, 40, 40, None],
            "n1": [None, None, None, 40],
        }
    )
    made = with_bayes_factors(tests, None)["bayes_factor"]
    assert made.is_null().to_list() == [False, True, True, False]
    assert made[0] != made[3]
    effects = with_effect_sizes(
        tests.select("test_type", pl.exclude("test_type").name.suffix("_human"))
    )
    assert effects["effect_d_human"].is_null().equals(made.is_null(), check_names=False)


def test_the_width_of_the_prior_of_a_correlation():
    tests = pl.DataFrame({"test_type": ["pearson"], "stat": [0.4], "n": [30]})
    made = with_bayes_factors(tests, None, kappa=1 / 3)["bayes_factor"].item()
    plain = tests.select(replication.bayes_factor_r("stat", "n", kappa=1 / 3)).item()
    assert made == plain != of("bayes_factor_r", 0.4, 30)
    original = humanstudy_bench.with_bayes_factors(tests, None)["bayes_factor"].item()
    t = 0.4 * (28 / 0.84) ** 0.5
    assert original == pytest.approx(of("bayes_factor_t", t, 30))


def test_the_side_at_fault_is_named():
    frame = two_sides().with_columns(n1_agent=pl.Series([0, None, 300]))
    with pytest.raises(ContractError, match=r"in t tests \(agent\).*\n.*row 0.*n1_agent=0"):
        with_bayes_factors(frame)
    assert with_bayes_factors(frame, "human").height == 3


def test_refusals():
    frame = pl.DataFrame({"test_type": ["t-tset"], "stat": [1.0]})
    with pytest.raises(UnknownNameError, match=r"test type 't-tset'\. Did you mean 't-test'"):
        with_bayes_factors(frame, None)
    with pytest.raises(MissingColumnsError, match=r"needs column 'stat_human'"):
        with_bayes_factors(frame)
    with pytest.raises(MissingColumnsError, match=r"needs column 'kind'"):
        with_bayes_factors(frame, None, test_type="kind")
    with pytest.raises(ParameterError, match="side must be 'human', 'agent', both or None"):
        with_bayes_factors(frame, "robot")
    for name in ("scale", "f_scale", "kappa"):
        with pytest.raises(ParameterError, match=f"^{name} must be a number"):
            with_bayes_factors(
                pl.DataFrame({"test_type": ["p-value"], "stat": [0.1]}), None, **{name: -1.0}
            )


def test_published_human_tests(shared):
    tests = pl.read_parquet(shared / "data/replication/human_tests.parquet")
    made = humanstudy_bench.with_bayes_factors(tests, None, test_type="bf_family")
    # 002-F2 has no sizes: the original takes those of the agents.
    known = made.filter(
        pl.col("bf10").is_not_null() & (pl.col("n1").is_null() | (pl.col("n1") > 0))
    )
    assert len(known) > 140
    ratio = known["bayes_factor"] / known["bf10"]
    assert (ratio - 1).abs().max() < 1e-6


def test_degrees_of_freedom_by_either_name():
    by_hand = math.exp((20.0 - 4 * math.log(100)) / 2)
    assert one("chi-square", stat=20.0, df=4, n=100) == pytest.approx(by_hand)
    assert one("chi-square", stat=20.0, df1=4, df=9, n=100) == pytest.approx(by_hand)
    assert one("chi-square", stat=20.0, df1=None, df=4, n=100) == pytest.approx(by_hand)


def test_columns_of_the_user_are_left_alone():
    tests = pl.DataFrame({"test_type": ["t-test"], "stat": [2.0], "n1": [20]})
    own = tests.with_columns(
        pl.lit("u").alias(":kind"), pl.lit(7).alias(":type"), pl.lit("t-test").alias("::type")
    )
    made = with_bayes_factors(own, None)
    assert made.drop("log_bayes_factor", "bayes_factor", "n_from_df").equals(own)
    assert made["bayes_factor"].item() == one("t-test", stat=2.0, n1=20)
    named = with_bayes_factors(own.drop("test_type"), None, test_type="::type")
    assert named["bayes_factor"].item() == made["bayes_factor"].item()


DIRECTIONS = [
    # Of the human and of the agent, and what the agent's and the human bound is.
    (1.0, 1.0, "half", "half"),
    (1.0, -1.0, "against", "half"),
    (0.0, 0.0, "against", "against"),
    (0.0, 1.0, "against", "against"),
    (1.0, math.nan, None, "half"),
    (None, 0.0, None, None),
]


@pytest.mark.parametrize("room", [replication, humanstudy_bench])
def test_the_expected_direction_is_the_human_one_and_not_0(room):
    names = ["direction_human", "direction_agent", "of_agent", "of_human"]
    tests = pl.DataFrame(DIRECTIONS, schema=names, orient="row").with_columns(
        p_value_human=0.01, p_value_agent=0.01, test_type=pl.lit("p_half_vsb")
    )
    made = room.with_bayes_factors(tests.lazy()).collect()
    half = pytest.approx(of("bayes_factor_bound", 0.01) / 2)
    values = {"half": half, "against": pytest.approx(0.1), None: None}
    for side in ("agent", "human"):
        expected = [values[wanted] for wanted in tests[f"of_{side}"]]
        assert made[f"bayes_factor_{side}"].to_list() == expected, side
