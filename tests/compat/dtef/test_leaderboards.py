"""Leaderboards of dtef-app: golden values, a naive program, and the edges of the adaptors."""

import statistics
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import dtef
from survey.stored_scores import ROWS, frame, records


def naive(table):
    """The original's steps: run scores, the kept run of each segment, models."""
    runs = defaultdict(list)
    for run, _, model, segment, context, _, score in table.iter_rows():
        if score is not None:
            runs[run, model, segment, context or 0].append(score)
    kept = {}
    for (_, model, segment, context), scores in runs.items():
        mean = statistics.fmean(scores)
        known = kept.get((model, segment))
        if known is None or context > known[0]:
            kept[model, segment] = (context, mean, len(scores))
    models = defaultdict(list)
    for (model, segment), (_, mean, count) in kept.items():
        models[model].append((segment, mean, count))
    made = {}
    for model, segments in models.items():
        means = [mean for _, mean, _ in segments]
        ordered = sorted(segments, key=lambda each: -round(each[1], 12))
        made[model] = (
            statistics.fmean(means),
            statistics.pstdev(means),
            len(means),
            sum(count for *_, count in segments),
            ordered[0][0],
            ordered[-1][0],
            max(means) - min(means),
        )
    return sorted(made.items(), key=lambda each: -round(each[1][0], 12))


def test_golden_leaderboard(golden):
    expected = golden("survey/aggregation")["expected"]["summary_gd8"]["topModels"]
    found = dtef.leaderboard(records(golden))
    assert found["model"].to_list() == [row["modelId"] for row in expected]
    assert found["score"].to_list() == pytest.approx(
        [row["overallScore"] for row in expected], abs=1e-12
    )
    assert found["n_segments"].to_list() == [row["segmentCount"] for row in expected]
    assert found["rank"].to_list() == [1, 2, 3, 4, 5]


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_original_leaderboards_equal_those_of_a_naive_program(rows):
    # A run has one amount of context.
    table = frame([(run + 10 * (context or 0), *rest[:3], context, *rest[4:])
                   for run, *rest in rows for context in [rest[3]]])  # fmt: skip
    table = table.sort("run_id", maintain_order=True)
    found = dtef.leaderboard(table)
    shown = found.select(
        "score", "sd_segments", "n_segments", "n_items", "best_segment", "worst_segment", "gap"
    )
    expected = naive(table)
    assert found["model"].to_list() == [model for model, _ in expected]
    for row, (_, wanted) in zip(shown.rows(), expected, strict=True):
        assert row[:4] == pytest.approx(wanted[:4], abs=1e-12)
        assert row[4:6] == wanted[4:6]
        assert row[6] == pytest.approx(wanted[6], abs=1e-12)


def test_golden_slopes(golden):
    expected = golden("survey/aggregation")["expected"]["summary_gd8"]["contextResponsiveness"]
    found = dtef.context_responsiveness(
        dtef.read_runs([*golden("survey/aggregation")["results"].values()])
    )
    assert found["model"].to_list() == [row["modelId"] for row in expected["models"]]
    slopes = [row["slope"] for row in expected["models"]]
    assert found["slope"].to_list() == pytest.approx(slopes, abs=1e-12)


def test_golden_slopes_of_points(golden):
    cases = golden("survey/statistics")["slope"]
    assert len(cases) >= 10
    for case in cases:
        points = [(f"r{k}", x, y) for k, (x, y) in enumerate(case["points"])]
        rows = pl.DataFrame(
            [*points, ("s", 1, None)],
            schema={"run_id": pl.String, "context_count": pl.Int64, "score": pl.Float64},
            orient="row",
        ).with_columns(model=pl.lit("a"), segment_id=pl.lit("odd"))
        other = rows.head(1).with_columns(
            pl.lit(99, dtype=pl.Int64).alias("context_count"),
            model=pl.lit("other"),
            score=pl.lit(0.5),
        )
        both = pl.concat([rows, other])
        found = dtef.context_responsiveness(both)
        mine = found.filter(pl.col("model") == "a")["slope"].to_list()
        assert (mine or [0]) == pytest.approx([case["slope"]], abs=1e-12)


TABLE = frame(
    [
        (0, "gd1", "b", "gender:male", 5, "q1", 0.5),
        (1, "gd1", "b", "gender:male", 5, "q2", 0.9),
        (0, "gd1", "b", "O3:other", 0, "q1", 0.5),
        (0, "gd1", "a", "gender:male", 0, "q1", 0.5),
        (0, "gd2", "a", "gender:female", 0, "q1", 0.5),
    ]
)


def test_ends_of_equal_segments_are_the_first_and_the_last():
    board = dtef.leaderboard(TABLE).select("rank", "model", "best_segment", "worst_segment")
    assert board.rows() == [
        (1, "b", "gender:male", "O3:other"),
        (2, "a", "gender:male", "gender:female"),
    ]
    categories = dtef.leaderboard(TABLE, "category").select("category", "rank", "model")
    assert categories.rows() == [("O3", 1, "b"), ("gender", 1, "b"), ("gender", 2, "a")]


def test_runs_in_the_order_of_first_appearance():
    runs = dtef.segment_scores(TABLE, runs="all").select("model", "run_id", "context_count")
    assert runs.rows() == [("b", 0, 5), ("b", 1, 5), ("b", 0, 0), ("a", 0, 0), ("a", 0, 0)]


def test_intervals_are_those_of_the_selected_runs():
    resample = ef.Bootstrap(cluster="segment_id", n=40, seed=1)
    rows = TABLE.with_columns(segment_id=pl.format("{}{}", "segment_id", "question_id"))
    board = dtef.leaderboard(rows, resample=resample)
    sound = ef.survey.leaderboard(rows.drop("run_id", "round", "context_count"), resample=resample)
    columns = ["model", "score", "std_error", "lower", "upper", "n_clusters"]
    assert_frame_equal(board.select(columns).sort("model"), sound.select(columns).sort("model"))


def test_missing_sample_sizes_leave_segments_out():
    sizes = pl.Series([10.0, 10.0, None, None, 30.0])
    board = dtef.leaderboard(TABLE.with_columns(sample_size=sizes), weighting="sample_size")
    assert board.select("model", "n_segments", "best_segment").rows() == [
        ("b", 1, "gender:male"),
        ("a", 1, "gender:female"),
    ]


def test_lazy_tables_give_the_same():
    lazy = dtef.leaderboard(TABLE.lazy(), "question")
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), dtef.leaderboard(TABLE, "question"))
