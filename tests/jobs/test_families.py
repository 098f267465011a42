"""What the commands of all families do in the same way."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.jobs.outputs import read_provenance
from evalframe.jobs.parsing import FAMILIES
from evalframe.jobs.run import family_of
from evalframe.jobs.samples import write_samples

if TYPE_CHECKING:
    from pathlib import Path

MAIN = {"selective": "metrics", "rag": "rates", "survey": "overall", "replication": "models"}
WORDS = {
    "selective": ["items.parquet", "--by", "mode", "--metrics", "coverage,aurc"],
    "rag": ["rag_responses.parquet"],
    "survey": ["survey_responses.parquet", "--truth", "survey.parquet"],
    "replication": ["replication_tests.parquet"],
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder, participants=5)
    return folder


@pytest.fixture
def samples(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the samples of all families in it."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_no_other_family() -> None:
    assert [*MAIN] == [*FAMILIES]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_holds_all_tables_and_a_file_the_main_one(
    family: str, call: Any, samples: Path
) -> None:
    shown = call(family, *WORDS[family], "-o", "all/").stdout
    assert shown == call(family, *WORDS[family], "-o", "one.parquet").stdout
    job = FAMILIES[family](items=("a",))
    tables = {path.stem for path in (samples / "all").iterdir()}
    assert tables == {*family_of(job).tables}
    whole = samples / "all" / f"{MAIN[family]}.parquet"
    assert_frame_equal(pl.read_parquet(whole), pl.read_parquet("one.parquet"))
    assert read_provenance(whole)["job"]["family"] == family


@pytest.mark.parametrize("family", FAMILIES)
def test_records_are_checked_without_a_result(family: str, call: Any, samples: Path) -> None:
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
        (["-o", "absent/out.csv"], "no folder 'absent'"),
        (["-o", "out.txt"], "unknown format '.txt'"),
        (["-o", "{input}"], "is one of the inputs"),
        (["-o", "out.csv", "--by", "nowhere"], "nowhere"),
        (["-o", "out.csv", "--bootstrap", "0"], "at least 1"),
        (["-o", "out.csv", "--bootstrap", "5", "--level", "1"], "level"),
    ],
)
def test_what_no_family_can_do(
    family: str, words: list[str], told: str, call: Any, samples: Path
) -> None:
    before = sorted(samples.iterdir())
    asked = [word.format(input=WORDS[family][0]) for word in words]
    assert told in call(family, *WORDS[family], *asked, exit_code=1).stderr
    assert sorted(samples.iterdir()) == before


@pytest.mark.parametrize("family", FAMILIES)
def test_an_output_is_asked_for(family: str, call: Any, samples: Path) -> None:
    assert "name the result: -o OUT" in call(family, *WORDS[family], exit_code=2).stderr
    assert "name " in call(family, "-o", "out.csv", exit_code=2).stderr
    for flag, value in {"--seed": "1", "--cluster": "x", "--draws": "poisson"}.items():
        words = [*WORDS[family], "-o", "out.csv", flag, value]
        assert f"{flag} without --bootstrap N" in call(family, *words, exit_code=2).stderr
