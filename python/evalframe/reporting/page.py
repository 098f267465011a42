"""The report as one HTML file: verdicts, tables, charts and provenance, without a network.

The file allows no request and runs no script but its own two. Each chart is in it as a picture,
which stays where scripts do not run, and as a specification, from which it is drawn where they do.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from evalframe.core.errors import needing
from evalframe.reporting.names import cut, visible

if TYPE_CHECKING:
    from evalframe.reporting.paper import Column, Table

_SHORT, _CELL, _TEXT = 24, 60, 2_000
"""Letters of a name on one line, of one in a cell, and of any other text, at most."""

_ASSETS = Path(__file__).with_name("assets")

_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What the file may load: nothing. The drawn charts have styles of their own."""

_SAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}
"""Letters of JSON that could end a script element."""


@dataclass(frozen=True)
class Section:
    """A part of the report: one family, or one result.

    Attributes:
        title: Its heading.
        verdict: What the numbers say, in a sentence or two.
        tables: Its tables, the main one first.
        figures: Charts, as `ef.plot` gives them. Their titles become captions.
        left_out: Sentences about what is not in the numbers, and why.
        method: Paragraphs about how numbers were made, with citations.
    """

    title: str
    verdict: str = ""
    tables: Sequence[Table] = ()
    figures: Sequence[Any] = ()
    left_out: Sequence[str] = ()
    method: Sequence[str] = ()


def page(title: str, sections: Sequence[Section], provenance: Mapping[str, str]) -> str:
    """The report as the text of an HTML file, to be written as UTF-8.

    Args:
        title: Its heading, and the title of the window.
        sections: Its parts, in order.
        provenance: What was computed from what: names of inputs, hashes, versions, seed and
            command, each with its value. Lines of a value are kept.

    Returns:
        The text. It is the same for the same arguments, and about 0.9 MB longer if there are
        charts, since it holds what draws them.

    Raises:
        MissingExtraError: There are charts, and the extra `plot` is not installed.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
        >>> table = ef.show(ef.evaluate(items, ef.selective_risk(), by="model"))
        >>> text = page("Models", [Section("Risk", "a is best.", [table])], {"seed": "42"})
        >>> "<p class=verdict>a is best.</p>" in text, len(text) < 20_000
        (True, True)
    """
    drawn: list[_Figure] = []
    parts = []
    for number, section in enumerate(sections, 1):
        figures = [_figure(chart, f"c{number}-{k}") for k, chart in enumerate(section.figures, 1)]
        drawn += figures
        parts.append(_section(section, number, figures))
    scripts = [_asset("app.js")]
    if drawn:
        scripts.insert(0, _bundle())
    heads = [*(section.title for section in sections), "Provenance"]
    links = [f"<li><a href='#s{k}'>{_text(head)}</a>" for k, head in enumerate(heads, 1)]
    specs = "{" + ",".join(f'"{figure.name}":{figure.spec}' for figure in drawn) + "}"
    return "\n".join(
        [
            "<!doctype html>",
            "<html lang=en>",
            "<head>",
            "<meta charset=utf-8>",
            f'<meta http-equiv=Content-Security-Policy content="{_policy(scripts)}">',
            "<meta name=viewport content='width=device-width, initial-scale=1'>",
            "<meta name=referrer content=no-referrer>",
            f"<title>{_text(title)}</title>",
            "<link rel=icon href='data:,'>",
            f"<style>{_asset('style.css')}</style>",
            f"<!--\n{_asset('notices.txt')}-->" if drawn else "",
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{_text(title)}</h1>",
            f"<nav aria-label=Contents><ul>{''.join(links)}</ul></nav>",
            *parts,
            _provenance(provenance, len(heads)),
            "</main>",
            f"<script type=application/json id=specs>{specs}</script>",
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>\n",
        ]
    )


def _section(section: Section, number: int, figures: Iterable[_Figure]) -> str:
    """A section: its main table, its figures, its other tables, and notes."""
    tables = [_table(table, f"t{number}-{k}") for k, table in enumerate(section.tables, 1)]
    parts = [
        f"<section aria-labelledby=s{number}>",
        f"<h2 id=s{number}>{_text(section.title)}</h2>",
        f"<p class=verdict>{_text(section.verdict)}</p>" if section.verdict else "",
        *tables[:1],
        *(figure.html for figure in figures),
        *tables[1:],
    ]
    if section.left_out:
        items = "".join(f"<li>{_text(each)}" for each in section.left_out)
        parts.append(f"<details open><summary>Left out and why</summary><ul>{items}</ul></details>")
    if section.method:
        told = "".join(f"<p>{html.escape(visible(each))}</p>" for each in section.method)
        parts.append(f"<details><summary>Method with citations</summary>{told}</details>")
    return "\n".join([*filter(None, parts), "</section>"])


