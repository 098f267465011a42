"""Charts of results: forest, pairs and ranks."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from plot.specs import axes, domain, marks, rows, spec_of, told

RESULT = pl.DataFrame(
    {
        "model": ["a", "b", "c", "d"],
        "metric": "aurc",
        "estimate": [0.3, 0.1, None, 0.2],
        "lower": [0.25, 0.05, None, None],
        "upper": [0.35, 0.15, None, None],
        "n_clusters": [30, 31, None, None],
    }
)


def comparison(systems, p=0.01, **more):
    """Pairs of systems whose numbers differ."""
    found = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    left, right = zip(*found, strict=True)
    delta = [0.1 * (systems.index(b) - systems.index(a)) for a, b in found]
    names = {"metric": "aurc", "left": left, "right": right, "delta": delta}
    return pl.DataFrame({**names, "lower": [d - 0.05 for d in delta], **more}).with_columns(
        upper=pl.col("delta") + 0.05, p_adjusted=pl.lit(p)
    )


def test_a_forest_by_hand():
    chart = ef.plot.forest(RESULT, level=0.9)
    assert marks(chart) == ["rule", "point", "text"]
    assert domain(chart) == ["b", "d", "a", "c"]
    assert [row["text"] for row in rows(chart)] == [
        "0.100 [0.050, 0.150]",
        "0.200",
        "0.300 [0.250, 0.350]",
        "—",
    ]
    assert "Area under the risk-coverage curve (aurc) · ← lower is better" in axes(chart)
    assert chart.title.text == ["aurc by model"]
    assert told(chart) == (
        "Point: estimate; line: 90% interval over 30 to 31 clusters; 4 rows, best first "
        "1 without an interval 1 without an estimate (—)"
    )
    assert chart.description.startswith("aurc by model. Point: estimate;")


def test_a_forest_of_two_keys_has_panels_with_the_same_rows_and_axis():
    both = pl.concat([RESULT.with_columns(task=pl.lit(t)) for t in "xy"]).select(
        "model", "task", pl.exclude("model", "task")
    )
    chart = ef.plot.forest(both.filter((pl.col("model") != "a") | (pl.col("task") == "x")))
    spec = chart.to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == ["x", "y"]
    scales = [str(panel["layer"][0]["encoding"]["x"]["scale"]) for panel in spec["concat"]]
    assert scales[0] == scales[1]
    assert {str(panel["layer"][0]["encoding"]["y"]["scale"]) for panel in spec["concat"]} == {
        "{'domain': ['b', 'd', 'a', 'c']}"
    }
    one = ef.plot.forest(both.filter(pl.col("task") == "x"))
    assert "concat" not in one.to_dict()
    assert told(one).endswith("task: x")


def test_a_forest_of_differences_has_a_line_at_zero():
    chart = ef.plot.forest(comparison(["a", "b", "c"]).filter(pl.col("left") == "a"))
    assert marks(chart) == ["rule", "rule", "point", "text"]
    assert domain(chart) == ["b", "c"]
    assert "difference from a" in told(chart)
    assert domain(ef.plot.forest(comparison(["a", "b", "c"])))[0] == "b \N{MINUS SIGN} a"


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (pl.DataFrame({"rank": [1, 2], "model": ["a", "b"], "score": [0.8, 0.7]}), "score"),
        (
            pl.DataFrame(
                {"model": ["a", "b"], "pas": [0.8, 0.7], "pas_lower": 0.6, "pas_upper": 0.9}
            ),
            "pas",
        ),
    ],
)
def test_boards_and_model_scores_are_drawn_too(table, column):
    chart = ef.plot.forest(table)
    assert domain(chart) == ["a", "b"]
    assert ("interval" in told(chart).split("No")[0]) == (column == "pas")


def test_only_a_column_makes_ties_blue():
    assert {row["colour"] for row in rows(ef.plot.forest(RESULT))} == {"#0072B2"}
    tied = RESULT.with_columns(tied_with_best=pl.Series([False, True, None, True]))
    chart = ef.plot.forest(tied)
    assert [row["colour"] for row in rows(chart)] == ["#0072B2", "#0072B2", "#767676", "#767676"]
    assert "Blue: not told apart from the best" in told(chart)


def test_a_forest_is_cut_and_says_so():
    many = pl.DataFrame(
        {"model": range(150), "metric": "mine", "estimate": pl.arange(150, eager=True) / 150}
    )
    chart = ef.plot.forest(many)
    assert len(rows(chart)) == 100
    assert "Drawn: 100 of 150 rows" in told(chart)
    assert "highest first" in told(chart)  # nobody declared which way is better


def test_names_that_are_null_or_floats_stay_apart():
    entries = domain(ef.plot.forest(comparison(["a", None, "b"])))
    assert sorted(entries) == [
        "b \N{MINUS SIGN} a",
        "b \N{MINUS SIGN} null",
        "null \N{MINUS SIGN} a",
    ]
    steps = [100_000.0, 100_001.0, float("inf"), float("nan")]
    chart = ef.plot.forest(RESULT.with_columns(model=pl.Series(steps)))
    assert domain(chart) == ["100001.0", "nan", "100000.0", "inf"]


def test_what_a_forest_refuses():
    several = pl.concat([RESULT, RESULT.with_columns(metric=pl.lit("augrc"))])
    with pytest.raises(ParameterError, match=r"draws one metric, and the table has 2: \['aurc'"):
        ef.plot.forest(several)
    with pytest.raises(ParameterError, match="every 'estimate' is null"):
        ef.plot.forest(RESULT.filter(pl.col("model") == "c"))
    with pytest.raises(MissingColumnsError, match=r"draws the result of ef\.evaluate.*'estimate'"):
        ef.plot.forest(RESULT.select("model"))
    with pytest.raises(ParameterError, match="level must lie between 0 and 1, got 95"):
        ef.plot.forest(RESULT, level=95)
    wide = pl.DataFrame({"a": [0] * 30 + [1], "b": range(31), "metric": "m", "estimate": 0.5})
    with pytest.raises(ParameterError, match="31 panels, one for each value of 'b'"):
        ef.plot.forest(wide)


def test_a_matrix_of_pairs_by_hand():
    chart = ef.plot.pairs(comparison(["a", "b", "c"]))
    assert marks(chart) == ["rect", "text"]
    assert domain(chart) == domain(chart, "x") == ["a", "b", "c"]  # the lowest is the best
    cells = {(row["row"], row["column"]): row for row in rows(chart)}
    assert len(cells) == 6
    assert cells["c", "a"]["text"] == "0.200 [0.150, 0.250]"
    assert cells["a", "c"]["text"] == "−0.200 [−0.250, −0.150]"  # noqa: RUF001
    assert cells["a", "c"]["fill"] == "#0072b2"
    assert cells["c", "a"]["fill"] == "#d55e00"
    assert "3 of 3 pairs differ (adjusted p < 0.05)" in told(chart)


def test_pairs_that_are_not_told_apart_are_grey_and_few_draws_are_said():
    chart = ef.plot.pairs(comparison(["a", "b", "c"], p=0.2))
    assert {row["fill"] for row in rows(chart)} == {"#F0F0F0"}
    assert "draws" not in told(chart)
    few = comparison(["a", "b", "c"], p=0.2).with_columns(p_value=pl.lit(2 / 41))
    chart = ef.plot.pairs(few)
    assert "; no pair can be told apart, since the draws are too few for 3 tests" in told(chart)
    assert "at least 120" in told(chart)
    untested = ef.plot.pairs(
        comparison(["a", "b"], p=None).with_columns(pl.col("p_adjusted").cast(float))
    )
    assert "0 of 0 pairs differ (adjusted p < 0.05); 1 without a test" in told(untested)


def test_many_systems_have_no_numbers_and_too_many_are_refused():
    assert marks(ef.plot.pairs(comparison([f"m{k:02}" for k in range(15)]))) == ["rect"]
    with pytest.raises(ParameterError, match="would draw 5,112 cells, more than 5,000; filter"):
        ef.plot.pairs(comparison([f"m{k:02}" for k in range(72)]))
    with pytest.raises(ParameterError, match=r"differences from 'a' alone; .*ef\.plot\.forest"):
        ef.plot.pairs(comparison(["a", "b", "c"]).filter(pl.col("left") == "a"))


BOARD = pl.DataFrame(
    {
        "task": ["x", "x", "y", "y"],
        "rank": [1, 2, 1, None],
        "model": ["a", "b", "b", "a"],
        "metric": "aurc",
        "estimate": [0.1, 0.2, 0.1, None],
        "rank_set_lower": [1, 2, 1, None],
        "rank_set_upper": [1, 2, 2, None],
        "tied_with_best": [True, False, True, None],
    }
)


def test_ranks_by_hand():
    chart = ef.plot.ranks(BOARD.filter(pl.col("task") == "x"), level=0.95)
    assert marks(chart) == ["bar", "point"]
    assert [(row["label"], row["x"], row["low"], row["high"]) for row in rows(chart)] == [
        ("a", 1, 0.65, 1.35),
        ("b", 2, 1.65, 2.35),
    ]
    assert told(chart) == (
        "Point: rank; bar: 95% rank set, simultaneous over systems "
        "Blue: 1 of 2 not told apart from the best task: x"
    )
    board = BOARD.filter(task="x")
    ranks = pl.col("^rank.*|tied.*$")
    unknown = board.head(1).with_columns(pl.lit("c").alias("model"), pl.when(False).then(ranks))
    more = pl.concat([board, unknown])
    assert "Blue: 1 of 2 not told apart" in told(ef.plot.ranks(more))  # c has no value
    groups = ef.plot.ranks(BOARD).to_dict()["concat"]
    assert [panel["title"]["text"] for panel in groups] == ["x", "y"]


def test_ranks_of_model_scores_and_leaderboards():
    limits = {"rank_set_lower": [1, 1], "rank_set_upper": [2, 2], "tied_with_best": True}
    models = pl.DataFrame({"model": ["a", "b"], "pas": [0.8, 0.7], "rank": [1, 2], **limits})
    board = pl.DataFrame({"rank": [1, 2], "model": ["a", "b"], "score": [0.8, 0.7], **limits})
    for table in (models, board):
        assert domain(ef.plot.ranks(table)) == ["a", "b"]


def test_simulated_coverage_has_its_monte_carlo_error():
    counted = {"method": ["b", "a", "c"], "clusters": 30, "covered": [475, 460, 0]}
    table = pl.DataFrame(counted).with_columns(trials=pl.Series([500, 500, 0]))
    chart = ef.plot.coverage_simulation(table)
    assert marks(chart) == ["rule", "rule", "point", "text"]
    assert domain(chart) == ["b", "a", "c"]
    line, *drawn = sorted(rows(chart), key=len)
    assert line == {"x": 95.0}
    # The score interval by hand: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    assert drawn[0]["text"] == "95.0 [92.7, 96.6]"
    assert drawn[1]["text"] == "92.0 [89.3, 94.1]"
    assert [row["colour"] for row in drawn] == ["#0072B2", "#D55E00", "#0072B2"]
    assert "Orange: 1 of 3 below the level" in told(chart)
    assert told(chart).endswith("clusters: 30")
    assert "Simulated coverage (%)" in axes(chart)
    both = pl.concat([table, table.with_columns(clusters=pl.lit(100, pl.Int32))])
    panels = ef.plot.coverage_simulation(both, level=0.9)
    assert len(spec_of(panels)["concat"]) == 2
    assert panels.title.text == ["How often intervals hold the true value, by method and clusters"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"covered": 600}, "covered 600 of 500 trials; count worlds"),
        ({"method": "a"}, r"rows have equal keys \['method'\]"),
    ],
)
def test_what_simulated_coverage_refuses(changed, message):
    table = pl.DataFrame({"method": ["a", "b"], "covered": 1, "trials": 500})
    with pytest.raises(ParameterError, match=message):
        ef.plot.coverage_simulation(
            table.with_columns(**{k: pl.lit(v) for k, v in changed.items()})
        )
    with pytest.raises(ParameterError, match="needs a key before 'covered'"):
        ef.plot.coverage_simulation(table.drop("method"))
