"""`ef.show`: results as tables for people, with a verdict and notes about what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.choices import check_level
from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.reporting.names import MINUS, Measure, cell, cut, digits, p_value, visible
from evalframe.reporting.paper import BEST, TIED, Column, Table
from evalframe.reporting.results import Form, checked, form_of
from evalframe.reporting.table import ROWS
from evalframe.reporting.verdict import verdict

if TYPE_CHECKING:
    from evalframe.core.typing import Direction

_BETTER: dict[Direction, str] = {"minimize": "↓", "maximize": "↑", "none": ""}


@any_frame
def show(result: Frame, *, level: float | None = None, cluster: str | None = None) -> Table:
    """A result as a table for people, one row for each system and one column for each metric.

    Its verdict says in words which system is best, what is tied with it, and which differences
    cannot be told apart. It is made of tests alone: `tied_with_best` and adjusted p-values.

    Args:
        result: The result of `ef.evaluate`, `ef.finish`, `ef.compare`, `ef.rank`,
            `ef.survey.leaderboard` or `ef.replication.model_scores`.
        level: Confidence level of the intervals, for the caption: the table does not hold it.
        cluster: What was resampled, such as `question`, for the caption, too.

    Returns:
        The table, of the first 200 rows, as its notes say. Notebooks and consoles show it, the
        first by great_tables if that is installed (`.great_table()`); `.markdown()`, `.latex()`
        (with the package booktabs) and `.html()` write it. The best of a metric is bold if rows
        differ by one key and its definition says which way is better; `a` marks what is
        `tied_with_best`. Notes say what was left out.

    Raises:
        MissingColumnsError: The table lacks the columns of these results.
        ParameterError: It has no rows.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
        >>> print(ef.show(ef.evaluate(items, ef.selective_risk(), by="model")).markdown())
        No intervals were computed, so nothing can be said about ties.
        <BLANKLINE>
        | model | selective risk ↓ |
        | ----- | ---------------: |
        | a     |        **0.250** |
        | b     |            1.000 |
        <BLANKLINE>
        Bold: best. selective risk: Mean loss of the predicted items.
    """
    if level is not None:
        check_level(level)
    table = lazy(result).collect()
    form = form_of(table, "ef.show takes")
    if table.is_empty():
        raise ParameterError("ef.show: the table has no rows")
    table = checked(table, "ef.show", form.needed(table))
    make = (
        _of_pairs if form.value == "delta" else _of_board if "rank" in table.columns else _of_long
    )
    columns, notes = make(table, form)
    if form.ends(table)[1].null_count() < len(table):
        what = "Intervals" if level is None else f"{100 * level:g}% intervals"
        notes.insert(0, f"{what} in brackets.")
    if (rows := len(columns[0].cells)) > ROWS:
        notes.insert(0, f"The first {ROWS:,} of {rows:,} rows.")
        columns = [column.first(ROWS) for column in columns]
        if not any(any(column.best) for column in columns):
            notes = [note for note in notes if note != BEST]
    return Table(columns, [*notes, *left_out(table)], verdict(table, cluster=cluster))


_COUNTED = {
    "n_missing": "Rows without a value",
    "n_missing_left": "Rows without a value",
    "n_missing_right": "Rows without a value",
    "n_units_missing": "Units without a value",
    "n_dropped": "Responses without a label, such as failed requests,",
    "n_absent": "Tests that other models have",
    "n_findings_without_data": "Findings without data",
    "n_studies_without_data": "Studies without data",
    "n_other_context": "Rows with another amount of context",
}
_SHARES = {
    "parse_rate": "of the responses of a row could not be read",
    "drop_rate": "of the replicates of an estimate are undefined",
    "unit_drop_rate": "of the units have no rows in a replicate",
    "pas_drop_rate": "of the replicates of an estimate are undefined",
}
"""Columns that say what was left out, with words for it."""


def left_out(table: pl.DataFrame) -> list[str]:
    """Notes about what the estimates of a result are without, at most for each."""
    notes, counted = [], dict[str, float]()
    for name, what in _COUNTED.items():
        if name in table.columns and (most := _most(table[name])):
            counted[what] = max(most, counted.get(what, 0.0))
    for what, most in counted.items():
        notes.append(f"{what} are left out: {'' if len(table) == 1 else 'up to '}{most:,.0f}.")
    for name, what in _SHARES.items():
        if name in table.columns:
            share = 1 - table[name] if name == "parse_rate" else table[name]
            if most := _most(share):
                notes.append(f"Up to {float(f'{100 * most:.2g}'):g}% {what}.")  # not 1e+02
    return notes


def _most(counts: pl.Series) -> float:
    return float(counts.fill_nan(None).max() or 0)  # type: ignore[arg-type]


def _names(table: pl.DataFrame, key: str) -> Column:
    """A column of names, each on one line and without hidden characters."""
    is_number = table.schema[key].is_numeric()
    values = table[key].to_list() if is_number else []
    return Column(visible(key), [visible(value) for value in table[key]], is_number, values=values)


def _estimates(table: pl.DataFrame, form: Form, title: str) -> Column:
    """A column of estimates with their intervals."""
    value, lower, upper = form.ends(table)
    known = value.drop_nulls().to_list() or [0.0]
    decimals = digits(((upper - lower) / 2).to_list(), max(known) - min(known))
    cells = [cell(*each, decimals) for each in zip(value, lower, upper, strict=True)]
    return Column(title, cells, is_number=True, values=value.to_list())


def _title(measure: Measure) -> str:
    """The name of a metric, and which way is better."""
    return f"{measure.spoken} {_BETTER[measure.direction]}".rstrip()


def _meanings(measures: Iterable[Measure]) -> list[str]:
    """What metrics are in words, as far as their names do not say it."""
    return [f"{m.spoken}: {m.phrase}." for m in measures if m.phrase and m.title != m.phrase]


def _of_long(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each combination of keys, a column for each metric."""
    keys = form.keys(table)
    groups = table.select(keys).unique(maintain_order=True) if keys else pl.DataFrame(height=1)
    columns = [_names(groups, key) for key in keys]
    comparable = sum(table[key].n_unique() > 1 for key in keys) == 1
    several = table.partition_by("metric", maintain_order=True) if form.measure is None else [table]
    measures = [form.measure or Measure.of(part["metric"][0]) for part in several]
    for part, measure in zip(several, measures, strict=True):
        if part.select(keys).is_duplicated().any() if keys else len(part) > 1:
            raise ParameterError(
                f"ef.show: {cut(measure.name)} has several rows of the same {keys or 'table'}; "
                "filter the table, or put what tells them apart before 'metric'"
            )
        if keys:
            part = groups.join(part, on=keys, how="left", nulls_equal=True, maintain_order="left")
        column = _estimates(part, form, _title(measure))
        values = form.ends(part)[0]
        if comparable and measure.direction != "none" and values.count():
            end = values.max() if measure.direction == "maximize" else values.min()
            column = column._replace(best=(values == end).fill_null(value=False).to_list())
        columns.append(column)
    notes = [BEST] if any(any(column.best) for column in columns) else []
    return columns, notes + _meanings(measures)


