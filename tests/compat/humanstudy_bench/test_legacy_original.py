"""The original's derivation of legacy fields: values that it computed, and what it loses."""

import polars as pl
import pytest

from evalframe.compat import humanstudy_bench

REPORTS = [
    # Report, p-value, whether it is significant at 0.05, confidence.
    ("r(30) = .45", None, False, "low"),
    ("r = .45", 0.025, True, "low"),
    ("r = -.45", 0.025, True, "low"),
    ("power = .8", 0.025, True, "low"),
    ("t(20) = -3.1", None, False, "low"),
    ("t (20) = 3.1", 0.025, True, "low"),
    ("first (3) = 1.9", 0.10, False, "low"),
    ("F = 17.79", None, False, "low"),
    ("F(1, 78) = 17.79", 0.025, True, "low"),
    ("f(1, 78) = 4", 0.10, False, "low"),
    ("p > .10, then p < .01", 0.10, False, "medium"),
    ("p < .01, then p = .3", 0.3, False, "high"),
    ("p < .8", 0.4, True, "medium"),
    ("p > .01", 0.01, True, "medium"),
    ("p = 1e-5", 1.0, False, "high"),
    ("p: .03", 0.03, True, "high"),
    ("P=.05", 0.05, True, "high"),
    ("p ≤ .05", None, False, "low"),
    ("p = n.s.", None, False, "low"),
    ("p = .05.", None, None, None),
    ("p < .001.", None, None, None),
    ("t(38) = 2.10.", None, None, None),
    ("r = .1-.2", None, None, None),
    ("", None, False, "low"),
    (None, None, False, "low"),
]


def test_reports_as_the_original_reads_them():
    reports = pl.DataFrame({"report": [report for report, *_ in REPORTS]})
    said = reports.select(humanstudy_bench.reported_p_value()).unnest("reported_p_value")
    for row, (report, *wanted) in zip(said.rows(), REPORTS, strict=True):
        assert [*row] == wanted, report


@pytest.mark.parametrize(
    ("report", "independent", "sizes"),
    [
        ("t(79) = 2.66", True, (79, None, 40, 41)),
        ("t(79) = 2.66", False, (79, None, 80, None)),
        ("t (79) = 2.66", True, (None,) * 4),
        ("t(79.5) = 2.66", True, (None,) * 4),
        ("t(79) = 2.66, n1 = 5, n2 = 9", True, (79, None, 40, 41)),
        ("Experiment(1): t(38) = 2.1", True, (1, None, 1, 2)),
        ("t(38) = 2.1, F(1, 78) = 17.7", True, (1, 78, 40, 40)),
        ("f(1, 78) = 17.7", True, (None,) * 4),
        ("r(58) = .42", True, (58, None, 60, None)),
        ("chi2(2) = 27.2", True, (2, None, 100, None)),
        ("2.66", True, (None,) * 4),
    ],
)
def test_sizes_as_the_original_reads_them(report, independent, sizes):
    row = pl.DataFrame({"report": [report], "independent": [independent]})
    said = row.select(humanstudy_bench.reported_statistic(independent="independent"))
    assert [*said.item().values()] == [None, *sizes]


HUMAN = ("stat", "n1", "n2", "n", "k", "p0", "a", "b", "c", "d", "report", "independent")


def fields(tests):
    """The fields of tests: columns `x` of the human side, `x_agent` of the other."""
    rows = [
        {f"{name}_human" if name in HUMAN else name: value for name, value in columns.items()}
        for columns in tests
    ]
    table = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    return humanstudy_bench.replication_fields(table).rows(named=True)


AGENT = {"stat_agent": 1.5, "n1_agent": 20, "n2_agent": 20}
SHARES = {"n_agent": 20, "k_agent": 13}

