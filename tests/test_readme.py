"""The README says what is: its metric table and its commands. Its examples run as doctests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalframe.core.metric import registered

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(metric):
    low, high = (f"{end:g}" for end in metric.range)
    better = {"minimize": "lower", "maximize": "higher", "none": ""}[metric.direction]
    name = metric.label or metric.name
    roles = ", ".join(metric.roles)
    return f"| `{name}` | {metric.family} | {better} | [{low}, {high}] | {roles} |"


def test_the_metric_table_lists_the_registry():
    table = re.search(r"<!-- metrics.*?-->\n(.*)<!-- /metrics -->", README, re.DOTALL).group(1)
    ours = [metric for metric in registered().values() if metric.family != "user"]
    assert table.splitlines()[2:] == [row(metric) for metric in ours]


def test_ci_runs_the_test_command_of_the_readme():
    command = README.split("```sh\n")[1].split("```")[0].splitlines()[1]
    ci = ROOT / ".ci" / "run"
    if not ci.exists():
        pytest.skip("an installed copy has no .ci/run")
    assert command.removeprefix(".venv/bin/") in ci.read_text(encoding="utf-8")
