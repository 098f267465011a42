"""The original's evaluation artifact, whole: from a run document to the JSON file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, against
from evalframe.compat.ai_psychiatrist import Run, open_run, write_run
from evalframe.compat.ai_psychiatrist.artifact import evaluation_artifact, write_artifact
from evalframe.compat.ai_psychiatrist.evaluation import evaluate_runs
from evalframe.compat.ai_psychiatrist.settings import RunSettings
from evalframe.selective.calibrators.maps import Temperature
from evalframe.selective.confidences import confidence, select_variants
from evalframe.selective.curves import rc_curve
from evalframe.selective.sample import sample_signals

MODE = "few_shot"
CALIBRATION = Temperature(2.0)
VARIANTS = (
    *select_variants("all"),
    "secondary:token_msp+verbalized:product",
    "secondary:llm+token_pe:average",
    "verbalized_calibrated",
)
"""All thirteen, two combinations, and a calibrated one."""


def run(small: bool) -> list[Figure]:
    """The whole, and its parts each by itself."""
    participants, draws, rounds = (24, 20, 1) if small else (1023, 2_000, 5)
    settings = RunSettings(variants=VARIANTS, n=draws, rules="reference")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "run.json"), Path(folder, "out.json")
        items = sample_signals(participants=participants).filter(mode=MODE).drop("mode")
        write_run(items, source, mode=MODE)
        document = read(source, settings)
        evaluation = evaluate_runs(document, settings=settings, calibration=CALIBRATION)
        points = replace(settings, n=0)
        included = len(document.included)
        parts: dict[str, Callable[[], Run | None]] = {
            "reading": partial(read, source, settings),
            "checks of signals": partial(check, document, settings),
            "checks, points and curves": partial(evaluate, document, points),
            "curves": partial(curves, document),
            "document and writing": lambda: write_artifact(evaluation_artifact(evaluation), target),
        }
        name = f"artifact, {len(VARIANTS)} variants, {included:,} x 8, {draws:,} draws"
        whole = partial(artifact, source, target, settings)
        all_of_it = against(name, whole, at_most=10.0, rounds=min(rounds, 3))
        measured = {part: against(f"  {part}", work, rounds=rounds) for part, work in parts.items()}
        return [all_of_it, *measured.values(), bootstrap(all_of_it, measured)]


def bootstrap(whole: Figure, parts: dict[str, Figure]) -> Figure:
    """What is left of the whole."""
    others = ("reading", "checks, points and curves", "document and writing")
    seconds = (whole.seconds or 0.0) - sum(parts[part].seconds or 0.0 for part in others)
    return Figure("  bootstrap", seconds, note="by difference")


def artifact(source: Path, target: Path, settings: RunSettings) -> None:
    """What `evalframe selective --from-run` does; most of it is the bootstrap."""
    evaluation = evaluate_runs(read(source, settings), settings=settings, calibration=CALIBRATION)
    write_artifact(evaluation_artifact(evaluation), target)


def read(source: Path, settings: RunSettings) -> Run:
    """The signals that the variants need, and no others."""
    signals = settings.signals(CALIBRATION)
    return open_run(source, mode=MODE, signals=signals, strict=settings.rules == "documented")


def check(document: Run, settings: RunSettings) -> None:
    """Every requirement of every variant, in one pass."""
    variants = settings.checked_variants
    settings.confidences.check_signals(document.items, variants, calibration=CALIBRATION)


def evaluate(document: Run, settings: RunSettings) -> None:
    """Without draws."""
    evaluate_runs(document, settings=settings, calibration=CALIBRATION)


def curves(document: Run) -> None:
    """All risk-coverage curves."""
    loss = (pl.col("prediction") - pl.col("label")).abs() / 3
    table = document.items.select(
        loss.alias("loss"), *(confidence(name, calibration=CALIBRATION) for name in VARIANTS)
    )
    pl.collect_all([rc_curve(table.lazy(), "loss", name) for name in VARIANTS])
