"""`ef.report`: results as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path

from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import check_replaceable, replacing
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.reporting.page import page
from evalframe.reporting.results import checked as results_checked
from evalframe.sections.kinds import Given, kind_of
from evalframe.sections.section import section_of

SUFFIXES = (".html", ".htm")


@any_frame
def report(
    *results: Frame,
    path: str | Path,
    title: str = "Report",
    titles: Sequence[str] = (),
    level: float | None = None,
) -> Path:
    """Write results as one HTML file that opens anywhere, without a network.

    Each result gets a section: a verdict in words, its table, which can be sorted and searched, its
    charts, what was left out and why, and how it was made, with citations. What a result is of is
    told by its columns; a table that no function of this package makes is shown as it is. Charts
    that cannot be drawn, of too many models for example, are named among what was left out.

    Args:
        *results: What `ef.evaluate`, `ef.compare`, `ef.rank`, leaderboards and the other functions
            of the families return: risk-coverage curves, reliability tables, rates, scores of
            segments, tests with evidence, studies, ... One result of `ef.replication.ecs` gives the
            chart of tests its lines of regression, and one of `ef.survey.respondent_gaps` gives
            that of segments its gaps; several are not matched.
        path: The file, `.html`; an older one is replaced.
        title: Heading of the report.
        titles: Headings of the sections, one for each result; by default what they are of.
        level: Confidence level of all intervals, for captions: results do not hold it.

    Returns:
        The path of the file. `evalframe report FOLDER` does the same with what commands wrote, and
        adds inputs, hashes, seeds and commands.

    Raises:
        ParameterError: There is no result, one has no rows, or there are not as many titles.
        OutputError: The file cannot be written.
        MissingExtraError: altair or vl-convert is not installed: `pip install 'evalframe[plot]'`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.4, 0.7]})
        >>> file = ef.report(ef.evaluate(items, ef.aurc()), path="report.html", title="A")
        >>> "<h1>A</h1>" in file.read_text(encoding="utf-8")
        True
        >>> file.unlink()
    """
    theme.library()
    file = checked(Path(path))
    if not results:
        raise ParameterError("ef.report: there is no result; hand over what ef.evaluate returns")
    if titles and len(titles) != len(results):
        raise ParameterError(
            f"ef.report: {len(titles)} titles for {len(results)} results; name one for each"
        )
    tables = [lazy(result).collect() for result in results]
    for number, table in enumerate(tables):
        what = f"ef.report, result {number} (from 0)"
        if table.is_empty():
            raise ParameterError(f"{what} has no rows")
        tables[number] = results_checked(table, what, kind_of(table).columns)
    others = {str(number): table for number, table in enumerate(tables)}
    sections = [
        section_of(head, [Given(table, others, level)])
        for head, table in zip_longest(titles, tables)
    ]
    used = {name: version(name) for name in ("evalframe", "polars")}
    write(page(title, sections, used), file)
    return file


def checked(path: Path) -> Path:
    """The path of a report; OutputError if it could not be written later."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path.name}: a report is HTML; name it .html")
    check_replaceable(path)
    return path


def write(text: str, path: Path) -> None:
    """Write a report, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
