"""The published results: the order of findings, their files, and what follows from their tests."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat.humanstudy_bench import read_results, result_tables, write_simple_results
from evalframe.compat.humanstudy_bench.files.results import Results, with_finding_idx


@pytest.fixture(scope="module")
def published(shared):
    folder = shared / "data" / "replication"
    names = ("benchmark", "studies", "findings")
    tables = (pl.read_parquet(folder / f"published_{name}.parquet") for name in names)
    return [table.drop("model", strict=False).rename({"config": "model"}) for table in tables]


def test_findings_are_in_the_published_order(published):
    *_, findings = published
    shuffled = findings.drop("finding_idx").sample(fraction=1.0, shuffle=True, seed=1)
    made = with_finding_idx(shuffled.lazy()).select(findings.columns).collect()
    assert_frame_equal(made, findings.sort("model", "study_id", "finding_idx"))
    assert len(made) == 4181


def test_published_scores_become_files_and_tables_again(published, tmp_path):
    benchmark, studies, findings = published
    results = Results(
        models=benchmark.rename({"pas_raw": "pas"}),
        domains=pl.DataFrame(),
        studies=studies.rename({"pas_raw": "pas"}).with_columns(title=pl.lit(None, pl.String)),
        findings=findings.rename({"finding_score": "pas"}),
        tests=pl.DataFrame(),
        pooling=None,
    )
    write_simple_results(results, tmp_path)
    lines = (tmp_path / "simple_findings.csv").read_text().split("\n")
    assert lines[0] == "config,study_id,finding_idx,sub_study_id,finding_id,finding_score,n_tests"
    assert lines[1].endswith("v1-empty,study_001,0,study_1_hypothetical_stories,F1,0.015740,4")
    assert lines[12].endswith("v1-empty,study_003,0,,F1,0.999800,1")
    assert len(lines) == 4182
    lines = (tmp_path / "simple_studies.csv").read_text().split("\n")
    assert lines[1].endswith("v1-empty,study_001,N/A,0.0022,-0.0434,433076,0.5955")
    assert lines[8].endswith("v1-empty,study_008,N/A,0.0021,,171657,0.4876")
    found = read_results(tmp_path)
    for name in ("models", "studies", "findings"):
        table, given = getattr(found, name), getattr(results, name)
        expected = given.select(table.columns)
        if name == "findings":
            empty = pl.col("sub_study_id") != ""
            expected = expected.with_columns(pl.when(empty).then("sub_study_id"))
        assert_frame_equal(table, expected)


def test_scores_of_studies_follow_from_published_tests(shared, published):
    _, studies, findings = published
    tests = pl.read_parquet(shared / "data" / "replication" / "tests.parquet")
    single = tests.filter(pl.col("kind") == "single_run").rename({"config": "model"})
    whole = ["study_003", "study_004", "study_005", "study_007"]
    given = single.filter(pl.col("study_id").is_in(whole)).with_row_index("test_id")
    results = result_tables(given, numbers="original")
    keys = ["model", "study_id"]
    found = results.studies.select(*keys, "pas").join(studies, on=keys)
    assert len(found) == 228
    assert (found["pas"] - found["pas_raw"]).abs().max() < 1e-11
    keys += ["finding_idx"]
    scores = results.findings.select(*keys, "pas", "n_tests").join(findings, on=keys)
    assert len(scores) == len(results.findings)
    assert (scores["pas"] - scores["finding_score"]).abs().max() < 1e-15
    assert scores["n_tests"].equals(scores["n_tests_right"])
