"""Results in the columns that the views of inspect_viz read."""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame

_KEYS = ("model", "task")


@any_frame
def headline_scores(result: Frame, *, metric: str | None = None) -> pl.DataFrame:
    """The scores of models in tasks as a table of evaluations, as inspect_viz plots them.

    `inspect_viz.Data.from_dataframe` takes the table to `scores_by_task`, `scores_by_model`,
    `scores_heatmap`, `scores_by_factor` and the radar of tasks. Its columns are those of Inspect's
    `evals_df`; intervals there are drawn from the standard error.

    Args:
        result: A result by model and task, with std_error if it was resampled. A column scorer is
            the name of the score, else the metric is.
        metric: The metric to take, where the result has several.

    Returns:
        A row per model and task: task_id, task_name, task_display_name, model, model_display_name,
        score_headline_name, score_headline_metric, score_headline_value, score_headline_stderr.

    Raises:
        MissingColumnsError: The result is not by model and task.
        ParameterError: A model has several scores in a task, or the result has no row of `metric`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = {"task": "sums", "model": ["a", "a", "b"], "score": [1.0, 0.0, 1.0]}
        >>> result = ef.evaluate(pl.DataFrame(rows), ef.mean("score"), by=["model", "task"])
        >>> ef.logs.headline_scores(result).select("model", "score_headline_value").rows()
        [('a', 0.5), ('b', 1.0)]
    """
    rows = lazy(result).collect()
    needed = {*_KEYS, "metric", "estimate"}
    if missing := needed - {*rows.columns}:
        raise MissingColumnsError.of("headline_scores", missing, rows.columns)
    if metric is not None:
        metrics = rows["metric"].unique().sort().to_list()
        rows = rows.filter(pl.col("metric") == metric)
        if rows.is_empty():
            raise ParameterError(f"no metric {metric!r} in the result; it has {metrics}")
    for model, task, n in rows.group_by(_KEYS).len().filter(pl.col("len") > 1).sort(_KEYS).rows():
        raise ParameterError(
            f"{n} scores of model {model!r} in task {task!r}; name one metric by metric=..., or"
            " filter the result to one score of each model and task"
        )
    name = "scorer" if "scorer" in rows.columns else "metric"
    error = "std_error" if "std_error" in rows.columns else pl.lit(None, pl.Float64)
    return rows.select(
        task_id="task",
        task_name="task",
        task_display_name="task",
        model="model",
        model_display_name="model",
        score_headline_name=name,
        score_headline_metric="metric",
        score_headline_value="estimate",
        score_headline_stderr=error,
    )
