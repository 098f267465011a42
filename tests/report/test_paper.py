"""Results as tables for people: what is in them, and how each format writes any name."""

import sys

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, MissingExtraError, ParameterError
from evalframe.reporting import paper

RESULT = pl.DataFrame(
    {
        "model": ["x", "x", "y", "y"],
        "metric": ["aurc", "accuracy", "aurc", "accuracy"],
        "estimate": [0.3, 0.8, 0.1, None],
        "lower": [0.25, 0.7, 0.05, None],
        "upper": [0.35, 0.9, 0.15, None],
    }
)
BOARD = pl.DataFrame(
    {
        "rank": [1, 2],
        "model": ["x", "y"],
        "score": [0.9, 0.8],
        "rank_set_lower": [1, 1],
        "rank_set_upper": [2, 2],
        "tied_with_best": [True, True],
    }
)
HOSTILE = r"[*a_1*]|$x$ & \b{} <script> #~^%"


def lines(table):
    return str(table).splitlines()


def test_metrics_stand_side_by_side_and_the_best_are_marked():
    assert lines(ef.show(RESULT, level=0.9)) == [
        "“y” has the best aurc and “x” has the best accuracy; intervals are no tests: rank and",
        "compare say which differences are certain.",
        "",
        "model                  aurc ↓           accuracy ↑",
        "-----  ----------------------  -------------------",
        "x        0.300 [0.250, 0.350]  0.80 [0.70, 0.90] *",
        "y      0.100 [0.050, 0.150] *                    —",
        "",
        "90% intervals in brackets. *: best. aurc: Area under the risk-coverage curve.",
    ]
    assert ef.show(RESULT).markdown().splitlines()[3:] == [
        "| model |                   aurc ↓ |            accuracy ↑ |",
        "| ----- | -----------------------: | --------------------: |",
        "| x     |     0.300 [0.250, 0.350] | **0.80 [0.70, 0.90]** |",
        "| y     | **0.100 [0.050, 0.150]** |                     — |",
        "",
        "Intervals in brackets. Bold: best. aurc: Area under the risk-coverage curve.",
    ]


def test_nothing_is_best_among_rows_of_several_keys_or_by_no_direction():
    two = RESULT.with_columns(task=pl.Series(["s", "s", "t", "t"])).select(
        "task", pl.exclude("task")
    )
    assert "**" not in ef.show(two).markdown()
    plain = RESULT.with_columns(metric=pl.lit("mine") + pl.col("metric"))
    assert "**" not in ef.show(plain).markdown()


def test_boards_say_which_ranks_are_possible_and_who_is_tied():
    table = ef.show(BOARD)
    assert lines(table)[:2] == ["No model can be told from the best.", ""]
    assert lines(table)[2].split() == ["rank", "model", "score", "↑", "possible", "ranks"]
    assert table.notes == ["Bold: best.", "a: not told apart from the best."]
    assert r"1 & x & \textbf{0.900}\textsuperscript{a} & 1--2 \\" in table.latex()
    assert "<strong><bdi>0.900</bdi></strong><sup>a</sup>" in table.html()
    alone = ef.show(
        BOARD.with_columns(rank_set_upper=pl.col("rank"), tied_with_best=pl.Series([True, False]))
    )
    assert alone.verdict == "“x” is better than “y”."
    assert alone.notes == ["Bold: best."]


def test_ranks_say_which_way_is_better():
    ranked = BOARD.with_columns(metric=pl.lit("accuracy"), estimate=pl.Series([0.1, 0.2]))
    board = ranked.select("rank", "model", "metric", "estimate")  # by best="lowest"
    assert lines(ef.show(board))[2].split() == ["rank", "model", "accuracy", "↓"]
    tie = pl.concat([board] * 2)[:3].with_columns(estimate=pl.lit(0.1), rank=pl.lit(1))
    assert "accuracy ↑" in lines(ef.show(tie))[2]
    assert "lower is better" in str(ef.plot.forest(board).to_dict())


def test_pairs_have_their_p_values():
    pairs = {"metric": "aurc", "left": ["x", "x"], "right": ["y", "z"], "delta": [-0.2, 0.1]}
    table = ef.show(pl.DataFrame(pairs | {"p_adjusted": [0.0004, None]}))
    assert [column.cells for column in table.columns][2:] == [["−0.200", "0.100"], ["<0.001", "—"]]  # noqa: RUF001
    assert [column.values for column in table.columns][1:] == [[], [-0.2, 0.1], [0.0004, None]]
    assert table.verdict.startswith("One pair differs (adjusted p < 0.05)")


