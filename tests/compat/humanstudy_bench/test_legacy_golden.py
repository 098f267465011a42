"""Legacy numbers of the program, reproduced, and sound p-values."""

import math
from itertools import chain

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench

SIDES = ("agent", "human")


def number(value):
    return None if value is None or isinstance(value, dict) else float(value)


def table_of(cases, names, strings=(), booleans=()):
    """One row per case, with the inputs of these names."""
    types = dict.fromkeys(names, pl.Float64) | dict.fromkeys(strings, pl.String)
    types |= dict.fromkeys(booleans, pl.Boolean)
    rows = []
    for case in cases:
        inputs = dict(case["inputs"])
        for side in ("agent", "human"):
            if len(table := inputs.pop(f"table_{side}", [])) == 2 and len(table[0]) == 2:
                inputs |= {f"{c}_{side}": n for c, n in zip("abcd", chain(*table), strict=True)}
        rows.append(
            [
                number(inputs.get(name)) if kind == pl.Float64 else inputs.get(name)
                for name, kind in types.items()
            ]
        )
    return pl.DataFrame(rows, schema=types, orient="row")


def assert_values(values, expected, cases, **tolerance):
    for value, wanted, case in zip(values, expected, cases, strict=True):
        wanted = number(wanted)
        assert value == (wanted if wanted is None else pytest.approx(wanted, **tolerance)), case


def of_family(golden, name, family):
    cases = [c for c in golden(f"replication/{name}") if c["inputs"]["family"] == family]
    assert cases
    return cases


def effects_of(family):
    """Effects and standard errors of both sides."""
    made = {}
    for side in SIDES:
        n1, n2, n = f"n1_{side}", f"n2_{side}", f"n_{side}"
        cells = [f"{cell}_{side}" for cell in "abcd"]
        size = pl.col(f"effect_{side}")
        made[side] = {
            "t_test": lambda side=side, n1=n1, n2=n2, size=size: (
                humanstudy_bench.cohens_d_t(f"t_{side}", n1, n2, independent="independent"),
                humanstudy_bench.cohens_d_std_error(size, n1, n2),
            ),
            "correlation": lambda side=side, n=n: (
                humanstudy_bench.fisher_z(f"r_{side}"),
                humanstudy_bench.fisher_z_std_error(f"r_{side}", n),
            ),
            "chi_square": lambda cells=cells: (
                humanstudy_bench.log_odds_ratio(*cells),
                humanstudy_bench.log_odds_ratio_std_error(*cells),
            ),
            "mann_whitney": lambda side=side, n1=n1, n2=n2, size=size: (
                humanstudy_bench.rank_biserial(f"u_{side}", n1, n2),
                humanstudy_bench.rank_biserial_std_error(size, n1, n2),
            ),
            "binomial": lambda side=side, n=n, size=size: (
                humanstudy_bench.proportion(f"k_{side}", n),
                humanstudy_bench.proportion_std_error(size, n),
            ),
        }[family]()
    return made


@pytest.mark.parametrize(
    "family", ["t_test", "correlation", "chi_square", "mann_whitney", "binomial"]
)
def test_effects_and_z_differences_by_family(golden, family):
    cases = of_family(golden, "zdiff", family)
    names = [f"{name}_{side}" for name in ("t", "r", "u", "k", "n", "n1", "n2") for side in SIDES]
    names += [f"{cell}_{side}" for cell in "abcd" for side in SIDES]
    made = effects_of(family)
    found = (
        table_of(cases, names, booleans=["independent"])
        .with_columns(made[side][0].alias(f"effect_{side}") for side in SIDES)
        .with_columns(made[side][1].alias(f"se_{side}") for side in SIDES)
        .select(
            "effect_agent",
            "effect_human",
            z_diff=humanstudy_bench.z_difference(
                "effect_human", "se_human", "effect_agent", "se_agent"
            ),
        )
        .with_columns(consistency=humanstudy_bench.consistency("z_diff"))
    )
    raised = [case["expected"].get("error") is not None for case in cases]
    found = found.filter(~pl.Series(raised))
    cases = [case for case, error in zip(cases, raised, strict=True) if not error]
    for name in found.columns:
        expected = [case["expected"][name] for case in cases]
        assert_values(found[name], expected, cases, rel=1e-12, abs=1e-12)


def test_z_differences(golden):
    cases = of_family(golden, "zdiff", "z_diff")
    names = [f"{name}_{side}" for name in ("effect", "se") for side in SIDES]
    z = humanstudy_bench.z_difference("effect_human", "se_human", "effect_agent", "se_agent")
    found = table_of(cases, names).select(z).with_columns(humanstudy_bench.consistency())
    wanted = {"z_difference": "z_diff", "consistency": "consistency"}
    for name, original in wanted.items():
        expected = [case["expected"][original] for case in cases]
        assert_values(found[name], expected, cases, rel=1e-12, abs=1e-12)


def test_strict_findings(golden):
    cases = of_family(golden, "ecs", "finding_ecs_strict")
    tests = pl.concat(
        pl.DataFrame(
            {"case": [i], "z_difference": [[number(z) for z in case["inputs"]["z_diff"]]]},
            schema={"case": pl.Int64, "z_difference": pl.List(pl.Float64)},
        )
        for i, case in enumerate(cases)
    ).explode("z_difference", empty_as_null=True)
    found = tests.group_by("case", maintain_order=True).agg(
        original=humanstudy_bench.finding_consistency(),
        text=humanstudy_bench.finding_consistency(rule="root_mean_square"),
    )
    assert_values(found["original"], [c["expected"] for c in cases], cases, rel=1e-12, abs=1e-12)
    for value, case in zip(found["text"], cases, strict=True):
        known = [z for z in case["inputs"]["z_diff"] if z is not None]
        if known and all(math.isfinite(float(z)) for z in known):
            wanted = case["reference"]["seed_document_rms_normal"]
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-15), case


