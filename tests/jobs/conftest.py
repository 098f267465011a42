from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_samples


@pytest.fixture(scope="session")
def items() -> pl.DataFrame:
    """Six participants answer four items in two modes; every fifth answer is an abstention."""
    row = pl.int_range(48)
    return pl.select(
        participant_id=row // 8,
        item=pl.format("q{}", row % 4),
        mode=pl.when(row // 4 % 2 == 0).then(pl.lit("few")).otherwise(pl.lit("zero")),
        prediction=pl.when(row % 5 > 0).then((row * 5 + row // 7) % 4),
        label=row * 3 % 4,
        confidence=(row * 37 % 48) / 48,
        evidence=(row * 11 % 6).cast(pl.Float64),
    )


@pytest.fixture
def folder(tmp_path: Path, items: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with `items.parquet` in it."""
    items.write_parquet(tmp_path / "items.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
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


@pytest.fixture
def call() -> Callable[..., Result]:
    """Run a command line in this process."""

    def run(*args: str, exit_code: int = 0) -> Result:
        result = CliRunner().invoke(cli, args, prog_name="evalframe")
        assert result.exit_code == exit_code, (result.output, result.exception)
        return result

    return run


@pytest.fixture
def selective(folder: Path, call: Callable[..., Result]) -> Callable[..., pl.DataFrame]:
    """Run `evalframe selective` on the items and read what it wrote."""

    def run(*args: str, items: Sequence[str] = ("items.parquet",)) -> pl.DataFrame:
        line = [*items, "-o", "out.parquet", "--quiet", "--loss", "abs_norm"]
        call("selective", *line, *args)
        return pl.read_parquet("out.parquet")

    return run


@pytest.fixture
def commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Result]
) -> Callable[..., Callable[..., str]]:
    """Make what runs the commands of a family, in a folder with these tables.

    It gives what they print, in one line if asked.
    """

    def made(
        family: str, *, in_one_line: bool = False, **tables: pl.DataFrame
    ) -> Callable[..., str]:
        for name, table in tables.items():
            table.write_parquet(tmp_path / f"{name}.parquet")
        monkeypatch.chdir(tmp_path)

        def run(*args: str, exit_code: int = 0) -> str:
            output = call(family, *args, exit_code=exit_code).output
            return " ".join(output.split()) if in_one_line else output

        return run

    return made
