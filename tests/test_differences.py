"""The README's table of where published systems err: each figure, computed from real records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from differences import rag, replication, selective, survey

README = Path(__file__).parents[1] / "README.md"

FIGURES = {
    (family.__name__.rpartition(".")[2], where): compute
    for family in (selective, replication, rag, survey)
    for where, compute in family.FIGURES.items()
}
"""What computes the last cell of each row, by the first two cells."""


def printed() -> dict[tuple[str, str], str]:
    """The last cell of each row of the README, likewise."""
    text = README.read_text(encoding="utf-8")
    found = re.search(r"<!-- differences.*?-->\n(.*)<!-- /differences -->", text, re.DOTALL)
    assert found, "the README has no table between <!-- differences --> and <!-- /differences -->"
    rows = [line.removeprefix("| ").removesuffix(" |") for line in found.group(1).splitlines()]
    cells = [row.split(" | ") for row in rows[2:]]
    return {(family, where): shown for family, where, _, _, shown in cells}


def test_the_readme_has_a_row_for_each_figure() -> None:
    assert list(printed()) == list(FIGURES)


@pytest.mark.parametrize(("family", "where"), FIGURES)
def test_the_readme_prints_the_figure(family: str, where: str, shared: Path) -> None:
    assert printed()[family, where] == FIGURES[family, where](shared)
