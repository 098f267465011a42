"""Scores against the answers of other respondents: what of a leaderboard is sampling noise.

The answers of a segment are those of its n respondents. Another n of them would have answered a
little differently, and every score would be another. A draw takes n answers from the actual
distribution of each segment and question, the same for all models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.tables import lazy
from evalframe.survey.contexts import marked, with_contexts
from evalframe.survey.inference.adjust import adjusted_p_value
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.inference.percentiles import percentiles
from evalframe.survey.inference.respondent_draws import Drawn

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.contexts import Context
    from evalframe.survey.inference.adjust import Correction
    from evalframe.survey.inference.respondent_draws import Average
    from evalframe.survey.similarity.registry import Metric


def respondent_intervals(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Mean scores of models, with intervals for the answers of other respondents.

    Drawn answers are noisier than the actual ones, which are a sample already, so scores against
    them are lower on average, by `bias`. The interval is shifted by it, to stand around the
    estimate.

    Args:
        scored: One row per model, segment and question, as `evalframe.survey.score` gives them:
            `round`, `segment_id`, `question_id`, `predicted`, `actual`, `sample_size`, `score`.
            Rows without score are missing; several of one model for the same question and segment
            are averaged. Answers that could not be read or have another length than the truth,
            others of which the metric is undefined, and rows whose truth is no distribution, keep
            their score.
        between: The models.
        average: `segments`: the mean of the means of segments, as on leaderboards; `items`: the
            mean of all rows.
        context: Which amount of context counts, see `at_context`, as on leaderboards.
        metric: The one that the scores are of.
        n: Number of draws.
        seed: Of the draws.
        level: Coverage of the interval.
        rules: `documented`, or `reference`: sorted values at `floor(p n)`, not shifted, as the
            original draws for a single distribution.

    Returns:
        The model, `estimate` (the mean score), `mean` (of the means against drawn answers), `bias`
        (mean minus estimate), `std_error`, `lower`, `upper`, `n` (rows) and, if the table has
        amounts of context, `context_count` (Int64, the one that counts; null for several) and
        `n_other_context` (Int64, rows of others, which do not count). Sorted by the model. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A sample size is not known, models were held against different truths, or
            an argument lies outside its domain.

    References:
        dtef-app 52d79c0, `bootstrapGroundTruth`, for one distribution.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"],
        ...         "round": ["1"],
        ...         "segment_id": ["gender:male"],
        ...         "question_id": ["q"],
        ...         "predicted": [[1.0, 0.0]],
        ...         "actual": [[1.0, 0.0]],
        ...         "sample_size": [100],
        ...         "score": [1.0],
        ...     }
        ... )
        >>> respondent_intervals(scored).select("estimate", "std_error", "lower").collect().row(0)
        (1.0, 0.0, 1.0)
    """
    import numpy as np

    check_draws(n, seed, level)
    rows = marked(lazy(scored), context, [between])
    drawn = Drawn.of(rows, between, average, metric, n, seed, rules)
    mean = drawn.means.mean(axis=0)
    lower, upper = percentiles(drawn.means, level, rules)
    if rules == "documented":
        lower, upper = lower + drawn.estimates - mean, upper + drawn.estimates - mean
        if isinstance(metric, str):  # then it has values from 0 to 1
            lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    made = {
        "estimate": drawn.estimates,
        "mean": mean,
        "bias": mean - drawn.estimates,
        "std_error": drawn.means.std(axis=0, ddof=1) if n > 1 else mean * float("nan"),
        "lower": lower,
        "upper": upper,
        "n": drawn.rows,
    }
    name = as_expr(between).meta.output_name()
    table = pl.LazyFrame({name: drawn.models, **made})
    known = table.with_columns(pl.col("std_error").fill_nan(None))
    return with_contexts(known, rows, [as_expr(between)], [name])


def respondent_differences(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
    correction: Correction = "holm",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Differences of models' mean scores, with intervals for the answers of other respondents.

    Both models of a pair see the same draws, so what the noise does to both cancels. Models are to
    have answered the same questions of the same segments; otherwise part of the difference is that.

    Args:
        scored: As for `respondent_intervals`.
        between: The same.
        average: The same.
        context: The same.
        metric: The same.
        n: The same.
        seed: The same.
        level: The same.
        correction: Of the p-values of all pairs, see `adjusted_p_value`.
        rules: As for `respondent_intervals`.

    Returns:
        `left`, `right`, `delta` (right minus left), `std_error`, `lower`, `upper`, `p_value`
        (two-sided, by inverting the interval), `p_adjusted`, `within_noise` (Boolean: the interval
        holds 0), and as of `respondent_intervals` `context_count` and `n_other_context`, of both
        models. Sorted by the pair. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Fewer than two models, a sample size that is not known, or an argument
            outside its domain.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "b"],
        ...         "round": ["1"] * 2,
        ...         "segment_id": ["gender:male"] * 2,
        ...         "question_id": ["q"] * 2,
        ...         "predicted": [[0.5, 0.5], [0.45, 0.55]],
        ...         "actual": [[0.5, 0.5]] * 2,
        ...         "sample_size": [50] * 2,
        ...         "score": [1.0, 0.9574],
        ...     }
        ... )
        >>> respondent_differences(scored).select("left", "right", "within_noise").collect().row(0)
        ('a', 'b', True)
    """
    import numpy as np

    from evalframe.resample.intervals import Sample, p_values

    check_draws(n, seed, level)
    rows = marked(lazy(scored), context, [between])
    drawn = Drawn.of(rows, between, average, metric, n, seed, rules)
    if len(drawn.models) < 2:
        found = drawn.models.to_list()
        raise ParameterError(f"respondent_differences needs two models, found {found}")
    left, right = np.triu_indices(len(drawn.models), 1)
    deltas = drawn.means[:, right] - drawn.means[:, left]
    delta = drawn.estimates[right] - drawn.estimates[left]
    if rules == "documented":
        deltas = deltas - deltas.mean(axis=0) + delta
    lower, upper = percentiles(deltas, level, rules)
    made = {
        "left": drawn.models.gather(left),
        "right": drawn.models.gather(right),
        "delta": delta,
        "std_error": deltas.std(axis=0, ddof=1) if n > 1 else delta * float("nan"),
        "lower": lower,
        "upper": upper,
        "p_value": p_values("percentile", Sample(delta, deltas)),
    }
    adjusted = adjusted_p_value(correction=correction)
    noise = ((pl.col("lower") <= 0) & (pl.col("upper") >= 0)).alias("within_noise")
    floats = pl.col("std_error", "p_value").fill_nan(None)
    table = pl.LazyFrame(made).with_columns(floats).with_columns(adjusted, noise)
    return with_contexts(table, rows, [as_expr(between)], ["left"], ["right"])
