"""The permutation baseline: what a model scores that answers for segments in random order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import segments
from evalframe.core.errors import ParameterError
from evalframe.survey.baselines.pairwise import Pairwise
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.inference.percentiles import percentiles
from evalframe.survey.surveys.tables import as_distributions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats, Ints
    from evalframe.survey.similarity.registry import Metric
    from evalframe.survey.surveys.tables import AnySurvey

By: TypeAlias = Literal["round", "all"]

_CELLS = 1 << 20
"""Draws that are held at a time."""


def permutation_baseline(
    survey: AnySurvey,
    *,
    by: By = "round",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Mean score when the segments of each question are permuted at random: mean and interval.

    A permutation gives the answers of one segment as the prediction for another, in each question
    anew. It may leave a segment where it is, so its expectation lies above the cross-segment
    baseline x: with S segments it is x + (1 - x) / S.

    Args:
        survey: As for `as_distributions`.
        by: One row per `round`, or one for `all` pairs of all rounds together.
        metric: As for `baseline`.
        n: Number of permutations.
        seed: Of the permutations.
        level: Coverage of the interval of the permuted means.
        rules: `documented`, or `reference`: the original's floor in the metric and its percentiles,
            sorted values at `floor(p n)` instead of interpolated ones.

    Returns:
        `round` (unless `all`), `model` (`baseline:permutation`), `mean`, `lower`, `upper` of the
        permuted means, `expected` (the exact mean over all permutations), `n_pairs` (segments times
        questions), sorted by round. The permutations of a round hang on the seed and on its own
        rows, whatever their order and the other rounds. Pairs whose similarity is undefined add
        nothing.

    Raises:
        ContractError: As for `as_distributions`.
        MissingColumnsError: Likewise.
        ParameterError: A parameter lies outside its domain.

    References:
        dtef-app 52d79c0, the shuffled baseline of its analysis script.

    Example:
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["q", "q"],
        ...         "segment_id": ["gender:male", "gender:female"],
        ...         "actual": [[1.0, 0.0], [0.0, 1.0]],
        ...     }
        ... )
        >>> permutation_baseline(survey).select("lower", "upper", "expected").collect().row(0)
        (0.0, 1.0, 0.5)
    """
    if by not in ("round", "all"):
        raise ParameterError(f'by must be "round" or "all", got {by!r}')
    check_draws(n, seed, level)
    distributions = as_distributions(survey).collect().sort(KEYS)
    pairwise = Pairwise.of(distributions, metric, rules)
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
    own = distributions["round"].gather(first).to_list()
    permuted = permuted_means(pairwise, group_of.to_numpy(), own, n, seed)
    lower, upper = percentiles(permuted, level, rules)
    table = groups.with_columns(
        pl.lit("baseline:permutation").alias("model"),
        pl.Series("mean", permuted.mean(axis=0)).fill_nan(None),
        pl.Series("lower", lower).fill_nan(None),
        pl.Series("upper", upper).fill_nan(None),
    )
    shown = ["model", "mean", "lower", "upper", "expected", "n_pairs"]
    return table.select(*(["round"] if by == "round" else []), *shown).lazy()


def permuted_means(
    pairwise: Pairwise, group_of: Ints, rounds: Sequence[str], n: int, seed: int
) -> Floats:
    """Means of permuted similarities, permutations by groups of questions.

    Args:
        pairwise: The similarities.
        group_of: The group of each question, from 0.
        rounds: The round of each question, whose permutations are drawn apart.
        n: Number of permutations.
        seed: Of the permutations. The numbers do not depend on how many are drawn at a time.
    """
    import numpy as np

    corners = segments.starts_of(pairwise.sizes**2)
    totals = np.zeros((n, int(group_of.max(initial=-1)) + 1))
    counts = np.zeros_like(totals)
    known = ~np.isnan(pairwise.cells)
    whole = bool(known.all())
    cells = np.where(known, pairwise.cells, 0.0)
    asked: dict[tuple[str, int], list[int]] = {}
    for question, kind in enumerate(zip(rounds, pairwise.sizes.tolist(), strict=True)):
        asked.setdefault(kind, []).append(question)
    for (name, size), questions in asked.items():
        group = group_of[questions[0]]
        lines = corners[questions][:, None] + size * np.arange(size)
        rng = np.random.default_rng([seed, size, *name.encode()])
        for rows, chosen in _permutations(rng, n, len(questions), size):
            places = lines + chosen
            totals[rows, group] += cells[places].sum(axis=(1, 2))
            counts[rows, group] += places[0].size if whole else known[places].sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        return totals / counts


def _permutations(
    rng: np.random.Generator, n: int, questions: int, size: int
) -> Iterator[tuple[slice, Ints]]:
    """Permutations of 0 to size - 1, one for each question, a few replicates at a time.

    Random numbers carry the place in their lowest bits and are sorted, which is the fastest way.
    """
    import numpy as np

    step = max(1, _CELLS // (questions * size))
    low = np.uint64((1 << (size - 1).bit_length()) - 1)
    place = np.arange(size, dtype=np.uint64)
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        shape = (rows.stop - first, questions, size)
        drawn = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
        drawn = np.sort((drawn & ~low) | place, axis=2)
        yield rows, (drawn & low).astype(np.int64)
