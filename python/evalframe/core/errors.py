"""Errors that say what was found, where, and what to do next."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

_SHOWN = 3
"""Examples in a message."""


_PLAN = "\n\nThis error occurred in the following expression"
"""What Polars adds to an error that is raised while it computes."""


class EvalframeError(Exception):
    """Base of every error that evalframe raises on purpose.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> try:
        ...     ef.evaluate(pl.DataFrame({"los": [0.5]}), ef.selective_risk())
        ... except ef.EvalframeError as error:
        ...     print(error)
        metric 'selective_risk' needs column 'loss'; the table has ['los']. Did you mean 'los'?
        Name the column to use, or rename it.
    """

    def __init__(self, *args: object) -> None:
        """Take the message; where Polars raises it again with its plan, without the plan."""
        super().__init__(*(str(arg).partition(_PLAN)[0] for arg in args))


class ParameterError(EvalframeError, ValueError):
    """An argument lies outside its domain."""


class UnknownNameError(EvalframeError, KeyError):
    """A name (metric, variant, option) that nothing answers to."""

    def __str__(self) -> str:
        """The message itself; `KeyError` would quote it."""
        return str(self.args[0])

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Name the nearest known spelling, then all of them."""
        known = sorted(known)
        return cls(f"unknown {kind} {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}")


class MissingColumnsError(EvalframeError):
    """A table lacks columns that were asked for."""

    @classmethod
    def of(
        cls, needed_by: str, missing: Iterable[str], present: Iterable[str]
    ) -> MissingColumnsError:
        """Say who needs which column, and what the table has instead."""
        missing = sorted(missing)
        present = [name for name in present if not name.startswith(":")]  # our own, while we work
        hints = "".join(did_you_mean(name, present) for name in missing)
        named = ", ".join(repr(name) for name in missing)
        return cls(
            f"{needed_by} needs column{'s' * (len(missing) > 1)} {named}; the table has {present}."
            f"{hints} Name the column to use, or rename it."
        )


class ContractError(EvalframeError):
    """Rows or columns of a table break its contract."""


class InputError(EvalframeError):
    """A file or folder that cannot be read as asked."""


class OutputError(EvalframeError):
    """A file or folder that cannot be written as asked."""


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors of ours say which file they are about, where what raises them cannot know.

    >>> with naming("items.csv"):
    ...     raise ContractError("items: the table has no rows")
    Traceback (most recent call last):
    evalframe.core.errors.ContractError: items.csv: items: the table has no rows
    """
    try:
        yield
    except EvalframeError as error:
        raise type(error)(f"{name}: {error}") from error


def first_few(values: pl.Series) -> str:
    """The first of different values, for messages.

    >>> import polars as pl
    >>> first_few(pl.Series(["a", "b", "a", "c", "d"]))
    "'a', 'b', 'c', ..."
    """
    shown = values.unique(maintain_order=True)
    return ", ".join(map(repr, shown.head(_SHOWN))) + ", ..." * (len(shown) > _SHOWN)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the known name of the same metric, or the nearest one, or nothing.

    >>> did_you_mean("confidense", ["confidence", "label"])
    " Did you mean 'confidence'?"
    >>> did_you_mean("specificity", ["precision", "recall"])
    " Did you mean 'recall', with the negative class as positive=...?"
    """
    import difflib

    from evalframe.core.synonyms import SYNONYMS

    known = list(known)
    meant, *more = SYNONYMS.get(name.lower().replace("-", "_"), "").partition(",")
    if meant in known:
        return f" Did you mean {meant!r}{''.join(more)}?"
    folded = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""
