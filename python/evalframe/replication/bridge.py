"""Steps by `rules`, for callers that do not take their steps as values yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalframe.replication.bayes_factors import original as original_factors
from evalframe.replication.bayes_factors import table as factors
from evalframe.replication.effects import kinds, original, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr


def kind_of(test_type: IntoExpr, rules: Rules = "documented") -> pl.Expr:
    """The kind of a test by the names that the rules know."""
    names = kinds.KIND_NAMES if rules == "documented" else original.KIND_NAMES
    return kinds.kind_of(test_type, names)


def with_effect_sizes(tests: Frame, *, rules: Rules = "documented") -> pl.LazyFrame:
    """Effect sizes by the rules."""
    step: Any = table.with_effect_sizes if rules == "documented" else original.with_effect_sizes
    made: pl.LazyFrame = step(tests.lazy())
    return made


def with_bayes_factors(
    tests: Frame, side: str | Sequence[str], *, rules: Rules = "documented"
) -> pl.LazyFrame:
    """Bayes factors by the rules."""
    step: Any = factors if rules == "documented" else original_factors
    made: pl.LazyFrame = step.with_bayes_factors(tests.lazy(), side)
    return made
