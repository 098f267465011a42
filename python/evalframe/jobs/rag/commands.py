"""`evalframe rag documents`, and the table of `evalframe demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.family import help_texts
from evalframe.jobs.flags import Flag, command
from evalframe.jobs.rag.job import KEYS, LANGUAGE, Answers, Flat
from evalframe.jobs.settings import Columns


class Documents(msgspec.Struct, kw_only=True):
    """Flags of `evalframe rag documents`."""

    instances: tuple[str, ...]
    noise: Annotated[
        tuple[float, ...],
        Flag("Share of noise among the documents; several give a prompt for each."),
    ] = (0.0,)
    passages: Annotated[int, Flag("Documents in a prompt.")] = 5
    correct: Annotated[
        float, Flag("Share of right documents, in counterfactual data sets only.")
    ] = 0.0
    order: Annotated[
        Literal["original", "seeded"],
        Flag("original takes the documents that RGB takes; seeded draws them by data set and id."),
    ] = "original"
    seed: Annotated[int, Flag("")] = 2333
    answers: Answers = None
    flat_answers: Flat = None
    language: Annotated[str | None, LANGUAGE] = None
    columns: Columns = {}
    output: Annotated[str, Flag(".parquet or .jsonl", "FILE")]


def _write(flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.rag.documents import summary, write_documents

    prompts = write_documents(**flags)
    if not quiet:
        say(summary(prompts, flags["output"]))


documents = command("documents", Documents, _write, texts=help_texts("rag"))


def noise_robustness(output: Path) -> str:
    """The first of the four tables that the command prints, for questions in English."""
    import polars as pl

    from evalframe.jobs.rag.report import rates_report

    rates = pl.read_parquet(output / "rates.parquet")
    english = rates.filter(pl.col("dataset") == "en", pl.col("noise_rate") < 1)
    table = rates_report(english, KEYS, level=0.95, width=terminal_width())
    return f"{table}\nNot shown: questions in Chinese, and the three other abilities."