DERIVED = [
    # What a test has, and what the original derives of it.
    # The statistic is not taken from the report, and a test without it has no effect.
    (
        {"test_type": "t-test", "report": "t(38) = 2.1, p = .04", **AGENT},
        {"p_value_human": 0.04, "effect_size_human": None, "effect_size_agent": 0.4743416490252569},
    ),
    # Sizes are, but the statistic counts, not that of the report.
    (
        {"test_type": "t-test", "report": "t(38) = 9.9", "stat": 2.1, **AGENT},
        {
            "p_value_human": 0.021210921473674205,
            "effect_size_human": 0.6640783086353597,
            "z_difference": -0.4157005079098305,
        },
    ),
    # Two groups without the size of the second: an error, that loses the agent's effect.
    (
        {"test_type": "t-test", "stat": 2.0, "n1": 30, **AGENT},
        {"p_value_human": 0.02747181859148362, "effect_size_agent": None, "n_eff": 40.0},
    ),
    # On the agent's side it does not lose the human one.
    (
        {"test_type": "t-test", "stat": 2.0, "n1": 30, "n2": 30, **AGENT, "n2_agent": None},
        {"effect_size_human": 0.5163977794943222, "effect_size_agent": None, "n_eff": 20.0},
    ),
    # A table whose odds have no logarithm.
    (
        {
            **{"test_type": "chi2", "a": 10, "b": -5, "c": 4, "d": 9, "stat_agent": 9.0},
            **{"a_agent": 10, "b_agent": 5, "c_agent": 4, "d_agent": 9},
        },
        {"effect_size_human": None, "effect_size_agent": None, "n_eff": 28.0},
    ),
    # Names with effects and without p-values.
    (
        {"test_type": "t_test", "report": "p < .01", "stat": 2.0, "n1": 30, "n2": 30, **AGENT},
        {
            "p_value_human": 0.005,
            "effect_size_human": 0.5163977794943222,
            "z_difference": -0.10149447635121177,
        },
    ),
    (
        {"test_type": "sign_test", "report": "p = .2", "k": 20, "n": 30, "p0": 0.5, **SHARES},
        {"p_value_human": 0.2, "effect_size_human": 2 / 3, "z_difference": -0.12161107327343258},
    ),
    # Names are compared as they are written.
    (
        {"test_type": "T-Test", "report": "p < .01", "stat": 2.0, "n1": 30, "n2": 30, **AGENT},
        {"p_value_human": 0.005, "effect_size_human": None, "direction_human": 1, "n_eff": 1.0},
    ),
    # Counts that are not whole have no p-value; shares take their whole part.
    (
        {
            **{"test_type": "binomial", "report": "p = .2", "k": 20.5, "n": 30.5, "p0": 0.5},
            **{"n_agent": 20.5, "k_agent": 13.5},
        },
        {
            "p_value_human": 0.2,
            "effect_size_human": 2 / 3,
            "effect_size_agent": 0.65,
            "n_eff": 20.0,
        },
    ),
    # Trials of the report count for the p-value, and not for the share.
    (
        {"test_type": "binomial", "report": "n = 40", "k": 24, "p0": 0.0, "n_agent": 20},
        {"p_value_human": 0.0, "is_significant_human": True, "effect_size_human": None},
    ),
    # F is never negative on the human side; its tail is that of 0.
    (
        {"test_type": "f-test", "report": "F(1, 38) = 4", "stat": -4.0, **AGENT},
        {"p_value_human": 1.0, "direction_human": 1, "effect_size_human": 0.6324555320336759},
    ),
    # The total of human ranks is that of the first group where there is no other.
    (
        {"test_type": "wilcoxon", "stat": 1.5, "n1": 25, **AGENT},
        {"p_value_human": 0.06680720126885809, "effect_size_human": 0.3},
    ),
    # A test that is marked and has no p-value.
    (
        {"test_type": "t-test", "is_significant_human": True, **AGENT},
        {"p_value_human": 0.01, "is_significant_human": True},
    ),
    # A repair sets the older name of PAS, too.
    (
        {
            **{"test_type": "t-test", "report": "p > .3", "pi_human": 0.8, "pi_agent": 0.6},
            **{"pas": 0.5, "score": 0.25},
        },
        {"pi_human": 0.03846153846153848, "pas": 0.40769230769230774, "score": 0.40769230769230774},
    ),
    # Where the original stops there are no fields.
    (
        {"test_type": "t-test", "report": "p = .05.", "p_value_agent": 0.03, **AGENT},
        {
            **dict.fromkeys(("p_value_human", "is_significant_human", "direction_match", "n_eff")),
            **dict.fromkeys(("direction_agent", "effect_size_agent", "replication_consistency")),
            "p_value_agent": 0.03,
        },
    ),
    (
        {"test_type": "t-test", "report": "p = .05.", "stat": 2.0, "n1": 30, "n2": 30, **AGENT},
        {"p_value_human": 0.025095234020724222},
    ),
]


