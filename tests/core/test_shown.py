"""Lazy results show themselves as tables, and are computed no more often than before."""

import pickle

import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.shown import ROWS, shown

ITEMS = pl.LazyFrame({"model": ["a", "a", "<script>"], "loss": [0.0, 1.0, 1.0]})


@pytest.fixture
def counted():
    """A table of so many rows, and how many were asked of it each time that it was computed."""

    def of(rows):
        asked = []

        def source(_columns, _predicate, n_rows, _size):
            asked.append(n_rows)
            yield pl.DataFrame({"row": range(rows)}).head(n_rows or rows)

        return shown(register_io_source(source, schema={"row": pl.Int64})), asked

    return of


@pytest.mark.parametrize("lazily", [True, False])
def test_results_are_tables_and_no_plans(lazily):
    resample = None if lazily else ef.Jackknife()
    result = ef.evaluate(ITEMS, ef.selective_risk(), by="model", resample=resample)
    whole = ef.evaluate(ITEMS.collect(), ef.selective_risk(), by="model", resample=resample)
    page = result._repr_html_()
    assert page.count("<tr>") == 4
    assert "&lt;script&gt;" in page
    assert repr(result) == str(result) == repr(whole)
    assert_frame_equal(result.collect(), whole)


def test_what_methods_and_pickle_make_of_a_result_shows_itself_too():
    """Polars makes results of methods by a private way that keeps the class."""
    result = ef.evaluate(ITEMS, ef.selective_risk(), by="model")
    for made in (
        result.filter(pl.col("n") > 1),
        result.select("model", "n").sort("n"),
        result.head(1).lazy().with_columns(one=1).rename({"one": "two"}),
        pickle.loads(pickle.dumps(result)),
    ):
        assert repr(made) == repr(made.collect())
    assert isinstance(result, pl.LazyFrame)
    assert_frame_equal(result.collect(engine="streaming"), result.collect(engine="in-memory"))


def test_a_result_is_computed_once_for_all_displays_and_what_follows(counted):
    table, asked = counted(ROWS)
    assert table.collect_schema() == {"row": pl.Int64}
    assert not asked
    assert repr(table).startswith(f"shape: ({ROWS}, 1)")
    assert table._repr_html_().count("<tr>") == ROWS + 2
    assert table.filter(pl.col("row") > 1).collect().height == ROWS - 2
    assert asked == [ROWS + 1]


def test_of_a_long_result_the_first_rows_are_computed_and_shown(counted):
    table, asked = counted(1000)
    text, page = repr(table), table._repr_html_()
    assert asked == [ROWS + 1]
    assert page.count("<tr>") == ROWS + 2
    assert "│ 49 " in text
    assert "│ 50 " not in text
    for told in (text, page):
        assert "The first 50 rows; .collect() gives all." in told
        assert "shape" not in told
    assert table.collect().height == 1000


def test_what_cannot_be_computed_says_why_in_its_place():
    result = ef.read_logs("data/quiz").with_columns(pl.col("no <such>"))
    assert repr(result).startswith("no table to show: ColumnNotFoundError: ")
    assert "no &lt;such&gt;" in result._repr_html_()
