"""Selecting documents, against a Python loop over instances and a bare gather of passages."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe.compat import rgb
from evalframe.rag.documents.selecting import select_documents

_AT_MOST = 5.0
"""Seconds for a million instances."""

_NOISE_RATE, _PASSAGE_NUM = 0.4, 5


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    count = 2_000 if small else 1_000_000
    frame = instances(count)
    rounds = 1 if small else 3
    few = frame.head(count // 10)
    return [
        against(
            f"select_documents, seeded, {count:,} instances",
            partial(selected, frame, select_documents),
            partial(gathered, frame),
            called="a bare gather of as many passages",
            at_most=_AT_MOST,
            rounds=rounds,
        ),
        against(
            f"select_documents, original, {count:,} instances",
            partial(selected, frame, rgb.select_documents),
            partial(gathered, frame),
            called="a bare gather of as many passages",
            at_most=_AT_MOST,
            rounds=rounds,
        ),
        against(
            f"select_documents, original, {len(few):,} instances",
            partial(selected, few, rgb.select_documents),
            partial(loop, few["positive"].to_list(), few["negative"].to_list()),
            called="a loop over them",
            rounds=rounds,
        ),
    ]


def instances(count: int, seed: int = 0) -> pl.DataFrame:
    """Instances with 10 positive and 20 negative passages each, short ones."""
    rng = np.random.default_rng(seed)
    passages = pl.Series([f"passage {number}" for number in range(5_000)])

    def lists(length: int) -> pl.Series:
        drawn = passages.gather(rng.integers(0, len(passages), count * length))
        return drawn.reshape((count, length)).arr.to_list()

    return pl.DataFrame(
        {
            "dataset": pl.Series(["en", "zh_refine"]).gather(np.arange(count) % 2),
            "id": np.arange(count),
            "positive": lists(10),
            "negative": lists(20),
        }
    )


def selected(frame: pl.DataFrame, select: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    """All columns."""
    return select(frame, noise_rate=_NOISE_RATE, passage_num=_PASSAGE_NUM)


def gathered(frame: pl.DataFrame) -> pl.DataFrame:
    """As many passages of each list, the first ones."""
    n_neg = round(_NOISE_RATE * _PASSAGE_NUM)
    heads = pl.concat_list(
        pl.col("positive").list.head(_PASSAGE_NUM - n_neg), pl.col("negative").list.head(n_neg)
    )
    return frame.with_columns(documents=heads)


def loop(positive: Sequence[list[str]], negative: Sequence[list[str]]) -> list[list[str]]:
    """The same documents, instance by instance."""
    n_neg = round(_NOISE_RATE * _PASSAGE_NUM)
    documents = []
    for right, noise in zip(positive, negative, strict=True):
        random.seed(2333)
        shown = right[: _PASSAGE_NUM - n_neg] + noise[:n_neg]
        random.shuffle(shown)
        documents.append(shown)
    return documents
