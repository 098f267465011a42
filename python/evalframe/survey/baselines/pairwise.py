"""Similarity of all pairs of segments, question by question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise:
    """Similarities of all segments that answered a question: one square for each question."""

    order: Ints  # rows of the distributions, question by question
    sizes: Ints  # segments that answered each question
    # The squares, one after the other. A line has one actual distribution against the distribution
    # of each segment as its prediction; NaN where the metric is undefined.
    cells: Floats

    @classmethod
    def of(cls, distributions: pl.DataFrame, value: pl.Expr, *, half: bool) -> Pairwise:
        """Compute the metric for all pairs; for a symmetric one half of them is enough."""
        import numpy as np

        order, sizes = _by_question(distributions)
        starts = segments.starts_of(sizes)
        corners = segments.starts_of(sizes * sizes)
        question = np.repeat(np.arange(len(sizes)), sizes * sizes)
        within = np.arange(corners[-1]) - corners[question]
        line, column = np.divmod(within, sizes[question])
        upper = np.flatnonzero(line <= column) if half else np.arange(corners[-1])
        rows = order[starts[question[upper]] + line[upper]]
        others = order[starts[question[upper]] + column[upper]]
        cells = np.empty(corners[-1])
        cells[upper] = _similarities(distributions["actual"], rows, others, value)
        if half:
            owner = question[upper]
            cells[corners[owner] + column[upper] * sizes[owner] + line[upper]] = cells[upper]
        return cls(order, sizes, cells)

    def means(self, *, with_itself: bool) -> Floats:
        """The mean of each line, for the rows of the distributions; NaN without any value."""
        import numpy as np

        lines = segments.starts_of(np.repeat(self.sizes, self.sizes))
        counted = ~np.isnan(self.cells)
        if not with_itself:
            counted &= ~self.diagonal()
        total = segments.totals(np.where(counted, self.cells, 0.0), lines)
        count = segments.totals(counted.astype(np.float64), lines)
        means = np.empty(len(self.order))
        with np.errstate(invalid="ignore"):
            means[self.order] = total / count
        return means

    def diagonal(self) -> Bools:
        """True for cells of a segment against itself."""
        import numpy as np

        width = np.repeat(self.sizes, self.sizes)
        offset = np.arange(len(width)) - np.repeat(segments.starts_of(self.sizes)[:-1], self.sizes)
        flags = np.zeros(len(self.cells), dtype=np.bool_)
        flags[segments.starts_of(width)[:-1] + offset] = True
        return flags


def _by_question(distributions: pl.DataFrame) -> tuple[Ints, Ints]:
    """Rows question by question, both in the order of their first rows, and rows of each."""
    rows = distributions.select("round", "question_id").with_row_index("row")
    questions = rows.group_by("round", "question_id", maintain_order=True).agg("row")
    sizes = questions["row"].list.len().cast(pl.Int64).to_numpy()
    return questions["row"].explode(empty_as_null=False).cast(pl.Int64).to_numpy(), sizes


def _similarities(actual: pl.Series, rows: Ints, others: Ints, value: pl.Expr) -> Floats:
    pairs = pl.DataFrame({"predicted": actual.gather(others), "actual": actual.gather(rows)})
    return pairs.select(value.cast(pl.Float64).alias("value"))["value"].to_numpy()
