"""Contracts and broken tables: refused with an error of ours, or accepted and computed rightly.

Of `EVALFRAME_ABUSE_EVERY` tables one goes into the main function, too, but none of Python objects.
"""

import math
import os
import random

import polars as pl
import pytest
from polars import selectors
from polars.testing import assert_frame_equal

import evalframe as ef
from abuse.contracts import CONTRACTS
from abuse.mutations import HARMFUL, HARMLESS, objects
from abuse.outcomes import SEED, N, outcome
from abuse.results import RESULTS
from evalframe.selective import items_contract

TABLES = CONTRACTS | RESULTS
EVERY = int(os.environ.get("EVALFRAME_ABUSE_EVERY", "25"))


def fault(table, frame, sound, *, harmless):
    """What is wrong with what the main function makes of a table, or None."""
    wrong, found = outcome(lambda: table.use(frame.lazy()).lazy().collect())
    if wrong or found is None:
        return wrong
    if table.each_row and len(found) != len(frame):
        return f"{len(found)} rows of {len(frame)}"
    made = found.select(selectors.float() - selectors.by_name(frame.columns, require_all=False))
    if wild := [column.name for column in made if column.is_nan().any()]:
        return f"NaN in {wild}"
    return different(found, sound) if harmless else None


def different(found, sound):
    """Where a result is another one than that of the sound table, rows in any order."""
    if missing := {*sound.columns} - {*found.columns}:
        return f"without {sorted(missing)}"
    one, other = (_in_order(table.select(sound.columns)) for table in (found, sound))
    try:
        assert_frame_equal(
            one, other, check_dtypes=False, categorical_as_str=True, rel_tol=1e-9, abs_tol=1e-12
        )
    except AssertionError as error:
        return f"other values: {error!s:.300}"
    return None


def _in_order(table):
    keys = [[_key(value) for value in row] for row in table.rows()]
    return table[sorted(range(len(table)), key=keys.__getitem__)]


def _key(value):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{float(value):.9g}" if number else repr(value)


@pytest.mark.parametrize("name", TABLES)
def test_a_broken_table_is_refused_or_computed_as_it_is(name):
    table, faults = TABLES[name], []
    whole = table.sound()
    sound = table.use(whole.lazy()).lazy().collect()
    if table.contract is not None:
        assert ef.validate(whole, table.contract).rows == len(whole)
    for seed in range(SEED, SEED + math.ceil(N * table.share)):
        draw = random.Random(seed)
        mutation = draw.choice((*HARMFUL, *HARMLESS))
        frame = mutation(whole, draw)
        if table.contract is None:
            if wrong := fault(table, frame, sound, harmless=mutation in HARMLESS):
                faults.append(f"{mutation.__name__}, seed {seed}: {wrong}")
            continue
        wrong, report = outcome(lambda frame=frame: ef.validate(frame, table.contract))
        if report is not None and report.rows != len(frame):
            wrong = f"{report.rows} rows counted of {len(frame)}"
        taken = report is not None or table.checks
        if not wrong and taken and seed % EVERY == 0 and mutation is not objects:
            wrong = fault(table, frame, sound, harmless=mutation in HARMLESS)
        if wrong:
            faults.append(f"{mutation.__name__}, seed {seed}: {wrong}")
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:20])


def test_a_million_groups():
    row = pl.int_range(1_000_000, eager=True)
    items = pl.DataFrame({"person": row, "loss": row % 2, "confidence": row % 7 / 7})
    contract = items_contract(loss="loss", label=None, participant="person", item=None)
    assert ef.validate(items, contract).rows == 1_000_000
    result = ef.evaluate(items, ef.selective_risk(), by="person")
    assert result["estimate"].sum() == 500_000
