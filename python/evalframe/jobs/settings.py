"""What jobs of every family say in the same way: resampling, and what becomes of bad rows."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import msgspec

from evalframe.core.errors import ParameterError

Interval: TypeAlias = Literal["percentile", "basic", "normal", "bca"]
Draws: TypeAlias = Literal["reference", "counter", "poisson"]
OnInvalid: TypeAlias = Literal["raise", "quarantine"]

INTERVALS: tuple[str, ...] = get_args(Interval)
DRAWS: tuple[str, ...] = get_args(Draws)
ON_INVALID: tuple[str, ...] = get_args(OnInvalid)


class Bootstrap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Resampling of clusters; without a cluster column, of those of the family."""

    n: int
    seed: int = 42
    interval: Interval = "percentile"
    level: float = 0.95
    cluster: str | None = None
    draws: Draws = "reference"

    def __post_init__(self) -> None:
        if self.cluster == "":
            raise ParameterError("cluster is empty; name a column, or leave it out")


def check_items(items: tuple[str, ...]) -> None:
    """Raise if a job names no input, or one without a name.

    Raises:
        ParameterError: It does.
    """
    if not items:
        raise ParameterError("items is empty; a job needs at least one")
    if not all(map(str.strip, items)):
        raise ParameterError("the name of an input is empty; name a file, glob or folder")
