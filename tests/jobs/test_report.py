"""Reports of jobs, as they run and of what they wrote: every family's, from the samples."""

import json
import re
import shlex
import sys
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from evalframe.jobs.cli import cli
from evalframe.jobs.flags import parse
from evalframe.jobs.pages import command_of

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch):
    """The scripts that draw, 0.9 MB and a second of work, have tests of their own."""
    monkeypatch.setattr("evalframe.reporting.page._bundle", lambda: "")


def call(*words, code=0):
    """What a command prints."""
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def parts(file):
    """Of each section of a page its heading, verdict, and numbers of tables and charts."""
    text = file.read_text(encoding="utf-8")
    found = {}
    for section in text.split("<section ")[1:]:
        head = re.search("<h2 [^>]*>(.*?)</h2>", section)[1]
        verdict = re.search("<p class=verdict>(.*?)</p>", section)
        counts = section.count("<table "), section.count("<figure ")
        found[head] = unescape(verdict[1]) if verdict else "", *counts, unescape(section)
    return found


FAMILIES = {
    "selective": (
        ["items.parquet", "--by", "mode", "--loss", "abs_norm", "--metrics", "aurc,coverage"],
        ("Selective prediction", "chain_of_thought", 2, 4),
        [
            "seed 42",
            "Geifman",
            "Is stated confidence deserved?",
            "Abstentions have no risk: 453 of",
        ],
    ),
    "rag": (
        ["rag_responses.parquet", "--by", "model,noise_rate"],
        ("Retrieval-augmented generation", "Accuracy falls most", 2, 1),
        ["Responses without a label", "Chen et al. (2024)", "resamples of question"],
    ),
    "survey": (
        ["survey_responses.parquet", "--truth", DATA / "survey.parquet"],
        ("Survey distributions", "tied with the best", 5, 5),
        ["21 of 900 items have no score", "Mogstad", "mb1-q8", "the tables category, segment,"],
    ),
    "replication": (
        ["replication_tests.parquet"],
        ("Replication", "models are tied with the best", 5, 8),
        ["without both effects", "Lin (1989)", "Agreement with humans by study"],
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_command_writes_its_report(family, tmp_path):
    (items, *more), (head, verdict, tables, charts), told = FAMILIES[family]
    file = tmp_path / "r.html"
    call(family, DATA / items, *more, "--bootstrap", 60, "-q", "--report", file)
    found = parts(file)
    assert [*found] == [head, "Provenance"]
    assert verdict in found[head][0]
    assert found[head][1:3] == (tables, charts)
    for text in told:
        assert text in found[head][-1], text
    provenance = found["Provenance"][-1]
    assert f"evalframe {family} " in provenance
    assert re.search("SHA-256 [0-9a-f]{64}", provenance)
    assert file.stat().st_size < 500_000


def test_a_folder_of_results_is_reported_by_family(tmp_path):
    rag = [DATA / "rag_responses.parquet", "--by", "noise_rate", "-o", tmp_path / "results" / "rag"]
    answers, out = DATA / "answers.parquet", tmp_path / "results" / "out.parquet"
    (tmp_path / "results").mkdir()
    call("rag", *rag, "-q")
    call("evaluate", answers, "--by", "model", "--hash-inputs", "-o", out, "-q")
    call("partial", answers, "-o", tmp_path / "results" / "state.parquet", "-q")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "results" / "other.parquet")
    file = tmp_path / "all.html"
    printed = call("report", tmp_path / "results", "-o", file, "--title", "All")
    assert "other.parquet: left out" in printed
    assert "state.parquet: left out" in printed
    found = parts(file)
    assert [*found] == ["Retrieval-augmented generation", "Any table or log", "Provenance"]
    assert found["Retrieval-augmented generation"][1:3] == (2, 1)
    provenance = found["Provenance"][-1]
    assert "not recorded (--hash-inputs records it)" in provenance
    assert re.search("SHA-256 [0-9a-f]{64}", provenance)


def test_a_job_file_names_its_report(tmp_path):
    job = tmp_path / "job.toml"
    entries = f'family = "items"\nitems = ["{DATA}/answers.parquet"]\nby = ["model"]'
    job.write_text(f'{entries}\nreport = "r.html"')
    call("run", job, "-q")
    assert [*parts(tmp_path / "r.html")] == ["Any table or log", "Provenance"]
    job.write_text(f'{entries}\nreport = "../r.html"')
    assert "is outside of" in call("run", job, code=1)


def test_all_outputs_are_written_or_none(tmp_path, monkeypatch):
    hostile = "</script><b>\u202e'\""
    items = pl.DataFrame({"model": [hostile, "b"] * 4, "score": [1, 0] * 4})
    items.write_parquet(tmp_path / "in.parquet")
    words = ["evaluate", tmp_path / "in.parquet", "--by", "model", "-q"]
    both = ["-o", tmp_path / "out.csv", "--report", tmp_path / "r.html"]
    assert "name it .html" in call(*words, "--report", tmp_path / "r.txt", code=1)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "altair", None)
        assert "pip install 'evalframe[plot]'" in call(*words, *both, code=1)
    with monkeypatch.context() as broken:
        broken.setattr("evalframe.jobs.pages.page", lambda *_: 1 / 0)
        call(*words, *both, code=1)
    assert [file.name for file in tmp_path.iterdir()] == ["in.parquet"]
    call(*words, *both)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "</script><b>" not in text
    assert "&lt;/script&gt;&lt;b&gt;" in text


def test_what_is_no_result_is_refused(tmp_path):
    records = ["[no record", "[1]", '{"job": 3}', '{"metrics": [{"name": 1}]}', '{"notes": [[]]}']
    for number, record in enumerate(records):
        file = tmp_path / f"other{number}.parquet"
        pl.DataFrame({"a": [1]}).write_parquet(file, metadata={"evalframe": record})
    assert "no results of evalframe" in call("report", tmp_path, "-o", tmp_path / "r.html", code=1)
    told = call("report", tmp_path / "other0.parquet", "-o", tmp_path / "r.html")
    assert "other0.parquet: no result of evalframe, shown as it is" in told


JOBS = (
    {"family": "selective", "items": ["a b.csv"], "loss": {"name": "abs_norm", "scale": 4.0}},
    {"family": "selective", "items": ["a"], "loss": {"column": "c"}, "columns": {"label": "x y"}},
    {"family": "survey", "items": ["a"], "reader": "runs", "context": 5, "key": ["a", "b"]},
    {"family": "rag", "items": ["a"], "level": 0.9, "hash_inputs": True, "by": ["model"]},
    {"family": "items", "verb": "compare", "items": ["a"], "between": "m", "bootstrap": 50},
    {"family": "items", "items": ["a"], "metrics": ["mean:x", "pass_at:y,k=5"], "bootstrap": 9},
)


@pytest.mark.parametrize("entries", JOBS, ids=lambda job: job["family"])
def test_the_command_of_a_job_makes_the_same_job(entries, monkeypatch):
    job = parse(entries)
    ran = []
    monkeypatch.setattr("evalframe.jobs.run.run_job", lambda made, *_, **__: ran.append(made))
    call(*shlex.split(command_of(job))[1:])
    assert ran == [job]


def test_a_job_that_no_flags_say_is_shown_as_a_job_file():
    metric = {"name": "mean:x", "alias": "m"}
    told = command_of(parse({"family": "items", "items": ["a"], "metrics": [metric]}))
    assert json.loads(told.partition(" of ")[2])["metrics"] == [metric]