def _table(table: Table, name: str) -> str:
    """A table that is sorted by its heads and searched, with its notes as caption."""
    heads = "".join(
        f"<th scope=col{_kind(column)}><button type=button>{_name(column.title)}</button></th>"
        for column in table.columns
    )
    header = next((k for k, column in enumerate(table.columns) if not column.is_number), 0)
    rows = []
    for row in range(len(table.columns[0].cells)):
        cells = [_cell(column, row, k == header) for k, column in enumerate(table.columns)]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    notes = _text(" ".join(table.notes))
    body = "\n".join(rows)
    return (
        f"<p class=search hidden><label for={name}>Search rows</label> "
        f"<input type=search id={name}> <output for={name} aria-live=polite></output></p>\n"
        f"<div class=wrap><table class=data><caption>{notes}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _cell(column: Column, row: int, is_header: bool) -> str:
    """A cell: its text with marks, and the number by which it is sorted."""
    best, tied = column.marks(row)
    value = _name(column.cells[row])
    value = f"<strong>{value}</strong>" if best else value
    value += "<sup>a</sup>" if tied else ""
    kind = "th scope=row" if is_header else "td"
    long = len(column.cells[row]) > _SHORT
    key = f' data-v="{_number(column.values[row])}"' if column.values else ""
    return f"<{kind}{_kind(column, long)}{key}>{value}</{kind[:2]}>"


def _number(value: float | None) -> str:
    """A number as scripts read it; nothing for what has none."""
    if value is None or math.isnan(value):
        return ""
    return str(value).replace("inf", "Infinity")


def _kind(column: Column, long: bool = False) -> str:
    """What a cell is: a number on one line, or a name, which is broken only if it is long."""
    return " class=number" if column.is_number else " class=long" * long


def _name(value: str) -> str:
    """A name of any letters, apart from the text around it; a long one is whole when pointed at."""
    whole, shown = cut(value, _TEXT), cut(value, _CELL)
    full = f' title="{html.escape(whole)}"' if whole != shown else ""
    return f"<bdi{full}>{html.escape(shown)}</bdi>"


def _provenance(provenance: Mapping[str, str], number: int) -> str:
    """What the report was made from, whole, with each space: a command can be run again."""
    entries = []
    for name, value in provenance.items():
        kept = re.sub(r"[^ \n]+", lambda word: html.escape(visible(word[0])), value)
        entries.append(f"<dt>{_text(name)}</dt><dd>{kept}</dd>")
    return (
        f"<section aria-labelledby=s{number}><h2 id=s{number}>Provenance</h2>\n"
        f"<dl>{''.join(entries)}</dl></section>"
    )


class _Figure(NamedTuple):
    """A chart in the page: its element, and its specification as JSON."""

    name: str
    html: str
    spec: str


def _figure(chart: Any, name: str) -> _Figure:
    """A chart as a picture with a caption, and as what it is drawn from."""
    with needing("plot", "the report"):
        import vl_convert
    spec = chart.to_dict()
    spec.pop("$schema", None)  # a version that the bundle need not have
    spec.setdefault("config", {})["background"] = "transparent"
    title, told = _caption(spec.pop("title", ""), spec.get("description", ""))
    described = spec.setdefault("description", title)
    picture = _picture(vl_convert.vegalite_to_svg(spec), name, described)
    element = (
        f'<figure id={name} role=group aria-label="{_text(title)}">\n'
        f"<figcaption><strong>{_text(title)}</strong> {_text(told)}</figcaption>\n"
        f"<div class=static>{picture}</div><div class=live></div>\n</figure>"
    )
    return _Figure(name, element, _json(spec))


def _caption(title: Any, description: str) -> tuple[str, str]:
    """The title of a chart in one line, and what else it says."""
    parts = title if isinstance(title, dict) else {"text": title}
    heading, told = (
        lines if isinstance(lines, str) else " ".join(lines)
        for lines in (parts.get("text", ""), parts.get("subtitle", ""))
    )
    # The description has the same lines before they were broken at the width.
    start = f"{heading}. "
    told = description.removeprefix(start) if description.startswith(start) else told
    return heading or "Chart", told


def _picture(svg: str, name: str, described: str) -> str:
    """A picture whose ids are its own, whatever else was drawn before; it is read as a whole."""
    root = ElementTree.fromstring(svg)
    ids: dict[str, str] = {}
    numbers = count(1)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if key.startswith("aria-") or key == "role"]:
            del element.attrib[key]
        if "id" in element.attrib:
            ids[element.attrib["id"]] = element.attrib["id"] = f"{name}-{next(numbers)}"
    for element in root.iter():
        for key, value in element.attrib.items():
            if used := re.fullmatch(r"url\(#(.+)\)", value):
                element.attrib[key] = f"url(#{ids[used[1]]})"
    root.attrib |= {"role": "img", "aria-label": cut(described, _TEXT)}
    return ElementTree.tostring(root, encoding="unicode")


def _json(value: Any) -> str:
    """JSON that no letter of a name can break out of."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_SAFE)


def _text(value: str) -> str:
    """Text with nothing hidden, for an element or an attribute."""
    return html.escape(cut(value, _TEXT))


def _policy(scripts: Iterable[str]) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    named = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return _POLICY.format(named)


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, as it can stand in a page."""
    import vl_convert

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    for ends in ("\r", "\0", "</script", "<!--"):
        if ends in script:
            raise RuntimeError(f"the script that draws charts holds {ends!r}: use vl-convert 1.9")
    return script
