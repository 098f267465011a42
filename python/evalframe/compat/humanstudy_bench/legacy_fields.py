"""Legacy quantities of a table of tests, derived as HumanStudy-Bench does it, errors included.

Effects are derived in one block that ends at the first error: one on the human side (two groups
without the size of the second, a table whose odds have no logarithm) loses the agent's effect, too,
and one of a standard error the z-difference. Other errors end the complete derivation, so that a
test has none of its fields: a p-value of a report that is no number, and the repair of a posterior
of 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import polars as pl

from evalframe.compat.humanstudy_bench import reports
from evalframe.compat.humanstudy_bench.agreement import pas
from evalframe.compat.humanstudy_bench.effects import (
    KIND_NAMES,
    d_error,
    d_of_t,
    effect_d,
    effect_r,
    fisher_z,
    fisher_z_std_error,
    kind_of_test,
)
from evalframe.compat.humanstudy_bench.p_values import (
    direction,
    direction_match,
    kind_of_effect,
    p_value,
    repaired_posterior,
)
from evalframe.compat.humanstudy_bench.strict import consistency, z_difference
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame
from evalframe.replication.effects.kinds import check_types
from evalframe.replication.effects.table import checked_tests
from evalframe.replication.effects.types import SIDES, Side
from evalframe.replication.numbers import check_numbers, finite, number_if_present, raw_number
from evalframe.replication.rates import level_of

_NUMBERS = (
    *(f"{name}_{side}" for name in ("p_value", "pi", "p0", "df") for side in SIDES),
    *("significance_level", "pas"),
)
_EXPECTED = "positive"
"""The expected direction of a test by default."""
_MARKED = 0.01
"""P-value of a human result without one that is marked as significant."""
_CHANGED = 1e-6
"""Least change of a posterior that counts as a repair."""
_KIND, _STOPS = ":kind", ":stops"
_CELLS = ("a", "b", "c", "d")


@like_input
def replication_fields(tests: Frame) -> pl.LazyFrame:
    """Tests with p-values, directions, significance, effects, z-differences and consistencies.

    Names and words are compared case-sensitively. A missing expected direction means positive.
    `report_human` is read for p-values and sizes, not for the statistic (`stat_human` alone).
    Missing human p-values are guessed from it; agents' p-values are as in the table. Tests have two
    groups unless `independent_human` or `independent_agent` is false. Rank-biserial correlations
    have a standard error of 1 / sqrt(n - 3) and come from z on the human side; r equivalents are of
    effects in the table. An error on one side loses what is derived after it. Human posteriors that
    contradict the p-value are repaired with their `pas`, see `repaired_posterior`. Derived values
    replace those of the table.

    Args:
        tests: One row per test, with `test_type`, and of each side any of the columns that
            `with_effect_sizes` and `p_value` read (`stat_human`, `n1_agent`, ...), `p_value_human`,
            `p_value_agent`; and of `report_human` (String, as `t(79) = 2.66, p < .05`),
            `expected_direction` (String: positive or negative), `significance_level` (0.05 by
            default), `pi_human` and `pi_agent`. Missing columns count as null.

    Returns:
        The tests, in their order, with `p_value_human`, `p_value_agent`, `is_significant_human`,
        `is_significant_agent`, `direction_human`, `direction_agent`, `direction_match`,
        `effect_size_human`, `std_error_human`, `effect_d_human`, `effect_r_human`, the same of
        `agent`, `n_eff`, `z_difference` and `replication_consistency`. Unknown is not significant,
        and a consistency of 0; all is null if the original stops with an error, as at `p = .05.`.
        Lazy if `tests` is.

    Raises:
        UnknownNameError: A test type is unknown; the message suggests another.
        ContractError: A column of statistics or directions is not numeric.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import replication_fields
        >>> report = {"test_type": ["t-test"], "report_human": ["t(79) = 2.66, p = .01"]}
        >>> fields = replication_fields(pl.DataFrame({**report, "stat_agent": [2.66]}))
        >>> fields.select("p_value_human", "direction_match", "replication_consistency").row(0)
        (0.01, True, 0.0)
    """
    check = partial(check_types, names=KIND_NAMES)
    lazy, back = checked_tests("replication_fields", tests, check)
    check_numbers(lazy.collect_schema(), _NUMBERS)
    table = _Columns(lazy.collect_schema().names())
    for columns in (
        _numbers(table),
        _sizes(table),
        _p_value(table),
        [*_significance(table), *_directions(table), *_effects()],
        [_stops(table), *(_std_error(side).alias(f":error_{side}") for side in SIDES)],
    ):
        lazy = lazy.with_columns(columns)
    derived = {name: pl.when(~pl.col(_STOPS)).then(f) for name, f in _fields(table).items()}
    fields = derived | {"p_value_agent": pl.col(":p_agent")} | _repairs(table)
    return lazy.with_columns(**fields).select(pl.exclude("^:.*$")).rename(back)


class _Columns:
    """The columns that a table of tests can have, null if it lacks them."""

    def __init__(self, present: Collection[str]) -> None:
        self.present = present

    def number(self, name: str) -> pl.Expr:
        return number_if_present(name, self.present)

    def text(self, name: str) -> pl.Expr:
        return (pl.col(name) if name in self.present else pl.lit(None)).cast(pl.String)

    def flag(self, name: str) -> pl.Expr:
        return (pl.col(name) if name in self.present else pl.lit(None)).cast(pl.Boolean)

    def expected(self) -> pl.Expr:
        return self.text("expected_direction").fill_null(_EXPECTED)

    def level(self) -> pl.Expr:
        return level_of(self.number("significance_level"))


def _of(side: Side, *names: str) -> list[pl.Expr]:
    return [pl.col(f":{name}_{side}") for name in names]


def _numbers(table: _Columns) -> list[pl.Expr]:
    """Kinds and numbers; human statistics, which are text in the original, are finite."""
    kind = kind_of_effect("test_type")
    trials = kind.is_in(["correlation", "binomial"])
    columns = [kind.alias(_KIND)]
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        stat = table.number(f"stat_{side}")
        if side == "human":
            stat = pl.when(stat.is_finite()).then(stat)
        n = pl.when(trials).then(table.number(f"n_{side}"))
        n1 = pl.coalesce(n, table.number(f"n1_{side}"))
        two = [table.flag(f"independent_{each}") for each in (side, other)]
        columns += [
            stat.alias(f":stat_{side}"),
            n1.alias(f":n1_{side}"),
            n1.floor().alias(f":trials_{side}"),
            pl.coalesce(*two, pl.lit(True)).alias(f":two_{side}"),
            *(
                table.number(f"{name}_{side}").alias(f":{name}_{side}")
                for name in ("n2", "k", "p0", *_CELLS)
            ),
        ]
    return columns


def _sizes(table: _Columns) -> list[pl.Expr]:
    """Human sizes, from the report if that of the first group is missing."""
    n1, n2, k, two = _of("human", "n1", "n2", "k", "two")
    report, kind = table.text("report_human"), pl.col(_KIND)
    stated = reports.sizes_of(report, two, kind == "f")
    trials = pl.when((kind == "binomial") & k.is_not_null()).then(reports.trials_of(report))
    return [
        pl.coalesce(n1, stated["n1"], trials).alias(":n1_human"),
        pl.when(n1.is_null()).then(pl.coalesce(stated["n2"], n2)).otherwise(n2).alias(":n2_human"),
    ]


def _p_value(table: _Columns) -> list[pl.Expr]:
    """The human p-value from numbers, and what the report says of it."""
    stat, n1, n2, k, p0 = _of("human", "stat", "n1", "n2", "k", "p0")
    computed = p_value("test_type", stat, n1, n2, k=k, p0=p0, alternative=table.expected())
    stated = reports.p_value_of(table.text("report_human"), table.level())
    return [
        computed.alias(":computed"),
        *(value.alias(f":said_{name}") for name, value in stated._asdict().items()),
    ]


def _significance(table: _Columns) -> list[pl.Expr]:
    """P-values, significance, and true if the human one is more than a guess."""
    computed, stated = pl.col(":computed"), pl.col(":said_p_value")
    agent = table.number("p_value_agent")
    is_computed, is_stated = computed.is_not_null(), stated.is_not_null()
    marked = table.flag("is_significant_human").fill_null(value=False)
    return [
        pl.coalesce(computed, stated, pl.when(marked).then(_MARKED)).alias(":p_human"),
        agent.alias(":p_agent"),
        pl.when(is_computed)
        .then(computed < table.level())
        .when(is_stated)
        .then(pl.col(":said_is_significant"))
        .otherwise(marked)
        .alias(":significant_human"),
        (agent < table.level()).fill_null(value=False).alias(":significant_agent"),
        (is_computed | (is_stated & (pl.col(":said_confidence") != "low"))).alias(":sure"),
    ]


def _directions(table: _Columns) -> list[pl.Expr]:
    """Directions; of the human side F is the root of its square and never negative."""
    columns = []
    for side in SIDES:
        stat, *cells = _of(side, "stat", *_CELLS)
        if side == "human":
            stat = pl.when(pl.col(_KIND) == "f").then(stat.abs()).otherwise(stat)
        sign = direction("test_type", stat, expected=table.expected(), cells=cells)
        columns.append(sign.alias(f":direction_{side}"))
    return columns


def _effects() -> list[pl.Expr]:
    """Effects of both sides; the agent's is null if the human side stops."""
    kind = pl.col(_KIND)
    human, agent = (_effect(side) for side in SIDES)
    stat, n1, n2, two, *cells = _of("human", "stat", "n1", "n2", "two", *_CELLS)
    ungrouped = kind.is_in(["t", "f"]) & stat.is_not_null() & n1.is_not_null() & n2.is_null() & two
    no_odds = (kind == "chi_square") & (_odds(cells) > 0).not_()
    stopped = ungrouped.fill_null(value=False) | no_odds.fill_null(value=False)
    return [human.alias(":effect_human"), pl.when(~stopped).then(agent).alias(":effect_agent")]


