"""Evaluation results of HumanStudy-Bench as records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalframe.compat.humanstudy_bench.files.evaluations import read_evaluation
from evalframe.core.readers import Read


def open_evaluations(paths: Sequence[Path]) -> Read:
    """Read the tests of evaluation results; beside them are the `runs`, a row per file."""
    evaluations = read_evaluation([*paths])
    files = evaluations.runs.select("file", "n_tests").rows()
    return Read(evaluations.tests.lazy(), files, beside={"runs": evaluations.runs})
