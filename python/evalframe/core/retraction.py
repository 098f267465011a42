"""States without a part of what they added up: the rows of another state, or whole clusters.

Sums are subtracted, and metrics are computed anew from what is left. That is as good as adding up
the other rows, but for three things, which are looked for:

* A level whose rows are all gone leaves a rounding error in place of nothing. Counts of rows are
  exact, so a cell is dropped if it has none left.
* Little that is left of much has few digits. Sums whose rounding error may be too large are
  refused, with their groups.
* Infinity and NaN cannot be subtracted, and are refused, too.

Only groups that the part has are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError, first_few
from evalframe.core.state import LEVEL, N_MISSING, N
from evalframe.core.state_checks import check_alike
from evalframe.core.state_tables import COUNTED, groups_of, read_header, read_states, table_of
from evalframe.core.states import CLUSTER

if TYPE_CHECKING:
    from evalframe.core.states import Block, States

_SIZE, _TAKEN = ":size", ":taken"
_ROUNDING, _TOLERANCE = 2.0**-52, 1e-12
_OTHERS = 1e-6
"""More than this share of a sum is left by other rows, not by rounding."""


class RecomputeError(ParameterError):
    """Sums of a state that a part cannot be subtracted from with enough digits."""


def without(state: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """The state of the rows that are not in `part`."""
    whole, gone = read_states(state), read_states(part)
    header, other = read_header(state) or {}, read_header(part)
    for name, each in {"state": header, "part": other or {}}.items():
        if each["version"] < COUNTED:
            raise ParameterError(
                f"the {name} was written by an older program, which did not count the rows of "
                "each level; make it anew with partial(...)"
            )
    if header != other:
        raise ParameterError(
            "the part holds other metrics, keys or clusters than the state; make both by the same "
            "partial(...)"
        )
    check_alike([state, part], groups_of(header))
    left = [
        _left(whole, block, rows, taken)
        for block, rows, taken in zip(whole.blocks, whole.tables, gone.tables, strict=True)
    ]
    return table_of(whole.with_tables(left), header)


def without_clusters(state: pl.DataFrame, ids: Sequence[Any]) -> pl.DataFrame:
    """The state of all other clusters, exactly."""
    header = read_header(state)
    cluster = None if header is None else header["cluster"]
    if cluster is None:
        raise ParameterError(
            "the state keeps no clusters apart; make it with partial(..., cluster=...), or take "
            "the state of a part from it"
        )
    try:
        gone = pl.Series(cluster, ids, dtype=state.schema[cluster])
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise ParameterError(
            f"clusters {cluster!r} are {state.schema[cluster]}, which {list(ids)[:3]!r} are not"
        ) from error
    unknown = gone.filter(~gone.is_in(state[cluster].implode(), nulls_equal=True))
    if len(unknown):
        raise ParameterError(f"the state has no cluster {cluster!r} of {first_few(unknown)}")
    return state.filter(~pl.col(cluster).is_in(gone.implode(), nulls_equal=True))


def _left(
    states: States[pl.DataFrame], block: Block, state: pl.DataFrame, part: pl.DataFrame
) -> pl.DataFrame:
    """What is left of the table of a block."""
    groups = [*states.keys.inner, *[CLUSTER] * (states.cluster is not None), *block.units]
    sums = list(block.all_sums)
    try:
        part = part.cast({name: state.schema[name] for name in groups})
    except pl.exceptions.PolarsError as error:
        raise ParameterError("the part has groups that the state cannot have") from error
    touched, rest = _halves(state, part, groups)
    halves = {False: touched, True: part}
    stacked = pl.concat(
        [
            _apart(table, block, groups).with_columns(pl.lit(taken).alias(_TAKEN))
            for taken, table in halves.items()
        ],
        how="diagonal_relaxed",
    )
    held, taken = pl.col(sums).filter(~pl.col(_TAKEN)), pl.col(sums).filter(_TAKEN)
    size = held.abs().sum().name.suffix(_SIZE)
    cells = stacked.group_by(*groups, LEVEL).agg(held.sum() - taken.sum(), size)
    return pl.concat([rest, _checked(states, cells, groups, sums).select(rest.columns)])


def _checked(
    states: States[pl.DataFrame], cells: pl.DataFrame, groups: list[str], sums: list[str]
) -> pl.DataFrame:
    """The cells that have rows; an error where they cannot be told, or have lost their digits."""

    def of_group(value: pl.Expr) -> pl.Expr:
        return value.over(groups) if groups else value

    here, size = pl.col(N) + pl.col(N_MISSING), {name: pl.col(name + _SIZE) for name in sums}
    rows = of_group(here.sum())
    held = of_group((size[N] + size[N_MISSING]).sum())
    # Without a level stand sums of the whole group, which stay as long as it has rows.
    kept = pl.when(pl.col(LEVEL).is_null()).then(rows).otherwise(here) > 0
    endless = [~pl.col(name).is_finite() | ~size[name].is_finite() for name in sums]
    if len(found := cells.filter(pl.any_horizontal(endless))):
        raise RecomputeError(
            f"infinity and NaN cannot be taken from a sum; evaluate the rows that are left"
            f"{_where(states, found)} anew"
        )
    strange = [pl.col(name).abs() > _OTHERS * (of_group(size[name].sum()) + held) for name in sums]
    wrong = (here < 0) | (rows < 0) | (~kept & pl.any_horizontal(strange))
    if len(found := cells.filter(wrong)):
        raise ParameterError(f"the part holds rows that the state does not{_where(states, found)}")
    for name in sums:
        whole = of_group(((pl.col(name) % 1 == 0) & (size[name] % 1 == 0)).all())
        before, left = (of_group(each.sum()) for each in (size[name], pl.col(name).abs()))
        rounding = _ROUNDING * before * held.log(2.0)
        lost = ~whole & (rows > 0) & (rounding > _TOLERANCE * pl.max_horizontal(left, rows))
        if len(found := cells.filter(lost)):
            raise RecomputeError(
                f"little is left of {name!r}, whose rounding would show; evaluate the rows that "
                f"are left{_where(states, found)} anew"
            )
    return cells.filter(kept | pl.lit(value=not groups) & pl.col(LEVEL).is_null())


def _halves(
    state: pl.DataFrame, part: pl.DataFrame, groups: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of groups that the part has, and the others."""
    if not groups:
        return state, state.clear()
    keys = part.select(groups).unique()
    inside = state.join(keys, on=groups, how="semi", nulls_equal=True)
    return inside, state.join(keys, on=groups, how="anti", nulls_equal=True)