def test_strict_studies(golden):
    cases = of_family(golden, "ecs", "study_ecs_strict")
    for case in cases:
        p = pl.DataFrame(
            {"finding_consistency": [number(p) for p in case["inputs"]["finding_p"]]},
            schema={"finding_consistency": pl.Float64},
        )
        original, mean = p.select(
            humanstudy_bench.study_consistency().alias("original"),
            humanstudy_bench.study_consistency(rule="mean").alias("mean"),
        ).row(0)
        assert original == pytest.approx(case["expected"], rel=1e-10, abs=1e-12), case
        assert mean == pytest.approx(case["reference"]["seed_document_simple_mean"]), case


def p_value_of(room):
    return room.p_value(
        "test_type",
        "test_statistic",
        "n_human",
        "n2_human",
        k="k_human",
        p0="p0",
        alternative="alternative",
    )


def human_p_values(golden):
    cases = of_family(golden, "p_value_direction", "human_p_value")
    names = ("test_statistic", "n_human", "n2_human", "k_human", "p0")
    return cases, table_of(cases, names, strings=("test_type", "alternative"))


def test_p_values(golden):
    cases, tests = human_p_values(golden)
    found = tests.select(p_value_of(humanstudy_bench)).to_series()
    assert_values(found, [case["expected"] for case in cases], cases, rel=1e-10, abs=1e-12)


def test_documented_p_values_are_the_same_where_sound(golden):
    cases, tests = human_p_values(golden)
    sound = ("t-test", "binomial", "correlation")
    found = tests.select(p_value_of(replication)).to_series()
    for value, case in zip(found, cases, strict=True):
        unsaid = case["inputs"]["test_type"] == "binomial" and case["inputs"].get("p0") is None
        if case["inputs"]["test_type"] in sound and not unsaid:
            wanted = case["expected"]
            assert value == (None if wanted is None else pytest.approx(wanted, rel=1e-9, abs=1e-12))


def test_reported_p_values(golden):
    cases = of_family(golden, "p_value_direction", "reported_p_parse")
    reports = table_of(cases, ["significance_level"], strings=["text"])
    said = humanstudy_bench.reported_p_value("text", significance_level="significance_level")
    found = reports.select(said).unnest("reported_p_value")
    assert found.to_dicts() == [
        {"p_value": case["expected"]["p"]}
        | {name: case["expected"][name] for name in ("is_significant", "confidence")}
        for case in cases
    ]


def test_directions(golden):
    cases = of_family(golden, "p_value_direction", "direction")
    tables = [case["inputs"].get("table", [[None] * 4]) for case in cases]
    cells = [dict(zip("abcd", chain(*table), strict=True)) for table in tables]
    tests = table_of(cases, ["statistic"], strings=["test_type", "expected_direction"])
    tests = tests.hstack(pl.DataFrame(cells, schema=dict.fromkeys("abcd", pl.Float64)))
    made = humanstudy_bench.direction(
        "test_type", "statistic", expected="expected_direction", cells="abcd"
    )
    assert tests.select(made).to_series().to_list() == [case["expected"] for case in cases]


FIELDS = {
    "p_value_human": "p_value_human",
    "is_significant_human": "is_significant_human",
    "is_significant_agent": "is_significant_agent",
    "human_direction": "direction_human",
    "agent_direction": "direction_agent",
    "direction_match": "direction_match",
    "z_diff": "z_difference",
    "replication_consistency": "replication_consistency",
    "agent_effect_size": "effect_size_agent",
    "human_effect_size": "effect_size_human",
    "agent_effect_d": "effect_d_agent",
    "human_effect_d": "effect_d_human",
    "human_effect_r": "effect_r_human",
    "agent_effect_r": "effect_r_agent",
    "n_eff": "n_eff",
    "pi_human": "pi_human",
    "pas": "pas",
}
OPTIONAL = ("pi_human", "pas")


def field_inputs(cases):
    names = {
        "agent_stat": "stat_agent",
        "human_stat": "stat_human",
        "p_agent": "p_value_agent",
        "n_agent": "n1_agent",
        "n2_agent": "n2_agent",
        "n_human": "n1_human",
        "n2_human": "n2_human",
        "k_agent": "k_agent",
        "k_human": "k_human",
        "p0": "p0_human",
        "significance_level": "significance_level",
        "pi_human": "pi_human",
        "pi_agent": "pi_agent",
    }
    cells = [f"{cell}_{side}" for cell in "abcd" for side in SIDES]
    strings = ["test_type", "expected_direction"]
    tests = table_of(cases, [*names, *cells], strings=strings, booleans=["independent"])
    return tests.rename(names).with_columns(
        independent_human="independent", independent_agent="independent"
    )


def test_fields_end_to_end(golden):
    cases = golden("replication/replication_fields")
    made = humanstudy_bench.replication_fields(field_inputs(cases))
    for row, case in zip(made.to_dicts(), cases, strict=True):
        for original, name in FIELDS.items():
            wanted, value = case["expected"].get(original), row[name]
            if original in OPTIONAL and wanted is None:
                continue
            if isinstance(wanted, float):
                assert value == pytest.approx(wanted, rel=1e-10, abs=1e-12), (case, name)
            else:
                assert value == wanted, (case, name)
