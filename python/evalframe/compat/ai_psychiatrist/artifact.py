"""The evaluation artifact: one JSON document, schema version "1"."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing
from evalframe.selective.total_score import ITEM_NAMES

if TYPE_CHECKING:
    from evalframe.compat.ai_psychiatrist.evaluation import RunEvaluation


SCHEMA_VERSION = "1"

_LOSSES = {"abs": ("abs(pred - gt)", 1), "abs_norm": ("abs(pred - gt) / 3", 3)}

_FIGURES = ("aurc_optimal", "augrc_optimal", "eaurc", "eaugrc", "aurc_achievable")
_GAPS = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")
_DELTAS = {"aurc_full": "aurc", "augrc_full": "augrc", "cmax": "coverage"}

Figures = dict[str, dict[str, Any]]
"""Rows of a result table by metric."""


def evaluation_artifact(
    evaluation: RunEvaluation, *, created_at: datetime | None = None
) -> dict[str, Any]:
    """An evaluation as the artifact of ai-psychiatrist, ready for `json.dumps`.

    Args:
        evaluation: The result of `evaluate_runs`.
        created_at: Time stamp; by default now.

    Returns:
        The artifact, of plain values under the keys of the program.

    Examples:
        >>> from evalframe.compat import ai_psychiatrist
        >>> run = ai_psychiatrist.open_run(ai_psychiatrist.sample_document(), mode="few_shot")
        >>> settings = ai_psychiatrist.RunSettings(variants=("verbalized",), n=0)
        >>> evaluation = ai_psychiatrist.evaluate_runs(run, settings=settings)
        >>> ai_psychiatrist.evaluation_artifact(evaluation)["inputs"][0]["mode"]
        'few_shot'
    """
    settings, population = evaluation.settings, evaluation.population
    definition, multiplier = _LOSSES[settings.loss]
    moment = (created_at or datetime.now(UTC)).astimezone(UTC)
    return {
        "schema_version": SCHEMA_VERSION,
        "created_at": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "inputs": [
            {
                "path": None if run.path is None else str(run.path),
                "run_id": run.run_id,
                "git_commit": run.git_commit,
                "mode": run.mode,
            }
            for run in evaluation.runs
        ],
        "population": {
            "participants_total": population.total,
            "participants_included": len(population.analysed),
            "participants_failed": population.failed,
            "items_total": len(ITEM_NAMES) * len(population.analysed),
        },
        "loss": {
            "name": settings.loss,
            "definition": definition,
            "raw_multiplier": multiplier,
        },
        "confidence_variants": {
            name: _variant(evaluation, name) for name in evaluation.settings.variants
        },
        "comparison": _comparison(evaluation),
    }


def write_artifact(document: Mapping[str, Any], path: str | Path, *, strict: bool = True) -> None:
    """Write an artifact atomically.

    Args:
        document: The result of `evaluation_artifact`.
        path: The file.
        strict: Refuse infinity and NaN, which JSON lacks; otherwise they become `Infinity` and
            `NaN`, as in the original.

    Raises:
        OutputError: A number is infinite or NaN, or the folder is missing or cannot be written to.

    Examples:
        >>> import math
        >>> from evalframe.compat.ai_psychiatrist import write_artifact
        >>> write_artifact({"cmax": math.nan}, "artifact.json")
        Traceback (most recent call last):
        evalframe.core.errors.OutputError: the artifact holds NaN in cmax, which JSON lacks; correct
        what it comes from, or leave it out
    """
    for key, number in _not_finite(document) if strict else ():
        value = "NaN" if math.isnan(number) else "an infinite number"
        raise OutputError(
            f"the artifact holds {value} in {key}, which JSON lacks; correct what it comes from, "
            "or leave it out"
        )
    text = json.dumps(document, indent=2)
    with replacing(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def _not_finite(value: Any, *keys: str) -> Iterator[tuple[str, float]]:
    """Numbers that strict JSON lacks, each with its path of keys."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _not_finite(inner, *keys, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _not_finite(inner, *keys)
    elif isinstance(value, float) and not math.isfinite(value):
        yield ".".join(keys), value


def _variant(evaluation: RunEvaluation, name: str) -> dict[str, Any]:
    figures = [_figures(evaluation, name, number) for number in range(len(evaluation.runs))]
    if len(figures) == 1:
        return figures[0]
    return {f"input_{number}": each for number, each in enumerate(figures)}


