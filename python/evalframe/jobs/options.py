"""Options that commands share, and what is made of the flags that were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from evalframe.jobs.settings import DRAWS, INTERVALS, ON_INVALID

Command = TypeVar("Command", bound=Callable[..., Any])


def split(text: str) -> list[str]:
    """Names between commas, without the blanks around them; an empty text is no names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [float(number) for number in split(text)]


def options(*given: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, shown in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(given):
            command = option(command)
        return command

    return decorate


def names(flag: str, text: str) -> Callable[[Command], Command]:
    """An option of names between commas, given once or several times."""
    return click.option(
        flag, type=split, multiple=True, callback=_joined, metavar="A,B,...", help=text
    )


def _joined(
    context: click.Context, option: click.Parameter, given: tuple[list[str], ...]
) -> list[str] | None:
    return [name for names in given for name in names] if given else None


def resampling(cluster: str, text: str = "Resampled together.") -> Callable[[Command], Command]:
    """The options of a bootstrap; `cluster` is what is resampled together by default."""
    return options(
        click.option(
            "--bootstrap", "n", type=int, help="How many cluster resamples.  [default: none]"
        ),
        click.option("--seed", type=int, help="Of the resamples.  [default: 42]"),
        click.option(
            "--interval",
            type=click.Choice(INTERVALS),
            help="With few clusters most others are too short; percentile is that of published "
            "results.  [default: expanded_bca; by --rules reference percentile]",
        ),
        click.option(
            "--level", type=float, help="Confidence level of the intervals.  [default: 0.95]"
        ),
        click.option("--cluster", metavar="COLUMN", help=f"{text}  [default: {cluster}]"),
        click.option(
            "--draws", type=click.Choice(DRAWS), help="The generator.  [default: reference]"
        ),
    )


def _roles(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> dict[str, list[str]] | None:
    """The columns of each role, from texts such as `label=truth`."""
    columns: dict[str, list[str]] = {}
    for text in given:
        role, equals, name = (part.strip() for part in text.partition("="))
        if not (role and equals and name):
            raise click.BadParameter(f"{text!r} is not ROLE=NAME, such as label=truth")
        columns.setdefault(role, []).append(name)
    return columns or None


COLUMNS = click.option(
    "--column",
    "columns",
    multiple=True,
    callback=_roles,
    metavar="ROLE=NAME",
    help="Read column NAME where ROLE is meant, such as label=truth; once for each. For a role "
    "that two tables call differently, once for either.",
)


def with_columns(flags: dict[str, Any], **roles: str) -> dict[str, Any]:
    """The flags with those that name one column among the columns by role.

    Args:
        flags: The flags that were given.
        **roles: The role of each such flag.

    >>> with_columns({"weight": "w", "columns": {"label": ["truth"]}}, weight="weight")
    {'columns': {'label': ['truth'], 'weight': ['w']}}
    """
    columns = {role: [*names] for role, names in flags.get("columns", {}).items()}
    for flag, role in roles.items():
        if flag in flags:
            columns.setdefault(role, []).append(flags[flag])
    rest = {name: value for name, value in flags.items() if name not in (*roles, "columns")}
    return rest | ({"columns": columns} if columns else {})


ON_BAD_ROWS = options(
    click.option(
        "--on-invalid",
        type=click.Choice(ON_INVALID),
        help="quarantine sets bad rows apart, in OUT.rejected.parquet.  [default: raise]",
    ),
    click.option("--hash-inputs", is_flag=True, help="Put SHA-256 sums into the provenance."),
)

_BOOTSTRAP = ("n", "seed", "interval", "level", "cluster", "draws")


def given(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that were given."""
    absent = (None, False)
    return {k: v for k, v in flags.items() if v != () and not any(v is none for none in absent)}


def with_bootstrap(flags: dict[str, Any], *alone: str) -> dict[str, Any]:
    """The flags of the resampling as one entry, as a job file has it.

    Args:
        flags: The flags that were given.
        alone: Those that mean something without resampling, too, and then stay.

    Raises:
        click.UsageError: Others are given without `--bootstrap`.
    """
    if "n" not in flags:
        if idle := [f"--{name}" for name in _BOOTSTRAP if name in flags and name not in alone]:
            told = " and ".join(idle)
            raise click.UsageError(f"{told} without --bootstrap N, which asks for resampling")
        return dict(flags)
    bootstrap = {name: flags[name] for name in _BOOTSTRAP if name in flags}
    return {name: value for name, value in flags.items() if name not in bootstrap} | {
        "bootstrap": bootstrap
    }


def silent(done: int, total: int) -> None:
    """Instead of the progress that long resampling reports on a terminal."""
