"""Which clusters a bootstrap of scores draws: studies, or findings within their study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.evaluation import named_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.resample.methods import Bootstrap

Cluster: TypeAlias = Literal["study_id", "finding_id"]

CLUSTERS: tuple[Cluster, ...] = ("study_id", "finding_id")

_GAP = "\x1f"


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
    check_no_strata(caller, method)
    drawn = named_cluster(caller, method)
    name = drawn.meta.output_name() if drawn.meta.is_column() else str(drawn)
    if name not in CLUSTERS:
        raise ParameterError(
            f"{caller}: a bootstrap draws studies, cluster='study_id', or findings within their "
            f"study, cluster='finding_id', got {name!r}; participants are drawn by "
            "participant_intervals"
        )
    return name


def check_no_strata(caller: str, method: Bootstrap) -> None:
    """Raise where the caller says itself within what it draws, and the method does, too.

    Raises:
        ParameterError: The method does.
    """
    if method.within is not None:
        raise ParameterError(
            f"{caller}: studies are drawn within the domains that are asked for, findings and "
            "participants within their study; leave out `within` of the bootstrap"
        )


def drawn_within(cluster: Cluster, named: Sequence[str], within: str | None) -> pl.Expr:
    """The cluster of rows, within what it is drawn.

    Args:
        cluster: What is drawn.
        named: What names a finding within a study, for a draw of findings.
        within: The column that studies are drawn within, if they are.
    """
    from evalframe.resample.strata import within as within_strata

    if cluster == "finding_id":
        texts = [pl.col(name).cast(pl.String).fill_null("") for name in named]
        return within_strata(pl.col("study_id"), pl.concat_str(texts, separator=_GAP))
    stratum = pl.lit("") if within is None else pl.col(within)
    return within_strata(stratum, pl.col("study_id"))


def rows_to_draw(rows: pl.LazyFrame, *known: pl.Expr) -> pl.DataFrame:
    """What can be drawn: rows without a study, and rows of which nothing is known, cannot.

    Args:
        rows: Studies, findings or tests.
        known: Scores, of which a row needs one; without any all rows can be drawn.

    Raises:
        ParameterError: There is nothing.
    """
    there = [score.is_not_null() for score in known] or [pl.lit(value=True)]
    table = rows.filter(pl.col("study_id").is_not_null(), pl.any_horizontal(there)).collect()
    if table.is_empty():
        what = "a study with a score" if known else "a study"
        raise ParameterError(f"there is nothing to resample: the table has no row of {what}")
    return table
