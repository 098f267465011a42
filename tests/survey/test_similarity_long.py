"""Similarities of long tables: the numbers of the expressions over lists, and odd tables."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat.dtef.scoring import SIMILARITIES as DTEF
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.survey.similarity.distances import earth_mover_similarity, total_variation_distance
from evalframe.survey.similarity.registry import OTHERS, REGISTRY, SIMILARITIES, similarity_table

NAME = "jensen_shannon_similarity"
KEYS = ["round", "segment_id", "question_id"]


def options(**changes):
    made = {
        "question_id": ["b", "a", "a", "b", "a"],
        "option_index": [0, 2, 0, 1, 1],
        "predicted": [1.0, 3.0, 1.0, 0.0, 2.0],
        "actual": [1.0, 2.0, 2.0, 3.0, 3.0],
    }
    return pl.DataFrame(made | changes)


def round_of_survey(shared):
    """A round's long table, with the shares of another segment as the prediction."""
    long = pl.read_parquet(shared / "data/survey/survey.parquet").filter(pl.col("round") == "GD2")
    other = pl.col("share").shift(7, fill_value=0.25)
    return long.select(*KEYS, "option_index", actual="share", predicted=other)


@pytest.mark.parametrize("metric", sorted(SIMILARITIES | OTHERS))
def test_the_numbers_of_the_expressions_over_lists(metric, shared):
    long = round_of_survey(shared)
    lists = long.sort([*KEYS, "option_index"]).group_by(KEYS).agg("predicted", "actual")
    expected = lists.select(*KEYS, (SIMILARITIES | OTHERS)[metric]()).sort(KEYS)
    shuffled = long.sample(fraction=1, shuffle=True, seed=4)
    found = similarity_table(shuffled.lazy(), metric=metric, by=KEYS).collect()
    assert_frame_equal(found.drop("n_options"), expected)
    assert found["n_options"].sum() == len(long)


def test_a_metric_with_settings_is_an_expression():
    normalised = earth_mover_similarity(normalised=True).alias("scaled")
    found = similarity_table(options(), metric=normalised, by="question_id")
    assert found.columns == ["question_id", "n_options", "scaled"]
    assert found["scaled"].to_list() == pytest.approx([1 - (5 / 42 + 9 / 42) / 2, 0.25])


def test_columns_may_be_expressions():
    frame = options().rename({"predicted": "p"})
    found = similarity_table(
        frame,
        metric=total_variation_distance(),
        by=[pl.col("question_id").str.to_uppercase().alias("key")],
        predicted=pl.col("p") * 3,
    )
    assert found.select("key", "n_options").rows() == [("A", 3), ("B", 2)]


@pytest.mark.parametrize(
    "changes",
    [
        {"option_index": [0, 2, 2, 1, 1]},
        {"option_index": [0, 2, None, 1, 1]},
        {"predicted": [1.0, 3.0, None, 0.0, 2.0]},
    ],
)
def test_options_twice_or_null_and_null_shares(changes):
    found = similarity_table(options(**changes), by="question_id")
    assert found[NAME][0] is None
    assert found[NAME][1] is not None
    assert found["n_options"].to_list() == [3, 2]


def test_no_rows():
    found = similarity_table(options().clear(), by="question_id")
    assert found.schema == {"question_id": pl.String, "n_options": pl.Int64, NAME: pl.Float64}


def test_refusals():
    with pytest.raises(MissingColumnsError, match="similarity_table needs column 'option_index'"):
        similarity_table(options().drop("option_index"), by="question_id")
    with pytest.raises(UnknownNameError, match="unknown metric 'jensen'"):
        similarity_table(options(), metric="jensen", by="question_id")
    with pytest.raises(ParameterError, match="by must name the columns"):
        similarity_table(options(), by=[])


def test_each_similarity_of_the_registry_is_public():
    assert {each.name for each in REGISTRY} <= {*survey.__all__}
    assert {*SIMILARITIES}.isdisjoint(OTHERS)
    assert {*DTEF} < {*SIMILARITIES}
