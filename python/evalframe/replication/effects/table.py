"""Effects of both sides of a table of tests, from its raw statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.effects.by_kind import Sizes, d_of_effect, n_eff_of_kind, n_of_f
from evalframe.replication.effects.counts import (
    log_odds,
    log_odds_error,
    proportion,
    proportion_std_error,
)
from evalframe.replication.effects.kinds import (
    check_types,
    form_of,
    in_groups,
    kind_of_test,
    needs_type_for_effects,
)
from evalframe.replication.effects.sizes import (
    d_error,
    d_of_t,
    fisher_z,
    fisher_z_std_error,
    has_groups,
    rank_biserial,
    rank_biserial_std_error,
    t_of_f,
)
from evalframe.replication.effects.types import IN_HALVES, MEANS, SIDES, Form, Side
from evalframe.replication.numbers import NO_NUMBER, check_numbers, finite, number

Columns: TypeAlias = dict[str, pl.Expr]

KIND, _FORM = ":kind", ":form"
_READ = (
    *("stat", "n1", "n2", "n_total", "n", "k", "df1", "df2", "direction", "p0", "estimate"),
    *("a", "b", "c", "d"),
)
_NUMBERS = (*_READ, "independent", "effect_size", "std_error", "effect_d")
_ASIDE = "not ours "


@like_input
def with_effect_sizes(tests: Frame) -> pl.LazyFrame:
    """Add the effect sizes of both sides of tests, their standard errors, and n_eff.

    The effect of a test follows from `test_type`:

    | test | effect | from |
    |---|---|---|
    | t, Welch, z | d | `stat`, `n1`, `n2`, `independent` |
    | coefficient | `estimate`; as `effect_d` d of its z | `stat` or `std_error`, as z |
    | F, Wald | d, with the sign of `direction` | `stat`, `n1`, `n2`, `df1`, `direction` |
    | correlation | Fisher's z | `stat`; `n`, `n1` or `n_total` |
    | chi-square | log odds ratio | cells `a`, `b`, `c`, `d` |
    | Mann-Whitney | rank-biserial r | `stat` (U of the first group), `n1`, `n2` |
    | binomial | proportion; `effect_d` about `p0` | `k` or `stat`, `n` or `n1`, `p0` |

    each of a side, such as `stat_human`. Missing columns count as null. F, Wald, z and coefficients
    without sizes of groups count as two groups, each half of `n_total`, of `n`, or for F of
    df1 + df2 + 1. Values in the table stay, only missing ones are filled in; a stored `n_eff`
    counts as in `n_eff`. `known_test_types` lists all names of types. A row with `effect_d` of both
    sides, or with nothing to compute it from, needs no known type.

    Args:
        tests: One row per test, with `test_type`. It is read once before, for its types.

    Returns:
        The tests, in their order, with `effect_size_human`, `std_error_human` (of the effect
        size), `effect_d_human`, the same of `agent`, and `n_eff`: all Float64. Null if the test has
        no type or a type without effect size (a p-value), or statistics are missing or impossible;
        `n_eff` is never null. `n_from_df_human` and `n_from_df_agent` as in `with_bayes_factors`.
        Lazy if `tests` is.

    Raises:
        UnknownNameError: A test type is unknown; the message suggests another.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"test_type": "binomial", "k_agent": [15], "n_agent": [20]})
        >>> effects = ef.replication.with_effect_sizes(tests)
        >>> effects.select("effect_size_agent", "effect_d_agent", "n_eff").rows()
        [(0.75, 1.0, 20.0)]
    """
    lazy, back = checked_tests("with_effect_sizes", tests, check_types)
    columns = lazy.collect_schema().names()
    human, agent = (Statistics(side, columns, finite) for side in SIDES)
    stored = finite("n_eff" if "n_eff" in columns else None)
    stages = [
        kinds(kind_of_test("test_type")) | human.numbers() | agent.numbers(),
        human.samples() | agent.samples(),
        _groups(human) | _groups(agent),
        {"n_eff": _n_eff(agent, stored)} | _effect_size(human) | _effect_size(agent),
        _std_error(human) | _std_error(agent),
        _effect_d(human) | _effect_d(agent),
    ]
    return in_stages(lazy, stages, number).rename(back)


def checked_tests(
    function: str, tests: Frame, check: Callable[[pl.LazyFrame], None]
) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Tests with valid columns and types, free of names of working columns; how to rename back."""
    lazy = tests.lazy()
    schema = lazy.collect_schema()
    if "test_type" not in schema:
        raise MissingColumnsError.of(function, ["test_type"], schema)
    check_numbers(schema, ["n_eff", *(f"{name}_{side}" for name in _NUMBERS for side in SIDES)])
    check(lazy.filter(needs_type_for_effects(schema)))
    aside = {name: f"{_ASIDE}{name}" for name in schema if name.startswith(":")}
    return lazy.rename(aside), {hidden: name for name, hidden in aside.items()}


