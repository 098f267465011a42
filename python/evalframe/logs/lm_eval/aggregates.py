"""How lm-evaluation-harness aggregates the values of a metric over the lines of a task.

An aggregation takes numbers of many replicates at once: shape (replicates, lines), or (replicates,
lines, 2) for pairs, and gives one value for each. The standard error of a mean has a formula; that
of some others is the spread of seeded resamples, which draw the same lines here as there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from evalframe.logs.lm_eval.samples import score_of

Array: TypeAlias = np.ndarray[Any, Any]

MOST_DRAWS = 2_000_000_000
"""Lines drawn, over all replicates, beyond which a bootstrap is not repeated (some 30 s)."""
_BLOCK = 4_000_000
_CHUNK = 1_000
"""Replicates that lm-evaluation-harness draws from one seed."""


class Aggregation(NamedTuple):
    """An aggregation of the values of a metric.

    Attributes:
        numbers: Numbers of each line, from its values as JSON text.
        value: The aggregate of each replicate.
        is_resampled: Its standard error is that of a bootstrap.
        tolerance: To which a published value follows.
    """

    numbers: Callable[[pl.Series], Array]
    value: Callable[[Array], Array]
    is_resampled: bool = False
    tolerance: float = 1e-9


def _scores(values: pl.Series) -> Array:
    scores = values.to_frame("value").select(score_of(pl.col("value"))).to_series()
    if scores.null_count():
        raise ValueError("some values are no numbers")
    return scores.to_numpy()


def _pairs(values: pl.Series) -> list[list[Any]]:
    pairs: list[list[Any]] = json.loads(f"[{','.join(values)}]")
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise ValueError("some values are no pairs")
    return pairs


def _weighted(values: pl.Series) -> Array:
    return np.array(_pairs(values), float)


def _labels(values: pl.Series) -> Array:
    """Gold and predicted label of each line, as indices into all labels."""
    pairs = np.array([[json.dumps(label) for label in pair] for pair in _pairs(values)])
    return np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape)


def _binary(values: pl.Series) -> Array:
    """Whether the gold and the predicted label of each line is 1."""
    pairs = _pairs(values)
    if len({label for pair in pairs for label in pair} - {1}) > 1:
        raise ValueError("f1 is of one label and 1")
    return np.array([[label == 1 for label in pair] for pair in pairs], float)


def _losses(values: pl.Series) -> Array:
    """The quadratic loss of each line: sum of p^2 - 2 p[gold] + 1."""
    pairs = _pairs(values)
    gold = pl.Series([pair[0] for pair in pairs], dtype=pl.Int64)
    shares = pl.Series([str(pair[1]) for pair in pairs]).str.extract_all(r"[^\s\[\],]+")
    frame = pl.DataFrame({"gold": gold, "p": shares.cast(pl.List(pl.Float64))})
    p = pl.col("p")
    loss = (p * p).list.sum() - 2 * p.list.get(pl.col("gold")) + 1
    return frame.select(loss).to_series().to_numpy()


def _counts(labels: Array) -> Array:
    """How often each pair of labels occurs: shape (replicates, gold, predicted)."""
    n = int(labels.max()) + 1
    cells = labels[..., 0] * n + labels[..., 1] + np.arange(len(labels))[:, None] * n * n
    return np.bincount(cells.ravel(), minlength=len(labels) * n * n).reshape(-1, n, n)


def _correlation(labels: Array) -> Array:
    """Matthews' correlation coefficient; 0 where it is undefined."""
    counts = _counts(labels).astype(float)
    n, right = counts.sum((1, 2)), np.trace(counts, axis1=1, axis2=2)
    gold, predicted = counts.sum(2), counts.sum(1)
    together = right * n - (gold * predicted).sum(1)
    alone = (n * n - (gold * gold).sum(1)) * (n * n - (predicted * predicted).sum(1))
    return _ratio(together, np.sqrt(alone))


def _f1(is_one: Array) -> Array:
    """F1 of the label 1; 0 where no line has it."""
    hits = (is_one[..., 0] * is_one[..., 1]).sum(1)
    all_of_it = is_one.sum((1, 2))
    return _ratio(2 * hits, all_of_it)


def _ratio(above: Array, below: Array) -> Array:
    """The quotient, 0 where nothing is below."""
    found: Array = np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
    return found


def _mean(x: Array) -> Array:
    found: Array = x.mean(1)
    return found


def _per_weight(x: Array) -> Array:
    found: Array = x[..., 0].sum(1) / x[..., 1].sum(1)
    return found


AGGREGATIONS = {
    "mean": Aggregation(_scores, _mean),
    "nanmean": Aggregation(_scores, lambda x: np.nanmean(x, 1), is_resampled=True),
    "median": Aggregation(_scores, lambda x: np.sort(x, 1)[:, x.shape[1] // 2], is_resampled=True),
    "perplexity": Aggregation(_scores, lambda x: np.exp(-_mean(x)), is_resampled=True),
    "weighted_perplexity": Aggregation(_weighted, lambda x: np.exp(-_per_weight(x))),
    "bits_per_byte": Aggregation(_weighted, lambda x: -_per_weight(x) / np.log(2)),
    "brier_score": Aggregation(_losses, _mean, tolerance=1e-6),  # of rounded probabilities
    "matthews_corrcoef": Aggregation(_labels, _correlation, is_resampled=True),
    "f1": Aggregation(_binary, _f1, is_resampled=True),
}
"""Aggregations by the name that the configuration of a task has for them."""

OF_METRIC = {
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
    "brier_score": "brier_score",
    "mcc": "matthews_corrcoef",
    "f1": "f1",
    **{name: name for name in ("bleu", "chrf", "chrf++", "ter")},
}
"""Aggregations of metrics for which the configuration names none; those of others are means."""


def standard_error(aggregation: Aggregation, x: Array, n: int) -> float | None:
    """The standard error as lm-evaluation-harness has it; None where it has none."""
    if aggregation.is_resampled:
        values = np.concatenate([*_replicates(aggregation, x, n)])
        return float(values.std(ddof=1))
    if aggregation.value is _mean and aggregation.numbers is _scores:
        return float(x.std(ddof=1) / np.sqrt(len(x)))
    return None


def _replicates(aggregation: Aggregation, x: Array, n: int) -> Sequence[Array]:
    """Aggregates of resamples: chunk i of replicates is drawn by Python's generator of seed i."""
    chunk = min(_CHUNK, n)
    found = []
    for seed in range(n // chunk):
        _, state, _ = random.Random(seed).getstate()
        bits = np.random.MT19937()
        words = np.array(state[:-1], np.uint32)
        bits.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": state[-1]}}
        draws = np.random.Generator(bits)
        rows = max(1, _BLOCK // len(x))
        for start in range(0, chunk, rows):
            shares = draws.random((min(rows, chunk - start), len(x)))
            found.append(aggregation.value(x[(shares * len(x)).astype(np.intp)]))
    return found
