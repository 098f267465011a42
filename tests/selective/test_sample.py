"""The sample says what its docstring says, and `data/` holds exactly that."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat.ai_psychiatrist import open_run
from evalframe.core.errors import ParameterError
from evalframe.core.samples import content_hash
from evalframe.selective.sample import (
    MODES,
    sample_items,
    sample_participants,
    sample_signals,
)
from evalframe.selective.total_score import ITEM_NAMES

DATA = Path(__file__).parents[2] / "data"

answered = pl.col("prediction").is_not_null()
loss = (pl.col("prediction") - pl.col("label")).abs()


@pytest.fixture(scope="module")
def items():
    return sample_items(participants=1_000, seed=1)


@pytest.mark.parametrize("mode", MODES)
def test_the_run_document_holds_the_sample(mode):
    run = open_run(DATA / "run.json", mode=mode)
    assert_frame_equal(run.items, sample_signals().filter(mode=mode).drop("mode"))
    answers = ["participant_id", "item", "prediction", "label"]
    assert_frame_equal(run.items.select(answers), sample_items().filter(mode=mode).select(answers))
    fates = sample_participants().filter(mode=mode)
    assert run.failed.to_list() == fates.filter(status="failed")["participant_id"].to_list()
    assert run.included.to_list() == fates.filter(status="included")["participant_id"].to_list()


def test_columns_keys_and_domains(items):
    assert items.schema == {
        "participant_id": pl.Int64,
        "mode": pl.String,
        "item": pl.String,
        "prediction": pl.Int64,
        "label": pl.Int64,
        "confidence": pl.Float64,
        "verbalized": pl.Float64,
        "evidence_count": pl.Float64,
    }
    assert items.select("participant_id", "mode", "item").is_unique().all()
    assert set(items["mode"]) == set(MODES)
    assert set(items["item"]) == set(ITEM_NAMES)
    assert set(items["prediction"]) == {None, 0, 1, 2, 3}
    assert set(items["label"]) == {0, 1, 2, 3}
    assert set(items["verbalized"]) == {0, 0.25, 0.5, 0.75, 1}
    assert set(items["evidence_count"]) == {0, 1, 2, 3, 4, 5}
    assert items["confidence"].is_between(0, 1).all()
    assert items["confidence"].n_unique() > 5_000


def test_no_negative_zero(items):
    assert "-0.0" not in items.write_csv()


def test_label_is_shared_by_modes(items):
    labels = items.group_by("participant_id", "item").agg(pl.col("label").n_unique())
    assert labels["label"].unique().to_list() == [1]


def test_a_third_abstains_and_modes_differ(items):
    assert items.select(answered.mean()).item() == pytest.approx(2 / 3, abs=0.03)
    modes = items.group_by("mode").agg(coverage=answered.mean(), loss=loss.mean())
    assert modes.sort("coverage")["mode"].to_list() == list(MODES)
    assert modes.sort("loss", descending=True)["mode"].to_list() == list(MODES)


@pytest.mark.parametrize("confidence", ["confidence", "verbalized", "evidence_count"])
def test_risk_rises_with_coverage(items, confidence):
    levels = (
        items.filter(answered).group_by(pl.col(confidence).round(1)).agg(loss.sum(), n=pl.len())
    )
    accepted = levels.sort(confidence, descending=True).select(pl.col("prediction", "n").cum_sum())
    assert accepted.select(pl.col("prediction") / pl.col("n")).to_series().is_sorted()


def test_participants_are_clusters(items):
    means = items.group_by("participant_id").agg(loss.mean().alias("loss"), n=answered.sum())
    independent = items.select(loss.var()).item() / means["n"].mean()
    assert means["loss"].var() > 1.5 * independent


def test_failed_runs_have_no_items():
    runs = sample_participants()
    included = runs.filter(status="included").drop("status")
    assert 0 < included.height < runs.height == 60 * len(MODES)
    assert_frame_equal(
        sample_items().select(included.columns).unique(maintain_order=True), included
    )


def test_a_larger_sample_only_adds_rows():
    small, large = sample_items(participants=10, items=3), sample_items(participants=20)
    kept = large.filter(pl.col("participant_id") < 310, pl.col("item").is_in(ITEM_NAMES[:3]))
    assert_frame_equal(small, kept)


def test_seed_decides():
    assert content_hash(sample_items(seed=7)) == content_hash(sample_items(seed=7))
    assert content_hash(sample_items(seed=7)) != content_hash(sample_items(seed=8))


def test_content_hash_sees_names_types_nulls_and_order():
    tables = [
        pl.DataFrame({"a": [1, 0]}),
        pl.DataFrame({"b": [1, 0]}),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [0, 1]}),
        pl.DataFrame({"a": [1.0, 0.0]}),
        pl.DataFrame({"a": [1, 0]}, schema={"a": pl.Int32}),
        pl.DataFrame({"a": [["x", "y"], None]}),
        pl.DataFrame({"a": [["x"], ["y"]]}),
    ]
    assert len({content_hash(table) for table in tables}) == len(tables)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items": 9}, "items is 9; the questionnaire has 1 to 8"),
        ({"participants": 0}, "participants is 0; a sample needs at least one"),
        ({"seed": -1}, "seed is -1; choose an integer from 0"),
    ],
)
def test_arguments_out_of_range(arguments, message):
    with pytest.raises(ParameterError, match=message):
        sample_items(**arguments)
