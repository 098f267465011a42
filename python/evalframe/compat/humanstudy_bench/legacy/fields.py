"""All legacy quantities of a table of tests, as the original derives them. Not primary results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.legacy.consistency import consistency, z_difference
from evalframe.compat.humanstudy_bench.legacy.derivation import KIND, SIDE, Given
from evalframe.compat.humanstudy_bench.legacy.directions import direction_match
from evalframe.compat.humanstudy_bench.legacy.original_fields import derived_fields
from evalframe.compat.humanstudy_bench.legacy.p_values import side_of
from evalframe.compat.humanstudy_bench.legacy.tails import TWO_SIDED
from evalframe.core.rules import check_rules
from evalframe.replication.effects.conversions import r_of_kind
from evalframe.replication.effects.kinds import kind_of_test
from evalframe.replication.effects.numbers import check_numbers, number
from evalframe.replication.effects.table import (
    checked_tests,
    with_effects_of_kind,
    without_own_names,
)
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.replication.effects.types import Side

_OWN = ":own:"
_NUMBERS = (
    *(f"{name}_{side}" for name in ("p_value", "pi", "p0", "df") for side in SIDES),
    *("significance_level", "pas"),
)


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
            stay. `reference`: the original's derivation, in which names and words are compared as
            they are written, a missing direction is positive, `report_human` says p-values and
            sizes, and no statistic (that is `stat_human` alone), missing human p-values are guessed
            from it, agents' p-values are as given, tests have two groups unless `independent_human`
            or `independent_agent` says otherwise, rank-biserial correlations have a standard error
            of 1 / sqrt(n - 3) and come from z on the human side, r equivalents are of effects that
            the table has, an error on one side loses what is derived after it, and human posteriors
            that contradict the p-value are repaired with their `pas`, see `repaired_posterior`.
            What is derived replaces what is there.

    Returns:
        The tests, in their order, with `p_value_human`, `p_value_agent`, `is_significant_human`,
        `is_significant_agent`, `direction_human`, `direction_agent`, `direction_match`,
        `effect_size_human`, `std_error_human`, `effect_d_human`, `effect_r_human`, the same of
        `agent`, `n_eff`, `n_from_df_human`, `n_from_df_agent`, `z_difference` and
        `replication_consistency`. Null where it is not known; by the original's rules what is not
        known is not significant, and a consistency of 0, and all is null where the original stops
        with an error, as at `p = .05.`. Lazy.

    Raises:
        MissingColumnsError: There is no `test_type`.
        UnknownNameError: A test type that is not known; it names the nearest.
        ContractError: A column of statistics or of directions holds no numbers.
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import replication_fields
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
    lazy, back = without_own_names(checked_tests("replication_fields", tests, rules))
    schema = lazy.collect_schema()
    check_numbers(schema, _NUMBERS)
    present = schema.names()
    if rules == "reference":
        return derived_fields(lazy).rename(back)
    given = Given(present)
    lazy = lazy.with_columns(
        kind_of_test("test_type").alias(KIND),
        side_of(given["expected_direction"]).fill_null(TWO_SIDED).alias(SIDE),
        pl.col(given.read).name.prefix(_OWN),
        *given.numbers(),
    )
    for columns in (given.said(), given.filled(), given.p_values(), given.derived()):
        lazy = lazy.with_columns(columns)
    lazy = with_effects_of_kind(lazy, pl.col(KIND), rules)
    lazy = lazy.with_columns(direction_match(), z_difference())
    lazy = lazy.with_columns(
        *(_effect_r(side, given) for side in SIDES),
        consistency().alias("replication_consistency"),
    )
    # What was read is handed back as it was.
    made = [name for name in lazy.collect_schema() if not name.startswith(":")]
    return lazy.select(
        pl.col(f"{_OWN}{name}").alias(name) if name in given.read else name
        for name in made
        if name in present or name not in given.names
    ).rename(back)


def _effect_r(side: Side, given: Given) -> pl.Expr:
    effect = number(f"effect_size_{side}", "documented")
    r = r_of_kind(pl.col(KIND), effect, given[f"p0_{side}"], "documented")
    return r.alias(f"effect_r_{side}")
