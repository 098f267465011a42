"""Bayes factors of a table of tests, each by its type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from polars import selectors

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.bayes_factors.kinds import (
    CAUCHY,
    EFFECTS,
    KINDS,
    ROLES,
    STRETCHED_BETA,
    arguments,
    n_from,
    possible_tables,
    possible_tests,
)
from evalframe.replication.effects.by_kind import agrees
from evalframe.replication.effects.kinds import KIND_NAMES, STATISTICS, form_of, kinds_of
from evalframe.replication.effects.types import SIDES, Form
from evalframe.replication.numbers import NO_NUMBER, number


@like_input
def with_bayes_factors(
    tests: Frame,
    side: str | Sequence[str] | None = SIDES,
    *,
    test_type: IntoExpr = "test_type",
    scale: float = CAUCHY.usual,
    f_scale: float = EFFECTS.usual,
    kappa: float = STRETCHED_BETA.usual,
) -> pl.LazyFrame:
    """Add `log_bayes_factor` and `bayes_factor` of each test, by its type, for one or both sides.

    The columns of a side end in its name: `stat_human`, `n1_human`, `n2_human`, `df1_human`,
    `df2_human`, `df_human`, `n_total_human`, `k_human`, `n_human`, `p0_human`, `a_human` to
    `d_human`, `independent_human`, `p_value_human`, `direction_human`, `estimate_human`,
    `std_error_human`. A table has those that its tests need.

    | type | takes | where missing |
    |---|---|---|
    | t-test | stat, n1, n2, independent | n2: pairs or one sample, unless independent |
    | welch | stat, n1, n2, df | |
    | z | stat, n1, n2, independent | as t-test; n1 and n2: halves of n_total, then of n |
    | coefficient | estimate, std_error, n1, n2, df | stat for both; n1, n2 as z; df: infinite |
    | wald (chi-square) | stat, df1, n_total | df1: df, 1; n_total: n, n1 + n2, n1 |
    | anova, F | stat, df1, df2, n_total | n_total: n, n1 + n2 if df1 is 1, df1 + df2 + 1 |
    | correlation | stat, n | n: n_total, then n1 |
    | chi-square | stat, df1, n | stat: Yates' of a to d; df1: df, 1; n: n_total, n1, all a to d |
    | mannwhitneyu | stat, n1, n2 | |
    | binomial, sign test | k, n, p0 | k: stat; n: n_total, then n1; p0: 0.5 |
    | variance-ratio | stat, df1, df2 | |
    | p-value | p_value | stat |
    | directional_p_value | p_value, direction | as p-value |

    Each is that of the function of its name. Welch's t is a t with its own degrees of freedom; z is
    one with infinitely many, and so is a coefficient over its standard error, unless `df` is known;
    Wald's chi-square has the BIC of any chi-square. A directional p-value is as expected if the
    direction is the human one and not 0: on the human side, and in a table without sides, whenever
    it is not 0.

    `known_test_types` lists all names of types. A name can say more than the type: `ttest_rel` and
    `one-sample t-test` ignore n2, `ttest_ind` is never of pairs, and `two-way anova` requires
    n_total, as it does not follow from degrees of freedom. A test whose statistic, size or type is
    missing (null or NaN) gets null.

    Args:
        tests: One row per test. It is read once before, for its checks.
        side: `human`, `agent` or both; None for columns without an ending.
        test_type: String column: the type of each test.
        scale: Scale of the Cauchy prior of t, z and U.
        f_scale: Scale of the prior of F.
        kappa: Width of the prior of a correlation.

    Returns:
        The table with `log_bayes_factor_human`, `bayes_factor_human` (Float64), `n_from_df_human`
        and so on, which replace columns of such names. The Bayes factor overflows to infinity above
        1.8e308; its logarithm does not. `n_from_df_human` (Boolean) is true if the size of an F
        test is missing and df1 + df2 + 1 was used, which is right for one factor. Lazy if `tests`
        is.

    Raises:
        UnknownNameError: A test type is unknown; the message suggests another.
        ContractError: A test is impossible: a correlation beyond 1, more successes than trials,
            negative cells, sizes or degrees of freedom too small; with rows.
        ParameterError: Unknown sides, or a scale out of range.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"test_type": ["t-test", "anova"], "stat": [2.0, 4.0]})
        >>> tests = tests.with_columns(n1=20, n2=20, df1=1, df2=78, n_total=80)
        >>> ef.replication.with_bayes_factors(tests, None)["bayes_factor"].round(3).to_list()
        [1.454, 1.053]
    """
    CAUCHY.check("scale", scale)
    EFFECTS.check("f_scale", f_scale)
    STRETCHED_BETA.check("kappa", kappa)
    table = Table.of(tests, side, test_type, KIND_NAMES)
    table.check()
    widths = {"f": f_scale, "correlation": kappa}

    def log_factor(kind: str, roles: Sequence[str]) -> pl.Expr:
        return KINDS[kind].log_factor(roles, widths.get(kind, scale))

    return table.with_factors(log_factor, "log_bayes_factor", "bayes_factor", pl.Expr.exp)


class Table:
    """Tests whose sides have the arguments of their Bayes factors in working columns."""

    def __init__(
        self, tests: pl.LazyFrame, sides: Sequence[_Side], schema: pl.Schema, types: list[str]
    ) -> None:
        self._tests, self._sides, self._schema, self._types = tests, sides, schema, types

    @classmethod
    def of(
        cls,
        tests: Frame,
        side: str | Sequence[str] | None,
        test_type: IntoExpr,
        names: Mapping[str, str],
    ) -> Table:
        """Read the arguments of tests; `names` has their kinds by the names of their types."""
        schema = tests.lazy().collect_schema()
        types = as_expr(test_type)
        read = [*columns_read([types])]
        if missing := {*read} - {*schema}:
            raise MissingColumnsError.of("with_bayes_factors", missing, schema)
        columns = {ending: _columns(ending, schema) for ending in _endings(side)}
        [dtype] = tests.lazy().select(types).collect_schema().dtypes()
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise ParameterError(f"with_bayes_factors: test_type must be text, but is {dtype}")
        prefix = _free_prefix(schema)
        typed = tests.lazy().with_columns(types.cast(pl.String).alias(f"{prefix}type"))
        unique = typed.select(pl.col(f"{prefix}type").unique().sort()).collect().to_series()
        kinds = kinds_of(unique, names)
        present = {*kinds.values()}
        sides = [_Side.of(e, by_role, schema, present, prefix) for e, by_role in columns.items()]
        kind = pl.col(f"{prefix}type").replace_strict(kinds, default=None, return_dtype=pl.String)
        forms = form_of(f"{prefix}type").alias(f"{prefix}form")
        # Arguments go into columns, so that no expression grows large.
        with_arguments = typed.with_columns(kind.alias(f"{prefix}kind"), forms).with_columns(
            expr.alias(name) for each in sides for name, expr in each.arguments.items()
        )
        return cls(with_arguments, sides, schema, read)

    def check(self) -> None:
        """Raise ContractError if a test is impossible, with its row and its columns."""
        if not any(side.names for side in self._sides):
            return
        columns = sorted({name for side in self._sides for name in side.columns.values()})
        numbers = tuple(
            Column(name, ("number", "boolean"), required=False, nullable=True, finite=False)
            for name in columns
        )
        rules = tuple(rule for side in self._sides for rule in side.rules(self._types))
        validate(self._tests, Contract("tests", numbers, rules=rules))

    def with_factors(
        self,
        factor: Callable[[str, Sequence[str]], pl.Expr],
        name: str,
        other: str,
        to_other: Callable[[pl.Expr], pl.Expr],
    ) -> pl.LazyFrame:
        """The tests with a factor of their kind and arguments, and its other scale."""
        first, second = [], []
        names: list[str] = []
        for side in self._sides:
            factors = [factor(kind, roles) for kind, roles in side.names.items()]
            first.append(pl.col(side.guessed).alias(f"n_from_df{side.ending}"))
            first.append(pl.coalesce(NO_NUMBER, *factors).alias(f"{name}{side.ending}"))
            # Made from the finished first, so that no integral is computed twice.
            second.append(to_other(pl.col(f"{name}{side.ending}")).alias(f"{other}{side.ending}"))
            names += [f"{each}bayes_factor{side.ending}" for each in ("log_", "")]
        names += [f"n_from_df{side.ending}" for side in self._sides]
        order = [column for column in self._schema if column not in names]
        # Unlike `pl.col`, this takes a name like `*` or `^x$` for a name.
        selected = selectors.by_name(*order, *names)
        return self._tests.with_columns(first).with_columns(second).select(selected)


def _free_prefix(schema: pl.Schema) -> str:
    """A prefix of working columns that no column of the table has."""
    prefix = ":"
    while any(name.startswith(prefix) for name in schema):
        prefix += ":"
    return prefix


def _endings(side: str | Sequence[str] | None) -> list[str]:
    sides = [side] if isinstance(side, str) or side is None else list(side)
    if not sides or any(name is not None and name not in SIDES for name in sides):
        raise ParameterError(f"side must be 'human', 'agent', both or None, got {side!r}")
    return list(dict.fromkeys("" if name is None else f"_{name}" for name in sides))


def _columns(ending: str, schema: pl.Schema) -> dict[str, str]:
    """The columns of a side, by role; MissingColumnsError if it has no statistic."""
    columns = {role: role + ending for role in ROLES if role + ending in schema}
    if not columns.keys() & {*STATISTICS}:
        raise MissingColumnsError.of("with_bayes_factors", [f"stat{ending}"], schema)
    return columns


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of a table: its columns by role, and expressions of arguments by working columns.

    `names` has the working columns of each kind; `kind` is the working column of the kind of each
    test, and `guessed` the one that is true if the size of an F test is guessed.
    """

    ending: str
    columns: dict[str, str]
    arguments: dict[str, pl.Expr]
    names: dict[str, list[str]]
    kind: str
    guessed: str

    @classmethod
    def of(
        cls,
        ending: str,
        columns: dict[str, str],
        schema: pl.Schema,
        kinds: Collection[str],
        prefix: str,
    ) -> _Side:
        """A side of a table with tests of these kinds."""

        def says(form: Form) -> pl.Expr:
            return (pl.col(f"{prefix}form") == form).fill_null(value=False)

        is_f = pl.col(f"{prefix}kind") == "f"
        guessed = is_f & number(columns.get("stat")).is_not_null() & n_from(columns, says)[1]
        exprs = {f"{prefix}guessed{ending}": guessed.fill_null(value=False)}
        names: dict[str, list[str]] = {}
        for kind, (first, *rest) in arguments(columns, _agrees(ending, schema), says).items():
            if kind in kinds:
                roles = [pl.when(pl.col(f"{prefix}kind") == kind).then(first), *rest]
                of_kind = {f"{prefix}{kind}:{i}{ending}": role for i, role in enumerate(roles)}
                exprs |= of_kind
                names[kind] = [*of_kind]
        return cls(ending, columns, exprs, names, f"{prefix}kind", f"{prefix}guessed{ending}")

    def rules(self, types: Sequence[str]) -> Iterator[Rule]:
        """Conditions on each kind, as rules on rows; missing values break none."""
        for kind, names in self.names.items():
            yield from possible_tests(kind, [*map(pl.col, names)], self.columns, types)
        if "chi_square" in self.names:
            is_table = pl.col(self.kind) == "chi_square"
            yield from possible_tables(is_table, self.columns, types)


def _agrees(ending: str, schema: pl.Schema) -> pl.Expr:
    """True if a side has the human direction, or a direction if there are no sides."""
    side, expected = f"direction{ending}", "direction_human" if ending else "direction"
    if side not in schema or expected not in schema:
        return pl.lit(None, pl.Boolean)
    return agrees(number(expected), number(side))