def _figures(evaluation: RunEvaluation, variant: str, number: int) -> dict[str, Any]:
    """All figures of one variant of one run."""
    selected = (pl.col("input") == number) & (pl.col("confidence") == variant)
    result = evaluation.result.filter(selected).iter_rows(named=True)
    rows: Figures = {row["metric"]: row for row in result}
    value = {metric: row["estimate"] for metric, row in rows.items()}
    curve = evaluation.curves.filter(selected)
    area = evaluation.settings.area_coverage
    used = {"requested": area, "used": min(area, value["coverage"])}
    grid = {f"{bound:.2f}": bound for bound in evaluation.settings.coverage_grid}
    reached = {key: value[_at("risk", bound)] is not None for key, bound in grid.items()}
    return {
        "cmax": value["coverage"],
        "aurc_full": value["aurc"],
        "augrc_full": value["augrc"],
        **{name: value[name] for name in _FIGURES},
        "interpretation": {name: value[name] for name in _GAPS},
        **{f"{name}_at_c": used | {"value": value[_at(name, area)]} for name in ("aurc", "augrc")},
        "mae_at_coverage": {
            key: {
                "requested": bound,
                "achieved": value[_at("achieved_coverage", bound)],
                "value": value[_at("risk", bound)],
            }
            if reached[key]
            else None
            for key, bound in grid.items()
        },
        "bootstrap": _bootstrap(evaluation, rows, grid, reached) if evaluation.settings.n else {},
        "curve": {
            column: curve[column].to_list()
            for column in ("coverage", "selective_risk", "generalized_risk", "threshold")
        },
    }


def _bootstrap(
    evaluation: RunEvaluation, rows: Figures, grid: Mapping[str, float], reached: dict[str, bool]
) -> dict[str, Any]:
    area = evaluation.settings.area_coverage
    intervals = {
        "aurc_full": "aurc",
        "augrc_full": "augrc",
        "aurc_at_c": _at("aurc", area),
        "augrc_at_c": _at("augrc", area),
        "cmax": "coverage",
    }
    risks = {key: rows[_at("risk", bound)] for key, bound in grid.items()}
    forced = evaluation.settings.rules == "reference"
    return {
        "seed": evaluation.settings.seed,
        "n_resamples": evaluation.settings.n,
        "ci95": {
            **{key: _interval(rows[metric]) for key, metric in intervals.items()},
            "mae_at_coverage": {
                key: _interval(row) if reached[key] else None for key, row in risks.items()
            },
        },
        "drop_rate": {
            "mae_at_coverage": {
                key: row["drop_rate"] if reached[key] or not forced else 1.0
                for key, row in risks.items()
            }
        },
    }


def _comparison(evaluation: RunEvaluation) -> dict[str, Any]:
    only = evaluation.settings.intersection_only
    if evaluation.deltas is None:
        return {"enabled": False, "intersection_only": only, "deltas": None}
    (left, left_failed), (right, right_failed) = evaluation.population.sides
    all_left, all_right = left | left_failed, right | right_failed
    overlap = all_left & all_right
    rows = evaluation.deltas.iter_rows(named=True)
    delta = {(row["confidence"], row["metric"]): row for row in rows}
    return {
        "enabled": True,
        "intersection_only": only,
        "deltas": {
            name: {
                key: _delta(delta[name, metric], forced=evaluation.settings.rules == "reference")
                for key, metric in _DELTAS.items()
            }
            for name in evaluation.settings.variants
        },
        "participants_left_only": len(all_left - all_right),
        "participants_right_only": len(all_right - all_left),
        "participants_overlap_total": evaluation.population.total,
        "participants_overlap_included": len(evaluation.population.analysed),
        "participants_failed_left": len(overlap & left_failed),
        "participants_failed_right": len(overlap & right_failed),
    }


def _delta(row: Mapping[str, Any], *, forced: bool) -> dict[str, Any]:
    interval = _interval(row)
    if interval is None and forced:
        interval = [row["delta"] or 0.0] * 2
    return {"delta": row["delta"], "ci95": interval}


def _interval(row: Mapping[str, Any]) -> list[float] | None:
    return None if row["lower"] is None else [row["lower"], row["upper"]]


def _at(name: str, bound: float) -> str:
    number = f"{bound:.2f}" if round(bound, 2) == bound else repr(bound)
    return f"{name}_at_{number}"
