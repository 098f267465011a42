"""Job files, damaged and hostile: refused with a message, and never written outside their folder.

`EVALFRAME_ABUSE` is how many damaged job files are read; one in twenty of them is run.
"""

import random
import shutil
import warnings
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import evalframe as ef
from abuse.mutations import TEXT
from abuse.outcomes import SEED, N
from evalframe.core.errors import EvalframeError
from evalframe.jobs.cli import cli
from evalframe.jobs.family import FAMILIES, family
from evalframe.jobs.flags import load
from evalframe.jobs.samples import write_samples

JOBS = {
    "selective": """family = "selective"
items = ["items.parquet"]
output = "out.parquet"
by = ["mode"]
metrics = ["aurc", { name = "risk_at", coverage = 0.5, alias = "half" }]
loss = { name = "abs_norm", scale = 3.0 }
columns = { participant = "participant_id" }
bootstrap = { n = 20, seed = 1, level = 0.9 }
on_invalid = "quarantine"
""",
    "rag": """family = "rag"
items = ["rag_responses.parquet"]
output = "out"
by = ["model", "dataset", "noise_rate"]
level = 0.9
on_invalid = "quarantine"
""",
    "survey": """family = "survey"
items = ["survey_responses.parquet"]
truth = "survey.parquet"
output = "out.json"
metric = "cosine"
baselines = ["uniform"]
""",
    "replication": """family = "replication"
items = ["replication_tests.parquet"]
output = "out/"
summary = "files"
finding_rule = "mean"
human_prior_odds = 10.0
""",
    "items: evaluate": """family = "items"
verb = "evaluate"
items = ["answers.parquet"]
output = "out.csv"
by = ["model"]
metrics = ["mean:score"]
macro = ["task"]
""",
    "items: compare": """family = "items"
verb = "compare"
items = ["answers.parquet"]
output = "out"
between = "model"
baseline = "lantern-13b"
per = ["sample_id"]
metrics = ["mean:score"]
best = "highest"
fail_if = "regression > 0.9"
bootstrap = { n = 20, seed = 1, cluster = "sample_id" }
""",
    "items: rank": """family = "items"
verb = "rank"
items = ["answers.parquet"]
output = "out.md"
between = "model"
best = "highest"
metrics = ["mean:score"]
bootstrap = { n = 20, cluster = "sample_id" }
""",
    "items: partial": """family = "items"
verb = "partial"
items = ["answers.parquet"]
output = "out.parquet"
by = ["model"]
metrics = ["mean:score"]
state = "states"
""",
    "items: merge": """family = "items"
verb = "merge"
items = ["part.parquet", "whole.parquet"]
output = "out.parquet"
hash_inputs = true
""",
    "items: retract": """family = "items"
verb = "retract"
items = ["whole.parquet", "part.parquet"]
output = "out.parquet"
""",
    "items: finish": """family = "items"
verb = "finish"
items = ["part.parquet"]
output = "out.json"
bootstrap = { n = 20, seed = 1, cluster = "sample_id" }
""",
}
TEXTS = (
    "a * ^.*$ model mode items.parquet ../out.csv /out.csv . .. ./ / ~ out.xlsx a/b/c.csv x.csv/ "
    r"é.md \u0000 a\u0000b.csv \ud800 reference documented none json os:system [a"
)
LISTS = """[] [""] ["a","a"] ["*"] ["^.*$"] [1] [[]] ["mode"] ["no*"] ["aurc","aurc"]
["risk_at_1e400"] [{name="aurc",alias="*"}]"""
TABLES = """{} {n=0} {n=-5} {n=2,level=2.0} {column="*"} {a=1} {n=5,interval="bca"}
{n=5,cluster="nowhere"} {prediction="mode"}"""
NUMBERS = "0 -1 1.5 nan inf 1e308 true 1979-05-27"
VALUES = {
    '"': ['""', '" "', f'"{"x" * 300}.csv"', *(f'"{text}"' for text in TEXTS.split())],
    "[": [*LISTS.split(), "[" * 9_000],
    "{": TABLES.split(),
    "1": [*NUMBERS.split(), "9" * 400, "2" * 5_000],
}
"""Values that a job file may not hold where others stand, by how those begin."""

ALL = [value for values in VALUES.values() for value in values]


