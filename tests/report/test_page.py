"""The page of a report: what is in the file, and what a browser makes of it."""

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser

import pytest

import evalframe as ef
from evalframe.core.errors import MissingExtraError
from evalframe.reporting.page import Section, page
from evalframe.reporting.paper import Column, Table
from plot.tables import CHARTS, result
from report.browser import browser

HOSTILE = [
    "</script><script>alert(1)</script><!--",
    "\u202e\u0645\u0631 a.b[0]:Q datum['a']; ${7*7}abc\x00\u2028</text>",
    "x" * 10_000,
    "\"><img src=x onerror=alert(1)>' </bdi></table>",
]
SCORES = [0.5, 0.25, None, 0.125]


def table():
    """Rows of hostile names; one without a score."""
    numbers = ["—" if score is None else f"{score:.3f}" for score in SCORES]
    best = [True, False, False, False]
    names = Column("model", HOSTILE)
    scores = Column("score ↑", numbers, is_number=True, best=best, tied=best, values=SCORES)
    return Table([names, scores], ["Bold: best."])


@pytest.fixture(scope="module")
def report():
    """The page of every chart and a table, with hostile names everywhere."""
    charts = [chart(rows(HOSTILE)) for chart, rows, _ in CHARTS.values()]
    name = HOSTILE[0]
    section = Section(name, f"{name} is best.", [table()], charts, [name, *HOSTILE], [name])
    return page(name, [section], {"command": name, "inputs": "a\nb"})


class _Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_only_its_own_scripts_may_run(report):
    scripts = re.findall(r"<script>(.*?)</script>", report, re.DOTALL)
    assert len(scripts) == 2
    elements = _Elements(report).found
    policy = next(a["content"] for _, a in elements if "http-equiv" in a)
    hashes = [hashlib.sha256(script.encode()).digest() for script in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    assert policy == (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert [tag for tag, _ in elements].count("script") == 3
    assert not [a for _, a in elements if {"src", "srcset", "onerror", "onload"} & {*a}]
    links = [a["href"] for _, a in elements if "href" in a]
    assert {link[0] for link in links if link != "data:,"} == {"#"}


def test_names_and_ids_of_pictures_are_their_own(report):
    assert "\u202e" not in report
    ids = [attributes["id"] for _, attributes in _Elements(report).found if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]*)\)", report.split("<script", 1)[0]))
    assert used
    assert used <= set(ids)


def test_equal_results_give_equal_pages():
    chart = CHARTS["risk_coverage"][0](CHARTS["risk_coverage"][1](["a", "b"]))
    one, other = (page("t", [Section("s", figures=[chart])], {}) for _ in range(2))
    assert one == other


def test_a_page_without_charts_needs_and_holds_nothing_that_draws(monkeypatch):
    chart = ef.plot.forest(result(["a"]))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert len(page("t", [Section("s", tables=[table()])], {})) < 20_000
    with pytest.raises(MissingExtraError, match=r"pip install 'evalframe\[plot\]'"):
        page("t", [Section("s", figures=[chart])], {})


@pytest.fixture(scope="module")
def tab(report, tmp_path_factory):
    """A browser that shows the report as a window of 1280 pixels does."""
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "report.html"
    file.write_text(report, encoding="utf-8", newline="\n")
    with browser(folder / "profile") as tab:
        tab.file = file
        tab.look(1280)
        assert tab.open(file) == str(len(CHARTS))
        yield tab


MARKS = "['path', 'line', 'text'].map(mark => `${kind} .role-mark ${mark}`).join()"
COUNTED = (
    "[...document.querySelectorAll('figure')].map(figure => ['.live', '.static']"
    f".map(kind => figure.querySelectorAll({MARKS}).length))"
)


def test_every_chart_draws_the_marks_of_its_picture(tab):
    counts = tab.run(COUNTED)
    assert len(counts) == len(CHARTS)
    assert all(live == still > 0 for live, still in counts), counts
    shown = "[...document.querySelectorAll('{}')].filter(each => each.checkVisibility()).length"
    assert tab.run(shown.format(".static")) == 0
    assert tab.run(shown.format(".live")) == len(CHARTS)


