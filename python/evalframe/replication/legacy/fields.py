"""All legacy quantities of a table of tests, as the original derives them. Not primary results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.conversions import r_of_kind
from evalframe.replication.effects.numbers import check_numbers, number
from evalframe.replication.effects.table import (
    SIDES,
    checked_tests,
    with_effects_of_kind,
    without_own_names,
)
from evalframe.replication.legacy.consistency import consistency, z_difference
from evalframe.replication.legacy.derivation import KIND, SIDE, SURE, Given
from evalframe.replication.legacy.directions import direction_match
from evalframe.replication.legacy.p_values import legacy_kind, side_of
from evalframe.replication.legacy.repair import repaired_posterior, scalar_pas
from evalframe.replication.legacy.tails import GREATER, TWO_SIDED

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.replication.effects.table import Side

_OWN = ":own:"
_NUMBERS = (
    *(f"{name}_{side}" for name in ("p_value", "pi", "p0", "df") for side in SIDES),
    *("significance_level", "pas"),
)
_CHANGED = 1e-6


def replication_fields(tests: Frame, *, rules: Rules = "documented") -> pl.LazyFrame:
    """Tests with p-values, directions, significance, effects, z-differences and consistencies.

    These are legacy quantities, not to be reported as primary.

    Args:
        tests: One row per test, with `test_type`, and of each side what there is of the columns
            that `with_effect_sizes` and `p_value` read (`stat_human`, `n1_agent`, ...; `df_human`
            stands in for `df1_human` of chi-square) and of
            `p_value_human`, `p_value_agent`, `direction_human`, `direction_agent`; and of
            `report_human` and `report_agent` (String: what was reported of the test, as
            `t(79) = 2.66, p < .05`), `expected_direction` (String: positive or negative),
            `significance_level` (0.05 by default), `pi_human` and `pi_agent`. Columns that are not
            there count as null.
        rules: `documented`: p-values are two-sided unless `expected_direction` says otherwise;
            numbers that the columns lack are taken from the reports; values that are there already
            stay. `reference`: the original's derivation, in which a missing direction is positive,
            agents' p-values and significance are as given, missing human ones are guessed from
            reports, rank-biserial correlations have a standard error of 1 / sqrt(n - 3) and come
            from z on the human side, r equivalents are 0, and human posteriors that contradict the
            p-value are repaired with their `pas`, see `repaired_posterior`.

    Returns:
        The tests, in their order, with `p_value_human`, `p_value_agent`, `is_significant_human`,
        `is_significant_agent`, `direction_human`, `direction_agent`, `direction_match`,
        `effect_size_human`, `std_error_human`, `effect_d_human`, `effect_r_human`, the same of
        `agent`, `n_eff`, `z_difference` and `replication_consistency`. Null where it is not known;
        by the original's rules what is not known is not significant, and a consistency of 0. Lazy.

    Raises:
        MissingColumnsError: There is no `test_type`.
        UnknownNameError: A test type that is not known; it names the nearest.
        ContractError: A column of statistics or of directions holds no numbers.
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.legacy import replication_fields
        >>> tests = pl.DataFrame(
        ...     {
        ...         "test_type": ["t-test"],
        ...         "report_human": ["t(79) = 2.66"],
        ...         "stat_agent": [2.66],
        ...         "n1_agent": [40],
        ...         "n2_agent": [41],
        ...     }
        ... )
        >>> fields = replication_fields(tests).collect()
        >>> shown = "p_value_human", "direction_match", "replication_consistency"
        >>> fields.select(shown).with_columns(pl.col("p_value_human").round(4)).row(0)
        (0.0095, True, 1.0)
    """
    check_rules(rules)
    lazy, back = without_own_names(checked_tests("replication_fields", tests))
    schema = lazy.collect_schema()
    check_numbers(schema, _NUMBERS)
    present = schema.names()
    given = Given(present, rules)
    unsaid = GREATER if rules == "reference" else TWO_SIDED
    lazy = lazy.with_columns(
        legacy_kind("test_type", rules).alias(KIND),
        side_of(given["expected_direction"]).fill_null(unsaid).alias(SIDE),
        pl.col(given.read).name.prefix(_OWN),
        *given.numbers(),
    )
    for columns in (given.said(), given.filled(), given.p_values(), given.derived()):
        lazy = lazy.with_columns(columns)
    if rules == "reference":
        lazy = lazy.with_columns(e for side in SIDES for e in _original_effects(given, side))
    lazy = with_effects_of_kind(lazy, pl.col(KIND), rules)
    lazy = lazy.with_columns(direction_match(rules=rules), z_difference(rules=rules))
    if rules == "reference":
        lazy = _only_finite(lazy)
        if {"pi_human", "pi_agent"} <= {*present}:
            lazy = _with_repairs(lazy, has_pas="pas" in present)
    lazy = lazy.with_columns(
        *(_effect_r(side, rules) for side in SIDES),
        consistency(rules=rules).alias("replication_consistency"),
    )
    # What was read is handed back as it was.
    made = [name for name in lazy.collect_schema() if not name.startswith(":")]
    return lazy.select(
        pl.col(f"{_OWN}{name}").alias(name) if name in given.read else name
        for name in made
        if name in present or name not in given.names
    ).rename(back)


def _original_effects(given: Given, side: Side) -> list[pl.Expr]:
    """Effects and standard errors of which the original's derivation has forms of its own."""
    stat, n1, n2, n = (given[f"{name}_{side}"] for name in ("stat", "n1", "n2", "n"))
    effect, error = (given[f"{name}_{side}"] for name in ("effect_size", "std_error"))
    kind = pl.col(KIND)
    total, pairs = n1 + n2, n1 * n2
    if side == "human":
        ranks = pl.when(total > 0).then((stat / total.sqrt()).clip(-1.0, 1.0))
    else:
        ranks = pl.when(pairs > 0).then(2.0 * stat / pairs - 1.0)
    of_ranks = pl.when(total.is_null()).then(0.1).otherwise((total - 3.0).clip(1.0).pow(-0.5))
    of_nobody = pl.when((kind == "binomial") & (n.fill_null(n1) == 0)).then(0.1)
    return [
        pl.coalesce(effect, pl.when(kind == "rank").then(ranks)).alias(f"effect_size_{side}"),
        pl.coalesce(error, pl.when(kind == "rank").then(of_ranks), of_nobody).alias(
            f"std_error_{side}"
        ),
    ]


