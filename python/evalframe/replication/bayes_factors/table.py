"""Bayes factors of a whole table of tests, each by its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from polars import selectors

from evalframe.core.contract import Column, Contract, validate
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.replication.bayes_factors.columns import known
from evalframe.replication.bayes_factors.factors import (
    CAUCHY,
    EFFECTS,
    STRETCHED_BETA,
    Factor,
)
from evalframe.replication.bayes_factors.kinds import KINDS, ROLES, arguments, n_from
from evalframe.replication.bayes_factors.possible import (
    possible_tables,
    possible_tests,
)
from evalframe.replication.effects.directions import agrees
from evalframe.replication.effects.finished import STATISTICS
from evalframe.replication.effects.kinds import form_of, kinds_of
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalframe.core.contract import Rule
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.replication.effects.types import Form


def with_bayes_factors(
    tests: Frame,
    side: str | Sequence[str] | None = SIDES,
    *,
    test_type: IntoExpr = "test_type",
    rules: Rules = "documented",
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

    Each is that of the function of its name. Welch's t is a t with degrees of freedom of its own; z
    is one with infinitely many, and so is a coefficient over its standard error, unless `df` is
    known; Wald's chi-square has the BIC of any chi-square. The last type is as expected where the
    direction is the human one and not 0: on the human side, and in a table without sides, wherever
    it is not 0.

    `known_test_types` lists all names of types. A name may say more than the type: `ttest_rel` and
    `one-sample t-test` do not look at n2, `ttest_ind` is never of pairs, and for `two-way anova`
    n_total must be given, as it does not follow from degrees of freedom. A test whose statistic or
    size is missing (null or NaN), or whose type is null, has none: null.

    Args:
        tests: One row per test; it is read once before, for its checks.
        side: `human`, `agent` or both; None for columns without an ending.
        test_type: String: what each test is.
        rules: `documented`, or `reference` for the original's numbers, which checks no row.
        scale: Of the Cauchy prior of t, z and U.
        f_scale: Of the prior of F.
        kappa: Width of the prior of a correlation.

    Returns:
        The table with `log_bayes_factor_human`, `bayes_factor_human` (Float64), `n_from_df_human`
        and so on, in place of columns of such names. The Bayes factor is infinite where it passes
        1.8e308; its logarithm is not. `n_from_df_human` (Boolean) is true where the size of an F
        test is not given, and df1 + df2 + 1 was taken, which holds for designs of one factor. Lazy.

    Raises:
        UnknownNameError: A test type is unknown; the message says what to write.
        ContractError: A test that is impossible: a correlation beyond 1, more successes than
            trials, negative cells, sizes or degrees of freedom too small; with rows. A column of
            the wrong type.
        MissingColumnsError: There are no test types, or no columns of a side.
        ParameterError: Unknown rules or sides, or a scale that is none.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import with_bayes_factors
        >>> tests = pl.DataFrame(
        ...     {
        ...         "test_type": ["t-test", "anova", "binomial"],
        ...         "stat": [2.0, 4.0, None],
        ...         "n1": [20, None, None],
        ...         "n2": [20, None, None],
        ...         "df1": [None, 1, None],
        ...         "df2": [None, 78, None],
        ...         "k": [None, None, 7],
        ...         "n": [None, None, 7],
        ...     }
        ... )
        >>> made = with_bayes_factors(tests, None).collect()
        >>> made["bayes_factor"].round(3).to_list()
        [1.454, 1.053, 16.0]
    """
    check_rules(rules)
    CAUCHY.check("scale", scale, rules)
    EFFECTS.check("f_scale", f_scale, rules)
    STRETCHED_BETA.check("kappa", kappa, rules)
    schema = tests.lazy().collect_schema()
    types = as_expr(test_type)
    if missing := columns_read([types]) - {*schema}:
        raise MissingColumnsError.of("with_bayes_factors", missing, schema)
    columns = {ending: _columns(ending, schema) for ending in _endings(side)}
    [dtype] = tests.lazy().select(types).collect_schema().dtypes()
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise ParameterError(f"with_bayes_factors: test_type must be text, but is {dtype}")
    own = _own_prefix(schema)
    typed = tests.lazy().with_columns(types.cast(pl.String).alias(f"{own}type"))
    names = typed.select(pl.col(f"{own}type").unique().sort()).collect().to_series()
    kinds = kinds_of(names, rules)
    present = {*kinds.values()}
    sides = [_Side.of(e, found, schema, present, own) for e, found in columns.items()]
    # What each kind takes stands in columns of its own, so that no expression grows large.
    kind = pl.col(f"{own}type").replace_strict(kinds, default=None, return_dtype=pl.String)
    forms = form_of(f"{own}type").alias(f"{own}form")
    taken = typed.with_columns(kind.alias(f"{own}kind"), forms).with_columns(
        expr.alias(name) for each in sides for name, expr in each.taken.items()
    )
    if rules == "documented" and kinds:
        _check(taken, sides, [*columns_read([types])])
    widths = {"f": f_scale, "correlation": kappa}
    return _finished(taken, sides, schema, rules, widths, scale)


