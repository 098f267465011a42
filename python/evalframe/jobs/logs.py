"""`evalframe logs`: what is in logs of other programs, and whether their numbers follow from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalframe.core.files import replacing
from evalframe.jobs.console import say, terminal_width

if TYPE_CHECKING:
    import polars as pl


@click.group()
def logs() -> None:
    """Look into logs of Inspect, lm-evaluation-harness, HELM and Every Eval Ever."""


def _of_logs(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments of both commands."""
    kind = click.option("--kind", metavar="FORMAT", help="Read logs of this format only.")
    output = click.option("-o", "--output", metavar="OUT", help="Write the table as Parquet, too.")
    return click.argument("paths", nargs=-1, required=True)(kind(output(command)))


@logs.command()
@_of_logs
@click.option("--all", "is_full", is_flag=True, help="Print numbers that follow, too.")
@click.pass_context
def check(
    ctx: click.Context, paths: tuple[str, ...], kind: str | None, output: str | None, is_full: bool
) -> None:
    """Recompute the numbers that logs publish from their rows.

    PATHS are files, folders or globs. Prints the numbers that do not follow, and those that cannot
    be recomputed. Exit codes: 0 all that are recomputed follow, 1 some do not.
    """
    import polars as pl

    import evalframe as ef

    table = ef.check_logs([*paths], kind=kind)
    is_shown = pl.lit(is_full) | ~pl.col("follows").fill_null(value=False)
    _print(table, table.filter(is_shown), output)
    logs = table.group_by(pl.col("published").is_null().alias("skipped")).agg(pl.n_unique("log"))
    known = dict(logs.iter_rows())
    follows = table["follows"].drop_nulls()
    published, differing = table["published"].count(), int((~follows).sum())
    skipped = known.get(True, 0)
    say(
        f"{published:,} published numbers of {known.get(False, 0):,} logs: "
        f"{len(follows) - differing:,} follow from the rows, {differing:,} do not, "
        f"{published - len(follows):,} are not recomputed. "
        f"{skipped:,} {'log is' if skipped == 1 else 'logs are'} skipped."
    )
    ctx.exit(int(differing > 0))


@logs.command()
@_of_logs
def report(paths: tuple[str, ...], kind: str | None, output: str | None) -> None:
    """List logs: samples, scores, failures, copies, and what reading them leaves out.

    PATHS are files, folders or globs.
    """
    import evalframe as ef

    table = ef.log_report([*paths], kind=kind)
    _print(table, table, output)


def _print(table: pl.DataFrame, shown: pl.DataFrame, output: str | None) -> None:
    from polars import Float64, String, col

    from evalframe.reporting.table import written

    if output is not None:
        with replacing(Path(output)) as partial:
            table.write_parquet(partial)
    if len(shown):
        exact = col(Float64).round_sig_figs(9).cast(String)  # to be compared
        say(written(shown.with_columns(exact), rows=None, width=terminal_width()))