def _of_board(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each entry, with its rank and the ranks that it may have."""
    groups = form.board(table)[2]
    entries = [key for key in form.keys(table) if key not in groups]
    table = table.sort(*groups, "rank", nulls_last=True, maintain_order=True)
    measure = form.measured(table)
    best = (table["rank"] == 1).fill_null(value=False).to_list()
    column = _estimates(table, form, _title(measure))._replace(best=best)
    columns = [_names(table, key) for key in [*groups, "rank", *entries]]
    notes = [BEST]
    if "tied_with_best" in table.columns:
        tied = pl.col("tied_with_best").fill_null(value=False)
        several = tied.sum().over(groups) if groups else tied.sum()  # the best is tied with itself
        column = column._replace(tied=table.select(tied & (several > 1)).to_series().to_list())
        sets = table.select("rank_set_lower", "rank_set_upper").rows()
        ranks = ["—" if one is None else _span(one, other) for one, other in sets]
        notes += [TIED] * any(column.tied)
        last = table["rank_set_upper"].to_list()
        possible = Column("possible ranks", ranks, is_number=True, values=last)
        return [*columns, column, possible], notes + _meanings([measure])
    return [*columns, column], notes + _meanings([measure])


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def _of_pairs(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each pair, with its difference and adjusted p-value."""
    several = ["metric"] if table["metric"].n_unique() > 1 else []
    keys = [*form.keys(table), *several, "left", "right"]
    measure = Measure.of(table["metric"][0])
    of = "" if several else f" in {_title(measure)}"
    notes = [] if several else _meanings([measure])
    columns = [_names(table, key) for key in keys]
    columns.append(_estimates(table, form, f"right {MINUS} left{of}"))
    p_values = table["p_adjusted"] if "p_adjusted" in table.columns else None
    if p_values is None:
        return columns, notes
    texts = [*map(p_value, p_values)]
    columns.append(Column("adjusted p", texts, is_number=True, values=p_values.to_list()))
    return columns, notes
