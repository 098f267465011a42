"""A family is a folder and a name: its commands, job files, samples and help follow."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import polars as pl
import pytest

import evalframe as ef
from evalframe.core import metric
from evalframe.core.contract import Column, Contract, validate
from evalframe.core.samples import SampleFile
from evalframe.jobs import cli, family, flags, samples
from evalframe.jobs.family import Demo, Family, Lazy, Outcome
from evalframe.jobs.flags import Flag
from evalframe.jobs.inputs import open_records
from evalframe.jobs.settings import TableJob


class CountsJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="counts"):
    by: Annotated[tuple[str, ...], Flag("Columns to group by.")] = ()
    order: Annotated[Literal["name", "size"], Flag("Of the groups.")] = "name"


CONTRACT = Contract("words", (Column("word", "string"),))


def compute(job, place):
    opened = open_records(job, place.folder, place.targets)
    validation = validate(
        opened.table, CONTRACT, on_invalid=job.on_invalid, quarantine=place.rejects
    )
    keys = [*job.by, "word"]
    order = keys if job.order == "name" else ["len", *keys]
    counts = validation.valid.group_by(keys).len().sort(order).collect()
    return Outcome(job, keys, counts, validation, opened, lambda: {"counts": counts})


def check(job, place):
    return str(validate(open_records(job, place.folder, ()).table, CONTRACT))


def printed(result, keys, **settings):
    return "\n".join(f"{word}: {count}" for word, count in result.rows())


def sample_files(*, seed, participants):
    table = pl.DataFrame({"word": ["a", "b", "a"] + ["c"] * (participants - 2)})
    return [SampleFile("words.parquet", "a word", "sample_words()", seed, table)]


NAME = "evalframe.jobs.counts"
FAMILY = Family(
    name="counts",
    subject="Words",
    row="one word",
    title="Counts of words.",
    main="count",
    items="WORDS",
    metrics=Lazy(f"{NAME}:METRICS"),
    job=CountsJob,
    compute=Lazy(f"{NAME}:compute"),
    check=Lazy(f"{NAME}:check"),
    printed=Lazy(f"{NAME}:printed"),
    roles=Lazy(f"{NAME}:ROLES"),
    tables=Lazy(f"{NAME}:TABLES"),
    sample=Lazy(f"{NAME}:sample_files"),
    sizes=("participants",),
    demo=Demo(
        question="Which words are frequent?",
        reading="len: how often.",
        words=("{words}",),
        output="counts.csv",
    ),
)


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """The fifth family, as if it were a folder beside the others."""
    monkeypatch.setattr(metric, "_REGISTRY", dict(metric._REGISTRY))

    @ef.metric(direction="none", range=(0, 1), family="counts")
    def share_of_words(is_word="is_word", *, weight=None):  # type: ignore[no-untyped-def]
        """Share of the rows that are words."""
        sums = {"words": weight * is_word, "rows": weight}
        return ef.State(sums=sums, finish=lambda t: ef.ratio(t.words, t.rows))

    module = ModuleType(NAME)
    named = {"ROLES": ("word",), "TABLES": ("counts",), "METRICS": ("share_of_words",)}
    vars(module).update(globals(), **named)
    monkeypatch.setitem(sys.modules, NAME, module)
    names = (*family.FAMILIES, "counts")
    for each in (family, cli, flags, samples):
        monkeypatch.setattr(each, "FAMILIES", names)
    texts = {"count": "Count WORDS.", "validate": "Check WORDS."}
    monkeypatch.setattr(
        cli, "help_texts", lambda name: texts if name == "counts" else family.help_texts(name)
    )
    monkeypatch.chdir(tmp_path)
    yield
    family.family.cache_clear()


def test_a_fifth_family_is_a_descriptor(call, counts):
    assert "Counts of words." in call("--help").stdout
    shown = call("counts", "--help").stdout
    assert "Count WORDS." in shown
    assert "--order [name|size]" in shown
    assert "--from KIND PATH" in shown
    call("sample", "data", "--participants", "2")
    assert "words" in Path("data/manifest.json").read_text()
    listed = call("metrics", "--family", "counts").stdout.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [["share_of_words", "counts"]]
    assert call("counts", "data/words.parquet", "-o", "out.csv").stdout == "a: 2\nb: 1\n"
    assert pl.read_csv("out.csv").rows() == [("a", 2), ("b", 1)]
    assert "rows accepted" in call("counts", "validate", "data/words.parquet").stdout
    Path("job.toml").write_text('family = "counts"\nitems = ["data/*.csv"]\norder = "siez"\n')
    told = call("run", "job.toml", exit_code=1).stderr
    assert told == "error: unknown order 'siez'. Did you mean 'size'? Known: name, size\n"
    Path("job.toml").write_text('family = "counts"\nitems = ["data/words.parquet"]\norder = "size"')
    assert call("run", "job.toml").stdout == "b: 1\na: 2\n"
