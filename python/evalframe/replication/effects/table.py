"""Effects of both sides of a table of tests, from its raw statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.rules import check_rules
from evalframe.replication.effects.conversions import d_of_kind
from evalframe.replication.effects.correlations import z_error, z_of_r
from evalframe.replication.effects.differences import (
    has_groups,
    standardised,
    standardised_error,
    t_of_f,
)
from evalframe.replication.effects.finished import needs_type_for_effects
from evalframe.replication.effects.kinds import check_types, form_of, in_groups, kind_of_test
from evalframe.replication.effects.numbers import check_numbers, number
from evalframe.replication.effects.odds import log_ratio, log_ratio_error
from evalframe.replication.effects.proportions import share_error, share_of
from evalframe.replication.effects.ranks import r_of_u, rank_error
from evalframe.replication.effects.sample_sizes import Sizes, n_eff_of_kind, n_of_f
from evalframe.replication.effects.types import MEANS, SIDES

if TYPE_CHECKING:
    from collections.abc import Collection

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.replication.effects.types import Form, Side


_KIND, _NAMED, _FORM = ":kind", ":named", ":form"
_READ = (
    *("stat", "n1", "n2", "n_total", "n", "k", "df1", "df2", "direction", "p0", "estimate"),
    *("a", "b", "c", "d"),
)
_NUMBERS = (*_READ, "independent", "effect_size", "std_error", "effect_d")
_ASIDE = "not ours "
_IN_HALVES = ("z", "coefficient", "wald")
"""Kinds whose groups are halves of all where they are not said, as those of F are."""


def with_effect_sizes(tests: Frame, *, rules: Rules = "documented") -> pl.LazyFrame:
    """Tests with the effect sizes of both sides, their standard errors, and n_eff.

    What a test's effect is follows from `test_type`:

    | test | effect | from |
    |---|---|---|
    | t, Welch, z | d | `stat`, `n1`, `n2`, `independent` |
    | coefficient | `estimate`; as `effect_d` d of its z | `stat` or `std_error`, as z |
    | F, Wald | d, with the sign of `direction` | `stat`, `n1`, `n2`, `df1`, `direction` |
    | correlation | Fisher's z | `stat`; `n`, `n1` or `n_total` |
    | chi-square | log odds ratio | cells `a`, `b`, `c`, `d` |
    | Mann-Whitney | rank-biserial r | `stat` (U of the first group), `n1`, `n2` |
    | binomial | proportion; `effect_d` about `p0` | `k` or `stat`, `n` or `n1`, `p0` |

    each of a side, such as `stat_human`. Columns that are not there count as null. By the
    documented rules, tests of F, Wald, z and coefficients that do not say their groups are taken to
    have two of half of `n_total`, of `n`, or of F of df1 + df2 + 1. Values that the table has
    already stay, and only missing ones are filled in (by the original's rules NaN stays); a stored
    `n_eff` counts as `n_eff` says. `known_test_types` lists all names of types; a row that has
    `effect_d` of both sides, or nothing to make it from, needs none.

    Args:
        tests: One row per test, with `test_type`; it is read once before, for its types.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        The tests, in their order, with `effect_size_human`, `std_error_human` (of the effect
        size), `effect_d_human`, the same of `agent`, and `n_eff`: all Float64. Null where the
        test has no type or none with an effect size, as a p-value, or statistics are missing or
        impossible; `n_eff` is never null. `n_from_df_human` and `n_from_df_agent` as of
        `with_bayes_factors`. Lazy.

    Raises:
        MissingColumnsError: There is no `test_type`.
        UnknownNameError: A test type is unknown; the message says what to write.
        ContractError: A column of statistics holds no numbers.
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import with_effect_sizes
        >>> tests = pl.DataFrame(
        ...     {
        ...         "test_type": ["t-test", "binomial"],
        ...         "stat_agent": [2.0, None],
        ...         "n1_agent": [8, None],
        ...         "n2_agent": [8, None],
        ...         "k_agent": [None, 15],
        ...         "n_agent": [None, 20],
        ...     }
        ... )
        >>> effects = with_effect_sizes(tests).collect()
        >>> effects.select("effect_size_agent", "effect_d_agent", "n_eff").rows()
        [(1.0, 1.0, 16.0), (0.75, 1.0, 20.0)]
    """
    check_rules(rules)
    lazy, back = without_own_names(checked_tests("with_effect_sizes", tests, rules))
    made = with_effects_of_kind(lazy, kind_of_test("test_type", rules), rules)
    return made.rename(back)


def checked_tests(function: str, tests: Frame, rules: Rules) -> pl.LazyFrame:
    """The tests, whose types are known and whose statistics are numbers.

    Raises:
        MissingColumnsError: There is no `test_type`.
        UnknownNameError: A test type that is not known.
        ContractError: A column of statistics holds no numbers.
    """
    lazy = tests.lazy()
    schema = lazy.collect_schema()
    if "test_type" not in schema:
        raise MissingColumnsError.of(function, ["test_type"], schema)
    check_numbers(schema, ["n_eff", *(f"{name}_{side}" for name in _NUMBERS for side in SIDES)])
    check_types(lazy.filter(needs_type_for_effects(schema)), rules=rules)
    return lazy


def without_own_names(tests: pl.LazyFrame) -> tuple[pl.LazyFrame, dict[str, str]]:
    """The tests without columns named as our own working columns, and how to rename them back."""
    taken = [name for name in tests.collect_schema() if name.startswith(":")]
    aside = {name: f"{_ASIDE}{name}" for name in taken}
    return tests.rename(aside), {hidden: name for name, hidden in aside.items()}


def with_effects_of_kind(tests: pl.LazyFrame, kind: pl.Expr, rules: Rules) -> pl.LazyFrame:
    """`with_effect_sizes`, with sizes and standard errors for kinds of tests as they are given."""
    present = tests.collect_schema().names()
    human, agent = (Statistics(side, present, rules) for side in SIDES)
    named = kind_of_test("test_type", rules)
    made: list[dict[str, pl.Expr]] = [
        {_KIND: kind, _NAMED: named, _FORM: form_of("test_type")}
        | human.numbers()
        | agent.numbers(),
        human.samples() | agent.samples(),
        human.groups() | agent.groups(),
        {"n_eff": agent.n_eff()} | human.effect_size() | agent.effect_size(),
        human.std_error() | agent.std_error(),
        human.effect_d() | agent.effect_d(),
    ]
    for columns in made:
        tests = tests.with_columns(
            **{name: _kept_or(name, present, columns[name], rules) for name in columns}
        )
    working = {name for columns in made for name in columns if name.startswith(":")}
    return tests.drop(sorted(working))


class Statistics:
    """The raw statistics of one side of the tests, cleaned into working columns, stage by stage."""

    def __init__(self, side: Side, present: Collection[str], rules: Rules) -> None:
        self._side, self._rules = side, rules
        self._given = {name for name in _READ if f"{name}_{side}" in present}
        self._present = present
        self._n_eff = number("n_eff" if "n_eff" in present else None, rules)
        self._groups = (
            pl.col(f":group1_{side}"),
            pl.col(f":group2_{side}"),
            pl.col(f":two_{side}"),
        )
        self._apart = pl.col(f":apart_{side}")

    def __getitem__(self, name: str) -> pl.Expr:
        if name in self._given:
            return pl.col(f":{name}_{self._side}")
        return pl.lit(None, dtype=pl.Float64)

    def numbers(self) -> dict[str, pl.Expr]:
        """The numbers that the table gives."""
        return {
            f":{name}_{self._side}": number(f"{name}_{self._side}", self._rules)
            for name in _READ
            if name in self._given
        }

    def samples(self) -> dict[str, pl.Expr]:
        """Whether samples are independent, and how many an F test is about."""
        side = self._side
        apart = pl.lit(None, pl.Boolean)
        if f"independent_{side}" in self._present:
            apart = pl.col(f"independent_{side}").cast(pl.Boolean)
        apart = in_groups(_says, apart)
        groups = self["n1"] + pl.when(apart.fill_null(value=True)).then(self["n2"])
        told = pl.coalesce(self["n_total"], self["n"])
        of_f, guessed = n_of_f(told, groups, self["df1"], self["df2"], _says)
        is_f = pl.col(_KIND) == "f"
        everybody = pl.when(is_f).then(of_f).when(pl.col(_KIND).is_in(_IN_HALVES)).then(told)
        guessed = (is_f & self["stat"].is_not_null() & guessed).fill_null(value=False)
        return {f":apart_{side}": apart, f":all_{side}": everybody, f"n_from_df_{side}": guessed}

    def groups(self) -> dict[str, pl.Expr]:
        """Sizes of groups, halves of all where they are not said."""
        n1, n2, side = self["n1"], self["n2"], self._side
        two = has_groups(n2, self._apart)
        if self._rules == "documented":
            unsaid = n1.is_null() & n2.is_null() & self._apart.fill_null(value=True)
            half = pl.when(unsaid).then(pl.col(f":all_{side}") / 2.0)
            n1, n2, two = pl.coalesce(n1, half), pl.coalesce(n2, half), two | half.is_not_null()
        return {f":group1_{side}": n1, f":group2_{side}": n2, f":two_{side}": two}

    def effect_size(self) -> dict[str, pl.Expr]:
        """The effect size in the unit of each test."""
        rules, stat = self._rules, self["stat"]
        d = standardised(stat, *self._groups, rules)
        t = t_of_f(stat, self["df1"], self["direction"], rules)
        return self._by_kind(
            "effect_size",
            t=d,
            welch=d,
            z=d,
            coefficient=self["estimate"],
            wald=standardised(pl.when(stat >= 0).then(t), *self._groups, rules),
            f=standardised(t, *self._groups, rules),
            correlation=z_of_r(stat, rules),
            chi_square=log_ratio(self._cells(), rules),
            rank=r_of_u(stat, self["n1"], self["n2"], rules),
            binomial=share_of(pl.coalesce(self["k"], stat), self._trials(), rules),
        )

    def std_error(self) -> dict[str, pl.Expr]:
        """The standard error of the effect size that the table has now."""
        rules, effect = self._rules, number(f"effect_size_{self._side}", self._rules)
        d = standardised_error(effect, *self._groups, rules)
        return self._by_kind(
            "std_error",
            t=d,
            welch=d,
            z=d,
            coefficient=pl.when(self["stat"] != 0).then((self["estimate"] / self["stat"]).abs()),
            wald=d,
            f=d,
            correlation=z_error(effect.tanh(), self._pairs(), rules),
            chi_square=log_ratio_error(self._cells(), rules),
            rank=rank_error(effect, self["n1"], self["n2"], rules),
            binomial=share_error(effect, self._trials(), rules),
        )

    def effect_d(self) -> dict[str, pl.Expr]:
        """The effect on the scale of d; a coefficient has one by way of its z."""
        side, rules = self._side, self._rules
        error = number(f"std_error_{side}", "documented")
        z = pl.coalesce(self["stat"], pl.when(error > 0).then(self["estimate"] / error))
        of_size = d_of_kind(
            pl.col(_NAMED), number(f"effect_size_{side}", "documented"), self["p0"], rules
        )
        of_z = standardised(z, *self._groups, rules)
        d = pl.when(pl.col(_NAMED) == "coefficient").then(of_z).otherwise(of_size)
        return {f"effect_d_{side}": d}

    def n_eff(self) -> pl.Expr:
        """The effective sample size of each test."""
        kind, n2, total = pl.col(_NAMED), self["n2"], self["n_total"]
        if self._rules == "documented":
            n2 = pl.when(self._apart.fill_null(value=True) | ~kind.is_in(MEANS)).then(n2)
            of_table = pl.when(kind == "chi_square").then(self._pairs())
            total = pl.coalesce(total, of_table, pl.col(f":all_{self._side}"))
        else:
            total = pl.lit(None, dtype=pl.Float64)
        table = pl.sum_horizontal(self._cells(), ignore_nulls=False)
        sizes = Sizes(self["n1"], n2, self._trials(), table, total, self._n_eff)
        return n_eff_of_kind(kind, sizes, self._rules)

    def _cells(self) -> list[pl.Expr]:
        return [self[cell] for cell in "abcd"]

    def _trials(self) -> pl.Expr:
        return pl.coalesce(self["n"], self["n1"])

    def _pairs(self) -> pl.Expr:
        return pl.coalesce(self["n"], self["n1"], self["n_total"])

    def _by_kind(self, name: str, **effects: pl.Expr) -> dict[str, pl.Expr]:
        chosen: pl.Expr = pl.lit(None, dtype=pl.Float64)
        for kind, effect in effects.items():
            chosen = pl.when(pl.col(_KIND) == kind).then(effect).otherwise(chosen)
        return {f"{name}_{self._side}": chosen}


def _says(form: Form) -> pl.Expr:
    return (pl.col(_FORM) == form).fill_null(value=False)


def _kept_or(name: str, present: Collection[str], computed: pl.Expr, rules: Rules) -> pl.Expr:
    if name not in present or name == "n_eff" or name.startswith("n_from_df"):
        return computed
    own = pl.col(name).cast(pl.Float64)
    # For the original, NaN is a value that nothing is computed in place of.
    return pl.coalesce(own.fill_nan(None) if rules == "documented" else own, computed)
