"""Results as tables for people: in a notebook, a paper, a document or a terminal.

One table is made of a result, and written in four ways. The best of a column is bold, and what is
not told apart from it has a letter, which survives black and white and is read aloud.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.reporting import table as text
from evalframe.reporting.names import MINUS, Measure, cell, digits, p_value, visible
from evalframe.reporting.results import Form, form_of

if TYPE_CHECKING:
    from evalframe.core.typing import Direction

ROWS = 200
"""Rows of a table at most."""

_BETTER: dict[Direction, str] = {"minimize": "↓", "maximize": "↑", "none": ""}
_TIED = "a"

_LATEX = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "{}$&#_%"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\N{MINUS SIGN}": "$-$",
        "\N{EN DASH}": "--",
        "—": "---",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }
)
_MARKDOWN = str.maketrans({**{letter: f"\\{letter}" for letter in "\\`*_["}, "<": "&lt;"})
"""Both of names on one line; `|` is escaped where columns are put together."""

_STARTS = str.maketrans({"[": "{[}", "*": "{*}"})
"""What LaTeX takes as an option of the end of a row, at the start of the next one."""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its head.
        cells: Its texts.
        is_number: True if it stands to the right.
        best: For each row whether it is the best.
        tied: For each row whether it is not told apart from the best.
        values: The numbers behind its texts, to sort by; none of a column of names.
    """

    title: str
    cells: list[str]
    is_number: bool = False
    best: Sequence[bool] = ()
    tied: Sequence[bool] = ()
    values: Sequence[float | None] = ()

    def written(self, best: str, tied: str = " {}") -> list[str]:
        """Its cells with their marks, by these formats."""
        texts = []
        for row, value in enumerate(self.cells):
            is_best, is_tied = self.marks(row)
            marked = best.format(value) if is_best else value
            texts.append(marked + (tied.format(_TIED) if is_tied else ""))
        return texts

    def marks(self, row: int) -> tuple[bool, bool]:
        """Whether a row is the best, and tied with it."""
        return bool(self.best) and self.best[row], bool(self.tied) and self.tied[row]


@dataclass(frozen=True)
class Table:
    r"""A result for readers: print it, show it in a notebook, or write it by one of its methods.

    Attributes:
        columns: Its columns.
        notes: Sentences beneath it.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
        >>> table = ef.show(ef.evaluate(items, ef.selective_risk(), by="model"))
        >>> print(table.latex().splitlines()[4])
        a & \textbf{0.250} \\
    """

    columns: Sequence[Column]
    notes: Sequence[str]

    def __str__(self) -> str:
        """Aligned text, in which the best has a star."""
        notes = [note.replace("Bold:", "*:") for note in self.notes]
        return "\n".join([*text.as_text(self._columns("{} *", {})), "", *notes])

    __repr__ = __str__

    def markdown(self) -> str:
        """A Markdown table with its notes."""
        lines = text.as_markdown(self._columns("**{}**", _MARKDOWN))
        return "\n".join([*lines, "", " ".join(note.translate(_MARKDOWN) for note in self.notes)])

    def latex(self) -> str:
        """A `tabular` of the LaTeX package booktabs, with its notes below."""
        places = "".join("r" if column.is_number else "l" for column in self.columns)
        cells = []
        for column in self.columns:
            plain = [value.translate(_LATEX) for value in column.cells]
            if not column.is_number:
                plain = [value.translate(_STARTS) for value in plain]
            marked = column._replace(cells=plain)
            cells.append(marked.written(r"\textbf{{{}}}", r"\textsuperscript{{{}}}"))
        head = " & ".join(column.title.translate(_LATEX) for column in self.columns)
        rows = [" & ".join(row) + r" \\" for row in zip(*cells, strict=True)]
        lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows]
        notes = " ".join(note.translate(_LATEX) for note in self.notes)
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", rf"\par\footnotesize {notes}"])

    def html(self) -> str:
        """A `table` element with its notes as caption."""
        heads = "".join(f'<th scope="col">{_escaped(column.title)}</th>' for column in self.columns)
        bodies = []
        for row in range(len(self.columns[0].cells)):
            cells: list[str] = []
            for column in self.columns:
                best, tied = column.marks(row)
                value = f"<bdi>{_escaped(column.cells[row])}</bdi>"
                value = f"<strong>{value}</strong>" if best else value
                value += f"<sup>{_TIED}</sup>" if tied else ""
                side = "right" if column.is_number else "left"
                kind = "td" if cells else 'th scope="row"'
                cells.append(f'<{kind} style="text-align:{side}">{value}</{kind[:2]}>')
            bodies.append(f"<tr>{''.join(cells)}</tr>")
        notes = _escaped(" ".join(self.notes))
        return (
            f'<table class="evalframe"><caption style="caption-side:bottom;text-align:left">{notes}'
            f"</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(bodies)}</tbody></table>"
        )

    _repr_html_ = html

    def _columns(self, best: str, escapes: dict[int, str]) -> dict[str, text.Column]:
        """Columns of text, in which names are escaped."""
        columns = {}
        for number, column in enumerate(self.columns):
            title, cells = column.title.translate(escapes), column.cells
            if not column.is_number:
                cells = [value.translate(escapes) for value in cells]
            written = column._replace(cells=cells).written(best)
            columns[str(number)] = text.Column(title, written, column.is_number)
        return columns