def _own_prefix(schema: pl.Schema) -> str:
    """What begins the names of our own columns, and of none that the table has."""
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
    """The columns of a side, by role.

    Raises:
        MissingColumnsError: It has no statistic of any sort.
    """
    columns = {role: role + ending for role in ROLES if role + ending in schema}
    if not columns.keys() & {*STATISTICS}:
        raise MissingColumnsError.of("with_bayes_factors", [f"stat{ending}"], schema)
    return columns


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of a table.

    Args:
        ending: Of the names of its columns.
        columns: Those that there are, by role.
        taken: Expressions of what the kinds take, by the names of columns of our own.
        names: These names, by kind.
        kind: The column that has the kind of each test.
        guessed: The one that says whether the size of an F test is guessed.
    """

    ending: str
    columns: dict[str, str]
    taken: dict[str, pl.Expr]
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
        own: str,
    ) -> _Side:
        """A side of the table, for the kinds of tests that there are."""

        def says(form: Form) -> pl.Expr:
            return (pl.col(f"{own}form") == form).fill_null(value=False)

        is_f = pl.col(f"{own}kind") == "f"
        guessed = is_f & known(columns.get("stat")).is_not_null() & n_from(columns, says)[1]
        taken = {f"{own}guessed{ending}": guessed.fill_null(value=False)}
        names: dict[str, list[str]] = {}
        for kind, (first, *rest) in arguments(columns, _agrees(ending, schema), says).items():
            if kind in kinds:
                exprs = [pl.when(pl.col(f"{own}kind") == kind).then(first), *rest]
                named = {f"{own}{kind}:{place}{ending}": expr for place, expr in enumerate(exprs)}
                taken |= named
                names[kind] = [*named]
        return cls(ending, columns, taken, names, f"{own}kind", f"{own}guessed{ending}")

    def rules(self, types: Sequence[str]) -> Iterator[Rule]:
        """What is possible of each kind, as rules on rows; what is missing breaks none."""
        for kind, names in self.names.items():
            yield from possible_tests(kind, [*map(pl.col, names)], self.columns, types)
        if "chi_square" in self.names:
            is_table = pl.col(self.kind) == "chi_square"
            yield from possible_tables(is_table, self.columns, types)

    def factor(self, rules: Rules, widths: Mapping[str, float], scale: float) -> Factor:
        """The Bayes factor of each row by its kind."""
        made = [
            KINDS[kind].factor(names, rules, widths.get(kind, scale))
            for kind, names in self.names.items()
        ]
        none = pl.lit(None, pl.Float64)
        return Factor(pl.coalesce([none, *(f.expr for f in made)]), rules == "documented")

    def name(self, *, log: bool) -> str:
        """Of a column that is added."""
        return f"{'log_' * log}bayes_factor{self.ending}"


def _agrees(ending: str, schema: pl.Schema) -> pl.Expr:
    """Whether a side's direction is that of the humans, or is one if there are no sides."""
    own, expected = f"direction{ending}", "direction_human" if ending else "direction"
    present = own in schema and expected in schema
    return agrees(known(expected), known(own)) if present else pl.lit(None, pl.Boolean)


def _check(taken: pl.LazyFrame, sides: Sequence[_Side], types: Sequence[str]) -> None:
    """Raise where a test is impossible, with its row and the columns that say so."""
    columns = sorted({name for side in sides for name in side.columns.values()})
    numbers = tuple(
        Column(name, ("number", "boolean"), required=False, nullable=True, finite=False)
        for name in columns
    )
    rules = tuple(rule for side in sides for rule in side.rules(types))
    validate(taken, Contract("tests", numbers, rules=rules))


def _finished(
    taken: pl.LazyFrame,
    sides: Sequence[_Side],
    schema: pl.Schema,
    rules: Rules,
    widths: Mapping[str, float],
    scale: float,
) -> pl.LazyFrame:
    """The table with its new columns, and without what they were made from."""
    first, second = [], []
    for side in sides:
        factor = side.factor(rules, widths, scale)
        first.append(pl.col(side.guessed).alias(f"n_from_df{side.ending}"))
        log, plain = side.name(log=True), side.name(log=False)
        if factor.in_logs:
            first.append(factor.log(log))
            second.append(pl.col(log).exp().alias(plain))
        else:
            first.append(factor.plain(plain))
            second.append(pl.col(plain).log().alias(log))
    # The second is made from the finished first, so that no integral is computed twice.
    names = [side.name(log=log) for side in sides for log in (True, False)]
    names += [f"n_from_df{side.ending}" for side in sides]
    order = [name for name in schema if name not in names]
    # Unlike `pl.col`, this takes a name like `*` or `^x$` for a name.
    kept = selectors.by_name(*order, *names)
    return taken.with_columns(first).with_columns(second).select(kept)
