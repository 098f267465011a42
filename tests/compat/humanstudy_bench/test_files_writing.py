"""All files of the original, written: read back, and never in part."""

import json
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from compat.humanstudy_bench.file_data import RUNS, results_of, table_of
from evalframe.compat.humanstudy_bench import (
    read_evaluation,
    read_results,
    result_tables,
    simple_results,
    write_results,
)
from evalframe.core.errors import (
    OutputError,
    ParameterError,
)

KEYS = ["model", "study_id", "sub_study_id", "finding_id", "test_id"]
FILES = {
    "benchmark_summary.csv",
    "benchmark_summary.json",
    "simple_findings.csv",
    "simple_results.json",
    "simple_studies.csv",
}


def test_all_files_are_written_and_read_back(tmp_path):
    tests = table_of(
        domain=["A", "B", "B", "B"],
        finding_weight=[1.0, 2.0, 3.0, 3.0],
        direction_human=[1, -1, 0, None],
        is_significant_human=[True, False, None, True],
        pi_plus_human=[0.5, None, 0.25, 0.1],
        n1_human=[10.0, None, 3.0, 4.0],
        report_human=["t = 1", None, "ä\n", '"'],
    )
    other = tests.with_columns(model=pl.lit("n_v1-empty"))
    paths = write_results(
        result_tables(pl.concat([tests, other]).lazy(), runs=RUNS.lazy()), tmp_path
    )
    folders = {p.parent.relative_to(tmp_path).as_posix() for p in paths} - {"."}
    assert folders == {"s1/m", "s2/m", "s1/n_v1-empty", "s2/n_v1-empty"}
    assert {p.name for p in paths if p.parent == tmp_path} == FILES
    assert {p.name for p in paths if p.parent != tmp_path} == {
        "detailed_stats.csv",
        "evaluation_results.json",
    }
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p not in paths]
    found = read_evaluation(tmp_path)
    expected = pl.concat([tests, other]).with_columns(
        pl.when(pl.col("z_difference").is_finite()).then("z_difference")
    )
    assert_frame_equal(
        found.tests.select(tests.columns).sort(KEYS),
        expected.sort(KEYS),
        check_dtypes=False,
    )
    one = found.runs.filter(pl.col("model") == "m").sort("study_id")
    told = RUNS.filter(pl.col("study_id") != "s3").drop("title")
    assert_frame_equal(one.select(told.columns), told)
    assert found.runs["unread"].list.len().sum() == 0


def test_the_same_tables_make_the_same_files(tmp_path):
    made = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        paths = write_results(results_of(), folder, version="legacy")
        made.append({p.relative_to(folder): p.read_bytes() for p in paths})
    assert made[0] == made[1]
    folder = tmp_path / "a"
    write_results(result_tables(table_of()), folder, created_at="now", overwrite=True)
    for name in ("benchmark_summary.json", "simple_results.json"):
        assert json.loads((folder / name).read_text())["metadata"]["generated_at"] == "now"


def test_files_that_are_there_stay_unless_asked_for(tmp_path):
    (tmp_path / "simple_studies.csv").write_text("mine")
    with pytest.raises(OutputError, match=r"1 of 9 files are there already, the first .*simple_st"):
        write_results(result_tables(table_of()), tmp_path)
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["simple_studies.csv"]
    assert (tmp_path / "simple_studies.csv").read_text() == "mine"
    with pytest.raises(OutputError, match=r"no folder '.*none'; create it first"):
        write_results(result_tables(table_of()), tmp_path / "none")
    (tmp_path / "s1").write_text("in the way")
    with pytest.raises(OutputError, match="cannot make folder"):
        write_results(result_tables(table_of()), tmp_path, overwrite=True)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        *(("model", name) for name in ("a/b", "..", "x" * 300, "a\0b")),
        *(("study_id", name) for name in (".", "", "a\\b", "/")),
    ],
)
def test_names_that_are_no_folders_are_refused(tmp_path, column, name):
    with pytest.raises(ParameterError, match=f"{column} .* cannot be the name of a folder"):
        write_results(result_tables(table_of(**{column: [name] * 4})), tmp_path)
    assert not list(tmp_path.iterdir())


def test_keys_of_other_types(tmp_path):
    tests = table_of(study_id=[2, 1, 1, 1]).with_columns(pl.col("model").cast(pl.Categorical))
    write_results(result_tables(tests), tmp_path)
    assert (tmp_path / "1" / "m" / "evaluation_results.json").exists()


def test_a_bare_table_of_tests_is_enough(tmp_path):
    tests = pl.DataFrame({"model": ["m"], "study_id": ["s"], "finding_id": ["F1"]})
    write_results(result_tables(tests), tmp_path, version="legacy")
    write_results(result_tables(tests, numbers="original"), tmp_path, overwrite=True)
    assert simple_results(result_tables(tests))["configs"]["m"]["pas_raw"] is None


ODD = [
    {"pas": [math.nan] * 4},
    {"pas": [0.0, 1.0, 0.0, 1.0]},
    {"effect_d_human": [math.inf] * 4, "effect_d_agent": [math.nan, -math.inf, 1e308, 1e308]},
    {"effect_d_human": [1.0] * 4, "effect_d_agent": [1.0] * 4},
    {"z_difference": [math.nan, math.inf, -math.inf, None]},
    {"p_value_agent": [None] * 4, "direction_match": [None] * 4},
    {"test_weight": [0.0] * 4},
    {"finding_id": [None] * 4},
]


@pytest.mark.parametrize("numbers", ["sound", "original"])
@pytest.mark.parametrize("odd", [[{"pas": [None] * 4}], ODD], ids=["no PAS", "others"])
def test_odd_tables_make_files_of_sound_numbers(tmp_path, odd, numbers):
    """Each is the table of a model of its own."""

    def refuse(constant):
        raise AssertionError(constant)

    parts = [table_of(**{"model": [f"m{k}"] * 4, **changes}) for k, changes in enumerate(odd)]
    tests = pl.concat(parts, how="diagonal_relaxed").with_columns(domain=pl.lit("d"))
    for path in write_results(result_tables(tests, numbers=numbers), tmp_path, version="legacy"):
        text = path.read_text()
        if path.suffix == ".json":
            json.loads(text, parse_constant=refuse)
        else:
            assert not {"nan", "inf", "-inf"} & {*text.lower().replace("\n", ",").split(",")}
    found = read_evaluation(tmp_path).tests
    assert found["test_id"].sort().to_list() == sorted([*table_of()["test_id"]] * len(odd))


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
_NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=5, deadline=None)
@given(
    st.lists(
        st.tuples(_TEXT | st.none(), _TEXT, _TEXT, _NUMBER, _NUMBER, st.booleans() | st.none()),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[:3],
    )
)
def test_whatever_is_written_is_read_back(tmp_path_factory, rows):
    names = ["sub_study_id", "finding_id", "test_id", "pas", "effect_d_agent", "direction_match"]
    types = dict(zip(names, [pl.String] * 3 + [pl.Float64] * 2 + [pl.Boolean], strict=True))
    tests = pl.DataFrame(rows, schema=types, orient="row").with_columns(
        model=pl.lit("m"), study_id=pl.lit("s")
    )
    folder = tmp_path_factory.mktemp("written")
    write_results(result_tables(tests), folder)
    assert_frame_equal(read_evaluation(folder).tests.select(tests.columns), tests, check_exact=True)
    assert len(read_results(folder).findings) == tests.n_unique(["sub_study_id", "finding_id"])