def damaged(text, draw):
    """A job file with other bytes, another value, another entry or one of any length or depth."""
    lines = text.splitlines()
    how, place = draw.random(), draw.randrange(len(lines))
    if how < 0.2:
        return draw.choice(TEXT)(text.encode(), draw)
    if how < 0.6:
        entry, _, value = lines[place].partition(" = ")
        alike = VALUES.get(value[0], VALUES["1"]) if draw.random() < 0.8 else ALL
        lines[place] = f"{entry} = {draw.choice(alike)}"
    elif how < 0.99:
        fields = [
            *family(draw.choice(FAMILIES)).job.__struct_fields__,
            "bootstrap.seed",
            '""',
            "a.b",
        ]
        lines.insert(place, f"{draw.choice(fields)} = {draw.choice(ALL)}")
    else:
        long = draw.choice(("x" * 10_000_000, "x.y" * 9_000))
        lines.insert(
            place, draw.choice((f'output = "{long}"', f'family = "{long}"', f"{long} = 1"))
        )
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder, participants=2)
    answers = pl.read_parquet(folder / "answers.parquet")
    for name, rows in {"whole": answers, "part": answers.head(20)}.items():
        state = ef.partial(rows, ef.mean("score"), by="model", cluster="sample_id")
        state.write_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture
def folder(samples, tmp_path, monkeypatch):
    """The folder of a job in a folder in which nothing else is."""
    folder = shutil.copytree(samples, tmp_path / "folder")
    monkeypatch.chdir(folder)
    return folder


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def run(*flags):
    """What the command line prints, and how it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(cli, ["run", "job.toml", *flags], prog_name="evalframe")
    return result.exit_code, result.output


def test_damaged_job_files_are_refused_in_words(folder):
    job, faults, outside = folder / "job.toml", [], folder.parent
    for seed in range(SEED, SEED + N):
        draw = random.Random(seed)
        job.write_bytes(damaged(JOBS[draw.choice([*JOBS])], draw))
        try:
            load(job)
        except EvalframeError as error:
            told = str(error)
            if "$" in told.replace("^.*$", "") or (told.count("`") and "unknown entry" not in told):
                faults.append((seed, told[:200]))
        if seed % 20 == 0:
            before = files(outside)
            code, told = run()
            if "internal:" in told or len(told) > 20_000 or (code in (1, 2)) != ("error: " in told):
                faults.append((seed, code, told[:200]))
            now = {path: t for path, t in files(outside).items() if "states" not in path.parts}
            written = {path for path, time in now.items() if before.get(path) != time}
            if (code and written) or {path.name for path in outside.iterdir()} != {folder.name}:
                faults.append((seed, written))
    assert not faults, f"{len(faults)} of {N}:\n" + "\n".join(map(str, faults[:20]))


@pytest.mark.parametrize("job", JOBS.values(), ids=[*JOBS])
def test_sound_job_files_run(folder, job):
    Path("job.toml").write_text(job)
    assert run("-q") == (0, "")


OUTSIDE = {
    "up": ("rag", 'output = "../out.csv"'),
    "down and up": ("rag", 'output = "a/../../out.csv"'),
    "absolute": ("rag", 'output = "/out.csv"'),
    "by a link": ("rag", 'output = "link.csv"'),
    "by a link to a folder": ("rag", 'output = "up/out.csv"'),
    "into a linked folder": ("rag", 'output = "up/"'),
    "a table that is a link": ("rag", 'output = "tables"'),
    "rejected rows beside the folder": ("rag", 'output = "."\non_invalid = "quarantine"'),
    "rejected rows that are a link": ("rag", 'output = "o.csv"\non_invalid = "quarantine"'),
    "a summary": ("replication", 'output = "o.csv"\nsummary = "../files"'),
    "a linked summary": ("replication", 'output = "o.csv"\nsummary = "up"'),
}


@pytest.mark.parametrize(("family", "entries"), OUTSIDE.values(), ids=[*OUTSIDE])
def test_a_job_file_writes_into_its_folder_only(folder, family, entries):
    (folder / "up").symlink_to("..")
    (folder / "tables").mkdir()
    aim = folder.parent / "aim.csv"
    aim.write_text("old")
    for link in ("link.csv", "tables/rates.parquet", "o.rejected.parquet"):
        (folder / link).symlink_to(aim)
    lines = JOBS[family].splitlines()[:2]
    Path("job.toml").write_text("\n".join([*lines, entries]))
    before = files(folder.parent)
    code, told = run()
    assert code == 1
    assert "is outside of '.', where a job file may write; name another folder by --out" in told
    assert files(folder.parent) == before


def test_who_runs_a_job_names_the_folder_it_writes_into(folder):
    (folder.parent / "results").mkdir()
    for output in ("out.csv", str(folder.parent / "results" / "out.csv")):
        Path("job.toml").write_text(JOBS["rag"].replace('"out"', f'"{output}"'))
        assert run("-q", "--output-folder", "../results") == (0, "")
        found = {path.name for path in (folder.parent / "results").iterdir()}
        assert found == {"out.csv", "out.rejected.parquet"}
    assert not (folder / "out.csv").exists()