def test_a_key_may_be_called_as_a_metric_and_no_key_is_one_row():
    result = RESULT.filter(metric="aurc").rename({"model": "aurc ↓"})
    assert len(str(ef.show(result)).partition("\n\n")[2].splitlines()[0].split()) == 4
    assert lines(ef.show(RESULT.head(1).drop("model")))[2] == "0.300 [0.250, 0.350]"


def test_names_are_escaped_for_each_format():
    table = ef.show(RESULT.with_columns(pl.col("model").replace("x", HOSTILE)))
    row = table.latex().partition("\\midrule\n")[2].partition(" & 0.3")[0]
    assert row == (
        r"{[}{*}a\_1{*}]|\$x\$ \& \textbackslash{}b\{\} \textless{}script\textgreater{} \#"
        r"\textasciitilde{}\textasciicircum{}\%"
    )
    assert r"\[\*a\_1\*]\|$x$ & \\b{} &lt;script>" in table.markdown()
    assert "<script" not in table.html()
    assert "&lt;script&gt;" in table.html()
    long = ef.show(BOARD.with_columns(model=pl.Series(["x" * 9_999, "x" * 10_000])))
    assert f"{'x' * 40}…{'x' * 19} (2)    0.800 a" in str(long)
    assert all("x" * 60 not in text for text in (long.latex(), long.markdown(), long._repr_html_()))
    slashes = ef.show(RESULT.with_columns(pl.col("model").replace("y", "\\" * 30)))
    assert r"\textbackslash{}" * 30 + "''" in slashes.latex().partition("tabular")[0]  # in one line
    hidden = ef.show(RESULT.with_columns(model=pl.lit("a\u202eb\nc")).head(1))
    assert lines(hidden)[2].startswith("a\\u202eb c ")


def test_notes_say_what_was_left_out():
    board = BOARD.with_columns(n_missing=pl.Series([0, 1200]), drop_rate=pl.lit(0.0))
    assert ef.show(board.with_columns(parse_rate=pl.lit(0.98))).notes[-2:] == [
        "Rows without a value are left out: up to 1,200.",
        "Up to 2% of the responses of a row could not be read.",
    ]


def test_notebooks_have_a_table_of_great_tables_if_it_is_there(monkeypatch):
    table = ef.show(BOARD.with_columns(model=pl.Series([HOSTILE, "y"])))
    shown = table._repr_html_()
    assert shown == table._repr_html_()
    _, _, body = shown.partition("<table")
    assert [body.count(text) for text in ("gt_row", 'gt_sourcenote"', "<script")] == [8, 1, 0]
    assert body.count('style="font-weight: bold;"') == 1
    assert body.count(">a</span>") == 3
    assert "No model can be told from the best" in body
    assert "|$x$ &amp; \\b{} &lt;script&gt; #~^%</" in body
    monkeypatch.setattr(paper, "find_spec", lambda name: None)
    assert table._repr_html_() == table.html()
    monkeypatch.setitem(sys.modules, "great_tables", None)
    with pytest.raises(MissingExtraError, match=r"great_tables.*pip install 'evalframe\[plot\]'"):
        table.great_table()


def test_many_rows_are_cut_and_it_is_said():
    half = pl.DataFrame({"model": range(300)}).with_columns(estimate=pl.col("model") / 300)
    many = half.select("model", pl.lit("accuracy").alias("metric"), "estimate")
    table = ef.show(pl.concat([many, many.with_columns(metric=pl.lit("aurc"))]).lazy())
    assert [len(column.cells) for column in table.columns] == [200] * 3
    assert table.notes[0] == "The first 200 of 300 rows."
    assert [[row for row in range(200) if column.marks(row)[0]] for column in table.columns] == [
        [],
        [],  # the best is below
        [0],
    ]
    assert "Bold" not in " ".join(ef.show(many).notes)


def test_what_is_no_result_is_refused():
    with pytest.raises(MissingColumnsError, match=r"ef\.show takes the result of ef\.evaluate"):
        ef.show(pl.DataFrame({"model": ["a"]}))
    with pytest.raises(ParameterError, match="the table has no rows"):
        ef.show(RESULT.clear())
    with pytest.raises(ParameterError, match=r"'estimate' is String, not numbers; cast it"):
        ef.show(RESULT.cast({"estimate": pl.String}))
    with pytest.raises(ParameterError, match="level must lie between 0 and 1, got 95"):
        ef.show(RESULT, level=95)
    with pytest.raises(ParameterError, match=r"aurc has several rows of the same \['model'\]"):
        ef.show(pl.concat([RESULT, RESULT]))
