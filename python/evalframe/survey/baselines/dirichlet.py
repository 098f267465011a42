"""Random predictions: distributions drawn evenly from all that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.contract import KEYS
from evalframe.survey.similarity.registry import known_by, metric_expression

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.survey.similarity.registry import Metric

_CELLS = 1 << 22


def dirichlet_scores(
    distributions: pl.DataFrame, metric: Metric, rules: Rules, n: int, seed: int
) -> Floats:
    """The mean score of n draws of Dirichlet(1, ..., 1) for each distribution.

    Draws go to the distributions in the order of their keys, so the order of rows changes nothing.
    """
    import numpy as np

    value = metric_expression(metric, "predicted", "actual", known_by(rules)).alias("value")
    order = distributions.with_row_index(":row").sort(KEYS)[":row"].to_numpy()
    sizes = distributions["n_options"].to_numpy()[order]
    scores = np.full(len(order), np.nan)
    for size in np.unique(sizes):
        rng = np.random.default_rng([seed, int(size)])
        rows = order[sizes == size]
        step = max(1, _CELLS // int(n * size))
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            drawn = rng.standard_exponential((len(part) * n, int(size)))
            actual = distributions["actual"].gather(np.repeat(part, n))
            pairs = pl.DataFrame({"predicted": drawn, "actual": actual})
            values = pairs.select(value.cast(pl.Float64))["value"].to_numpy()
            scores[part] = values.reshape(len(part), n).mean(axis=1)
    return scores