def test_fields_as_the_original_derives_them():
    found = fields([given for given, _ in DERIVED])
    for made, (given, wanted) in zip(found, DERIVED, strict=True):
        for name, value in wanted.items():
            close = value if value is None else pytest.approx(value, rel=1e-12, abs=1e-15)
            assert made[name] == close, (name, given)


WORDS = [
    ("positive", 1, 0.025095234020724222),
    ("greater", -1, 0.025095234020724222),
    ("pos", 1, 0.050190468041448444),
    ("Positive", 1, 0.050190468041448444),
    ("<", -1, 0.9749047659792758),
    ("any", -1, 0.050190468041448444),
    ("", 0, 0.050190468041448444),
    (None, 1, 0.025095234020724222),
]


def test_words_of_directions():
    """Of t tests, the agent's without a statistic."""
    tests = pl.DataFrame(
        {"test_type": "t-test", "expected_direction": [expected for expected, *_ in WORDS]}
    ).with_columns(stat_human=2.0, n1_human=30, n2_human=30)
    found = humanstudy_bench.replication_fields(tests).rows(named=True)
    for made, (expected, direction, p) in zip(found, WORDS, strict=True):
        assert made["p_value_human"] == pytest.approx(p, rel=1e-12), expected
        directions = (made["direction_human"], made["direction_agent"], made["direction_match"])
        assert directions == (1, direction, direction == 1), expected


@pytest.mark.parametrize(
    ("k", "n", "p0", "p"),
    [
        (3.0, 10.0, 0.5, 0.34375),
        (3.0, 10.5, 0.5, None),
        (3.5, 10.0, 0.5, None),
        (0.0, 10.0, 0.0, 1.0),
        (3.0, 10.0, 0.0, 0.0),
        (10.0, 10.0, 1.0, 1.0),
        (3.0, 10.0, 1.2, None),
        (3.0, 10.0, None, None),
        (None, 10.0, 0.5, None),
    ],
)
def test_p_values_of_counts(k, n, p0, p):
    row = pl.DataFrame(
        {"test_type": ["binomial"], "stat": [3.0], "k": [k], "n": [n], "p0": [p0]},
        schema_overrides=dict.fromkeys(("k", "n", "p0"), pl.Float64),
    )
    made = row.select(humanstudy_bench.p_value(k="k", n="n", p0="p0")).item()
    assert made == (None if p is None else pytest.approx(p, rel=1e-12))


@pytest.mark.parametrize(
    ("pas", "score", "wanted", "mean", "weighted"),
    [
        (None, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.25, 0.25, 0.25, 0.0),
        (0.75, 0.0, 0.75, 0.75, 0.75),
        (0.0, None, 0.5, None, 0.0),
        (None, None, 0.5, None, 0.5),
    ],
)
def test_what_stands_for_a_pas(pas, score, wanted, mean, weighted):
    """The older name counts where there is no PAS or one of 0, itself also as 0."""
    types = {"study_id": pl.String, "finding_id": pl.String, "pas": pl.Float64, "score": pl.Float64}
    test = pl.DataFrame([("s", "F1", pas, score)], schema=types, orient="row")
    for rule, value in (("mean_z", wanted), ("mean", mean), ("weighted_mean", weighted)):
        found = humanstudy_bench.finding_scores(test, rule=rule, finding_key="finding_id")
        assert found["pas"].item() == value, rule
