"""Settings of the jobs of every family: inputs, output, resampling, invalid rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, TypeAlias

import msgspec

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.family import READERS
from evalframe.jobs.flags import Flag
from evalframe.resample.methods import Draws, Interval

if TYPE_CHECKING:
    import polars as pl

    import evalframe as ef


OnInvalid: TypeAlias = Literal["raise", "quarantine"]


class Bootstrap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Resampling of clusters; by default those of the family.

    Without an interval it is `expanded_bca`, or `percentile` by `rules = "reference"`.
    """

    n: Annotated[int, Flag("Number of cluster resamples.", default="none", name="bootstrap")]
    seed: Annotated[int, Flag("Of the resamples.")] = 42
    interval: Annotated[
        Interval | None,
        Flag(
            "With few clusters most others are too short; percentile is that of published results.",
            default="expanded_bca; by --rules reference percentile",
        ),
    ] = None
    level: Annotated[float, Flag("Confidence level of the intervals.")] = 0.95
    cluster: Annotated[str | None, Flag("Resampled together.", "COLUMN")] = None
    draws: Annotated[Draws, Flag("The generator.")] = "reference"

    def __post_init__(self) -> None:
        if self.cluster == "":
            raise ParameterError("cluster is empty; name a column, or leave it out")


Columns: TypeAlias = Annotated[
    dict[str, str | tuple[str, ...]],
    Flag(
        "Read column NAME where ROLE is meant, such as label=truth; once for each. For a role that "
        "two tables call differently, once for either.",
        "ROLE=NAME",
        name="column",
    ),
]


class TableJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job of any family.

    The fields with a `Flag` are also the options of its command.
    """

    column_flags: ClassVar[Mapping[str, str]] = {}
    """Roles that have a flag, with its help."""

    defaults: ClassVar[Mapping[str, str]] = {}
    """Defaults in the help of flags whose default depends on the family."""

    items: tuple[str, ...]
    reader: str | None = None
    output: Annotated[
        str | None,
        Flag(
            "The main table (.parquet, .csv, .json, .jsonl, .md), or a folder for all tables.",
            "OUT",
            default="only printed",
            checks=False,
        ),
    ] = None
    report: Annotated[
        str | None,
        Flag(
            "A page of tables and charts that opens anywhere (.html), with what was left out, "
            "methods and hashes.",
            "OUT.html",
            default="none",
            checks=False,
        ),
    ] = None
    key: Annotated[
        tuple[str, ...] | None,
        Flag("Columns that identify a row, '' for no check of duplicates."),
    ] = None
    bootstrap: Annotated[Bootstrap | None, Flag("", checks=False)] = None
    columns: Columns = {}
    on_invalid: Annotated[
        OnInvalid,
        Flag(
            "quarantine sets bad rows apart, in OUT.rejected.parquet; an error if all are bad.",
            checks=False,
        ),
    ] = "raise"
    hash_inputs: Annotated[bool, Flag("Put SHA-256 sums into the provenance.", checks=False)] = (
        False
    )

    engine: Annotated[
        str | None,
        Flag(
            "Who reads the records: processes[:N] of this machine, dask, dask://HOST:PORT, ray or "
            "ray://HOST:PORT. Workers must see the files under the same names.",
            "ENGINE",
            default="this process",
            checks=False,
        ),
    ] = None
    state: Annotated[
        str | None,
        Flag(
            "Keep the sums and results of each file there, so that the next run computes what is "
            "new or changed; all workers must see it.",
            "FOLDER",
            default="nothing is kept",
            checks=False,
        ),
    ] = None
    scratch: Annotated[
        str | None,
        Flag(
            "A folder that all workers of the engine see, for files between its tasks.",
            "FOLDER",
            default="a temporary one, if they see it",
            checks=False,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.scratch is not None and self.engine is None:
            raise ParameterError("scratch is for an engine; name one, or leave it out")
        if self.reader not in (None, *READERS):
            raise UnknownNameError.of("reader", str(self.reader), READERS)
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

    def of_rows(self) -> Self:
        """The job without what changes no row, so that a store knows the rows of another one."""
        return msgspec.structs.replace(
            self,
            items=("rows",),
            output=None,
            report=None,
            bootstrap=None,
            engine=None,
            state=None,
            scratch=None,
        )

    def resample(self, cluster: str | pl.Expr | None) -> ef.Bootstrap | None:
        """The resampling that the job requests, of this cluster."""
        if self.bootstrap is None:
            return None
        import evalframe as ef

        settings = msgspec.structs.asdict(self.bootstrap) | {"cluster": cluster}
        return ef.Bootstrap(
            **{name: value for name, value in settings.items() if value is not None}
        )

    @property
    def weight(self) -> str | None:
        """The column of weights, if the job names one."""
        return "weight" if "weight" in self.columns else None

    @property
    def shown_level(self) -> float | None:
        """The confidence level of the intervals, if the result has any."""
        return None if self.bootstrap is None else self.bootstrap.level
