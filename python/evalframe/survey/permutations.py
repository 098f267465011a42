"""Similarities of all pairs of segments, and the permutation baseline computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.core.errors import ParameterError
from evalframe.core.typing import Frame
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.common import central_quantiles, check_draws
from evalframe.survey.similarity.registry import Metric, is_symmetric, metric_expression
from evalframe.survey.surveys.tables import Survey, as_distributions, like_survey

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


By: TypeAlias = Literal["round", "all"]
_CELLS = 1 << 20  # draws at a time


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
        questions = (
            distributions.with_row_index("row")
            .group_by("round", "question_id", maintain_order=True)
            .agg(pl.col("row").cast(pl.Int64))["row"]
        )
        sizes = questions.list.len().cast(pl.Int64).to_numpy()
        order = questions.explode(empty_as_null=False).to_numpy()
        starts = segments.starts_of(sizes)
        corners = segments.starts_of(sizes * sizes)
        question = np.repeat(np.arange(len(sizes)), sizes * sizes)
        within = np.arange(corners[-1]) - corners[question]
        line, column = np.divmod(within, sizes[question])
        upper = np.flatnonzero(line <= column) if half else np.arange(corners[-1])
        rows = order[starts[question[upper]] + line[upper]]
        others = order[starts[question[upper]] + column[upper]]
        actual = distributions["actual"]
        pairs = pl.DataFrame({"predicted": actual.gather(others), "actual": actual.gather(rows)})
        cells = np.empty(corners[-1])
        cells[upper] = pairs.select(value.cast(pl.Float64)).to_series().to_numpy()
        if half:
            owner = question[upper]
            cells[corners[owner] + column[upper] * sizes[owner] + line[upper]] = cells[upper]
        return cls(order, sizes, cells)

    def means(self, *, with_itself: bool) -> Floats:
        """The mean of each line, for the rows of the distributions; NaN without any value."""
        lines = segments.starts_of(np.repeat(self.sizes, self.sizes))
        counted = ~np.isnan(self.cells)
        if not with_itself:
            starts = np.repeat(segments.starts_of(self.sizes)[:-1], self.sizes)
            counted[lines[:-1] + np.arange(len(self.order)) - starts] = False
        total = segments.totals(np.where(counted, self.cells, 0.0), lines)
        count = segments.totals(counted.astype(np.float64), lines)
        means = np.empty(len(self.order))
        with np.errstate(invalid="ignore"):
            means[self.order] = total / count
        return means


@like_survey
def permutation_baseline(
    survey: Survey | Frame,
    *,
    by: By = "round",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """Mean score when the segments of each question are permuted at random: mean and interval.

    A permutation gives the answers of one segment as the prediction for another, in each question
    anew. It can leave a segment unchanged, so its expectation lies above the cross-segment baseline
    x: with S segments it is x + (1 - x) / S. It is the shuffled baseline of dtef-app 52d79c0.

    Args:
        survey: As for `as_distributions`.
        by: One row per `round`, or one for `all` pairs of all rounds together.
        metric: As for `baseline`.
        n: Number of permutations.
        seed: Of the permutations.
        level: Coverage of the interval of the permuted means.

    Returns:
        `round` (unless `all`), `model` (`baseline:permutation`), `mean`, `lower`, `upper` of the
        permuted means, `expected` (the exact mean over all permutations), `n_pairs` (segments times
        questions), sorted by round. The permutations of a round depend only on the seed and its
        rows, not on their order. Pairs without a similarity are left out. Lazy if the survey is a
        LazyFrame.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = {"segment_id": ["a", "b"], "actual": [[1.0, 0.0], [0.0, 1.0]]}
        >>> survey = pl.DataFrame({"question_id": ["q", "q"], **answers})
        >>> ef.survey.permutation_baseline(survey).select("lower", "upper", "expected").row(0)
        (0.0, 1.0, 0.5)
    """
    value = metric_expression(metric, "predicted", "actual")
    table, means = permuted(survey, by, value, n, seed, level, half=is_symmetric(metric))
    return with_limits(table, means, *central_quantiles(means, level)).lazy()


def permuted(
    survey: Survey | Frame, by: By, value: pl.Expr, n: int, seed: int, level: float, *, half: bool
) -> tuple[pl.DataFrame, Floats]:
    """Expected mean and number of pairs of each group, and the permuted means by groups."""
    if by not in ("round", "all"):
        raise ParameterError(f'by must be "round" or "all", got {by!r}')
    check_draws(n, seed, level)
    distributions = as_distributions(survey).lazy().collect().sort(KEYS)
    pairwise = Pairwise.of(distributions, value, half=half)
    keyed = distributions.select(
        round="round" if by == "round" else pl.lit("all"),
        expected=pl.Series(pairwise.means(with_itself=True), nan_to_null=True),
    )
    groups = keyed.group_by("round", maintain_order=True).agg(
        pl.col("expected").mean(), n_pairs=pl.len().cast(pl.Int64)
    )
    first = pairwise.order[segments.starts_of(pairwise.sizes)[:-1]]
    number = pl.int_range(len(groups), eager=True)
    group_of = keyed["round"].gather(first).replace_strict(groups["round"], number)
    rounds = distributions["round"].gather(first).to_list()
    means = permuted_means(pairwise, group_of.to_numpy(), rounds, n, seed)
    return groups if by == "round" else groups.drop("round"), means


def with_limits(table: pl.DataFrame, means: Floats, lower: Floats, upper: Floats) -> pl.DataFrame:
    """The table of `permutation_baseline`."""
    columns = {"mean": means.mean(axis=0), "lower": lower, "upper": upper}
    return table.select(
        *(["round"] if "round" in table.columns else []),
        pl.lit("baseline:permutation").alias("model"),
        *(pl.Series(name, values).fill_nan(None) for name, values in columns.items()),
        "expected",
        "n_pairs",
    )


def permuted_means(
    pairwise: Pairwise, group_of: Ints, rounds: Sequence[str], n: int, seed: int
) -> Floats:
    """Means of permuted similarities, permutations by groups of questions."""
    # The questions of a round with equally many segments are permuted together, with a generator
    # for each, so that the numbers depend neither on other rounds nor on the size of chunks.
    corners = segments.starts_of(pairwise.sizes**2)
    totals = np.zeros((n, int(group_of.max(initial=-1)) + 1))
    counts = np.zeros_like(totals)
    is_valid = ~np.isnan(pairwise.cells)
    all_valid = bool(is_valid.all())
    cells = np.where(is_valid, pairwise.cells, 0.0)
    batches: dict[tuple[str, int], list[int]] = {}
    for question, kind in enumerate(zip(rounds, pairwise.sizes.tolist(), strict=True)):
        batches.setdefault(kind, []).append(question)
    for (name, size), questions in batches.items():
        group = group_of[questions[0]]
        lines = corners[questions][:, None] + size * np.arange(size)
        rng = np.random.default_rng([seed, size, *name.encode()])
        for rows, chosen in _permutations(rng, n, len(questions), size):
            indices = lines + chosen
            totals[rows, group] += cells[indices].sum(axis=(1, 2))
            counts[rows, group] += (
                indices[0].size if all_valid else is_valid[indices].sum(axis=(1, 2))
            )
    with np.errstate(invalid="ignore"):
        return totals / counts


def _permutations(
    rng: np.random.Generator, n: int, questions: int, size: int
) -> Iterator[tuple[slice, Ints]]:
    """Permutations of 0 to size - 1, one for each question, a few replicates at a time."""
    # Random numbers with the index in their lowest bits are sorted, which is the fastest way.
    step = max(1, _CELLS // (questions * size))
    low = np.uint64((1 << (size - 1).bit_length()) - 1)
    index = np.arange(size, dtype=np.uint64)
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        shape = (rows.stop - first, questions, size)
        numbers = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
        numbers = np.sort((numbers & ~low) | index, axis=2)
        yield rows, (numbers & low).astype(np.int64)
