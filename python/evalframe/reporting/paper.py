"""Results as tables for people: in a notebook, a paper, a document or a terminal.

One table is made of a result, and written in five ways, its verdict first. The best of a column is
bold, and what is not told apart from it has a letter, which survives black and white and is read
aloud.
"""

from __future__ import annotations

import hashlib
import html
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.errors import ParameterError, needing
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.reporting import table as text
from evalframe.reporting.names import MINUS, Measure, cell, digits, p_value, visible
from evalframe.reporting.results import Form, form_of
from evalframe.reporting.verdict import verdict

if TYPE_CHECKING:
    from evalframe.core.typing import Direction

ROWS = 200
"""Rows of a table at most."""

_LINE = 88
"""Letters of a line of the verdict."""

_BETTER: dict[Direction, str] = {"minimize": "↓", "maximize": "↑", "none": ""}
_TIED, _TIED_NOTE = "a", "a: not told apart from the best."

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
        "“": "``",
        "”": "''",
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
        verdict: What it says, in words; empty if there is nothing to compare.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
        >>> table = ef.show(ef.evaluate(items, ef.selective_risk(), by="model"))
        >>> table.verdict
        'No intervals were computed, so nothing can be said about ties.'
        >>> print(table.latex().splitlines()[6])
        a & \textbf{0.250} \\
    """

    columns: Sequence[Column]
    notes: Sequence[str]
    verdict: str = ""

    def __str__(self) -> str:
        """Aligned text, in which the best has a star."""
        lines = text.as_text(self._columns("{} *", {}))
        notes = " ".join(self.notes).replace("Bold:", "*:", 1)
        return "\n".join([*self._headed(), *lines, "", *textwrap.wrap(notes, _LINE)]).rstrip()

    __repr__ = __str__

    def markdown(self) -> str:
        """A Markdown table with its notes."""
        lines = text.as_markdown(self._columns("**{}**", _MARKDOWN))
        notes = " ".join(note.translate(_MARKDOWN) for note in self.notes)
        return "\n".join([*self._headed(_MARKDOWN), *lines, *["", notes] * bool(notes)])

    def latex(self) -> str:
        """A `tabular` of the LaTeX package booktabs, between its verdict and its notes."""
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
        lines = [*self._headed(_LATEX, r"\par\medskip"), *lines, r"\bottomrule", r"\end{tabular}"]
        notes = " ".join(note.translate(_LATEX) for note in self.notes)
        return "\n".join([*lines, *[rf"\par\footnotesize {notes}"] * bool(notes)])

    def html(self) -> str:
        """A `table` element with its notes as caption, in a `figure` that its verdict heads."""
        heads = "".join(
            f'<th scope="col">{html.escape(column.title)}</th>' for column in self.columns
        )
        bodies = []
        for row in range(len(self.columns[0].cells)):
            cells: list[str] = []
            for column in self.columns:
                best, tied = column.marks(row)
                value = f"<bdi>{html.escape(column.cells[row])}</bdi>"
                value = f"<strong>{value}</strong>" if best else value
                value += f"<sup>{_TIED}</sup>" if tied else ""
                side = "right" if column.is_number else "left"
                kind = "td" if cells else 'th scope="row"'
                cells.append(f'<{kind} style="text-align:{side}">{value}</{kind[:2]}>')
            bodies.append(f"<tr>{''.join(cells)}</tr>")
        notes = html.escape(" ".join(self.notes))
        return (
            f'<figure class="evalframe"><figcaption>{html.escape(self.verdict)}</figcaption>'
            f'<table><caption style="caption-side:bottom;text-align:left">{notes}</caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{''.join(bodies)}</tbody></table></figure>"
        )

    def great_table(self) -> Any:
        """A `great_tables.GT`, to be styled further; a notebook shows the table as one.

        Raises:
            MissingExtraError: great_tables is not installed.
        """
        with needing("plot", "ef.show(...).great_table()"):
            import great_tables as gt

        names = [f"c{number}" for number in range(len(self.columns))]
        parts = dict(zip(names, self.columns, strict=True))
        identity = hashlib.sha256(self.html().encode()).hexdigest()[:10]  # equal tables look equal
        cells = pl.DataFrame({name: column.cells for name, column in parts.items()})
        table = gt.GT(cells, rowname_col=names[0], id=f"evalframe-{identity}")
        table = table.tab_stubhead(parts[names[0]].title).opt_footnote_marks("letters")
        table = table.cols_label({name: parts[name].title for name in names[1:]})
        for is_number, side in ((True, "right"), (False, "left")):
            table = table.cols_align(
                side, [name for name in names if parts[name].is_number == is_number]
            )
        for name, column in parts.items():
            if best := [row for row, is_best in enumerate(column.best) if is_best]:
                table = table.tab_style(gt.style.text(weight="bold"), gt.loc.body(name, best))
            if tied := [row for row, is_tied in enumerate(column.tied) if is_tied]:
                note, where = _TIED_NOTE.removeprefix(f"{_TIED}: "), gt.loc.body(name, tied)
                table = table.tab_footnote(note, where, placement="right")
        if self.verdict:
            table = table.tab_header(self.verdict)
            table = table.tab_options(heading_align="left", heading_title_font_size="14px")
        for note in self.notes:
            if note != _TIED_NOTE:
                table = table.tab_source_note(gt.html(html.escape(note)))
        return table

    def _repr_html_(self) -> str:
        if find_spec("great_tables") is None:
            return self.html()
        written: str = self.great_table().as_raw_html()
        return written

    def _headed(self, escapes: dict[int, str] | None = None, after: str = "") -> list[str]:
        """Lines of the verdict, and an empty one; nothing if there is none."""
        lines = textwrap.wrap(self.verdict.translate(escapes or {}) + after, _LINE)
        return [*lines, ""] if self.verdict else []

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


@any_frame
def show(result: Frame, *, level: float | None = None, cluster: str | None = None) -> Table:
    """A result as a table for people, one row for each system and one column for each metric.

    Its verdict says in words which system is best, what is tied with it, and which differences
    cannot be told apart. It is made of tests alone: `tied_with_best` and adjusted p-values.

    Args:
        result: The result of `ef.evaluate`, `ef.finish`, `ef.compare`, `ef.rank`,
            `ef.survey.leaderboard` or `ef.replication.model_scores`.
        level: Confidence level of the intervals, to be named: the table does not say it.
        cluster: What was resampled, such as `question`, to be named, likewise.

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
        >>> loss = {"a": [0, 0, 0, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0], "c": [0, 0, 1, 0, 0, 0]}
        >>> items = pl.DataFrame(loss).with_row_index("item")
        >>> items = items.unpivot(index="item", variable_name="model", value_name="loss")
        >>> resample = ef.Bootstrap(cluster="item")
        >>> board = ef.rank(items, ef.selective_risk(), between="model", resample=resample)
        >>> ef.show(board).verdict
        'Two of three models are tied with the best.'
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
    if form.ends(shown)[1].null_count() < len(shown):
        what = "Intervals" if level is None else f"{100 * level:g}% intervals"
        notes.insert(0, f"{what} in brackets.")
    if len(shown) < len(table):
        notes.insert(0, f"The first {len(shown):,} of {len(table):,} rows.")
    return Table(columns, [*notes, *_left_out(table)], verdict(table, cluster=cluster))