def _effect(side: Side) -> pl.Expr:
    stat, n1, n2, two, *cells = _of(side, "stat", "n1", "n2", "two", *_CELLS)
    # Sizes of the report count for p-values, and not for shares.
    hits, trials = _of(side, "k", "trials")
    hits = hits.floor()
    kind, odds = pl.col(_KIND), _odds(cells)
    if side == "human":
        # Its statistic is taken for z.
        total = n1 + n2.fill_null(0.0)
        ranks = pl.when(total > 0).then((stat / total.sqrt()).clip(-1.0, 1.0))
    else:
        ranks = pl.when((n1 > 0) & (n2 > 0)).then(2.0 * stat / (n1 * n2) - 1.0)
    t = pl.when(kind == "f").then(stat.abs().sqrt()).otherwise(stat)
    d = pl.when(n1.is_not_null()).then(d_of_t(t, n1, n2, two))
    return (
        pl.when(kind.is_in(["t", "f"]))
        .then(pl.when(~two | n2.is_not_null()).then(d))
        .when(kind == "correlation")
        .then(fisher_z(stat))
        .when(kind == "chi_square")
        .then(pl.when(odds > 0).then(odds.log()))
        .when(kind == "rank")
        .then(ranks)
        .when((kind == "binomial") & (hits >= 0) & (trials > 0))
        .then(hits / trials)
    )