def _only_finite(tests: pl.LazyFrame) -> pl.LazyFrame:
    stored = ["z_difference", *(f"effect_size_{side}" for side in SIDES)]
    return tests.with_columns(pl.when(pl.col(name).is_finite()).then(name) for name in stored)


def _effect_r(side: Side, rules: Rules) -> pl.Expr:
    """The r equivalent, which the original takes of effects that it has not derived yet."""
    name = f"effect_r_{side}"
    if rules == "reference":
        return pl.lit(0.0).alias(name)
    effect = number(f"effect_size_{side}", rules)
    return r_of_kind(pl.col(KIND), effect, rules).alias(name)


def _with_repairs(tests: pl.LazyFrame, *, has_pas: bool) -> pl.LazyFrame:
    """The tests with repaired human posteriors, and the PAS of those that were."""
    before = number("pi_human", "reference")
    after = repaired_posterior()
    repaired = pl.col(SURE) & ((after - before.fill_null(0.5)).abs() > _CHANGED)
    earlier = number("pas" if has_pas else None, "reference")
    return tests.with_columns(
        pl.when(repaired).then(after).otherwise(before).alias("pi_human"),
        pl.when(repaired)
        .then(scalar_pas(after, number("pi_agent", "reference")))
        .otherwise(earlier)
        .alias("pas"),
    )
