"""`evalframe replication --from-results`: evaluation results of the original, written and read."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.jobs.written import read_provenance
from evalframe.replication.sample import sample_tests

TESTS = sample_tests()


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in a folder with `tests.parquet`."""
    return commands("replication", tests=TESTS)


def test_results_of_the_original(replication):
    replication("tests.parquet", "-o", "tables", "--summary", "written", "-q")
    assert {path.name for path in Path("written").iterdir() if path.is_file()} == {
        *("benchmark_summary.csv", "benchmark_summary.json"),
        *("simple_results.json", "simple_studies.csv", "simple_findings.csv"),
    }
    expected = pl.read_parquet("tables/models.parquet")
    replication("--from-results", "written", "-o", "again.parquet", "-q")
    # What is read has its PAS, and does not say how that came about.
    told = expected.drop("n_two_way")
    found = pl.read_parquet("again.parquet").select(told.columns)
    assert_frame_equal(found, told, abs_tol=1e-9)
    simple = json.loads(Path("written/simple_results.json").read_text())
    best = simple["configs"]["lantern-13b"]
    assert best["pas_raw"] == pytest.approx(expected["pas"][0])
    assert read_provenance("again.parquet")["job"]["reader"] == "results"
    told = replication(
        "--from-results", "written", "-o", "o.csv", "--summary", "written", exit_code=1
    )
    assert "written holds inputs" in told
    TESTS.rename({"model": "config"}).write_parquet("config.parquet")
    args = ["config.parquet", "-o", "out.csv", "-q", "--by", "config", "--summary", "other"]
    replication(*args)
    same = Path("written/simple_studies.csv").read_text()
    assert Path("other/simple_studies.csv").read_text() == same


def test_results_of_tests_of_unknown_types(replication):
    def document(**last):
        sizes = {"human": 0.5, "agent": 0.25}
        effects = {f"{side}_effect_size": size for side, size in sizes.items()}
        test = {"finding_id": "F1", "pas": 0.8, "statistical_test_type": "t-test", **effects}
        tests = [test | {"test_name": "a"}, test | {"test_name": "b", **last}]
        return {"test_results": tests}

    for chosen in ("documented", "reference"):
        path = Path(f"{chosen}/s/m/evaluation_results.json")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document(statistical_test_type="t-tset")))
        args = ["--from-results", chosen, "-o", f"{chosen}.out", "--summary", f"{chosen}.files"]
        Path(f"{chosen}.out").mkdir()
        text = " ".join(replication(*args, "--rules", chosen).split())
        told = "Effects: none are computed for tests of unknown types: 't-tset' (1 row; did you"
        assert told in text
        tests = pl.read_parquet(f"{chosen}.out/tests.parquet")
        assert tests["test_type"].to_list() == ["t-test", "t-tset"]
        assert tests["effect_d_human"].to_list() == [0.5, None]
        models = pl.read_parquet(f"{chosen}.out/models.parquet")
        assert models["pas"].to_list() == pytest.approx([0.8])
        assert models.select("n_tests", "ecs_n_tests").row(0) == (2, 1)
        written = Path(f"{chosen}.files/s/m/evaluation_results.json").read_text()
        assert json.loads(written)["test_results"][1]["statistical_test_type"] == "t-tset"
    path.write_text(json.dumps(document(human_effect_d=1.0, agent_effect_d=1.0)))
    assert "Effects:" not in replication("--from-results", "reference", "-o", "o.csv")
