"""What holds for every chart: names of any kind, numbers of any kind, tables of another kind."""

import json
import sys

import polars as pl
import polars.selectors as cs
import pytest
import vl_convert

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, MissingExtraError, ParameterError
from evalframe.reporting import names
from plot.specs import rows, spec_of, told
from plot.tables import CHARTS, curve

DRAWN = ("pairs", "noise", "risk_coverage")
"""Charts with names at axes, in a legend, and in titles of panels."""

each_chart = pytest.mark.parametrize("chart", CHARTS)

HOSTILE = [
    "<script>alert(1)</script>",
    "\u202ea.b[0]:Q datum['a']; ${7*7}abc\x00\u2028</text>",
    "x" * 10_000,
    None,
]


def test_every_chart_is_tried():
    assert set(CHARTS) == set(ef.plot.__all__)


@each_chart
def test_names_are_data_and_nothing_else(chart):
    function, table, _ = CHARTS[chart]
    models = HOSTILE if chart != "pairs" else HOSTILE[:-1]
    spec = spec_of(function(table(models)))
    text = json.dumps(spec)
    assert "x" * 300 not in text
    assert "\\u202e" in text.replace("\\\\", "\\")
    assert "\u202e" not in json.dumps(spec, ensure_ascii=False)
    if chart in DRAWN:
        drawn = vl_convert.vegalite_to_svg(spec)
        assert "<script" not in drawn
        assert "&lt;script&gt;" in drawn


@each_chart
def test_numbers_that_json_does_not_know_are_left_out(chart):
    function, table, _ = CHARTS[chart]
    good = table([*"ab"]) if len(table([*"ab"])) > 3 else table([*"abcd"])
    good = good.with_row_index(":row")
    spoilt = cs.float() - cs.by_name("noise_rate", "coverage", require_all=False)
    each = {1: None, 2: float("nan"), 3: float("-inf")}
    for row, value in each.items():
        here = pl.when(pl.col(":row") == row).then(pl.lit(value, pl.Float64))
        good = good.with_columns(here.otherwise(spoilt).name.keep())
    spec_of(function(good.drop(":row")))


@each_chart
def test_one_row_is_a_chart(chart):
    function, table, _ = CHARTS[chart]
    one = table(["a", "b"]).head(1)
    assert rows(function(one))


@each_chart
def test_another_table_is_told_what_makes_the_right_one(chart):
    function, table, needed = CHARTS[chart]
    good = table(["a", "b"])
    with pytest.raises(ParameterError, match=rf"ef\.plot\.{chart} draws .* ef\..* no rows"):
        function(good.clear())
    with pytest.raises(MissingColumnsError, match=rf"ef\.plot\.{chart} draws .*{needed!r}"):
        function(good.drop(needed))


def test_long_lines_are_thinned_and_it_is_said():
    steps = pl.int_range(20_000, eager=True)
    risk = ((steps * 7919) % 1000 / 1000).alias("selective_risk")
    line = pl.DataFrame({"coverage": (steps + 1) / 20_000, "selective_risk": risk})
    chart = ef.plot.risk_coverage(line)
    drawn = [row["y"] for row in rows(chart)]
    assert 1000 < len(drawn) < 5000
    assert (min(drawn), max(drawn)) == (0.0, 0.999)
    assert "of 20,000 points" in told(chart)


def test_without_altair_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r"needs altair.*pip install 'evalframe\[plot\]'"):
        ef.plot.risk_coverage(curve(["a"]))


class Notebook:
    """IPython, as far as it is asked whether it runs."""

    @staticmethod
    def get_ipython():
        return Notebook


def test_charts_are_pictures_in_a_notebook_unless_another_renderer_was_chosen(monkeypatch):
    import altair as alt

    monkeypatch.setitem(sys.modules, "IPython", Notebook)
    with alt.renderers.enable("default"):
        ef.plot.risk_coverage(curve(["a"]))
        assert alt.renderers.active == "svg"
    with alt.renderers.enable("mimetype"):
        ef.plot.risk_coverage(curve(["a"]))
        assert alt.renderers.active == "mimetype"


def test_digits_and_axis_titles():
    assert names.digits([], 0.0) == 3
    assert names.digits([40.0], 1.0) == 1
    assert names.digits([1e-12], 1.0) == 6
    assert names.Measure.of("<b>").axis == "<b>"
    assert names.Measure.of("brier_score").axis == "Brier score · ← lower is better"
    assert names.Measure.of("aurc_gap_pct").axis == "aurc_gap_pct (%) · ← lower is better"
