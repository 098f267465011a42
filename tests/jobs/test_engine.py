"""Jobs on an engine: each family's command is that of one process, and so are its refusals."""

import shlex
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.engine import opening
from evalframe.jobs.written import read_provenance

DATA = Path(__file__).parents[2] / "data"
NAME = "processes:2"
PARTS = 3


@pytest.fixture(scope="module")
def workers():
    """One pool for all jobs of this module."""
    with opening.opened(NAME) as engine:
        yield engine


@pytest.fixture
def folder(tmp_path, monkeypatch, workers):
    """The working directory, with the samples in parts, and workers that are there already."""
    usual = opening.on

    def on(engine, scratch=None):
        return usual(workers if engine == NAME else engine, scratch=scratch)

    monkeypatch.setattr(opening, "on", on)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_parts(name, table=None, rows=10_000):
    """Write a sample, or a table, in parts; the glob that names them."""
    table = pl.read_parquet(DATA / f"{name}.parquet").head(rows) if table is None else table
    size = -(-len(table) // PARTS)
    for k in range(PARTS):
        table[k * size : (k + 1) * size].write_parquet(f"{name}-{k}.parquet")
    return f"{name}-*.parquet"


def both(call, line, output, exit_code=0):
    """What a command prints and writes without an engine, and with one."""
    found = []
    for more in ([], ["--engine", NAME]):
        place = Path(("on_" if more else "") + output)
        done = call(*shlex.split(line), "-o", str(place), *more, exit_code=exit_code)
        texts = (done.stdout, done.stderr.replace(str(place.stem), "OUT"))
        found.append((*texts, place))
    return found


def same(alone, spread):
    """Check that what is written is the same."""
    files = sorted(alone.iterdir()) if alone.is_dir() else [alone]
    others = sorted(spread.iterdir()) if spread.is_dir() else [spread]
    assert files
    assert [file.name for file in others] == [file.name.replace(*_names(alone)) for file in files]
    for file, other in zip(files, others, strict=True):
        tables = [pl.read_parquet(each) for each in (other, file)]
        assert_frame_equal(*tables, rel_tol=1e-12, abs_tol=1e-12)


def _names(alone):
    return (alone.name, f"on_{alone.name}") if not alone.is_dir() else ("", "")


def lines_of(text):
    return [line for line in text.splitlines() if line]


BOOTSTRAP = "--bootstrap 20 --interval percentile"
CASES = {
    "evaluate": f"{{answers}} --by model,task --per sample_id {BOOTSTRAP}",
    "compare": f"{{answers}} --between model --by task --disagreements 2 {BOOTSTRAP}",
    "rank": f"{{answers}} --between model --by task --best highest {BOOTSTRAP}",
    "selective": f"{{items}} --loss abs_norm --by mode --cluster participant_id {BOOTSTRAP}",
    "rag": "{rag_responses}",
    "survey": f"{{survey_responses}} --truth {DATA / 'survey.parquet'}",
    "replication": "{replication_tests}",
}
ROWS = {"rag_responses": 150, "survey_responses": 100, "replication_tests": 30}


@pytest.mark.parametrize("command", CASES)
def test_a_command_on_an_engine_is_that_of_one_process(command, folder, call):
    words = CASES[command]
    (name,) = (part.partition("}")[0] for part in words.split("{")[1:])
    line = words.format(**{name: in_parts(name, rows=ROWS.get(name, 10_000))})
    (text, _, alone), (told, _, spread) = both(call, f"{command} {line}", "out")
    lines = lines_of(told)
    records = [read_provenance(next(place.iterdir())) for place in (alone, spread)]
    assert [record["job"].pop("output") for record in records] == ["out", "on_out"]
    assert records[0] == records[1]
    lines.remove(f"Computed by {NAME} in 2 parts.")
    assert lines == lines_of(text)
    same(alone, spread)


def test_a_state_of_many_shards_is_one_file(folder, call):
    answers = in_parts("answers")
    line = f"partial {answers} --by model --metric score --cluster sample_id"
    (_, _, alone), (_, _, spread) = both(call, line, "out.parquet")
    same(alone, spread)


BAD = pl.DataFrame(
    {
        "participant_id": ["a", "b", "a", "c", "c", "d"],
        "item": ["1", "1", "1", "1", "2", "1"],
        "prediction": [1, 0, 1, None, 1, 0],
        "label": [1, 1, 1, 1, None, 1],
        "confidence": [0.9, None, 0.8, None, 0.5, 0.4],
        "evidence": [1.0, 2.0, 1.0, None, None, float("nan")],
    }
)
LINE = "selective {} --loss zero_one --confidence confidence,evidence --on-invalid quarantine"
"""A repeat of a row of another part, and faults of a confidence or of all in each part."""


def test_rejected_rows_of_all_shards_are_set_apart_together(folder, call):
    parts = in_parts("bad", table=BAD)
    (text, told, alone), (other, said, spread) = both(call, LINE.format(parts), "out.parquet")
    assert said == told
    assert "unique: not so in 1" in said
    assert {*lines_of(text)} < {*lines_of(other)}
    same(alone, spread)
    same(Path("out.rejected.parquet"), Path("on_out.rejected.parquet"))
    rejected = pl.read_parquet("on_out.rejected.parquet")
    assert rejected["row"].to_list() == [2, 4, 1, 5]


def test_faults_in_two_shards_are_one_error(folder, call):
    words = LINE.replace(" --on-invalid quarantine", "").format(in_parts("bad", table=BAD))
    (_, told, alone), (_, said, spread) = both(call, words, "out.parquet", exit_code=1)
    assert said == told
    assert "row 2: participant_id='a', item='1' (as row 0)" in said
    assert not alone.exists()
    assert not spread.exists()


METRIC = '''
import evalframe as ef
from evalframe.core.state import State

@ef.metric(direction="maximize", range=(0.0, 1.0))
def half(value="score", *, weight=None):
    """Half a mean."""
    sums = {"value": value * weight, "mass": weight}
    finish = lambda totals: totals.value / totals.mass / 2
    return State(sums=sums, finish=finish, valid=value.is_not_null())
'''


def test_a_job_file_names_an_engine_and_a_metric_beside_it(folder, call):
    Path("half_metrics.py").write_text(METRIC)
    lines = ['family = "items"', f'items = ["{in_parts("answers")}"]', 'by = ["model"]']
    lines += ['metrics = ["half_metrics:half"]', f'engine = "{NAME}"', 'output = "out.parquet"']
    Path("job.toml").write_text("\n".join(lines))
    assert "Computed by" in call("run", "job.toml").stdout
    halves = pl.read_parquet("out.parquet").select("model", pl.col("estimate") * 2)
    means = ef.evaluate(pl.read_parquet("answers-*.parquet"), ef.mean("score"), by="model")
    assert_frame_equal(halves, means.select("model", "estimate"))


def test_inputs_that_are_no_rows_are_read_here_and_it_is_said(folder, call):
    names = ("tests", "responses", "designs")
    tests, responses, design = (DATA / f"replication_{name}.parquet" for name in names)
    line = f"replication {tests} --participants {responses} --design {design} --engine {NAME}"
    told = call(*shlex.split(line)).stdout
    assert "are read and computed by this process: no engine is used" in told


REFUSED = {
    "--engine proceses:2": "Did you mean 'processes:N'?",
    "--engine dask": "evalframe[dask]",
    "--scratch .": "scratch is for an engine; name one, or leave it out",
    f"--engine {NAME} --scratch nowhere": "scratch must be a folder that exists",
    f"--engine {NAME} --by modell": "modell",
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words, folder, call, monkeypatch):
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    line = ["evaluate", in_parts("answers"), "-o", "out.parquet", *shlex.split(words)]
    assert REFUSED[words] in call(*line, exit_code=1).stderr
    assert not Path("out.parquet").exists()


def test_a_store_keeps_what_was_made_of_files(folder, call):
    parts = in_parts("rag_responses", rows=90)
    drawn = "rank {} --between noise_rate --metric id --best lowest --cluster id"
    lines = ("rag {}", "evaluate {} --by dataset --metric id", "partial {} --metric id", drawn)
    for line in lines:
        words = [*shlex.split(line.format(parts)), "-o", "out.parquet", "--state", "kept"]
        assert "had of them: 3 new." in call(*words).stdout
        assert "had of them: 3 reused." in call(*words, "--engine", NAME).stdout
    last = pl.read_parquet("rag_responses-2.parquet")
    last.head(20).write_parquet("rag_responses-2.parquet")
    for line in lines:
        words = [*shlex.split(line.format(parts)), "-o", "out.parquet"]
        assert "had of them: 1 changed, 2 reused." in call(*words, "--state", "kept").stdout
        found = pl.read_parquet("out.parquet")
        call(*words)
        assert_frame_equal(found, pl.read_parquet("out.parquet"))


def test_logs_are_parsed_by_workers(folder, call):
    shutil.copytree(DATA / "quiz", "quiz")
    Path("quiz", "broken.eval").write_text("no log")
    line = "evaluate quiz --by model --metadata topic --metric score"
    (_, told, alone), (text, said, spread) = both(call, line, "out.parquet")
    assert "1 log is skipped" in told
    assert said == told
    assert "Logs are read by the engine" in text
    same(alone, spread)
