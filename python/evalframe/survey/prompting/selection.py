"""The questions to ask, by the votes of several models, and samples seeded by a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from evalframe.core.errors import ParameterError

T = TypeVar("T")

_32_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Curation:
    """Result of the votes.

    Attributes:
        question_ids: The questions to ask, by mean rank, without the excluded ones.
        exclusions: `question_id`, `votes`: questions that at least half of the models exclude.
        ranking: Every question with `votes` (models that ranked it) and `mean_rank` (from 0; the
            number of questions if none did), by votes, then by rank.
        unknown: Ids in the votes that are not questions; they are ignored.

    Examples:
        >>> votes = curate(["a", "b"], exclusions=[["a"], []], rankings=[["b"], ["b", "z"]])
        >>> votes.question_ids, votes.n_ranked, votes.unknown
        (['b'], 1, ['z'])
    """

    question_ids: list[str]
    exclusions: pl.DataFrame
    ranking: pl.DataFrame
    unknown: list[str]

    @property
    def n_ranked(self) -> int:
        """Number of questions to ask that a model ranked."""
        return len(self.ranking.filter(_ID.is_in(self.question_ids), pl.col("votes") > 0))


_ID = pl.col("question_id")


def curate(
    question_ids: Sequence[str],
    *,
    exclusions: Sequence[Sequence[str]],
    rankings: Sequence[Sequence[str]],
) -> Curation:
    """The consensus of several models on the questions to ask.

    Ties keep the order of the questions.

    Args:
        question_ids: All questions.
        exclusions: For each model, the questions that it would leave out. One vote of two suffices.
        rankings: For each model, the questions that it would ask, the best first.

    Raises:
        ParameterError: Not as many exclusions as rankings, or a question that occurs twice.

    References:
        dtef-app 52d79c0.

    Example:
        >>> votes = curate(["a", "b", "c"], exclusions=[["a"], []], rankings=[["c", "b"], ["b"]])
        >>> votes.ranking.rows()
        [('b', 2, 0.5), ('c', 1, 0.0), ('a', 0, 3.0)]
    """
    if len(exclusions) != len(rankings):
        raise ParameterError(
            f"there are exclusions of {len(exclusions)} models and rankings of {len(rankings)};"
            " give one of each for each model, be it empty"
        )
    if len({*question_ids}) < len(question_ids):
        raise ParameterError("question_ids has a question twice; name each once")
    questions = pl.DataFrame({"question_id": question_ids}, schema={"question_id": pl.String})
    against, ranked = _votes(exclusions), _votes(rankings)
    votes, mean_rank = pl.len().cast(pl.Int64).alias("votes"), pl.col("rank").mean()
    counts = against.group_by(_ID).agg(votes)
    excluded = questions.join(counts, on="question_id", maintain_order="left")
    excluded = excluded.filter(pl.col("votes") >= (len(rankings) + 1) // 2)
    ranks = ranked.group_by(_ID).agg(votes, mean_rank=mean_rank)
    ranking = questions.join(ranks, on="question_id", how="left", maintain_order="left")
    ranking = ranking.with_columns(
        pl.col("votes").fill_null(0), pl.col("mean_rank").fill_null(float(len(questions)))
    ).sort("votes", "mean_rank", descending=[True, False], maintain_order=True)
    remaining = ranking.join(excluded, on="question_id", how="anti", maintain_order="left")
    mentioned = pl.concat([against["question_id"], ranked["question_id"]])
    return Curation(
        question_ids=remaining.sort("mean_rank", maintain_order=True)["question_id"].to_list(),
        exclusions=excluded,
        ranking=ranking,
        unknown=sorted({*mentioned} - {*question_ids}),
    )


def _votes(lists: Sequence[Sequence[str]]) -> pl.DataFrame:
    """`model`, `question_id` and `rank`; of a question that a model names twice the first."""
    rows = [
        (model, name, rank) for model, names in enumerate(lists) for rank, name in enumerate(names)
    ]
    schema = {"model": pl.Int64, "question_id": pl.String, "rank": pl.Int64}
    votes = pl.DataFrame(rows, schema=schema, orient="row")
    return votes.unique(["model", "question_id"], keep="first", maintain_order=True)


def seeded_sample(items: Sequence[T], take: int, seed: str) -> list[T]:
    """A sample of items without replacement; all of them in their order if all are taken.

    It is the beginning of a Fisher-Yates shuffle by the generator mulberry32, whose state is the
    hash `31 h + c` of the UTF-16 code units of the seed.

    Args:
        items: The items to draw from.
        take: Number of items.
        seed: Any text, such as the id of a segment.

    References:
        dtef-app 52d79c0.

    Example:
        >>> seeded_sample(range(10), 3, "ageGroup:18-25")
        [9, 0, 5]
    """
    sample = list(items)
    if take >= len(sample):
        return sample
    for index, draw in zip(range(take), _draws(_hash(seed)), strict=False):
        other = index + int(draw * (len(sample) - index))
        sample[index], sample[other] = sample[other], sample[index]
    return sample[:take]


def shuffled(items: Sequence[T], seed: str) -> list[T]:
    """All items in the random order of `seeded_sample`."""
    if not items:
        return []
    most = seeded_sample(items, len(items) - 1, seed)
    used = seeded_sample(range(len(items)), len(items) - 1, seed)
    return [*most, *(item for index, item in enumerate(items) if index not in {*used})]


def _hash(text: str) -> int:
    units = text.encode("utf-16-le", "surrogatepass")
    code = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & _32_BITS
    return code


def _draws(state: int) -> Iterator[float]:
    """Numbers from 0 to below 1."""
    while True:
        state = (state + 0x6D2B79F5) & _32_BITS
        mixed = (state ^ state >> 15) * (state | 1) & _32_BITS
        mixed ^= (mixed + (mixed ^ mixed >> 7) * (mixed | 61)) & _32_BITS
        yield (mixed ^ mixed >> 14) / 2**32
