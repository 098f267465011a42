"""Replicates of scores under a bootstrap of participants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.progress import bar
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.replication.chain import SCORES, Pipeline
from evalframe.replication.participants.replicates import REPLICATE, resampled_statistics
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.replication.uncertainty.scores import ENTRY, numbers, with_entries, with_spreads
from evalframe.resample import intervals
from evalframe.resample.independence import named_cluster
from evalframe.resample.methods import Bootstrap

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.intervals import Spread


PERCENTILES = {
    "percentile_2_5": 0.025,
    "percentile_5": 0.05,
    "median": 0.5,
    "percentile_95": 0.95,
    "percentile_97_5": 0.975,
}
"""Columns of `random_alignment` and their quantiles, interpolated linearly."""

_POOLED = ":pooled"
_GAP = "\x1f"


def with_participant_spreads(
    pipeline: Pipeline, responses: Frame, design: Frame, by: By, resample: Bootstrap
) -> pl.LazyFrame:
    """The scores of all groups with their uncertainty; arguments as in `participant_intervals`."""
    if not isinstance(resample, Bootstrap):
        raise ParameterError(
            f"participant_intervals: resample must be ef.Bootstrap(...), got {resample!r}"
        )
    if resample.interval == "bca":
        raise ParameterError(
            "participant_intervals has no BCa intervals, which would leave out every participant "
            "once; choose expanded, percentile, basic or normal"
        )
    resample = resample.of_differences
    points = pipeline.scores(participant_statistics(responses, design, by=by), [])
    chunks = replicate_scores(pipeline, responses, design, by, resample)
    replicates = _replicates(resample, points, pipeline, chunks)
    clusters = _participants(responses, points, pipeline, by, resample)
    spread: dict[str, Spread] = {}
    bias: dict[str, Floats] = {}
    for name, ends in SCORES.items():
        point = numbers(points[name])
        sample = intervals.Sample(point, replicates[name], clusters=clusters)
        result = intervals.without_lone(intervals.bootstrap_spread(resample, sample), clusters)
        result = intervals.within_range(resample, result, point, *np.asarray(ends))
        bias[name] = np.where(np.isnan(result.std_error), np.nan, sample.mean - point)
        spread[name] = result
        if resample.interval in ("percentile", "expanded"):
            # Moved by the bias: the interval is around the estimate, and within the range.
            limits = (result.lower, result.upper)
            lower, upper = (np.clip(limit - bias[name], *ends) for limit in limits)
            spread[name] = result._replace(lower=lower, upper=upper)
    return with_spreads(points, spread, clusters, bias).lazy()


def replicate_scores(
    pipeline: Pipeline, responses: Frame, design: Frame, by: By, resample: Bootstrap
) -> Iterator[pl.DataFrame]:
    """The scores of replicates, in chunks that bound memory: `replicate`, the group, the scores."""
    for chunk in resampled_statistics(responses, design, resample, by=by):
        yield pipeline.scores(chunk, [REPLICATE])


def _replicates(
    method: Bootstrap, points: pl.DataFrame, pipeline: Pipeline, chunks: Iterable[pl.DataFrame]
) -> dict[str, Floats]:
    """Scores by name, replicates by groups; NaN where a replicate has none."""
    values = {name: np.full((method.n, len(points)), np.nan) for name in SCORES}
    with bar("bootstrap of participants") as report:
        for chunk in chunks:
            numbered = with_entries(chunk, points, pipeline.group)
            index = (numbered[REPLICATE].to_numpy(), numbered[ENTRY].to_numpy())
            for name in SCORES:
                values[name][index] = numbers(numbered[name])
            (method.progress or report)(int(index[0].max(initial=-1)) + 1, method.n)
    return values


def _participants(
    responses: Frame, points: pl.DataFrame, pipeline: Pipeline, by: By, resample: Bootstrap
) -> Ints:
    """Number of participants of each group."""
    keys = Keys.of(by)
    participants = lazy(responses).select(
        *keys.exprs, "study_id", named_cluster("participants", resample).alias(":participant")
    )
    table = pipeline.with_domains(participants.unique()).collect()
    entries = with_entries(table, points, pipeline.group)[ENTRY].to_numpy()
    return np.bincount(entries.astype(np.int64), minlength=len(points))


def random_scores(
    pipeline: Pipeline,
    responses: Frame,
    design: Frame,
    *,
    participant: IntoExpr,
    pooled: IntoExpr,
    by: By,
    n: int,
    seed: int,
) -> pl.LazyFrame:
    """Moments and percentiles of the scores of draws; arguments as in `random_alignment`."""
    names = [as_expr(column).cast(pl.String) for column in (pooled, participant)]
    all_responses = lazy(responses).with_columns(
        pl.concat_str(names, separator=_GAP).alias(_POOLED)
    )
    method = Bootstrap(cluster=_POOLED, n=n, seed=seed)
    keys = [] if by is None else by
    scores = pl.concat(replicate_scores(pipeline, all_responses, design, keys, method))
    group = [*pipeline.group, "metric"]
    long = scores.lazy().unpivot(
        on=[*SCORES], index=pipeline.group, variable_name="metric", value_name="score"
    )
    score = pl.col("score")
    quantiles = {
        name: score.quantile(share, interpolation="linear") for name, share in PERCENTILES.items()
    }
    summary = long.group_by(group).agg(
        mean=score.mean(),
        sd=score.std(ddof=0),
        **quantiles,
        n_replicates=score.count().cast(pl.Int64),
    )
    order = pl.col("metric").replace_strict([*SCORES], [*range(len(SCORES))])
    return summary.sort(*pipeline.group, order)
