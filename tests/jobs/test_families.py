"""What the commands of all families do in the same way."""

import json
import shlex
import tomllib
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.metric import lookup
from evalframe.jobs import run
from evalframe.jobs.family import FAMILIES, help_texts
from evalframe.jobs.family import family as family_named
from evalframe.jobs.flags import parse
from evalframe.jobs.written import read_provenance

MAIN = {"selective": "metrics", "rag": "rates", "survey": "overall", "replication": "models"}
MAIN["items"] = "estimates"
WORDS = {
    "selective": [
        *("items.parquet", "--by", "mode", "--loss", "abs_norm", "--metrics", "coverage,aurc"),
    ],
    "rag": ["rag_responses.parquet"],
    "survey": ["survey_responses.parquet", "--truth", "survey.parquet"],
    "replication": ["replication_tests.parquet"],
    "items": ["answers.parquet", "--by", "model,task"],
}


def test_there_is_no_other_family():
    assert [*MAIN] == [*FAMILIES]


def test_the_table_of_the_readme_is_that_of_the_descriptors():
    rows = [
        f"| {each.subject.lower()} | {each.row} | {each.demo.question} | `{room}` "
        f"| `evalframe {command}` |"
        for each in map(family_named, FAMILIES)
        for room, command in [
            ("ef", each.main) if each.name == "items" else (f"ef.{each.name}", each.name)
        ]
    ]
    readme = Path(__file__).parents[2] / "README.md"
    assert "\n".join(["|---|---|---|---|---|", *rows, ""]) in readme.read_text(encoding="utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_metrics_of_a_family_are_declared_as_its_own(family):
    for name in family_named(family).metrics.value:
        assert lookup(name).family == {"items": "standard"}.get(family, family)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_tables_are_in_a_folder_the_main_one_in_a_file_or_only_printed(family, call, samples):
    before = sorted(samples.iterdir())
    shown = call(family, *WORDS[family]).stdout
    assert sorted(samples.iterdir()) == before
    # Tables that only a folder has may have notes.
    assert call(family, *WORDS[family], "-o", "all/").stdout.startswith(shown)
    assert shown == call(family, *WORDS[family], "-o", "one.parquet").stdout
    tables = {path.stem for path in (samples / "all").iterdir()}
    assert tables == {*family_named(family).tables.value}
    whole = samples / "all" / f"{MAIN[family]}.parquet"
    assert_frame_equal(pl.read_parquet(whole), pl.read_parquet("one.parquet"))
    assert read_provenance(whole)["job"]["family"] == family


@pytest.mark.parametrize("family", FAMILIES)
def test_records_are_checked_without_a_result(family, call, samples):
    before = sorted(samples.iterdir())
    words = [word for word in WORDS[family] if word not in ("--metrics", "coverage,aurc")]
    assert "rows accepted" in call(family, "validate", *words).stdout
    broken = pl.read_parquet(words[0])
    pl.concat([broken, broken.head(1)]).write_parquet("twice.parquet")
    words[0] = "twice.parquet"
    assert "not so in 1 of" in call(family, "validate", *words, exit_code=1).stderr
    assert sorted(samples.iterdir()) == sorted([*before, samples / "twice.parquet"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", " "], "the output has no name"),
        (["-o", "absent/out.csv"], "no folder 'absent'; create it first"),
        (["-o", "out.txt"], "unknown format '.txt'"),
        (["-o", "{input}"], "is one of the inputs"),
        (["-o", "out.csv", "--by", "nowhere"], "nowhere"),
        (["-o", "out.csv", "--bootstrap", "0"], "at least 1"),
        (
            ["-o", "out.csv", "--bootstrap", "5", "--level", "95"],
            "level must lie between 0 and 1, got 95",
        ),
    ],
)
def test_what_no_family_can_do(family, words, told, call, samples):
    before = sorted(samples.iterdir())
    asked = [word.format(input=WORDS[family][0]) for word in words]
    assert told in call(family, *WORDS[family], *asked, exit_code=1).stderr
    assert sorted(samples.iterdir()) == before


@pytest.mark.parametrize("family", FAMILIES)
def test_what_needs_an_output_asks_for_it(family, call, samples):
    before = sorted(samples.iterdir())
    refused = call(family, *WORDS[family], "--on-invalid", "quarantine", exit_code=1).stderr
    assert "name an output (-o OUT)" in refused
    assert "name the result: -o OUT" in call(family, *WORDS[family], "-q", exit_code=2).stderr
    assert sorted(samples.iterdir()) == before
    assert "name " in call(family, "-o", "out.csv", exit_code=2).stderr


@pytest.mark.parametrize("family", FAMILIES)
def test_resampling_is_asked_for(family, call, samples):
    for flag, value in {"--seed": "1", "--cluster": "x", "--draws": "poisson"}.items():
        told = call(family, *WORDS[family], flag, value, exit_code=2).stderr
        assert f"{flag} without --bootstrap N" in told


OTHERS = {
    "rag": ["--instances", "rag_instances.parquet"],
    "replication": [
        *("--participants", "replication_responses.parquet"),
        *("--design", "replication_designs.parquet"),
    ],
}
"""Further tables of a family."""


def columns_of(call, family, words):
    """The columns of all tables that are read, each of which is renamed in its file."""
    columns = {}
    for name in filter(lambda word: word.endswith(".parquet"), words):
        table = pl.read_parquet(name)
        known = call(family, words[0], "--column", "no=thing", exit_code=1).stderr
        roles = set(known.partition("Known: ")[2].strip().split(", "))
        renamed = {role: f"their {role}" for role in table.columns if role in roles}
        table.rename(renamed).write_parquet(name)
        columns |= renamed
    return columns


@pytest.mark.parametrize("family", FAMILIES)
def test_every_column_can_have_another_name(family, call, samples):
    words = [*WORDS[family], *OTHERS.get(family, [])]
    if family == "rag":
        asked = pl.read_parquet("rag_instances.parquet", columns=["dataset", "id"])
        responses = pl.read_parquet(words[0]).drop("answers")
        responses.join(asked, on=asked.columns, how="semi").write_parquet(words[0])
    call(family, *words, "-o", "before.parquet", "-q")
    columns = columns_of(call, family, words)
    assert len(columns) > 5
    flags = [word for role, name in columns.items() for word in ("--column", f"{role}={name}")]
    call(family, *words, *flags, "-o", "after.parquet", "-q")
    assert_frame_equal(pl.read_parquet("after.parquet"), pl.read_parquet("before.parquet"))
    job = read_provenance("after.parquet")["job"]
    assert job["columns"] == {role: [name] for role, name in columns.items()}
    entries = {key: value for key, value in job.items() if value is not None}
    entries |= {"columns": columns, "output": "job.parquet"}
    text = "".join(f"{key} = {toml(value)}\n" for key, value in entries.items())
    Path("job.toml").write_text(text)
    call("run", "job.toml", "-q")
    assert_frame_equal(pl.read_parquet("job.parquet"), pl.read_parquet("before.parquet"))


def toml(value):
    if isinstance(value, dict):
        inside = (f"{json.dumps(k)} = {toml(v)}" for k, v in value.items() if v is not None)
        return f"{{ {', '.join(inside)} }}"
    return json.dumps(value)


NEEDED = {
    "selective": "label",
    "rag": "response",
    "survey": "segment_id",
    "replication": "finding_id",
    "items": "score",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_errors_about_columns_name_the_flag(family, call, samples):
    role, words = NEEDED[family], WORDS[family]
    typo = call(family, *words, "--column", f"{role[:-1]}=x", exit_code=1).stderr
    assert f"unknown column '{role[:-1]}'. Did you mean '{role}'? Known: " in typo
    absent = call(family, *words, "--column", f"{role}=nowhere", exit_code=1).stderr
    assert "no column 'nowhere', which is to be" in absent
    unnamed = call(family, *words, "--column", role, exit_code=2).stderr
    assert f"'{role}' is not ROLE=NAME, such as label=truth" in unnamed
    table = pl.read_parquet(words[0])
    table.with_columns(pl.col(role).alias("other")).write_parquet(words[0])
    both = ["--column", f"{role}={role}", "--column", f"{role}=other"]
    assert "has both" in call(family, *words, *both, exit_code=1).stderr
    table.drop(role).write_parquet(words[0])
    told = call(family, *words, exit_code=1).stderr
    assert f'--column {role}=NAME, or columns = {{ {role} = "NAME" }} in a job file' in told


@pytest.mark.parametrize("family", FAMILIES)
def test_a_broken_rule_says_which_column_it_is_about(family, call, samples):
    words, role = (
        WORDS[family],
        {"rag": "dataset", "items": "sample_id"}.get(family, NEEDED[family]),
    )
    table = pl.read_parquet(words[0]).rename({role: "theirs"})
    first = pl.int_range(pl.len()) == 0
    table.with_columns(pl.when(~first).then("theirs")).write_parquet(words[0])
    told = call(family, *words, "--column", f"{role}=theirs", exit_code=1).stderr
    assert f"Column {role} is 'theirs' in the file." in told


@pytest.mark.parametrize("family", FAMILIES)
def test_quiet_jobs_must_write_something(family, call, samples):
    items, *_ = WORDS[family]
    Path("job.toml").write_text(f'family = "{family}"\nitems = ["{items}"]\n')
    for line in (["run", "job.toml"], [family, *WORDS[family]]):
        assert "name the result: -o OUT" in call(*line, "--quiet", exit_code=2).stderr


@pytest.mark.parametrize("family", FAMILIES)
def test_the_job_file_in_the_help_is_the_command_beside_it(family, call, monkeypatch):
    jobs = []
    monkeypatch.setattr(run, "run_job", lambda job, *_, **__: jobs.append(job))
    text = help_texts(family)[f"{family_named(family).main}: examples"]
    *_, last = text.partition("\n\n")[0].replace("\\\n", " ").split("evalframe ")
    call(*shlex.split(last))
    told = text.partition("The last as a job file, for `evalframe run`:\n")[2]
    assert jobs == [parse(tomllib.loads(told.partition("\n\n")[0]))]


@pytest.mark.parametrize("family", ["survey", "replication"])
def test_validation_takes_no_flag_for_what_it_does_not_write(family, call):
    assert "--summary" in call(family, "--help").stdout
    call(family, "validate", "tests.parquet", "--summary", "files", exit_code=2)
