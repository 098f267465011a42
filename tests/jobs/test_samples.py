"""The samples of all families are written whole, and over nothing else."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import OutputError
from evalframe.jobs.samples import MANIFEST, write_samples
from evalframe.selective.sample import sample_items
from plot import pictures


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def few(monkeypatch):
    """The samples of one family, which are made in less time."""
    monkeypatch.setattr("evalframe.jobs.samples.FAMILIES", ["selective"])


def test_write_samples_makes_the_folder_and_may_be_repeated(tmp_path):
    folder = tmp_path / "new" / "samples"
    paths = write_samples(folder, participants=3)
    assert write_samples(folder, participants=3) == paths
    assert files_below(folder) == sorted(paths)
    assert all(path.stat().st_size < 160_000 for path in paths)


def test_the_data_folder_is_the_default_sample_and_the_current_pictures(tmp_path):
    """In what tables hold: the bytes of Parquet are those of one version of Polars."""
    data = pictures.DATA
    paths = write_samples(tmp_path)
    names = [path.relative_to(tmp_path) for path in paths]
    drawn = {Path(file) for file in pictures.PICTURES}
    assert {*names, *drawn} == {path.relative_to(data) for path in files_below(data)}
    described = json.loads((data / MANIFEST).read_text())
    current = json.loads((tmp_path / MANIFEST).read_text()) | pictures.entries()
    assert described == current, "draw the pictures anew: tests/plot/pictures.py"
    names.remove(Path(MANIFEST))
    for name in names:
        path, stored = tmp_path / name, data / name
        if path.suffix == ".parquet":
            assert_frame_equal(pl.read_parquet(stored), pl.read_parquet(path), check_exact=True)
            assert stored.stat().st_size < 150_000, path
        else:
            assert stored.read_bytes() == path.read_bytes()


def test_write_samples_keeps_what_it_did_not_write(tmp_path, few):
    (tmp_path / "items.parquet").write_text("mine")
    with pytest.raises(OutputError, match=r"already has items.parquet with other content"):
        write_samples(tmp_path, participants=3)
    assert [path.name for path in tmp_path.iterdir()] == ["items.parquet"]
    write_samples(tmp_path, participants=3, overwrite=True)
    expected = sample_items(participants=3)
    assert_frame_equal(pl.read_parquet(tmp_path / "items.parquet"), expected)


def test_write_samples_that_fails_leaves_the_old_file(tmp_path, few, monkeypatch):
    write_samples(tmp_path, participants=3, seed=1)
    before = {path: path.read_bytes() for path in files_below(tmp_path)}

    def full(path, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_samples(tmp_path, participants=3, seed=2, overwrite=True)
    assert {path: path.read_bytes() for path in files_below(tmp_path)} == before


def test_write_samples_says_why_a_folder_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot write the samples to .*Not a directory"):
        write_samples(tmp_path / "file" / "folder")
