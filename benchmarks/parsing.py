"""Parsing responses: ours and that of dtef-app, against one regex pass over the same texts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe import survey
from evalframe.compat import dtef

_AT_MOST = 1.84 / 3
"""A third of what the original takes for a million responses."""

_CHARACTERS = 200

_SHARES = {"marker": 0.8, "bracket": 0.1, "lines": 0.04, "labelled": 0.04, "none": 0.02}
"""How often each way of writing comes."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    count = 2_000 if small else 1_000_000
    mixed, marked = responses(count), responses(count, {"marker": 1.0})
    rounds = 1 if small else 5
    figures = [
        _against_regex(f"parse, {count:,} responses, {told}, {reader}", frame, parse, rounds)
        for told, frame in (("mixed", mixed), ("all with marker", marked))
        for reader, parse in (("dtef", dtef.parse), ("evalframe", survey.parse))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "responses.parquet")
        mixed.write_parquet(path)
        scanned = against(
            f"parse, {count:,} mixed responses from Parquet, reference",
            partial(_parsed, pl.scan_parquet(path), dtef.parse),
            pl.scan_parquet(path).collect,
            called="reading them",
            rounds=rounds,
        )
    return [*figures, scanned]


def responses(count: int, shares: dict[str, float] | None = None, seed: int = 0) -> pl.DataFrame:
    """Reasoning and an answer of 2 to 7 numbers, 200 characters together."""
    rng = np.random.default_rng(seed)
    shares = shares or _SHARES
    words = ["trust", "age", "they would", "survey", "likely", "answer", "because", "opinion"]
    pool = [" ".join(rng.choice(words, 40))[:_CHARACTERS] for _ in range(1_000)]
    frame = pl.DataFrame(
        {
            "reasoning": pl.Series(pool).gather(rng.integers(0, len(pool), count)),
            "way": pl.Series(list(shares)).gather(
                rng.choice(len(shares), count, p=list(shares.values()))
            ),
            "n_options": rng.integers(2, 8, count),
        }
    )
    weights = rng.gamma(1.0, size=(count, 7)) * (
        np.arange(7) < frame["n_options"].to_numpy()[:, None]
    )
    percent = np.round(100 * weights / weights.sum(axis=1, keepdims=True), 1)
    numbers = pl.Series(percent).arr.to_list().cast(pl.List(pl.String)).alias("numbers")
    frame = frame.with_columns(numbers).with_columns(
        pl.col("numbers").list.head(pl.col("n_options"))
    )
    listed = pl.col("numbers").list.join(", ")
    letters = [f"{letter}. Option: " for letter in "abcdefg"]
    options = (
        pl.concat_str(pl.lit(letter), pl.col("numbers").list.get(k, null_on_oob=True), pl.lit("%"))
        for k, letter in enumerate(letters)
    )
    answers = {
        "marker": pl.format("DISTRIBUTION: [{}]", listed),
        "bracket": pl.format("[{}]", listed),
        "lines": listed,
        "labelled": pl.concat_str(options, separator="\n", ignore_nulls=True),
    }
    answer = pl.coalesce(
        *(pl.when(pl.col("way") == way).then(text) for way, text in answers.items()),
        pl.lit("I cannot say."),
    )
    room = (_CHARACTERS - 1 - pl.col("answer").str.len_chars()).clip(0)
    return frame.with_columns(answer=answer).select(
        pl.concat_str(pl.col("reasoning").str.head(room), pl.lit("\n"), "answer").alias("response"),
        "n_options",
    )


def _against_regex(
    name: str, frame: pl.DataFrame, parse: Callable[..., pl.LazyFrame], rounds: int
) -> Figure:
    return against(
        name,
        partial(_parsed, frame.lazy(), parse),
        partial(_matched, frame.lazy()),
        called="one regex that takes out the bracket",
        at_most=_AT_MOST,
        rounds=rounds,
    )


def _parsed(frame: pl.LazyFrame, parse: Callable[..., pl.LazyFrame]) -> pl.DataFrame:
    return parse(frame).select("predicted", "status", "parse_rule").collect()


def _matched(frame: pl.LazyFrame) -> pl.DataFrame:
    return frame.select(pl.col("response").str.extract(r"\[([^\]]+)\]")).collect()