def test_names_are_shown_as_text(tab):
    assert tab.run("document.querySelectorAll('img, script').length") == 3
    names = tab.run(
        "[...document.querySelectorAll('.data tbody th')].map(each => each.textContent)"
    )
    assert names[0] == HOSTILE[0]
    assert names[1].startswith("\\u202e")
    assert len(names[2]) == 60
    assert tab.run("document.querySelector('h1').textContent") == HOSTILE[0]
    at = "document.querySelector('#c1-1 .live .mark-symbol path')"
    tab.run(f"{at}.scrollIntoView({{block: 'center'}})")
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box = tab.run(f"{at}.getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    tip = tab.until("document.querySelector('#vg-tooltip-element.visible')?.textContent")
    assert HOSTILE[0] in tip


def test_a_click_sorts_and_what_has_no_number_is_last(tab):
    head = "document.querySelectorAll('.data thead th')[{}]"
    click = f"{head}.querySelector('button').click(); {head}.ariaSort"
    numbers = "[...document.querySelectorAll('.data tbody .number')].map(cell => cell.dataset.v)"
    assert tab.run(click.format(1, 1)) == "ascending"
    assert tab.run(numbers) == ["0.125", "0.25", "0.5", ""]
    assert tab.run(click.format(1, 1)) == "descending"
    assert tab.run(numbers) == ["0.5", "0.25", "0.125", ""]
    assert tab.run(click.format(0, 0)) == "ascending"
    assert tab.run(head.format(1) + ".ariaSort") is None
    assert len(set(tab.run(numbers))) == 4


def test_a_search_filters_rows_by_whole_names(tab):
    told = "document.querySelector('output').value"
    visible = (
        "[...document.querySelectorAll('.data tbody tr')].filter(row => row.offsetParent).length"
    )
    tab.run("document.querySelector('input').focus()")
    tab.tell("Input.insertText", text="X" * 70)
    assert (tab.run(visible), tab.run(told)) == (1, "1 of 4 rows")
    clear = "document.querySelector('input').value = ''"
    tab.run(f"{clear}; document.querySelector('input').dispatchEvent(new Event('input'))")
    assert (tab.run(visible), tab.run(told)) == (4, "")


def test_each_chart_has_a_name_for_those_who_do_not_see_it(tab):
    nodes = tab.tell("Accessibility.getFullAXTree")["nodes"]
    named = {}
    for node in nodes:
        if not node["ignored"]:
            role = node["role"]["value"]
            named.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    titles = tab.run("[...document.querySelectorAll('figcaption strong')].map(t => t.textContent)")
    assert [name for name in named["group"] if name] == titles
    assert len(set(titles)) == len(CHARTS)
    drawn = [each for each in named["graphics-document"] if each]
    assert len(drawn) == len(CHARTS)
    assert all(name.startswith(title) for name, title in zip(drawn, titles, strict=True))
    assert named["searchbox"] == ["Search rows"]
    assert {*named["columnheader"]} == {"model", "score ↑"}
    assert len(named["rowheader"]) == len(HOSTILE)


def colours(tab):
    ground = "getComputedStyle(document.body).backgroundColor"
    return tab.run(ground), tab.run("getComputedStyle(document.querySelector('svg')).filter")


def test_dark_and_paper(tab):
    assert colours(tab) == ("rgb(255, 255, 255)", "none")
    tab.look(1280, scheme="dark")
    assert colours(tab) == ("rgb(21, 24, 29)", "invert(0.92) hue-rotate(180deg)")
    tab.look(1280, scheme="dark", media="print")
    assert colours(tab) == ("rgb(255, 255, 255)", "none")
    shown = "document.querySelector('{}').checkVisibility()"
    seen = [
        tab.run(shown.format(each)) for each in (".static", ".live", ".search", ".data tbody tr")
    ]
    assert seen == [True, False, False, True]


def test_nothing_is_wider_than_a_phone(tab):
    tab.look(1280)
    tab.run("delete document.documentElement.dataset.drawn")
    tab.look(390)
    assert tab.until("document.documentElement.dataset.drawn") == str(len(CHARTS))
    assert tab.run("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]
    assert all(live for live, _ in tab.run(COUNTED))
    widths = "[...document.querySelectorAll('.live svg')].map(each => each.width.baseVal.value)"
    assert max(tab.run(widths)) < 400  # labels of 32 letters beside the least that can be read


def test_no_request_leaves_the_page_and_none_may(tab):
    assert tab.requests() == [tab.file.as_uri()]
    assert tab.complaints() == []
    refused = tab.tell(
        "Runtime.evaluate", expression="new Function('1')", allowUnsafeEvalBlockedByCSP=False
    )
    assert refused["result"]["className"] == "EvalError"
    assert tab.run("fetch('https://example.org').catch(error => error.name)") == "TypeError"


def test_without_scripts_tables_and_pictures_remain(tab):
    tab.open(tab.file, scripts=False)
    tree = tab.tell("Accessibility.getFullAXTree")["nodes"]
    seen = [node["role"]["value"] for node in tree if not node["ignored"]]
    assert seen.count("image") == len(CHARTS)
    assert seen.count("row") == len(HOSTILE) + 1
    assert not {"searchbox", "graphics-document"} & {*seen}
