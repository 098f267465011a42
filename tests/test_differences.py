"""The table of where published systems err: each figure, computed from real records."""

import re

import pytest

import evalframe
from differences import rag, replication, selective, survey

FIGURES = {
    (family.__name__.rpartition(".")[2], where): compute
    for family in (selective, replication, rag, survey)
    for where, compute in family.FIGURES.items()
}
"""What computes the last cell of each row, by the first two cells."""


def printed():
    """The last cell of each row of the reference text, by the first two."""
    text = evalframe.explain("differences")
    found = re.search(r"<!-- differences.*?-->\n(.*)<!-- /differences -->", text, re.DOTALL)
    assert found, "there is no table between <!-- differences --> and <!-- /differences -->"
    rows = [line.removeprefix("| ").removesuffix(" |") for line in found.group(1).splitlines()]
    cells = [row.split(" | ") for row in rows[2:]]
    return {(family, where): shown for family, where, _, _, shown in cells}


def test_the_table_has_a_row_for_each_figure():
    assert list(printed()) == list(FIGURES)


@pytest.mark.parametrize(("family", "where"), FIGURES)
def test_the_table_prints_the_figure(family, where, shared):
    assert printed()[family, where] == FIGURES[family, where](shared)