def _escaped(value: str) -> str:
    return html.escape(value, quote=True)


@any_frame
def show(result: Frame, *, level: float | None = None) -> Table:
    """A result as a table for people, one row for each system and one column for each metric.

    Args:
        result: The result of `ef.evaluate`, `ef.finish`, `ef.compare`, `ef.rank`,
            `ef.survey.leaderboard` or `ef.replication.model_scores`.
        level: Confidence level of the intervals, to be named: the table does not say it.

    Returns:
        The table, of the first 200 rows, as its notes say. Notebooks and consoles show it;
        `.markdown()`, `.latex()` (with the package booktabs) and `.html()` write it. The best of a
        metric is bold if rows differ by one key and its definition says which way is better; `a`
        marks what is `tied_with_best`.

    Raises:
        MissingColumnsError: The table lacks the columns of these results.
        ParameterError: It has no rows.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = {"a": [0, 0, 0, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0], "c": [0, 0, 1, 0, 0, 0]}
        >>> items = pl.DataFrame(loss).with_row_index("item")
        >>> items = items.unpivot(index="item", variable_name="model", value_name="loss")
        >>> resample = ef.Bootstrap(cluster="item")
        >>> board = ef.rank(items, ef.selective_risk(), between="model", resample=resample)
        >>> print(ef.show(board, level=0.95).notes[-1])
        a: 2 of 3 are not told apart from the best.
    """
    text.check_numbers(0, level)
    table = lazy(result).collect()
    form = form_of(table, "ef.show takes")
    if table.is_empty():
        raise ParameterError("ef.show: the table has no rows")
    shown = table.head(ROWS)
    if form.value == "delta":
        columns, notes = _of_pairs(shown, form)
    else:
        columns, notes = (_of_board if "rank" in table.columns else _of_long)(shown, form)
    if len(shown) < len(table):
        notes.insert(0, f"The first {len(shown):,} of {len(table):,} rows.")
    if form.ends(shown)[1].null_count() < len(shown):
        what = "Intervals" if level is None else f"{100 * level:g}% intervals"
        notes.insert(0, f"{what} in brackets.")
    else:
        notes.append("No intervals were computed.")
    return Table(columns, notes)


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
    return f"{visible(measure.name)} {_BETTER[measure.direction]}".rstrip()


def _of_long(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each combination of keys, a column for each metric."""
    keys = form.keys(table)
    groups = table.select(keys).unique(maintain_order=True) if keys else pl.DataFrame(height=1)
    columns = [_names(groups, key) for key in keys]
    comparable = sum(table[key].n_unique() > 1 for key in keys) == 1
    several = table.partition_by("metric", maintain_order=True) if form.measure is None else [table]
    for part in several:
        measure = form.measure or Measure.of(part["metric"][0])
        if keys:
            part = groups.join(part, on=keys, how="left", nulls_equal=True, maintain_order="left")
        column = _estimates(part, form, _title(measure))
        values = form.ends(part)[0]
        if comparable and measure.direction != "none":
            end = values.max() if measure.direction == "maximize" else values.min()
            column = column._replace(best=(values == end).fill_null(value=False).to_list())
        columns.append(column)
    notes = ["Bold: best."] if any(any(column.best) for column in columns) else []
    return columns, notes


def _of_board(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each entry, with its rank and the ranks that it may have."""
    entry, *groups = form.keys(table)
    if not groups:
        table = table.sort("rank", nulls_last=True, maintain_order=True)
    measure = form.measure or Measure.of(table["metric"][0])
    best = (table["rank"] == 1).fill_null(value=False).to_list()
    column = _estimates(table, form, _title(measure))._replace(best=best)
    columns = [_names(table, key) for key in [*groups, "rank", entry]]
    notes = ["Bold: best."]
    if "tied_with_best" in table.columns:
        tied = table["tied_with_best"].fill_null(value=False).to_list()
        column = column._replace(tied=tied)
        sets = table.select("rank_set_lower", "rank_set_upper").rows()
        ranks = ["—" if one is None else _span(one, other) for one, other in sets]
        notes.append(f"{_TIED}: {sum(tied):,} of {len(tied):,} are not told apart from the best.")
        last = table["rank_set_upper"].to_list()
        possible = Column("possible ranks", ranks, is_number=True, values=last)
        return [*columns, column, possible], notes
    return [*columns, column], notes


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def _of_pairs(table: pl.DataFrame, form: Form) -> tuple[list[Column], list[str]]:
    """A row for each pair, with its difference and adjusted p-value."""
    several = ["metric"] if table["metric"].n_unique() > 1 else []
    keys = [*form.keys(table), *several, "left", "right"]
    measure = Measure.of(table["metric"][0])
    of = "" if several else f" in {_title(measure)}"
    columns = [_names(table, key) for key in keys]
    columns.append(_estimates(table, form, f"right {MINUS} left{of}"))
    p_values = table["p_adjusted"] if "p_adjusted" in table.columns else None
    if p_values is None:
        return columns, []
    texts = [*map(p_value, p_values)]
    columns.append(Column("adjusted p", texts, is_number=True, values=p_values.to_list()))
    found = int((p_values < 0.05).sum())
    tests = len(p_values) - p_values.null_count()
    return columns, [
        f"{found:,} of {tests:,} pairs differ{'s' * (found == 1)} (adjusted p < 0.05)."
    ]