_COUNTED = {
    "n_missing": "Rows without a value",
    "n_units_missing": "Units without a value",
    "n_findings_without_data": "Findings without data",
    "n_studies_without_data": "Studies without data",
    "n_other_context": "Rows with another amount of context",
}
_SHARES = {
    "parse_rate": "of the responses of a row could not be read",
    "drop_rate": "of the replicates of an estimate are undefined",
    "pas_drop_rate": "of the replicates of an estimate are undefined",
}
"""Columns that say what was left out, with words for it."""


def _left_out(table: pl.DataFrame) -> list[str]:
    """Notes about what the estimates are without, at most for each."""
    notes = []
    for name, what in _COUNTED.items():
        if name in table.columns and (most := _most(table[name])):
            notes.append(f"{what} are left out: {'' if len(table) == 1 else 'up to '}{most:,.0f}.")
    for name, what in _SHARES.items():
        if name in table.columns:
            share = 1 - table[name] if name == "parse_rate" else table[name]
            if most := _most(share):
                notes.append(f"Up to {100 * most:.2g}% {what}.")
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
        if keys:
            part = groups.join(part, on=keys, how="left", nulls_equal=True, maintain_order="left")
        column = _estimates(part, form, _title(measure))
        values = form.ends(part)[0]
        if comparable and measure.direction != "none":
            end = values.max() if measure.direction == "maximize" else values.min()
            column = column._replace(best=(values == end).fill_null(value=False).to_list())
        columns.append(column)
    notes = ["Bold: best."] if any(any(column.best) for column in columns) else []
    return columns, notes + _meanings(measures)


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
        tied = pl.col("tied_with_best").fill_null(value=False)
        several = tied.sum().over(groups) if groups else tied.sum()  # the best is tied with itself
        column = column._replace(tied=table.select(tied & (several > 1)).to_series().to_list())
        sets = table.select("rank_set_lower", "rank_set_upper").rows()
        ranks = ["—" if one is None else _span(one, other) for one, other in sets]
        notes += [_TIED_NOTE] * any(column.tied)
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