def _odds(cells: Sequence[pl.Expr]) -> pl.Expr:
    a, b, c, d = _corrected(cells)
    return a * d / (b * c)


def _corrected(cells: Sequence[pl.Expr]) -> list[pl.Expr]:
    shift = pl.when(pl.any_horizontal(cell == 0 for cell in cells)).then(0.5).otherwise(0.0)
    return [cell + shift for cell in cells]


def _stops(table: _Columns) -> pl.Expr:
    """True if the derivation stops: at a report, or at the odds of 1."""
    unrepairable = (table.number("pi_human") == 1.0) & ~pl.col(":significant_human")
    stops = pl.col(":said_stops") & pl.col(":computed").is_null()
    return (stops | (unrepairable & pl.col(":sure")).fill_null(value=False)).alias(_STOPS)


def _std_error(side: Side) -> pl.Expr:
    """The standard error of an effect."""
    stat, n1, n2, trials, two = _of(side, "stat", "n1", "n2", "trials", "two")
    effect, *cells = _of(side, "effect", *_CELLS)
    kind = pl.col(_KIND)
    total = n1 + n2.fill_null(0.0)
    of_table = pl.sum_horizontal(1.0 / cell for cell in _corrected(cells))
    of_share = pl.when(kind == "binomial").then(effect * (1.0 - effect) / trials)
    variance = pl.when(kind == "chi_square").then(of_table).otherwise(of_share)
    error = (
        pl.when(kind.is_in(["t", "f"]))
        .then(d_error(effect, n1, n2, two))
        .when((kind == "correlation") & n1.is_not_null())
        .then(fisher_z_std_error(stat, n1))
        .when(kind == "rank")
        .then((total - 3.0).clip(1.0).pow(-0.5))
        .when(variance >= 0)
        .then(variance.sqrt())
    )
    return pl.when(effect.is_not_null()).then(error)


