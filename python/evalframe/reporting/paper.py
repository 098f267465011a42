"""Tables for people, and their writers: text, Markdown, LaTeX, HTML and great_tables.

The verdict comes first. The best of a column is bold, and what is not told apart from it has a
letter, which survives black and white and is read aloud.
"""

from __future__ import annotations

import hashlib
import html
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import polars as pl

from evalframe.core.errors import needing
from evalframe.reporting.names import cut, labels

BEST = "Bold: best."
"""The note about the best."""

TIED = "a: not told apart from the best."
"""The note about what is tied with the best; its first letter marks them."""

_LINE, _NAME = 88, 60
"""Letters of a line of the verdict, and of a name, at most."""

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
            texts.append(marked + (tied.format(TIED[0]) if is_tied else ""))
        return texts

    def cut(self) -> Column:
        """Itself with names of a length that fits a page, different where they were."""
        cells = self.cells
        if not self.is_number:
            names = [*dict.fromkeys(cells)]
            short = dict(zip(names, labels(names, _NAME), strict=True))
            cells = [short[name] for name in cells]
        return self._replace(title=cut(self.title, _NAME), cells=cells)

    def first(self, rows: int) -> Column:
        """Its first rows."""
        best, tied, values = self.best[:rows], self.tied[:rows], self.values[:rows]
        return Column(self.title, self.cells[:rows], self.is_number, best, tied, values)

    def aligned(self) -> list[str]:
        """Head and cells, all of one width."""
        lines = [self.title, *self.cells]
        width = max(map(len, lines))
        return [line.rjust(width) if self.is_number else line.ljust(width) for line in lines]

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
        lines = as_text(self._columns("{} *", {}))
        notes = " ".join(self.notes).replace("Bold:", "*:", 1)
        return "\n".join([*self._headed(), *lines, "", *textwrap.wrap(notes, _LINE)]).rstrip()

    __repr__ = __str__

    def markdown(self) -> str:
        """A Markdown table with its notes."""
        lines = as_markdown(self._columns("**{}**", _MARKDOWN))
        notes = " ".join(note.translate(_MARKDOWN) for note in self.notes)
        return "\n".join([*self._headed(_MARKDOWN), *lines, *["", notes] * bool(notes)])

    def latex(self) -> str:
        """A `tabular` of the LaTeX package booktabs, between its verdict and its notes."""
        places = "".join("r" if column.is_number else "l" for column in self.columns)
        cells = []
        for column in map(Column.cut, self.columns):
            plain = [value.translate(_LATEX) for value in column.cells]
            if not column.is_number:
                plain = [value.translate(_STARTS) for value in plain]
            marked = column._replace(cells=plain)
            cells.append(marked.written(r"\textbf{{{}}}", r"\textsuperscript{{{}}}"))
        head = " & ".join(column.cut().title.translate(_LATEX) for column in self.columns)
        rows = [" & ".join(row) + r" \\" for row in zip(*cells, strict=True)]
        lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows]
        lines = [*self._headed(_LATEX, r"\par\medskip"), *lines, r"\bottomrule", r"\end{tabular}"]
        notes = " ".join(note.translate(_LATEX) for note in self.notes)
        return "\n".join([*lines, *[rf"\par\footnotesize {notes}"] * bool(notes)])

    def html(self) -> str:
        """A `table` element with its notes as caption, in a `figure` that its verdict heads."""
        columns = [column.cut() for column in self.columns]
        sides = [f'style="text-align:{"right" if c.is_number else "left"}"' for c in columns]
        heads = "".join(
            f'<th scope="col" {side}>{html.escape(column.title)}</th>'
            for side, column in zip(sides, columns, strict=True)
        )
        bodies = []
        for row in range(len(columns[0].cells)):
            cells: list[str] = []
            for side, column in zip(sides, columns, strict=True):
                best, tied = column.marks(row)
                value = f"<bdi>{html.escape(column.cells[row])}</bdi>"
                value = f"<strong>{value}</strong>" if best else value
                value += f"<sup>{TIED[0]}</sup>" if tied else ""
                kind = "td" if cells else 'th scope="row"'
                cells.append(f"<{kind} {side}>{value}</{kind[:2]}>")
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
        parts = dict(zip(names, map(Column.cut, self.columns), strict=True))
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
                note, where = TIED.partition(": ")[2], gt.loc.body(name, tied)
                table = table.tab_footnote(note, where, placement="right")
        if self.verdict:
            table = table.tab_header(self.verdict)
            table = table.tab_options(heading_align="left", heading_title_font_size="14px")
        for note in self.notes:
            if note != TIED:
                table = table.tab_source_note(gt.html(html.escape(note)))
        return table

    def _repr_html_(self) -> str:
        if find_spec("great_tables") is None:
            return self.html()
        written: str = self.great_table().as_raw_html()
        return written

    def _headed(self, escapes: dict[int, str] | None = None, after: str = "") -> list[str]:
        """Lines of the verdict, and an empty one; nothing if there is none."""
        text = self.verdict.translate(escapes or {}) + after
        lines = textwrap.wrap(text, _LINE, break_long_words=False)  # it would break escapes
        return [*lines, ""] if self.verdict else []

    def _columns(self, best: str, escapes: dict[int, str]) -> list[Column]:
        """Columns of text, in which names are escaped."""
        columns = []
        for column in map(Column.cut, self.columns):
            title, cells = column.title.translate(escapes), column.cells
            if not column.is_number:
                cells = [value.translate(escapes) for value in cells]
            written = column._replace(cells=cells).written(best)
            columns.append(Column(title, written, column.is_number))
        return columns


def as_text(columns: Iterable[Column]) -> list[str]:
    """Lines of aligned text."""
    head, *body = zip(*(column.aligned() for column in columns), strict=True)
    rule = ["-" * len(title) for title in head]
    return ["  ".join(cells).rstrip() for cells in (head, rule, *body)]


def as_markdown(columns: Iterable[Column]) -> list[str]:
    """Lines of a Markdown table."""
    escaped = [
        column._replace(
            title=column.title.replace("|", r"\|"),
            cells=[cell.replace("|", r"\|") for cell in column.cells],
        )
        for column in columns
    ]
    head, *body = zip(*(column.aligned() for column in escaped), strict=True)
    rule = [
        "-" * max(len(title) - 1, 1) + ":" if column.is_number else "-" * len(title)
        for title, column in zip(head, escaped, strict=True)
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *body)]
