"""Which clusters a bootstrap of scores draws: studies, or findings within their study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.replication.participants.strata import SLOT, strata_of, stratified_weights
from evalframe.resample.draws import Weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap

Cluster: TypeAlias = Literal["study_id", "finding_id"]

CLUSTERS: tuple[Cluster, ...] = ("study_id", "finding_id")

_STRATUM, _MEMBER = ":stratum", ":member"
_GAP = "\x1f"


@dataclass(frozen=True)
class Sample:
    """Clusters to draw.

    Attributes:
        rows: What they hold, with `:slot`, the number of the cluster.
        sizes: Of each cluster, how many there are in its stratum.
        weights: How often each is drawn in each replicate.
    """

    rows: pl.DataFrame
    sizes: Ints
    weights: Weights

    @property
    def slots(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    def left_out(self) -> Weights:
        """Each cluster left out once."""

        def chunks(size: int) -> Iterator[Floats]:
            for first in range(0, self.slots, size):
                count = min(size, self.slots - first)
                yield 1.0 - np.eye(count, self.slots, first)

        return Weights(self.slots, self.slots, chunks)


def cluster_drawn(caller: str, method: Bootstrap) -> Cluster:
    """What the bootstrap draws.

    Args:
        caller: Who asks, for messages.
        method: The bootstrap.

    Raises:
        ParameterError: It is no bootstrap, or draws neither studies nor findings.
    """
    from evalframe.resample.methods import Bootstrap

    if not isinstance(method, Bootstrap):
        raise ParameterError(f"{caller}: resample must be ef.Bootstrap(...), got {method!r}")
    drawn = as_expr(method.cluster)
    name = drawn.meta.output_name() if drawn.meta.is_column() else str(drawn)
    if name not in CLUSTERS:
        raise ParameterError(
            f"{caller}: a bootstrap draws studies, cluster='study_id', or findings within their "
            f"study, cluster='finding_id', got {name!r}; participants are drawn by "
            "participant_intervals"
        )
    return name


def sample_of(
    method: Bootstrap,
    rows: pl.DataFrame,
    cluster: Cluster,
    named: Sequence[str],
    within: str | None,
) -> Sample:
    """The clusters of rows, of all groups together, so that all groups see the same draws.

    Args:
        method: The bootstrap.
        rows: Studies, findings or tests.
        cluster: What is drawn.
        named: What names a finding within a study, for a draw of findings.
        within: The column that studies are drawn within, if they are.

    Raises:
        ParameterError: There are no rows, a cluster is null, or there are no two of them.
    """
    if not len(rows):
        raise ParameterError("there is nothing to resample: the table has no row of a study")
    if cluster == "finding_id":
        texts = [pl.col(name).cast(pl.String).fill_null("") for name in named]
        stratum, member = pl.col("study_id"), pl.concat_str(texts, separator=_GAP)
    else:
        stratum = pl.lit("") if within is None else pl.col(within)
        member = pl.col("study_id")
    text = stratum.cast(pl.String).fill_null("").alias(_STRATUM)
    marked = rows.with_columns(text, member.alias(_MEMBER))
    strata = strata_of(method, marked.select(_STRATUM, _MEMBER), [], _STRATUM, _MEMBER)
    placed = marked.join(strata.members, on=[_STRATUM, _MEMBER], maintain_order="left")
    weights = stratified_weights(method, strata, "agent")
    return Sample(placed.drop(_STRATUM, _MEMBER), _sizes(strata.members), weights)


def _sizes(members: pl.DataFrame) -> Ints:
    sized = members.select(SLOT, pl.len().over(_STRATUM).cast(pl.Int64).alias("size")).sort(SLOT)
    return sized["size"].to_numpy()
