"""ECS by groups, domains, studies and findings, against golden values and a plain program."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.replication.agreement.ecs import ecs, p_null, with_ecs_weights
from evalframe.replication.agreement.metrics import concordance_correlation
from replication.golden import near, number

ROOMS = [replication, humanstudy_bench]


def converted(test, side):
    """The effect of a side as d: what it is given as, or converted where that is absent."""
    if f"{side}_effect_d" in test:
        return number(test[f"{side}_effect_d"])
    if test.get(f"{side}_effect_size") is None:
        return None
    size, kind = number(test[f"{side}_effect_size"]), test.get("statistical_test_type", "t-test")
    kind = kind.lower()
    if kind in ("correlation", "pearson", "spearman", "mannwhitneyu", "wilcoxon"):
        r = math.tanh(size) if kind in ("correlation", "pearson", "spearman") else size
        return None if abs(r) >= 1 - 1e-6 else 2 * r / math.sqrt(1 - r * r)
    if kind.startswith("chi"):
        return size * math.sqrt(3) / math.pi
    if kind in ("binomial", "sign_test"):
        return 4 * min(max(size, 1e-6), 1 - 1e-6) - 2
    return size if kind in ("t-test", "t_test", "f-test", "f_test", "anova") else None


def table(case):
    groups = case["inputs"].get("study_groups", {})
    domains = {study: name for name, studies in reversed(groups.items()) for study in studies}
    rows = [
        {
            "study_id": test.get("study_id"),
            "finding_id": test.get("finding_id", "unknown"),
            "domain": domains.get(test.get("study_id")),
            "effect_d_human": converted(test, "human"),
            "effect_d_agent": converted(test, "agent"),
        }
        for test in case["inputs"]["tests"]
    ]
    texts = dict.fromkeys(("study_id", "finding_id", "domain"), pl.String)
    floats = dict.fromkeys(("effect_d_human", "effect_d_agent"), pl.Float64)
    return pl.DataFrame(rows, schema=texts | floats)


@pytest.fixture(scope="module")
def cases(golden):
    found = [case for case in golden("replication/ecs") if case["inputs"]["family"] == "ecs_corr"]
    assert found
    return found


def whole(found):
    return found.row(0, named=True)


def by_name(found, key):
    rows = found.iter_rows(named=True)
    return {row[key]: row for row in rows if row[key] is not None}


def check(row, wanted, suffix, name=None):
    def of(field):
        return wanted[field] if name is None else wanted[field][name]

    assert row["ecs"] == near(of(f"ecs_{suffix}"))
    assert row["pearson"] == near(of(f"ecs_corr_{suffix}"))
    line = of(f"caricature_{suffix}")
    assert (row["slope"], row["intercept"]) == (near(line["a"]), near(line["b"]))


def test_golden_overall(cases):
    for case in cases:
        wanted = case["expected"]
        row = whole(humanstudy_bench.ecs(table(case)))
        check(row, wanted, "overall")
        assert row["n_tests"] == wanted["n_tests_overall"]
        lin = case["reference"]["ccc_lin_overall"]
        assert whole(ecs(table(case)))["ecs"] == near(lin), case["id"]


def test_golden_studies(cases):
    for case in cases:
        wanted, reference = case["expected"], case["reference"]
        found = by_name(humanstudy_bench.ecs(table(case), "study"), "study_id")
        for name, count in wanted["n_tests_per_study"].items():
            check(found[name], wanted, "per_study", name)
            assert found[name]["n_tests"] == count
        two_level = by_name(ecs(table(case), "study"), "study_id")
        equal = by_name(ecs(table(case), "study", weighting="equal"), "study_id")
        for name, lin in reference["ccc_lin_per_study_two_level"].items():
            assert two_level[name]["ecs"] == near(lin), case["id"]
            assert equal[name]["ecs"] == near(reference["ccc_lin_per_study_equal_weights"][name])


def test_golden_domains(cases):
    for case in cases:
        wanted = case["expected"]
        found = by_name(humanstudy_bench.ecs(table(case), "domain"), "domain")
        for name, row in found.items():
            check(row, wanted, "domain", name)
        assert {name for name, ecs_ in wanted["ecs_domain"].items() if ecs_ is not None} <= {*found}


TESTS = pl.DataFrame(
    {
        "model": ["a"] * 7 + ["b"] * 3,
        "study_id": ["s1"] * 5 + ["s2"] * 2 + ["s1"] * 3,
        "sub_study_id": ["x", "x", "y", "y", "y", "x", "x", "x", "x", "x"],
        "finding_id": ["F1", "F1", "F1", "F2", "F3", "F1", "F1", "F1", "F2", "F3"],
        "domain": ["A"] * 5 + ["B"] * 2 + ["A"] * 3,
        "effect_d_human": [0.1, 0.4, 0.8, 1.1, None, -0.3, 0.5, 0.5, 0.5, 0.5],
        "effect_d_agent": [0.2, 0.3, 1.0, 0.9, 0.4, 0.1, math.nan, 0.5, 0.5, 0.5],
    }
)


def test_weights_are_those_of_studies_then_findings():
    found = with_ecs_weights(TESTS)
    assert found.drop("ecs_weight").equals(TESTS)
    expected = [1 / 8, 1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3]
    assert found["ecs_weight"].to_list() == pytest.approx(expected)
    by_id = with_ecs_weights(TESTS, finding_key="finding_id")
    assert by_id["ecs_weight"].to_list()[:5] == pytest.approx([1 / 9] * 3 + [1 / 3] * 2)
    valid = with_ecs_weights(TESTS, weighting="two_level_valid")
    assert valid["ecs_weight"].to_list()[:7] == [1 / 6, 1 / 6, 1 / 3, 1 / 3, None, 1.0, None]
    equal = with_ecs_weights(TESTS, weighting="equal")
    assert equal["ecs_weight"].to_list() == [1.0] * 10


def test_the_metric_with_these_weights_is_the_table():
    weighed = with_ecs_weights(TESTS)
    resample = ef.Jackknife(cluster="study_id")
    metric = concordance_correlation(weight="ecs_weight")
    made = ef.evaluate(weighed, metric, by="model")
    assert made["estimate"][0] == pytest.approx(ecs(TESTS)["ecs"][0], rel=1e-13)
    spread = ef.evaluate(weighed.filter(model="a"), metric, resample=resample)
    assert spread["n_clusters"].item() == 2


def test_counts_of_what_is_missing():
    made = ecs(TESTS)
    assert made.select("n_tests", "n_missing", "missing_rate").rows() == [
        (5, 2, pytest.approx(2 / 7)),
        (3, 0, 0.0),
    ]
    per_study = ecs(TESTS, "study")
    assert per_study["ecs"].to_list()[1] is None
    stray = TESTS.with_columns(study_id=pl.when(pl.col("study_id") != "s2").then("study_id"))
    assert ecs(stray)["n_missing"].to_list() == [3, 0]
    assert humanstudy_bench.ecs(stray)["n_missing"].to_list() == [1, 0]


def test_effects_that_do_not_vary():
    same = TESTS.filter(model="b")
    assert whole(ecs(same))["ecs"] == 1.0
    apart = same.with_columns(effect_d_agent=pl.lit(0.7))
    for room, value, correlation in zip(ROOMS, (0.0, 1.0), (None, 0.0), strict=True):
        row = whole(room.ecs(apart))
        assert (row["ecs"], row["pearson"], row["slope"]) == (value, correlation, None)


def test_findings():
    made = ecs(TESTS, "finding")
    first = made.row(0, named=True)
    assert first["ecs"] is None
    assert first["pearson"] == pytest.approx(1.0)
    assert first["p_null"] is None
    assert made["n_tests"].to_list() == [2, 1, 1, 0, 1, 1, 1, 1]
    original = humanstudy_bench.ecs(TESTS, "finding")
    assert original["ecs"].to_list() == original["pearson"].to_list()
    flat = TESTS.head(2).with_columns(effect_d_human=pl.Series([1e-12, 0.0]))
    assert whole(ecs(flat, "finding"))["pearson"] is None


@pytest.mark.parametrize(
    ("r", "n", "expected"),
    [(0.0, 10, 1.0), (1.0, 10, None), (0.5, 3, None), (None, 9, None), (-0.5, 19, 0.0280044)],
)
def test_p_values_of_correlations(r, n, expected):
    found = pl.select(p_null(pl.lit(r, dtype=pl.Float64), pl.lit(n))).item()
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-7))


def test_replicates_and_no_keys():
    again = pl.concat([TESTS.with_columns(replicate=pl.lit(k)) for k in range(2)])
    made = ecs(again, "study", by=["replicate", "model"])
    alone = ecs(TESTS, "study")
    assert made.filter(replicate=1).drop("replicate").equals(alone)
    assert ecs(TESTS, by=[]).height == 1
    times = pl.Series("times", [1, 0, 1, 1, 1, 1, 0, 1, 1, 1])
    weighted = ecs(TESTS.with_columns(times), weight="times")
    assert weighted.equals(ecs(TESTS.filter(times > 0)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ecs(TESTS, "studies"), ParameterError, "Did you mean 'study'"),
        (lambda: ecs(TESTS, weighting="two"), ParameterError, "Did you mean 'two_level'"),
        (lambda: ecs(TESTS, by="ecs"), ParameterError, "a column 'ecs' of its own"),
        (lambda: ecs(TESTS.drop("domain"), "domain"), MissingColumnsError, "'domain'"),
        (lambda: ecs(TESTS, human="effect"), MissingColumnsError, "ecs needs column 'effect'"),
        (lambda: ecs(TESTS, agent="model"), ParameterError, "must be numbers, but is String"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def naive(rows):
    """The overall ECS of (study, finding, human, agent), in plain Python."""
    findings = Counter((study, finding) for study, finding, _, _ in rows)
    studies = Counter(study for study, _ in findings)
    points = [
        (x, y, 1 / studies[study] / findings[study, finding])
        for study, finding, x, y in rows
        if x is not None and y is not None
    ]
    if len(points) < 3:
        return None
    x, y, w = (np.array(column) for column in zip(*points, strict=True))
    w = w / w.sum()
    if np.ptp(x) == 0 and np.ptp(y) == 0:
        return float(x[0] == y[0])
    mean_x, mean_y = w @ x, w @ y
    products = w @ ((x - mean_x) * (y - mean_y))
    spread = w @ (x - mean_x) ** 2 + w @ (y - mean_y) ** 2
    return 2 * products / (spread + (mean_x - mean_y) ** 2)


EFFECTS = st.one_of(st.none(), st.integers(-8, 8).map(lambda eighths: eighths / 8))
ROWS = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from("xyz"), EFFECTS, EFFECTS),
    min_size=1,
    max_size=25,
)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_ecs_equals_a_plain_program(rows):
    names = ["study_id", "finding_id", "effect_d_human", "effect_d_agent"]
    schema = dict(zip(names, [pl.String] * 2 + [pl.Float64] * 2, strict=True))
    found = whole(ecs(pl.DataFrame(rows, schema=schema, orient="row")))["ecs"]
    expected = naive(rows)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))


FOUR = pl.DataFrame(
    {
        "study_id": ["s"] * 4,
        "finding_id": ["F1", "F2", "F3", "F4"],
        "effect_d_human": [0.0, 1.0, 2.0, 3.0],
        "effect_d_agent": [1.0, 2.0, 3.5, 3.0],
        "times": [1.0, 2.0, 3.0, 4.0],
    }
)
VALUES = ("ecs", "pearson", "slope", "intercept")


@pytest.mark.parametrize("scale", [1e300, 4e307, 4.49e307, 1e-300, 1e-307, 3.0])
def test_the_scale_of_weights_is_harmless(scale):
    plain = ecs(FOUR, weight="times")
    scaled = ecs(FOUR, weight=pl.col("times") * scale)
    method = ef.Bootstrap(cluster="finding_id", n=20)
    drawn = [ecs(FOUR, weight=pl.col("times") * k, resample=method) for k in (1.0, scale)]
    for name in VALUES:
        assert scaled[name].item() == pytest.approx(plain[name].item(), rel=1e-13)
        end = f"{name}_upper"
        assert drawn[0][end].item() == pytest.approx(drawn[1][end].item(), rel=1e-12)


@pytest.mark.parametrize("scale", [1e170, 1e160, 1e-160, 1e-170])
@pytest.mark.parametrize("room", ROOMS)
def test_effects_whose_squares_are_no_numbers(scale, room):
    extreme = FOUR.with_columns(pl.col("effect_d_human", "effect_d_agent") * scale)
    found = whole(room.ecs(extreme))
    undefined = [name for name in VALUES if found[name] is None]
    assert undefined == [*VALUES] or room is humanstudy_bench
    assert not any(isinstance(found[name], float) and math.isnan(found[name]) for name in VALUES)
    assert found["n_tests"] == 4
