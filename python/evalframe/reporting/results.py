"""What a result table is of: the columns of its estimates and intervals, its keys, its metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.reporting.names import Measure, joined

MAKERS = "ef.evaluate, ef.compare, ef.rank, ef.survey.leaderboard or ef.replication.model_scores"
"""Functions whose results have estimates."""


ENTRY = ":entry"
"""The name of rows that have several keys, or none."""


_NUMBERS = """estimate std_error lower upper delta detectable p_value p_adjusted rank rank_set_lower
rank_set_upper score gap noise_gap pas pas_lower pas_upper ecs slope intercept coverage bin accuracy
selective_risk mean_confidence lower_edge upper_edge accuracy_lower accuracy_upper rejection_rate
rejection_rate_lower rejection_rate_upper noise_rate accuracy_without_noise accuracy_drop drop_rate
effect_d_human effect_d_agent n n_missing n_clusters n_units_missing n_dropped n_absent n_shared
n_fact_checked n_tests n_eff parse_rate unit_drop_rate pas_drop_rate covered trials
sample_size"""
_NAMES = ("model", "left", "right", "segment_id", "category", "study_id", "test_id")
_HOLDS: dict[str, tuple[str, Callable[[pl.DataType], bool]]] = {
    **dict.fromkeys(_NUMBERS.split(), ("numbers", lambda dtype: dtype.is_numeric())),
    **dict.fromkeys(["actual", "predicted", "options"], ("lists", lambda dtype: dtype.is_nested())),
    **dict.fromkeys(_NAMES, ("names", lambda dtype: not dtype.is_nested())),
    "metric": ("names", lambda dtype: dtype in (pl.String, pl.Categorical, pl.Enum)),
    "tied_with_best": ("true or false", lambda dtype: dtype == pl.Boolean()),
}
"""What columns of results hold, and whether a type does."""

_ANY = "values", lambda dtype: True


def checked(table: pl.DataFrame, what: str, needed: Sequence[str]) -> pl.DataFrame:
    """The result; ParameterError if columns hold anything else than those of its kind.

    Columns before the first of the needed ones are keys, of any type that is not Python's.
    """
    if missing := [name for name in needed if name not in table.columns]:
        raise MissingColumnsError(f"{what}: this result lacks {', '.join(map(repr, missing))}")
    values = table.columns[min(map(table.columns.index, needed), default=0) :]
    for name, dtype in table.schema.items():
        holds, does = _HOLDS.get(name, _ANY) if name in values else _ANY
        if dtype.is_object() or not (does(dtype) or dtype == pl.Null()):
            raise ParameterError(
                f"{what}: column {name!r} is {dtype}, not {holds}; cast it, or rename it if it is "
                "something else"
            )
    if "metric" in values and table["metric"].null_count():
        raise ParameterError(f"{what}: column 'metric' has nulls, so it is not told what they are")
    unknown = cs.by_dtype(pl.Null) & cs.by_name(*_NUMBERS.split(), require_all=False)
    wide = cs.by_dtype(pl.Float32, pl.Int128) | cs.decimal() | unknown
    return table.with_columns((cs.by_name(*values) & wide).cast(pl.Float64))


class Form(NamedTuple):
    """A kind of result: the columns of the estimate and its ends, and what it measures.

    `measure` is None where a column `metric` says it.
    """

    value: str
    lower: str = "lower"
    upper: str = "upper"
    measure: Measure | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its values."""
        if self.value == "delta":
            return ("metric", "left", "right", self.value)
        return ("metric", self.value) if self.measure is None else (self.value,)

    def needed(self, table: pl.DataFrame) -> list[str]:
        """The same, and those of a board if the table is one."""
        board = ["rank"] * ("rank" in table.columns)
        sets = ["rank_set_lower", "rank_set_upper"] * ("tied_with_best" in table.columns)
        return [*self.columns, *board, *(sets if board else [])]

    def keys(self, table: pl.DataFrame) -> list[str]:
        """What tells the rows apart: of a board the entry first, then its groups."""
        until = "metric" if self.value == "delta" else self.value
        before = table.columns[: table.columns.index(until)]
        keys = [name for name in before if name not in ("rank", "metric")]
        if "rank" not in table.columns or not keys:
            return keys
        entry = "model" if "rank" not in before and "model" in keys else keys[-1]
        return [entry, *(key for key in keys if key != entry)]

    def board(self, table: pl.DataFrame) -> tuple[pl.DataFrame, str, list[str]]:
        """Ranked rows, the key of their entries, and the keys within which they are ranked.

        If all rows are ranked together, several keys become one, `ENTRY`.
        """
        entry, *groups = self.keys(table) or [ENTRY]
        if entry == ENTRY:
            return table.with_columns(pl.lit("all rows").alias(ENTRY)), ENTRY, []
        rank = pl.col("rank").drop_nulls()
        within = (rank.min() == 1) & (rank.max() <= rank.len())
        if not groups or table.group_by(groups).agg(within.alias(ENTRY))[ENTRY].all():
            return table, entry, groups
        names = pl.Series(ENTRY, joined(table.select(entry, *groups).rows()))
        return table.with_columns(names), ENTRY, []

    def measured(self, table: pl.DataFrame) -> Measure:
        """What a table of one metric measures; which end is the best of a board its ranks say."""
        measure = self.measure or Measure.of(table["metric"][0])
        if "rank" not in table.columns:
            return measure
        board, _, groups = self.board(table.with_columns(self.ends(table)[0].alias(":value")))
        best, rest = (
            pl.col(":value").filter(of) for of in (pl.col("rank") == 1, pl.col("rank") > 1)
        )
        value = best.mean() - rest.mean()
        above = board.select(value.over(groups) if groups else value).sum().item()
        if above == 0:
            return measure
        return measure._replace(direction="maximize" if above > 0 else "minimize")

    def ends(self, table: pl.DataFrame) -> list[pl.Series]:
        """Estimate, lower and upper end; null where the table has none."""
        none = pl.lit(None, dtype=pl.Float64)
        columns = [
            (pl.col(name) if name in table.columns else none).cast(pl.Float64).alias(name)
            for name in (self.value, self.lower, self.upper)
        ]
        finite = pl.when(pl.all().is_finite()).then(pl.all())
        return table.select(columns).select(finite.name.keep()).get_columns()


_FORMS = (
    Form("estimate"),
    Form("delta"),
    Form("score", measure=Measure("score", None, "maximize")),
    Form("pas", "pas_lower", "pas_upper", Measure("pas", "Agreement with humans", "maximize")),
)


def form_of(table: pl.DataFrame, takes: str) -> Form:
    """The kind of a result; an error that begins with what `takes` one if it has no estimates."""
    for form in _FORMS:
        if form.value in table.columns:
            return form
    raise MissingColumnsError(
        f"{takes} the result of {MAKERS}, with a column "
        f"{', '.join(repr(form.value) for form in _FORMS)}; this table has {table.columns}"
    )
