"""Reports of results: what each kind of table shows, and what is refused."""

import re
from html import unescape

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import OutputError, ParameterError
from evalframe.sections.kinds import Given
from evalframe.sections.section import section_of

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"
ITEMS = pl.DataFrame(
    {
        "model": [HOSTILE, "b", "c"] * 40,
        "item": sorted([*range(40)] * 3),
        "score": [1.0, 0.0, 1.0, 1.0, 0.0, None] * 20,
    }
)
DRAWN = ef.Bootstrap(cluster="item", n=200)


def texts(section):
    """All texts of a section but those of its tables."""
    return " ".join([section.verdict, *section.left_out, *section.method])


def test_a_result_gets_its_table_its_charts_what_is_left_out_and_citations():
    result = ef.evaluate(ITEMS, ef.mean("score"), by="model")
    told = section_of(None, [Given(result)]).left_out
    assert told == ["Rows without a value are left out: up to 20."]
    board = ef.rank(ITEMS, ef.mean("score"), between="model", resample=DRAWN, best="highest")
    section = section_of(None, [Given(board, level=0.95)])
    assert section.title == "Ranks"
    assert [each.title.text[0].split(" ")[0] for each in section.figures] == ["mean", "Ranks"]
    assert section.tables[0].notes[:2] == ["Ranks.", "95% intervals in brackets."]
    assert section.method[0].startswith("mean: Weighted mean of a number.")
    assert "Mogstad" in texts(section)


def test_pairs_are_a_matrix_and_a_forest_of_each_metric():
    metrics = [ef.mean("score"), ef.share(pl.col("score") > 0.5)]
    pairs = ef.compare(ITEMS, metrics, between="model", resample=DRAWN)
    section = section_of("Pairs", [Given(pairs)])
    assert len(section.figures) == 4
    assert len(section.tables[0].columns[0].cells) == 6


def test_many_metrics_have_a_table_of_some_and_one_of_all():
    metrics = [ef.mean(pl.col("score") * k).alias(f"m{k}") for k in range(6)]
    result = ef.evaluate(ITEMS, [ef.mean("score"), *metrics], by="model")
    main, every = section_of(None, [Given(result)]).tables
    assert len(main.columns) == 1 + 6
    assert len(every.columns[0].cells) == 3 * 7


def test_metrics_that_are_not_drawn_are_named_and_verdicts_are_of_all():
    metrics = [ef.mean(pl.col("score") * k).alias(f"m{k}") for k in range(1, 8)]
    pairs = ef.compare(ITEMS, metrics, between="model", resample=DRAWN)
    section = section_of(None, [Given(pairs)])
    assert "Not drawn: all but the first 3 of 7 metrics." in section.left_out
    assert "21 tests" in section.verdict


def test_concordances_of_several_results_are_not_guessed():
    tests = ef.replication.with_evidence(pl.read_parquet("data/replication_tests.parquet"))
    concordance = ef.replication.ecs(tests)
    lines = [
        "regression" in str(section_of(None, [Given(tests, others)]).figures[0].to_dict())
        for others in ({"0": concordance}, {"0": concordance, "1": concordance})
    ]
    assert lines == [True, False]


def test_a_chart_that_cannot_be_drawn_is_named():
    many = pl.DataFrame({"model": [str(k) for k in range(7)], "n": 1, "noise_rate": 0.0})
    rates = many.with_columns(accuracy=pl.lit(0.5), rejection_rate=pl.lit(0.1))
    section = section_of(None, [Given(rates)])
    assert not section.figures
    assert section.left_out[0].startswith("Not drawn: ef.plot.noise tells 6 models apart")


def test_other_tables_are_shown_as_they_are():
    section = section_of(None, [Given(pl.DataFrame({"a": ["x"], "is_b": [True], "c": [1234]}))])
    assert [column.cells for column in section.tables[0].columns] == [["x"], ["yes"], ["1,234"]]


def test_a_report_holds_each_result_and_shows_names_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr("evalframe.reporting.page._bundle", lambda: "")
    result = ef.evaluate(ITEMS, ef.mean("score"), by="model")
    labels = {"label": [[1], [-1]], "noise_rate": [0.0, 0.8]}
    rates = ef.rag.rates(pl.DataFrame(labels), by="noise_rate")
    file = ef.report(result, rates, path=tmp_path / "r.html", titles=["Models", HOSTILE])
    text = file.read_text(encoding="utf-8")
    assert [unescape(head) for head in re.findall("<h2 id=s.>(.*?)</h2>", text)] == [
        "Models",
        HOSTILE.replace("\u202e", r"\u202e"),
        "Provenance",
    ]
    assert "<img" not in text
    assert text.count("<figure") == 2


def test_what_cannot_be_reported_is_refused_and_nothing_is_written(tmp_path):
    result = ef.evaluate(ITEMS, ef.mean("score"), by="model")
    with pytest.raises(OutputError, match=r"name it \.html"):
        ef.report(result, path=tmp_path / "r.pdf")
    with pytest.raises(ParameterError, match="2 titles for 1 results"):
        ef.report(result, path=tmp_path / "r.html", titles=["a", "b"])
    with pytest.raises(ParameterError, match=r"result 1 \(from 0\) has no rows"):
        ef.report(result, result.clear(), path=tmp_path / "r.html")
    with pytest.raises(ParameterError, match="there is no result"):
        ef.report(path=tmp_path / "r.html")
    assert not [*tmp_path.iterdir()]
