"""PAS of findings, of studies and of models, as metrics over the rows of the level below.

As expressions of a group-by they are the scores of a table; over units, by `per`, those of the
levels above; and from their states come replicates. They are not registered: unlike `pooled_pas`,
a finding of one test has its PAS, and a study without data may have that of chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from evalframe.core.metric import Metric, MetricExpr
from evalframe.core.state import State, Totals, ratio
from evalframe.replication.agreement.posteriors import CHANCE, pas_of_z
from evalframe.replication.agreement.scored_tests import VALUE, WEIGHT, Rows

PAS, Z, RATIO_Z, N_EFF = ":pas", ":z", ":ratio_z", ":n_eff"
"""Of a test: PAS, null if it is not included; z of that, and of `pas_ratio`; its size."""

_BY_CHANCE = {"pas": CHANCE, "pas_normalised": 0.0, "z_pas": 0.0}
_RANGES = {"pas": (0.0, 1.0), "pas_normalised": (-1.0, 1.0)}
_ANY = (float("-inf"), float("inf"))


def of_tests(tests: Rows, z_of: Callable[[pl.Expr], pl.Expr]) -> dict[str, MetricExpr]:
    """Scores of a finding: PAS, normalised PAS, and the z of PAS, by `z_of` if none is pooled."""
    rule = tests.rule
    mass = pl.col(N_EFF) if rule.weight == "n_eff" else _mass(tests, rule.weight)

    def share(t: Totals) -> pl.Expr:
        if not rule.fisher:
            return ratio(t.mass_pas, t.mass)
        # A test of weight 2 is two tests: weights repeat rows.
        alone = (t.tests == 1.0) & (t.times <= 1.0)
        return pl.when(alone).then(ratio(t.times_pas, t.times)).otherwise(pas_of_z(_mean_z(t)))

    def z_pas(t: Totals) -> pl.Expr:
        return _mean_z(t) if rule.fisher else z_of(share(t))

    roles = {"pas": pl.col(PAS), "z": pl.col(Z), "mass": mass}
    scores = {"pas": _metric(tests, "pas", roles, share)}
    if RATIO_Z in tests.columns:
        ratios = {"z": pl.col(RATIO_Z), "mass": pl.col(N_EFF)}
        scores["pas_normalised"] = _metric(
            tests, "pas_normalised", ratios, lambda t: _mean_z(t).tanh()
        )
    return scores | {"z_pas": _metric(tests, "z_pas", roles, z_pas)}


def of_rows(rows: Rows) -> dict[str, MetricExpr]:
    """Scores of a study of findings, or of a group of studies: PAS and normalised PAS."""
    rule = rows.rule

    def mean(t: Totals) -> pl.Expr:
        return ratio(t.mass_value, t.mass)

    def share(t: Totals) -> pl.Expr:
        return pas_of_z(mean(t)) if rule.fisher else mean(t)

    roles = {"value": pl.col(VALUE), "mass": _mass(rows, rule.weight)}
    scores = {"pas": _metric(rows, "pas", roles, share)}
    if "pas_normalised" in rows.columns:
        plain = {"value": pl.col("pas_normalised"), "mass": None}
        scores["pas_normalised"] = _metric(rows, "pas_normalised", plain, mean)
    return scores


def _mean_z(t: Totals) -> pl.Expr:
    """Mean of z by mass, or by times if nothing has mass."""
    by_times = ratio(t.times_z, t.times)
    return pl.when(t.mass > 0.0).then(t.mass_z / t.mass).otherwise(by_times)


def _mass(rows: Rows, weight: str | None) -> pl.Expr | None:
    """The weight of a row by a rule, 1 if it is missing; None if all have 1."""
    if weight is None or weight not in rows.columns:
        return None
    return pl.col(weight).fill_nan(None).fill_null(1.0)


def _metric(
    rows: Rows,
    name: str,
    roles: Mapping[str, pl.Expr | None],
    finish: Callable[[Totals], pl.Expr],
) -> MetricExpr:
    """A finish over sums of values by times and by mass; rows without the first do not count."""
    empty = _BY_CHANCE[name] if rows.by_chance else None

    def filled(t: Totals) -> pl.Expr:
        return finish(t) if empty is None else finish(t).fill_null(empty)

    def define(*, weight: pl.Expr, mass: pl.Expr | None, **values: pl.Expr) -> State:
        # A mass may be any number: what is impossible is decided before, and counts as missing.
        by_mass = weight if mass is None else weight * mass
        sums = {"tests": (weight > 0.0).cast(pl.Float64), "times": weight, "mass": by_mass}
        for value, expr in values.items():
            sums |= {f"times_{value}": weight * expr, f"mass_{value}": by_mass * expr}
        read = filled(Totals({sum_: pl.col(sum_) for sum_ in sums})).meta.root_names()
        first, *_ = values.values()
        kept = {sum_: sums[sum_] for sum_ in read}
        return State(sums=kept, finish=filled, valid=first.is_not_null())

    metric = Metric(
        name=name,
        define=define,
        direction="maximize",
        range=_RANGES.get(name, _ANY),
        roles=dict.fromkeys(roles),
        labels=frozenset(),
        params={},
        family="replication",
    )
    return metric.bind(named_roles=roles, weight=pl.col(WEIGHT))