def _apart(table: pl.DataFrame, block: Block, groups: list[str]) -> pl.DataFrame:
    """The table with sums of whole groups in rows without a level, so that they outlive levels.

    Where they stand in a state depends on how it was computed; it adds up to the same.
    """
    by_level = [name for name in block.all_sums if name in {N, N_MISSING, *block.sums}]
    plain = pl.col([name for name in block.all_sums if name not in by_level]).sum()
    if block.axis is None:
        return table
    whole = table.group_by(groups).agg(plain) if groups else table.select(plain)
    no_level = pl.lit(None, dtype=pl.Float64).alias(LEVEL)
    levels = table.select(*groups, LEVEL, *by_level)
    return pl.concat([levels, whole.with_columns(no_level)], how="diagonal")


def _where(states: States[pl.DataFrame], cells: pl.DataFrame) -> str:
    """The first groups of cells, as " in model='a'; model='b'"."""
    names = states.keys.restore()
    if states.cluster is not None:
        names[CLUSTER] = states.cluster
    groups = cells.select(names.keys()).rename(names).unique().sort(names.values())
    told = [", ".join(f"{k}={v!r}" for k, v in row.items()) for row in groups.head(3).to_dicts()]
    return f" in {'; '.join(told)}{'; ...' * (len(groups) > 3)}" if names else ""