def kinds(kind: pl.Expr) -> Columns:
    """Working columns of the kind and the form of each test."""
    return {KIND: kind, _FORM: form_of("test_type")}


def in_stages(
    tests: pl.LazyFrame, stages: Sequence[Columns], stored: Callable[[IntoExpr | None], pl.Expr]
) -> pl.LazyFrame:
    """Add the columns of each stage, but keep values of the table; drop working columns.

    One stage after the other, since nested in one expression the first would be repeated often.
    """
    present = tests.collect_schema().names()
    for stage in stages:
        tests = tests.with_columns(
            pl.coalesce(stored(name), value).alias(name)
            if name in present and name != "n_eff" and not name.startswith("n_from_df")
            else value.alias(name)
            for name, value in stage.items()
        )
    working = {name for stage in stages for name in stage if name.startswith(":")}
    return tests.drop(sorted(working))


class Statistics:
    """Raw statistics of one side of the tests, in working columns once `numbers` are added."""

    def __init__(
        self, side: Side, present: Collection[str], number: Callable[[IntoExpr | None], pl.Expr]
    ) -> None:
        self.side = side
        self._present, self._number = present, number
        self.groups = tuple(pl.col(f":{name}_{side}") for name in ("group1", "group2", "two"))
        self.apart, self.everybody = pl.col(f":apart_{side}"), pl.col(f":all_{side}")

    def __getitem__(self, name: str) -> pl.Expr:
        return pl.col(f":{name}_{self.side}") if self._has(name) else NO_NUMBER

    def computed(self, name: str) -> pl.Expr:
        """A column that an earlier stage added."""
        return self._number(f"{name}_{self.side}")

    def numbers(self) -> Columns:
        """The numbers that the table has."""
        names = [name for name in _READ if self._has(name)]
        return {f":{name}_{self.side}": self._number(f"{name}_{self.side}") for name in names}

    def samples(self) -> Columns:
        """True for independent samples; and how many observations an F test is about."""
        apart = pl.lit(None, pl.Boolean)
        if self._has("independent"):
            apart = pl.col(f"independent_{self.side}").cast(pl.Boolean)
        apart = in_groups(_says, apart)
        groups = self["n1"] + pl.when(apart.fill_null(value=True)).then(self["n2"])
        stated = pl.coalesce(self["n_total"], self["n"])
        of_f, guessed = n_of_f(stated, groups, self["df1"], self["df2"], _says)
        is_f = pl.col(KIND) == "f"
        everybody = pl.when(is_f).then(of_f).when(pl.col(KIND).is_in(IN_HALVES)).then(stated)
        guessed = (is_f & self["stat"].is_not_null() & guessed).fill_null(value=False)
        return {
            f":apart_{self.side}": apart,
            f":all_{self.side}": everybody,
            f"n_from_df_{self.side}": guessed,
        }

    def of_groups(self, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> Columns:
        """Working columns of the sizes of groups."""
        return {f":group1_{self.side}": n1, f":group2_{self.side}": n2, f":two_{self.side}": two}

    def cells(self) -> list[pl.Expr]:
        """Cells of a table of two by two."""
        return [self[cell] for cell in "abcd"]

    def trials(self) -> pl.Expr:
        """Number of trials of a binomial test."""
        return pl.coalesce(self["n"], self["n1"])

    def pairs(self) -> pl.Expr:
        """Number of pairs of a correlation."""
        return pl.coalesce(self["n"], self["n1"], self["n_total"])

    def by_kind(self, name: str, values: Mapping[str, pl.Expr]) -> Columns:
        """A column with the value of the kind of each test."""
        chosen = NO_NUMBER
        for kind, value in values.items():
            chosen = pl.when(pl.col(KIND) == kind).then(value).otherwise(chosen)
        return {f"{name}_{self.side}": chosen}

    def _has(self, name: str) -> bool:
        return f"{name}_{self.side}" in self._present


def _says(form: Form) -> pl.Expr:
    return (pl.col(_FORM) == form).fill_null(value=False)


def _groups(test: Statistics) -> Columns:
    """Sizes of groups, by default halves of all observations."""
    n1, n2 = test["n1"], test["n2"]
    unsized = n1.is_null() & n2.is_null() & test.apart.fill_null(value=True)
    half = pl.when(unsized).then(test.everybody / 2.0)
    two = has_groups(n2, test.apart) | half.is_not_null()
    return test.of_groups(pl.coalesce(n1, half), pl.coalesce(n2, half), two)


def _effect_size(test: Statistics) -> Columns:
    """The effect size in the unit of each test."""
    stat = test["stat"]
    of_t = partial(d_of_t, n1=test.groups[0], n2=test.groups[1], two=test.groups[2])
    t = t_of_f(stat, test["df1"], test["direction"])
    sizes = {
        **dict.fromkeys(("t", "welch", "z"), of_t(stat)),
        "coefficient": test["estimate"],
        "wald": of_t(pl.when(stat >= 0).then(t)),
        "f": of_t(t),
        "correlation": fisher_z(stat),
        "chi_square": log_odds(test.cells()),
        "rank": rank_biserial(stat, test["n1"], test["n2"]),
        "binomial": proportion(pl.coalesce(test["k"], stat), test.trials()),
    }
    return test.by_kind("effect_size", sizes)


def _std_error(test: Statistics) -> Columns:
    """The standard error of the effect size that the table has now."""
    effect, stat = test.computed("effect_size"), test["stat"]
    of_d = d_error(effect, *test.groups)
    errors = {
        **dict.fromkeys(("t", "welch", "z", "wald", "f"), of_d),
        "coefficient": pl.when(stat != 0).then((test["estimate"] / stat).abs()),
        "correlation": fisher_z_std_error(effect.tanh(), test.pairs()),
        "chi_square": log_odds_error(test.cells()),
        "rank": rank_biserial_std_error(effect, test["n1"], test["n2"]),
        "binomial": proportion_std_error(effect, test.trials()),
    }
    return test.by_kind("std_error", errors)


def _effect_d(test: Statistics) -> Columns:
    """The effect on the scale of d; for a coefficient that of its z."""
    error = test.computed("std_error")
    z = pl.coalesce(test["stat"], pl.when(error > 0).then(test["estimate"] / error))
    of_z = d_of_t(z, *test.groups)
    of_size = d_of_effect(pl.col(KIND), test.computed("effect_size"), test["p0"])
    d = pl.when(pl.col(KIND) == "coefficient").then(of_z).otherwise(of_size)
    return {f"effect_d_{test.side}": d}


def _n_eff(test: Statistics, stored: pl.Expr) -> pl.Expr:
    """The effective sample size of each test."""
    kind = pl.col(KIND)
    n2 = pl.when(test.apart.fill_null(value=True) | ~kind.is_in(MEANS)).then(test["n2"])
    of_table = pl.when(kind == "chi_square").then(test.pairs())
    total = pl.coalesce(test["n_total"], of_table, test.everybody)
    table = pl.sum_horizontal(test.cells(), ignore_nulls=False)
    return n_eff_of_kind(kind, Sizes(test["n1"], n2, test.trials(), table, total, stored))
