"""Replicates of scores under a bootstrap of participants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalframe.core.tables import Keys, lazy
from evalframe.evaluation import named_cluster
from evalframe.replication.participants import participant_statistics, resampled_statistics
from evalframe.replication.participants.replicates import REPLICATE
from evalframe.replication.uncertainty.pipeline import SCORES
from evalframe.replication.uncertainty.spreads import ENTRY, numbers, with_entries, with_spreads
from evalframe.resample import intervals
from evalframe.resample.progress import reporter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.replication.uncertainty.pipeline import Pipeline
    from evalframe.resample.intervals import Spread
    from evalframe.resample.methods import Bootstrap


def scores_with_spreads(
    pipeline: Pipeline, responses: Frame, design: Frame, by: By, resample: Bootstrap
) -> pl.DataFrame:
    """The scores of all groups with their uncertainty; arguments as in `participant_intervals`."""
    resample = resample.of_differences
    points = pipeline.scores(participant_statistics(responses, design, by=by), [])
    chunks = replicate_scores(pipeline, responses, design, by, resample)
    drawn = _drawn(resample, points, pipeline, chunks)
    clusters = _participants(responses, points, pipeline, by, resample)
    spread: dict[str, Spread] = {}
    bias: dict[str, Floats] = {}
    for name in SCORES:
        point = numbers(points[name])
        sample = intervals.Sample(point, drawn[name], clusters=clusters)
        made = intervals.without_lone(intervals.bootstrap_spread(resample, sample), clusters)
        made = intervals.within_range(resample, made, point, *np.asarray(SCORES[name]))
        bias[name] = _bias(point, drawn[name], made)
        spread[name] = made
        if resample.interval in ("percentile", "expanded"):
            spread[name] = _moved(made, bias[name], SCORES[name])
    return with_spreads(resample, points, spread, clusters, bias)


def replicate_scores(
    pipeline: Pipeline, responses: Frame, design: Frame, by: By, resample: Bootstrap
) -> Iterator[pl.DataFrame]:
    """The scores of replicates, in chunks that bound memory: `replicate`, the group, the scores."""
    for chunk in resampled_statistics(responses, design, resample, by=by):
        yield pipeline.scores(chunk, [REPLICATE])


def _drawn(
    method: Bootstrap, points: pl.DataFrame, pipeline: Pipeline, chunks: Iterable[pl.DataFrame]
) -> dict[str, Floats]:
    """Scores by name, replicates by groups; NaN where a replicate has none."""
    made = {name: np.full((method.n, len(points)), np.nan) for name in SCORES}
    progress = method.progress or reporter("bootstrap of participants")
    for chunk in chunks:
        numbered = with_entries(chunk, points, pipeline.group)
        place = (numbered[REPLICATE].to_numpy(), numbered[ENTRY].to_numpy())
        for name in SCORES:
            made[name][place] = numbers(numbered[name])
        progress(int(place[0].max(initial=-1)) + 1, method.n)
    return made


def _bias(point: Floats, drawn: Floats, spread: Spread) -> Floats:
    """How far the replicates lie above the estimate on average, where they have a spread."""
    known = ~np.isnan(drawn)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, drawn, 0.0).sum(axis=0) / count
    return np.where(np.isnan(spread.std_error), np.nan, mean - point)


def _moved(spread: Spread, bias: Floats, ends: tuple[float, float]) -> Spread:
    """The interval moved by the bias, so that it stands around the estimate, within the range."""
    lower, upper = (np.clip(end - bias, *ends) for end in (spread.lower, spread.upper))
    return spread._replace(lower=lower, upper=upper)


def _participants(
    responses: Frame, points: pl.DataFrame, pipeline: Pipeline, by: By, resample: Bootstrap
) -> Ints:
    """How many participants each group has."""
    keys = Keys.of(by)
    people = lazy(responses).select(
        *keys.exprs, "study_id", named_cluster("participants", resample).alias(":participant")
    )
    table = pipeline.with_domains(people.unique()).collect()
    entries = with_entries(table, points, pipeline.group)[ENTRY].to_numpy()
    return np.bincount(entries.astype(np.int64), minlength=len(points))
