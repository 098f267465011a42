"""How scores of rows become that of what they belong to: weighted means, through a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.state import ratio
from evalframe.replication.agreement.fisher import pas_of_z, z_of_pas
from evalframe.replication.agreement.given import WEIGHT, usable_weight
from evalframe.replication.agreement.possible import possible_share
from evalframe.replication.agreement.rules import CHANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalframe.replication.agreement.given import Given


@dataclass(frozen=True)
class Pooling:
    """A weighted mean of rows, moved to the scale of the score.

    Attributes:
        value: What is averaged, null for a row that does not count.
        mass: The weight of each row.
        finish: From the mean to the score.
        empty: The score where no row counts.
    """

    value: pl.Expr
    mass: pl.Expr
    finish: Callable[[pl.Expr], pl.Expr]
    empty: float | None

    def sums(self, name: str) -> dict[str, pl.Expr]:
        """What is added up within a group."""
        counted = pl.when(self.value.is_not_null()).then(self.mass)
        return {
            f":{name}": (self.mass * self.value).sum(),
            f":{name}:mass": counted.sum(),
        }

    def score(self, name: str) -> pl.Expr:
        """The score from these sums."""
        score = self.finish(ratio(pl.col(f":{name}"), pl.col(f":{name}:mass")))
        return score if self.empty is None else score.fill_null(of_a_study(self.empty))


def of_a_study(empty: float) -> pl.Expr:
    """What stands for no score; nothing where rows belong to no study."""
    return pl.when(pl.col("study_id").is_not_null()).then(empty)


def of_findings(found: Given) -> dict[str, Pooling]:
    """How findings become studies, by score."""
    settings, columns = found.settings, found.columns
    share, times = _share_of(found, "pas", 0.0), pl.col(WEIGHT)
    finish: Callable[[pl.Expr], pl.Expr] = _same
    if settings.study_rule == "mean_z":
        value = pl.col("z_pas") if "z_pas" in columns else z_of_pas(share, settings.rules)
        if settings.rules == "documented":
            value = pl.when(share.is_not_null() & value.is_finite()).then(value)
        share, finish = pl.when(value.is_not_nan()).then(value), pas_of_z
    mass = times
    if settings.study_rule == "weighted_mean" and "finding_weight" in columns:
        mass = times * pl.col("finding_weight").fill_nan(None).fill_null(1.0)
    by_chance = settings.missing == "chance"
    share = pl.when(usable_weight()).then(share)
    made = {"pas": Pooling(share, mass, finish, CHANCE if by_chance else None)}
    return made | _normalised(found, 0.0 if by_chance else None)


def of_studies(found: Given) -> dict[str, Pooling]:
    """How studies become models or domains, by score."""
    share = pl.when(usable_weight()).then(_share_of(found, "pas", 0.0))
    return {"pas": Pooling(share, pl.col(WEIGHT), _same, None)} | _normalised(found, None)


def _normalised(found: Given, empty: float | None) -> dict[str, Pooling]:
    """The plain mean of normalised PAS, if there is any."""
    if "pas_normalised" not in found.columns:
        return {}
    share = pl.when(usable_weight()).then(_share_of(found, "pas_normalised", -1.0))
    return {"pas_normalised": Pooling(share, pl.col(WEIGHT), _same, empty)}


def _share_of(found: Given, name: str, least: float) -> pl.Expr:
    """A score of the rows, null where it is missing; an impossible one is."""
    if found.settings.rules == "reference":
        return pl.col(name).fill_nan(None)
    return possible_share(pl.col(name), least)


def _same(mean: pl.Expr) -> pl.Expr:
    return mean