def _fields(table: _Columns) -> dict[str, pl.Expr]:
    """The fields by their names."""
    z = z_difference(*(each for side in SIDES for each in _of(side, "effect", "error")))
    names = ("p_value", "p"), ("is_significant", "significant"), ("direction", "direction")
    fields = {
        f"{name}_{side}": pl.col(f":{source}_{side}") for name, source in names for side in SIDES
    }
    fields["direction_match"] = direction_match(":direction_human", ":direction_agent")
    for side in SIDES:
        fields |= _effect_fields(table, side)
    return fields | {
        "n_eff": _n_eff(),
        "z_difference": finite(z).fill_null(table.number("z_difference")),
        "replication_consistency": consistency(z),
    }


def _effect_fields(table: _Columns, side: Side) -> dict[str, pl.Expr]:
    """Effects of a side, by default those of the table; r is of the table's alone."""
    effect, error = _of(side, "effect", "error")
    size, d = (table.number(f"{name}_{side}") for name in ("effect_size", "effect_d"))
    earlier = pl.coalesce(pl.when(size != 0).then(size), d)
    return {
        f"effect_size_{side}": finite(effect).fill_null(size),
        f"std_error_{side}": error.fill_null(table.number(f"std_error_{side}")),
        f"effect_d_{side}": effect_d("test_type", effect).fill_null(d),
        f"effect_r_{side}": effect_r("test_type", earlier),
    }


def _n_eff() -> pl.Expr:
    """The agent's size in whole subjects, 1 where it is not known."""
    n1, n2, two, *cells = _of("agent", "n1", "n2", "two", *_CELLS)
    kind = kind_of_test("test_type")
    size = (
        pl.when(kind.is_in(["t", "f"]))
        .then(n1 + pl.when(two).then(n2).fill_null(0.0))
        .when(kind.is_in(["correlation", "binomial"]))
        .then(n1)
        .when(kind == "chi_square")
        .then(pl.sum_horizontal(cells, ignore_nulls=False))
        .when(kind == "rank")
        .then(n1 + n2)
        .floor()
    )
    known = pl.col(_KIND).is_not_null() & (size > 0)
    return pl.when(known).then(size).otherwise(1.0)


def _repairs(table: _Columns) -> dict[str, pl.Expr]:
    """Human posteriors that contradict their p-values, repaired, and the PAS of those that were."""
    if "pi_human" not in table.present:
        return {}
    before = table.number("pi_human")
    after = repaired_posterior(before, pl.col(":significant_human"))
    repaired = pl.col(":sure") & ((after - before.fill_null(0.5)).abs() > _CHANGED)
    agent = raw_number("pi_agent" if "pi_agent" in table.present else None)
    # A posterior of 0 counts as missing.
    share = pas(after, pl.when(agent != 0.0).then(agent).fill_null(0.5))
    columns = {
        "pi_human": pl.when(repaired).then(after).otherwise(before),
        "pas": pl.when(repaired).then(share).otherwise(table.number("pas")),
    }
    if "score" in table.present:
        score = table.number("score")
        columns["score"] = pl.when(repaired & score.is_not_null()).then(share).otherwise(score)
    return columns
