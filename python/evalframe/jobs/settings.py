"""What jobs of every family say in the same way: inputs, output, resampling, bad rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import msgspec

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    import evalframe as ef
    from evalframe.resample.methods import Progress

Interval: TypeAlias = Literal["percentile", "basic", "normal", "bca", "expanded", "expanded_bca"]
Draws: TypeAlias = Literal["reference", "counter", "poisson"]
OnInvalid: TypeAlias = Literal["raise", "quarantine"]

INTERVALS: tuple[str, ...] = get_args(Interval)
DRAWS: tuple[str, ...] = get_args(Draws)
ON_INVALID: tuple[str, ...] = get_args(OnInvalid)


class Bootstrap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Resampling of clusters; without a cluster column, of those of the family.

    Without an interval it is `expanded_bca`, or `percentile` in a job by the original's rules.
    """

    n: int
    seed: int = 42
    interval: Interval | None = None
    level: float = 0.95
    cluster: str | None = None
    draws: Draws = "reference"

    def __post_init__(self) -> None:
        if self.cluster == "":
            raise ParameterError("cluster is empty; name a column, or leave it out")

    def method(self, cluster: str | pl.Expr, progress: Progress | None) -> ef.Bootstrap:
        """What the library is asked for.

        Args:
            cluster: What is resampled together.
            progress: Called as replicates are done.
        """
        import evalframe as ef

        asked = msgspec.structs.asdict(self) | {"cluster": cluster, "progress": progress}
        return ef.Bootstrap(**asked)


class TableJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job of any family says.

    Attributes:
        items: Files, globs or folders, as given.
        output: A file for the main table, whose extension decides the format, or a folder for all.
        key: Columns that identify a row; by default those of the family.
        bootstrap: Resampling, or none.
        columns: Which columns play which roles, where they are not called so.
        on_invalid: What happens to rows that break the contract.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    items: tuple[str, ...]
    output: str | None = None
    key: tuple[str, ...] | None = None
    bootstrap: Bootstrap | None = None
    columns: dict[str, str | tuple[str, ...]] = {}
    on_invalid: OnInvalid = "raise"
    hash_inputs: bool = False

    def __post_init__(self) -> None:
        if not self.items:
            raise ParameterError("items is empty; a job needs at least one")
        if not all(map(str.strip, self.items)):
            raise ParameterError("the name of an input is empty; name a file, glob or folder")
        several = {role: (n,) if isinstance(n, str) else n for role, n in self.columns.items()}
        if not all(names and all(names) for names in several.values()):
            raise ParameterError("the name of a column is empty; name one, or leave that entry out")
        msgspec.structs.force_setattr(self, "columns", several)
        if self.bootstrap is not None and self.bootstrap.interval is None:
            by_original = getattr(self, "rules", None) == "reference"
            interval: Interval = "percentile" if by_original else "expanded_bca"
            named = msgspec.structs.replace(self.bootstrap, interval=interval)
            msgspec.structs.force_setattr(self, "bootstrap", named)

    @property
    def weight(self) -> str | None:
        """The column of weights, if the job names one."""
        return "weight" if "weight" in self.columns else None

    @property
    def shown_level(self) -> float | None:
        """The confidence level of the intervals, if the result has any."""
        return None if self.bootstrap is None else self.bootstrap.level
