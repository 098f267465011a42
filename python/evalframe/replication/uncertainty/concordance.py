"""ECS under a bootstrap of studies or of findings within studies.

Concordance is a function of sums of squares and products, taken here about the means of all tests;
those of a replicate are the draws times the sums of each cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.ecs import LEAST, MASS, X, Y, ecs_of
from evalframe.replication.agreement.pairs import agreement_values
from evalframe.replication.participants.strata import SLOT
from evalframe.replication.uncertainty.sampling import cluster_drawn, sample_of
from evalframe.replication.uncertainty.scores import with_entries
from evalframe.replication.uncertainty.spreads import (
    ENTRY,
    drawn_scores,
    matrix,
    numbers,
    owners,
    spreads,
    varying,
    with_spreads,
)

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.replication.agreement.ecs import EcsLevel, EcsRows
    from evalframe.resample.methods import Bootstrap

VALUES = ("ecs", "pearson", "slope", "intercept")

_SUMS = ("tests", "mass", "x", "y", "xx", "yy", "xy", "gap", "gap_squares")
_CENTRES = ("centre_x", "centre_y")
_NOISE = 2.0**-40
"""Times a sum of squares about another centre, what rounding leaves of a central one of 0."""


def with_ecs_spreads(
    method: Bootstrap, rows: EcsRows, level: EcsLevel, rules: Rules
) -> pl.LazyFrame:
    """The ECS of groups with its uncertainty, under internal names of the keys.

    Raises:
        ParameterError: It is no bootstrap of studies or findings, the level lies within what is
            drawn, or there are no two clusters to draw.
    """
    cluster = cluster_drawn("ecs", method)
    if level == "finding" or (level == "study" and cluster == "study_id"):
        other = "" if level == "finding" else "; draw findings, cluster='finding_id'"
        raise ParameterError(
            f"ecs: the ECS of a {level} is of a single cluster of {cluster!r}, so that nothing "
            f"varies{other}"
        )
    rows = replace(rows, frame=rows.frame.collect().lazy())
    table = ecs_of(rows, level, rules).collect()
    tests = with_entries(tests_of_studies(rows), table, rows.group)
    within = "domain" if level == "domain" else None
    sample = sample_of(method, tests, cluster, rows.finding[1:], within)
    cells = ecs_cells(sample.rows)
    estimator = Concordance.of(cells, len(table), sample.slots, rules)
    counted = cells.filter(pl.col("tests") > 0)
    count, varied = varying(counted, sample.sizes, SLOT, len(table))
    owned = None
    if method.interval == "bca":
        entry, slot = (cells[name].to_numpy() for name in (ENTRY, SLOT))
        owned = owners(entry, slot, len(table), sample.slots)
    points = {name: numbers(table[name]) for name in VALUES}
    drawn = drawn_scores(method, sample, estimator)
    spread = spreads(method, sample, estimator, drawn, points, varied, owned)
    return with_spreads(table, spread, count).lazy()


def tests_of_studies(rows: EcsRows) -> pl.DataFrame:
    """The tests that belong to a study; others have no weight."""
    return rows.frame.filter(pl.col("study_id").is_not_null()).collect()


def ecs_cells(tests: pl.DataFrame) -> pl.DataFrame:
    """Sums of tests by `:entry` and `:slot`, about the means of the entry, with its study."""
    x, y, w = pl.col(X), pl.col(Y), pl.col(MASS)
    valid = pl.all_horizontal(x.is_finite(), y.is_finite(), w.is_finite(), w > 0)
    usable = pl.when(valid.fill_null(value=False))
    masked = tests.lazy().with_columns(
        usable.then(x).alias(X), usable.then(y).alias(Y), usable.then(w).alias(MASS)
    )
    mass = w.sum().over(ENTRY)
    centred = masked.with_columns(
        ((w * x).sum().over(ENTRY) / mass).alias("centre_x"),
        ((w * y).sum().over(ENTRY) / mass).alias("centre_y"),
    )
    from_x, from_y, gap = x - pl.col("centre_x"), y - pl.col("centre_y"), y - x
    sums = {
        "tests": x.is_not_null(),
        "mass": w,
        "x": w * from_x,
        "y": w * from_y,
        "xx": w * from_x**2,
        "yy": w * from_y**2,
        "xy": w * from_x * from_y,
        "gap": w * gap,
        "gap_squares": w * gap**2,
    }
    columns = centred.select(pl.col(ENTRY).cast(pl.Int64), "study_id", SLOT, *_CENTRES, **sums)
    cell = [ENTRY, SLOT]
    return (
        columns.group_by(cell)
        .agg(pl.col("study_id", *_CENTRES).first(), pl.col(_SUMS).sum().cast(pl.Float64))
        .sort(cell)
        .collect()
    )


@dataclass(frozen=True)
class Concordance:
    """Concordance, correlation and regression line for any weights of clusters.

    Attributes:
        sums: All sums one above the other, each entries by clusters.
        centres: What the sums of each entry are about, twice one column.
        rules: See `ecs`.
    """

    sums: Any
    centres: tuple[Floats, Floats]
    rules: Rules

    @classmethod
    def of(cls, cells: pl.DataFrame, entries: int, slots: int, rules: Rules) -> Concordance:
        """Of the cells of entries."""
        entry, slot = cells[ENTRY].to_numpy(), cells[SLOT].to_numpy()
        values = np.concatenate([cells[name].to_numpy() for name in _SUMS])
        row = np.concatenate([entry + place * entries for place in range(len(_SUMS))])
        shape = (len(_SUMS) * entries, slots)
        sums = matrix(values, row, np.tile(slot, len(_SUMS)), shape)
        x, y = (np.zeros((entries, 1)) for _ in _CENTRES)
        for centre, name in zip((x, y), _CENTRES, strict=True):
            centre[entry, 0] = numbers(cells[name])
        return cls(sums, (x, y), rules)

    @property
    def width(self) -> int:
        """Numbers held per replicate."""
        return int(self.sums.shape[0])

    def values(self, weights: Floats) -> dict[str, Floats]:
        """Values by name, replicates by entries; NaN where undefined."""
        drawn = self.sums @ np.ascontiguousarray(weights.T)
        shape = (drawn.shape[0] // len(_SUMS), len(weights))
        part = dict(zip(_SUMS, drawn.reshape(len(_SUMS), *shape), strict=True))
        mass = np.where(part["tests"] > 0, part["mass"], np.nan)
        x_squares, y_squares = (
            _central(part[two], part[one] ** 2 / mass) for one, two in (("x", "xx"), ("y", "yy"))
        )
        columns = {
            "n_tests": part["tests"],
            "mass": mass,
            "mean_x": self.centres[0] + part["x"] / mass,
            "mean_y": self.centres[1] + part["y"] / mass,
            "gap": part["gap"] / mass,
            "gap_squares": part["gap_squares"],
            "x_squares": x_squares,
            "y_squares": y_squares,
            "products": part["xy"] - part["x"] * part["y"] / mass,
            "x_varies": x_squares > 0,
            "y_varies": y_squares > 0,
        }
        enough = pl.col("n_tests") >= LEAST
        finishes = agreement_values(self.rules)
        values = pl.DataFrame({name: column.ravel() for name, column in columns.items()}).select(
            pl.when(enough).then(value).alias(name) for name, value in finishes.items()
        )
        return {name: numbers(values[name]).reshape(shape).T for name in VALUES}


def _central(squares: Floats, correction: Floats) -> Floats:
    central = squares - correction
    return np.where(central <= _NOISE * squares, 0.0, central)
