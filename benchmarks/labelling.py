"""Labelling responses: strictly, against a Python loop; leniently, against strictly."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, against

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_MOST = 6.5 / 8
"""An eighth of what the original takes for a million answers."""

_WITHIN = 6
"""Times the strict labels that lenient ones may take, all their columns included."""

_WORDS = 49
"""Words of a response, of some eight characters each with the space."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    frame = responses(2_000 if small else 1_000_000)
    accented = missed(2_000 if small else 200_000)
    texts, answers = frame["response"].to_list(), frame["answers"].to_list()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "responses.parquet")
        frame.write_parquet(path)
        other = Path(folder, "accented.parquet")
        accented.write_parquet(other)
        return [
            against(
                f"label, {len(frame):,} responses from Parquet, 3 aliases",
                partial(labelled, path),
                partial(loop, texts, answers),
                called="a loop over them in memory",
                at_most=_AT_MOST,
                rounds=1 if small else 3,
            ),
            against(
                f"lenient labels of the same {len(frame):,} responses",
                partial(labelled, path, mode="lenient"),
                partial(labelled, path),
                called="strict labels",
                within=_WITHIN,
                rounds=1 if small else 5,
            ),
            against(
                f"lenient labels of {len(accented):,} responses with accents, all aliases missed",
                partial(labelled, other, mode="lenient"),
                partial(labelled, other),
                called="strict labels",
                within=_WITHIN,
                rounds=1 if small else 5,
            ),
        ]


def responses(count: int, seed: int = 0) -> pl.DataFrame:
    """Responses of some 400 characters with three aliases each, found in a fifth of them."""
    rng = np.random.default_rng(seed)
    syllables = ["Ra", "no", "mi", "Tel", "kor", "sa", "ven", "Lu"]
    words = pl.Series([a + b + c for a in syllables for b in syllables for c in syllables])
    names = [f"w{k}" for k in range(_WORDS)]
    frame = pl.DataFrame({name: words.gather(rng.integers(0, len(words), count)) for name in names})
    hidden = pl.when(pl.int_range(pl.len()) % 5 == 0).then(pl.lit("")).otherwise(pl.lit("x"))
    aliases = [pl.concat_str(pl.col(f"w{3 * k}") + " ", f"w{3 * k + 1}", hidden) for k in range(3)]
    return frame.select(
        dataset=pl.lit("en"),
        response=pl.concat_str(names, separator=" "),
        answers=pl.concat_list(aliases).reshape((-1, 1, 3)).cast(pl.List(pl.List(pl.String))),
    )


def missed(count: int) -> pl.DataFrame:
    """Such responses with accents in about a third of the words, of which no alias is found."""
    accents = pl.col("response").str.replace_many(
        ["ano", "eno", "ra", "sa"], ["áno", "éno", "rà", "sâ"]
    )
    nowhere = pl.element().list.eval(pl.element() + "x")
    return responses(count).with_columns(accents, pl.col("answers").list.eval(nowhere))


def labelled(path: Path, mode: Literal["strict", "lenient"] = "strict") -> pl.DataFrame:
    """All columns of labels, streamed."""
    scan = pl.scan_parquet(path)
    made = ef.rag.label(scan, mode=mode).drop(scan.collect_schema().names())
    return made.collect(engine="streaming")


def loop(texts: Sequence[str], answers: Sequence[Sequence[Sequence[str]]]) -> list[list[int]]:
    """The same rules, response by response."""
    labels = []
    for text, groups in zip(texts, answers, strict=True):
        _flag = "factual errors" in text or "事实性错误" in text
        if "insufficient information" in text or "信息不足" in text:
            labels.append([-1])
            continue
        lower = text.lower()
        labels.append([int(any(a.lower() in lower for a in group)) for group in groups])
    return labels
