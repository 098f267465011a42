"""Summaries of a survey in the format of dtef-app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat.dtef.context_tables import context_responsiveness
from evalframe.compat.dtef.disparity import disparity
from evalframe.compat.dtef.leaderboards import leaderboard
from evalframe.core.files import replacing
from evalframe.survey.boards.rows import is_baseline

if TYPE_CHECKING:
    from evalframe.compat.dtef.runs import RunResults

_LISTED = 10
_COUNTED = ("counted", "experiment", "no_segment")
_BASELINES = {
    "populationMarginal": "baseline:population-marginal",
    "uniform": "baseline:uniform",
    "randomDirichlet": "baseline:random-dirichlet",
    "shuffled": "baseline:shuffled-null",
}


def summary(results: RunResults) -> dict[str, Any]:
    """The summary that dtef-app would write about these runs, without its wall-clock times.

    Args:
        results: Result of `open_runs`.

    Returns:
        `surveyId` (of the first run, `unknown` without one), `resultCount` (including experiments
        and runs without a segment, which are not used otherwise), `baselines` if any, `topModels`
        (the first ten without baselines), `fairnessConcerns` (the first ten) and
        `contextResponsiveness` if there are several amounts of context, even if one has only
        errors. The `aggregation` that dtef-app repeats in it is left out; `leaderboards` has its
        tables.

    Examples:
        >>> from evalframe.compat.dtef import open_runs, summary
        >>> summary(open_runs({"config": {"tags": []}}))["surveyId"]
        'unknown'
    """
    items, runs = results.items, results.runs.filter(pl.col("use").is_in(_COUNTED))
    counted = runs.filter(pl.col("use") == "counted")
    overall = leaderboard(items)
    labels = dict(results.labels.iter_rows())
    of_survey = runs.filter(pl.col("use") != "experiment")
    result: dict[str, Any] = {
        "surveyId": of_survey["round"].first() or "unknown",
        "resultCount": len(runs),
    }
    scores = dict(overall.select("model", "score").iter_rows())
    baselines = {name: scores[model] for name, model in _BASELINES.items() if model in scores}
    if baselines:
        result["baselines"] = baselines
    top = overall.filter(~is_baseline()).head(_LISTED)
    result["topModels"] = top.select(
        modelId="model",
        modelName=display_name(),
        overallScore="score",
        segmentCount="n_segments",
    ).to_dicts()
    gaps = disparity(items).filter("concern").head(_LISTED)
    label = [pl.col(f"{end}_segment").replace(labels) for end in ("best", "worst")]
    result["fairnessConcerns"] = gaps.select(
        modelId="model",
        category="category",
        categoryLabel="category_label",
        bestSegment=label[0],
        worstSegment=label[1],
        gap="gap",
    ).to_dicts()
    # Runs without any answer have an amount of context, too.
    empty = counted.join(items, on="run_id", how="anti")
    rows = pl.concat([items, empty.select("segment_id", "context_count")], how="diagonal_relaxed")
    slopes = context_responsiveness(rows)
    levels = counted["context_count"].drop_nulls().unique().sort().to_list()
    if len(levels) > 1:
        models = slopes.select(modelId="model", displayName=display_name(), slope="slope")
        result["contextResponsiveness"] = {
            "models": models.to_dicts(),
            "contextLevelsFound": levels,
        }
    return result


def write_summary(results: RunResults, path: str | Path) -> None:
    """Write the summary of runs as JSON, in UTF-8.

    Args:
        results: Result of `open_runs`.
        path: The file.

    Raises:
        OutputError: The file cannot be written.

    Examples:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> from evalframe.compat.dtef import open_runs, write_summary
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_summary(open_runs({"config": {}}), Path(folder) / "summary.json")
        ...     json.loads((Path(folder) / "summary.json").read_text())["resultCount"]
        0
    """
    text = json.dumps(summary(results), ensure_ascii=False, indent=2, allow_nan=False)
    with replacing(Path(path)) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def display_name() -> pl.Expr:
    """A model's id without its router."""
    return pl.col("model").str.strip_prefix("openrouter:")
