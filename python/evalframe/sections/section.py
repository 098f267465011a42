"""The section of a report about one result, or about several that were made together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalframe.reporting.page import Section
from evalframe.reporting.showing import left_out
from evalframe.sections.kinds import Given, kind_of, overall
from evalframe.sections.method import methods, of_metrics

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart
    from evalframe.reporting.paper import Table


def section_of(title: str | None, results: Sequence[Given]) -> Section:
    """The section of one result, or of several that were made together, the main one first."""
    tables: list[Table] = []
    charts: list[Chart] = []
    verdicts: list[str] = []
    counts: dict[str, str] = {}
    without: list[str] = []
    method: list[str] = []
    for given in results:
        kind, given = kind_of(given.table), given._replace(table=overall(given.table))
        own, (drawn, undrawn) = kind.written(given), kind.drawn(given)
        verdicts += [table.verdict for table in own]
        verdicts += [kind.verdict(given)] if kind.verdict else []
        for note in left_out(given.table):  # said of the main table, if of several
            counts.setdefault(re.sub(r"[\d.,]+", "", note), note)
        without += undrawn
        method += [*of_metrics(given.table, given.metrics), *methods(kind.made_by)]
        tables += own
        charts += drawn
    return Section(
        kind_of(results[0].table).title if title is None else title,
        next(filter(None, verdicts), ""),
        tables,
        charts,
        [*counts.values(), *without],
        [*dict.fromkeys(method)],
    )
