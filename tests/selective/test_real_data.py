"""Real records: what the README of ../shared/data/selective says must reproduce."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef

BOOLQ = """
Meta-Llama-3.1-70B-Instruct 3241   9   7 13 0.76057 0.89203 0.64129 0.17182 0.65661 0.15533
Meta-Llama-3.1-8B-Instruct  3200  42   0 28 0.66688 0.84517 0.62343 0.24846 0.64312 0.22289
claude-3-7-sonnet-20250219  3267   0   0  3 0.80349 0.93992 0.74003 0.09449
claude-3-haiku-20240307     3036 136  70 28 0.75692 0.89330 0.57337 0.18850
claude-sonnet-4-20250514    3258   8   2  2 0.81860 0.89662 0.70644 0.10034
deepseek-r1                 3214   4  44  8 0.82327 0.95030 0.62222 0.12073
deepseek-v3                 2898 103 269  0 0.82264 0.92571 0.63021 0.12134
gemini-2.5-flash            3261   0   4  5 0.82521 0.98948 0.62854 0.13319
gemini-2.5-pro              3190   0   2 78 0.82194 0.99141 0.65164 0.12619
gpt-4o                      3247  17   4  2 0.83215 0.92413 0.64227 0.11543 0.74113 0.08576
o3-2025-04-16               3070   3 195  2 0.84560 0.80959 0.72854 0.07909
"""
STATUS = ["answered", "abstained", "off_format", "unparsed"]
SCORES = ["accuracy", "mean_confidence", "auroc", "aurc", "auroc_token", "aurc_token"]

HUMAN = """
adler_e1_a 23760 11 0.654377 0.594003 0.278012 0.654377 0.009375
adler_e1_b 23760 11 0.615025 0.587335 0.317090 0.615025 0.012584
adler_e2_a 12636  8 0.677984 0.586212 0.262284 0.677373 0.015897
adler_e2_b 12636  8 0.640867 0.581810 0.291193 0.640856 0.015813
adler_e3_b 48600 15 0.634815 0.591503 0.298107 0.634815 0.011632
denison_b  24624 12 0.665773 0.582587 0.277137 0.664945 0.006361
"""
PARTICIPANTS = ["accuracy", "auroc", "aurc", "mean_of_participants", "standard_error"]

WRONG = (1 - pl.col("correct").cast(pl.Float64)).alias("loss")


def printed(table, key, counts, scores):
    """A table as the README prints it; a row may end early."""
    rows = [line.split() for line in table.strip().splitlines()]
    names = [key, *counts, *scores]
    columns = {
        name: [row[i] if i < len(row) else None for row in rows] for i, name in enumerate(names)
    }
    return pl.DataFrame(columns).with_columns(
        pl.col(counts).cast(pl.Int64), pl.col(scores).cast(pl.Float64)
    )


def ranked(confidence, suffix=""):
    """AURC as the README defines it, and the area that AUROC follows from."""
    return [
        ef.aurc(confidence=confidence, convention="rectangle_per_item").alias(f"aurc{suffix}"),
        ef.augrc(confidence=confidence, convention="trapezoid_predicted").alias(f"augrc{suffix}"),
        ef.selective_risk(pl.when(pl.col(confidence).is_not_null()).then("loss")).alias(
            f"risk{suffix}"
        ),
    ]


def auroc(suffix=""):
    """Correct against wrong answers, from AUGRC by the identity of section 22."""
    risk, augrc = pl.col(f"risk{suffix}"), pl.col(f"augrc{suffix}")
    return (1 - (augrc - risk**2 / 2) / (risk * (1 - risk))).alias(f"auroc{suffix}")


def wide(long, key):
    return long.pivot("metric", index=key, values="estimate")


@pytest.fixture(scope="module")
def answers(shared):
    return pl.read_parquet(shared / "data/selective/lifeeval_llm.parquet").with_columns(WRONG)


@pytest.fixture(scope="module")
def by_model_and_task(answers):
    """Everything about the language models in one call."""
    metrics = [
        ef.coverage(),
        *ranked("stated_confidence_norm"),
        *ranked("token_confidence", "_token"),
        pl.col("stated_confidence_norm").filter(pl.col("status") == "answered").mean(),
        *[(pl.col("status") == status).sum().alias(status) for status in STATUS],
    ]
    return ef.evaluate(answers, metrics, by=["model", "task"])


def test_boolq(by_model_and_task):
    boolq = by_model_and_task.filter(pl.col("task") == "boolq")
    made = wide(boolq, "model").with_columns(
        auroc(),
        auroc("_token"),
        pl.col(STATUS).cast(pl.Int64),
        accuracy=1 - pl.col("risk"),
        mean_confidence="stated_confidence_norm",
    )
    expected = printed(BOOLQ, "model", STATUS, SCORES)
    assert_frame_equal(made.select(expected.columns), expected, abs_tol=5.1e-6, rel_tol=0)
    coverage = pl.col("answered") / pl.sum_horizontal(STATUS)
    assert made.select((coverage - pl.col("coverage")).abs().max()).item() < 1e-15


def test_answers_without_confidence_are_counted(by_model_and_task):
    missing = by_model_and_task.filter(pl.col("metric") == "aurc", pl.col("n_missing") > 0)
    counted = dict(missing.group_by("task").agg(pl.col("n_missing").sum()).iter_rows())
    assert counted == {"lsat_ar": 4, "sat_en": 2, "sciq": 1}


def test_published_table(answers, shared):
    published = pl.read_parquet(shared / "data/selective/lifeeval_published_table1.parquet")
    confidence = pl.col("stated_confidence_norm").fill_null(0.0).mean().alias("mean_confidence")
    accuracy = (1 - pl.col("loss")).alias("loss")
    metrics = [ef.selective_risk(accuracy).alias("accuracy"), confidence]
    result = ef.evaluate(answers.filter("in_common"), metrics, by=["task", "model"])
    made = result.pivot("metric", index=["task", "model", "n"], values="estimate")
    columns = ["task", "model", "n", "accuracy", "mean_confidence"]
    expected = published.select(columns).sort("task", "model")
    assert len(expected) == 55
    assert_frame_equal(made.select(columns), expected, abs_tol=1e-12, rel_tol=0, check_dtypes=False)


def test_people(shared):
    trials = pl.read_parquet(shared / "data/selective/human_confidence.parquet").with_columns(WRONG)
    metrics = [
        *ranked("confidence_rating"),
        pl.len().alias("rows"),
        pl.col("participant_id").n_unique().alias("participants"),
    ]
    own = ef.evaluate(trials, ef.selective_risk(), by=["condition", "participant_id"])
    people = own.group_by("condition").agg(
        mean_of_participants=1 - pl.col("estimate").mean(),
        standard_error=pl.col("estimate").std() / pl.len().sqrt(),
    )
    made = wide(ef.evaluate(trials, metrics, by="condition"), "condition").join(
        people, on="condition"
    )
    made = made.with_columns(
        auroc(), pl.col("rows", "participants").cast(pl.Int64), accuracy=1 - pl.col("risk")
    )
    expected = printed(HUMAN, "condition", ["rows", "participants"], PARTICIPANTS)
    assert_frame_equal(made.select(expected.columns), expected, abs_tol=5.1e-7, rel_tol=0)


def test_standard_error_of_people(shared):
    """Where everyone has as many trials, the clustered error is that of the mean of people."""
    trials = pl.read_parquet(shared / "data/selective/human_confidence.parquet").with_columns(WRONG)
    alike = trials.filter(pl.col("condition").is_in(["adler_e1_a", "adler_e1_b", "adler_e3_b"]))
    method = ef.Linearized(cluster="participant_id")
    made = ef.evaluate(alike, ef.selective_risk(), by="condition", resample=method)
    expected = printed(HUMAN, "condition", ["rows", "participants"], PARTICIPANTS)
    expected = made.select("condition").join(expected, on="condition", maintain_order="left")
    assert made["std_error"].to_list() == pytest.approx(
        expected["standard_error"].to_list(), abs=5.1e-7
    )
    assert made["n_clusters"].to_list() == expected["participants"].to_list()
