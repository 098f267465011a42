"""Files of other programs: named by kind, by the older flags and entries, or recognised."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import InputError, UnknownNameError
from evalframe.jobs import family
from evalframe.jobs.flags import parse
from evalframe.jobs.written import read_provenance

RESULTS = {
    "score": 0.5,
    "test_results": [
        {"sub_study_id": "main", "finding_id": f"F{k}", "pas": 0.5 + k / 10} for k in range(3)
    ],
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The working directory, with evaluation results of one model."""
    path = tmp_path / "two-maps" / "some-model" / "evaluation_results.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(RESULTS))
    monkeypatch.chdir(tmp_path)
    return path.relative_to(tmp_path)


def test_all_ways_to_name_a_reader_read_the_same(call, results):
    job = f'family = "replication"\nitems = ["{results}"]\noutput = "out.parquet"\n'
    lines = [["--from-results", str(results)], ["--from", "results", str(results)], [str(results)]]
    call("replication", *lines[0], "-o", "first.parquet", "-q")
    expected = pl.read_parquet("first.parquet")
    assert len(expected) == 1
    for words in lines[1:]:
        call("replication", *words, "-o", "out.parquet", "-q")
        assert_frame_equal(pl.read_parquet("out.parquet"), expected)
        assert read_provenance("out.parquet")["job"]["reader"] == "results"
    for entry in ('reader = "results"', "results = true", ""):
        Path("job.toml").write_text(f"{job}{entry}\n")
        call("run", "job.toml", "-q")
        assert_frame_equal(pl.read_parquet("out.parquet"), expected)


def test_a_reader_serves_every_family_whose_contract_it_satisfies(call, samples):
    run = json.loads(Path("run.json").read_text())
    run["experiments"] = run["experiments"][:1]
    Path("one.json").write_text(json.dumps(run))
    job = 'family = "selective"\nitems = ["one.json"]\nreader = "run"\noutput = "o.csv"\n'
    columns = 'columns = { confidence = "token_msp" }\nmetrics = ["coverage"]\n'
    Path("job.toml").write_text(f'{job}{columns}loss = {{ name = "abs" }}\n')
    call("run", "job.toml", "-q")
    assert pl.read_csv("o.csv")["metric"].to_list() == ["coverage"]
    told = call("rag", "--from", "run", "one.json", exit_code=1).stderr
    assert "responses: column 'label' is Int64" in told


def test_refusals(call, results, monkeypatch):
    two = ["--from", "rgb", "a", "--from", "runs", "b"]
    assert "are read by separate commands" in call("survey", *two, exit_code=2).stderr
    Path("t.json").write_text("{}")
    assert "is one of run, rgb, runs, results" in call("rag", "t.json", exit_code=1).stderr
    with pytest.raises(UnknownNameError, match=r"unknown reader .rbg.\. Did you mean .rgb."):
        parse({"family": "rag", "items": ["a"], "reader": "rbg"})
    alike = {**family.READERS, "other": family.READERS["results"]}
    monkeypatch.setattr(family, "READERS", alike)
    with pytest.raises(InputError, match="can be read from results or other; name it by --from"):
        family.reader_of([str(results)], Path())
