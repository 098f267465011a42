"""Values of metrics in all replicates, chunk by chunk, in threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from evalframe.core.errors import ParameterError
from evalframe.resample.draws import Chunk, Weights, nudged
from evalframe.resample.nested import Contractions

if TYPE_CHECKING:
    from evalframe.core.progress import Progress
    from evalframe.core.segments import Floats
    from evalframe.resample.contraction import Contraction, Weighable


CELLS = 1 << 19
"""Numbers per array in a chunk of replicates: large enough that calls do not count."""

WEIGHTS = 1 << 22
"""Weights per chunk of replicates."""

THREADS = min(os.cpu_count() or 1, 4)
"""Chunks at work at a time: kernels run outside the interpreter's lock."""

HOPELESS = 1 << 35
"""Levels of all replicates that nobody would wait for."""


def replicates(contraction: Weighable, weights: Weights, progress: Progress) -> Floats:
    """Values of all metrics for all weights: metrics by replicates by groups."""
    # Kernels release the interpreter's lock, so chunks run in threads; results keep their order.
    if weights.held == 1 and weights.total * contraction.width > HOPELESS:
        raise ParameterError(
            f"leaving out each of {weights.total:,} clusters at {contraction.width:,} levels is "
            "hours of work; name a coarser cluster, or use ef.Bootstrap with another interval"
        )
    chunk = max(1, min(CELLS // max(1, contraction.width), WEIGHTS // weights.held, weights.total))
    parts: list[Floats] = []
    done = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for values in _in_order(pool, contraction, weights.chunks(chunk)):
            parts.append(values)
            done += values.shape[1]
            progress(done, weights.total)
    return np.concatenate(parts, axis=1)


def moved(contraction: Contraction | Contractions, by: float, progress: Progress) -> Floats:
    """Values with each cluster's weight changed: metrics by clusters by groups."""

    def one_by_one(each: Weighable) -> Floats:
        return replicates(each, nudged(each.clusters, by), progress)

    if isinstance(contraction, Contractions):
        return contraction.moved(by, one_by_one)
    return one_by_one(contraction)


def _in_order(
    pool: ThreadPoolExecutor, contraction: Weighable, chunks: Iterable[Chunk]
) -> Iterator[Floats]:
    """The values of chunks, a few at a time in work and in memory."""
    pending: deque[Future[Floats]] = deque()
    try:
        for part in chunks:
            pending.append(pool.submit(contraction.values, part))
            if len(pending) > THREADS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:  # nobody waits for them after an interrupt
        for each in pending:
            each.cancel()
