"""Test statistics under resampling of participants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.participants.design import CATEGORY, KIND, PLACE, TEST
from evalframe.replication.participants.formulas import OF_DESIGN, STATISTICS, statistics_of
from evalframe.replication.participants.rows import CLUSTER, GROUP, rows_of
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.resample.independence import named_cluster

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.replication.effects.types import Side
    from evalframe.replication.participants.states import States
    from evalframe.resample.draws import Weights
    from evalframe.resample.methods import Bootstrap


REPLICATE = "replicate"

_HELD = 1 << 22
"""Numbers per array in a chunk of replicates."""

_UNIT = ":unit"


@any_frame
def resampled_statistics(
    responses: Frame,
    design: Frame,
    resample: Bootstrap,
    *,
    by: IntoExpr | Sequence[IntoExpr] | None = "model",
    side: Side = "agent",
) -> Iterator[pl.DataFrame]:
    """Test statistics of resampled participants, in chunks of replicates.

    Within each study as many participants are drawn with replacement as it has; one who is drawn
    twice takes part twice in all tests. Studies are drawn separately, as are the two sides; groups
    of `by` with equally many participants in a study share its draws, so that they can be compared.
    A replicate equals `participant_statistics` with the number of draws of each as the weight.

    Args:
        responses: As in `participant_statistics`.
        design: As in `participant_statistics`.
        resample: Its `cluster` is the participant; `n`, `seed` and `draws` specify the draws.
        by: As in `participant_statistics`.
        side: As in `participant_statistics`.

    Returns:
        An iterator of tables: `replicate` (Int64, from 0), then the columns of
        `participant_statistics` without `n_missing_s`, sorted by replicate, `by` and keys. All
        rows of a replicate are in one table. Without responses to the tests of the design a single
        empty table.

    Raises:
        ParameterError: A participant is null, no study has two, or the method is no bootstrap.

    Examples:
        >>> import evalframe as ef, polars as pl
        >>> from evalframe.replication import resampled_statistics
        >>> keys = {"study_id": "s1", "finding_id": "F1"}
        >>> people = {"participant_id": [1, 2, 3, 4], "value": [3.0, 5.0, 1.0, 3.0]}
        >>> design = pl.DataFrame({**keys, "test_type": "t-test", "samples": "one"})
        >>> drawn = ef.Bootstrap(cluster="participant_id", n=100)
        >>> responses = pl.DataFrame({**keys, **people})
        >>> pl.concat(resampled_statistics(responses, design, drawn, by=None))["n1_agent"].max()
        4.0
    """
    from evalframe.replication.participants.states import states_of
    from evalframe.resample.methods import Bootstrap
    from evalframe.resample.strata import SLOT, strata_of, stratified_weights

    if not isinstance(resample, Bootstrap):
        raise ParameterError(
            f"participants are resampled by ef.Bootstrap(cluster=...), got {resample!r}"
        )
    if resample.within is not None:
        raise ParameterError(
            "participants are drawn within their study; leave out `within` of the bootstrap"
        )
    rows = rows_of(responses, design, by, side, cluster=named_cluster("participants", resample))
    known = rows.design.select(TEST, *rows.tests, "test_type", KIND, *OF_DESIGN)
    table = rows.table.join(known.lazy().select(TEST, "study_id"), on=TEST).collect()
    if table.is_empty():
        none = participant_statistics(lazy(responses).head(0), design, by=by, side=side)
        replicate = pl.lit(0, dtype=pl.Int64).alias(REPLICATE)
        return iter((none.select(replicate, pl.exclude(f"n_missing_{side}")).collect(),))
    strata = strata_of(resample, table, rows.keys.inner, "study_id", CLUSTER)
    on = [*rows.keys.inner, "study_id", CLUSTER]
    table = table.join(strata.members, on=on, nulls_equal=True)
    groups = table.select(rows.units).unique().sort(rows.units).with_row_index(GROUP)
    groups = groups.with_columns(pl.col(GROUP).cast(pl.Int64)).join(
        known, on=TEST, maintain_order="left"
    )
    numbered = table.join(groups.select(*rows.units, GROUP), on=rows.units, nulls_equal=True)
    states = {
        str(kind): states_of(str(kind), part.sort(GROUP, SLOT), len(strata.names))
        for (kind,), part in numbered.group_by(KIND)
    }
    keys = groups.select(*rows.keys.inner, *rows.tests, "test_type").rename(rows.keys.restore())
    weights = stratified_weights(resample, strata, None if side == "agent" else side)
    return _chunks(weights, states, groups, keys, side)


def _chunks(
    weights: Weights,
    states: Mapping[str, States],
    groups: pl.DataFrame,
    keys: pl.DataFrame,
    side: Side,
) -> Iterator[pl.DataFrame]:
    """Chunks of replicates, with the names of keys and sides."""
    import numpy as np

    of_side = {name: f"{name}_{side}" for name in STATISTICS}
    widest = max(weights.held, *(state.width for state in states.values()))
    first = 0
    for drawn in weights.chunks(max(1, min(_HELD // widest, weights.total))):
        table = _chunk(states, groups, np.asarray(drawn).T.copy()).rename(of_side)
        replicate = (table[REPLICATE] + first).to_frame()
        columns, statistics = keys[table[GROUP]], table.drop(REPLICATE, GROUP)
        yield pl.concat([replicate, columns, statistics], how="horizontal")
        first += len(drawn)


def _chunk(states: Mapping[str, States], groups: pl.DataFrame, drawn: Floats) -> pl.DataFrame:
    """Statistics of some replicates: `replicate`, `:group` and all statistics, sorted."""
    designs = groups.lazy().select(GROUP, *OF_DESIGN)
    parts = [
        statistics_of(_cells(state, drawn, len(groups)), kind, [_UNIT], designs, GROUP)
        for kind, state in sorted(states.items())
    ]
    replicate = (pl.col(_UNIT) // len(groups)).alias(REPLICATE)
    return pl.concat(parts).sort(_UNIT).select(replicate, GROUP, *STATISTICS).collect()


def _cells(state: States, drawn: Floats, groups: int) -> pl.LazyFrame:
    """The cells of replicates, one row each."""
    import numpy as np

    columns = state.columns(drawn)
    replicates = drawn.shape[1]
    numbers = {
        name: np.repeat(state.cells[name].to_numpy(), replicates)
        for name in (GROUP, PLACE, CATEGORY)
    }
    unit = numbers[GROUP] + np.tile(np.arange(replicates) * groups, len(state.cells))
    values = {name: column.ravel() for name, column in columns.items()}
    return pl.DataFrame({_UNIT: unit, **numbers, **values, "n_missing": 0}).lazy()
