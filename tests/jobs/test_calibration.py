"""A calibrator that is trained on one table and evaluated on another, by the command line."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import evalframe as ef
from evalframe.jobs.cli import cli

METRICS = ("--metrics", "aurc,expected_calibration_error")


def answers(seed):
    """Answers in words, some of them none, with confidence in two forms."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(160)
    label = rng.choice(["yes", "no", "perhaps"], 160)
    wrong = np.where(label == "yes", "no", "yes")
    items = pl.DataFrame(
        {
            "participant_id": np.arange(160) // 4,
            "item": np.arange(160) % 4,
            "prediction": np.where(rng.random(160) < confidence**0.3, label, wrong),
            "label": label,
            "confidence": confidence,
            "verbalized_confidence": rng.integers(1, 6, 160),
        }
    )
    return items.with_columns(prediction=pl.when(pl.col("item") < 3).then("prediction"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers(1).write_parquet("train.parquet")
    answers(2).write_parquet("test.parquet")
    made = invoke("calibrate train.parquet --method temperature --features confidence -o c.json")
    assert made.exit_code == 0, made.stderr
    return tmp_path


def invoke(line, *more):
    return CliRunner().invoke(cli, [*line.split(), *more])


def evaluated(line):
    made = invoke(f"{line} -o out.parquet", *METRICS)
    assert made.exit_code == 0, made.stderr
    return made.stdout, pl.read_parquet("out.parquet")


def test_text_answers_are_calibrated_and_evaluated_on_another_table():
    told, result = evaluated("selective test.parquet --calibration c.json")
    assert "Calibrated: temperature_scaling of confidence, from c.json." in told
    assert result["confidence"].unique(maintain_order=True).to_list() == [
        "confidence",
        "calibrated",
    ]
    fitted = ef.selective.read_calibration("c.json")
    rows = answers(2).with_columns(fitted.apply().alias("made"), ef.selective.loss("zero_one"))
    rows = rows.with_columns(correct=1 - pl.col("loss"))
    expected = rows.select(ef.aurc("loss", "made"), ef.expected_calibration_error("made"))
    calibrated = result.filter(confidence="calibrated")["estimate"].to_list()
    assert calibrated == pytest.approx(expected.row(0), abs=1e-12)


def test_a_job_file_names_the_calibration():
    _, by_flag = evaluated("selective test.parquet --calibration c.json")
    entries = {"family": "selective", "items": ["test.parquet"], "output": "job.parquet"}
    entries |= {"calibration": "c.json", "metrics": METRICS[1].split(",")}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entries.items()]
    Path("job.toml").write_text("\n".join(lines))
    made = invoke("run job.toml")
    assert made.exit_code == 0, made.stderr
    assert pl.read_parquet("job.parquet").equals(by_flag)


def test_stated_confidence_is_calibrated_from_its_own_column():
    invoke("calibrate train.parquet --method verbalized -o v.json")
    told, result = evaluated("selective test.parquet --calibration v.json")
    assert "temperature_scaling of verbalized_confidence, from v.json." in told
    assert result["confidence"].unique().to_list() == ["calibrated"], "1 to 5 is no probability"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (pl.col("confidence") * 100, "divide percent by 100"),
        (pl.col("confidence").alias("calibrated"), "a column 'calibrated' already"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(change, told):
    answers(2).with_columns(change).write_parquet("test.parquet")
    made = invoke("selective test.parquet --calibration c.json", *METRICS)
    assert made.exit_code == 1
    assert told in made.stderr.replace("\n", " ")


def test_a_feature_goes_by_another_name():
    answers(2).rename({"confidence": "sure"}).write_parquet("other.parquet")
    missing = invoke("selective other.parquet --calibration c.json")
    assert missing.exit_code == 1
    assert "calibration c.json needs column 'confidence'" in missing.stderr
    _, renamed = evaluated("selective other.parquet --calibration c.json --column confidence=sure")
    _, plain = evaluated("selective test.parquet --calibration c.json")
    assert renamed.equals(plain)


def test_a_feature_that_is_nothing_else_goes_by_another_name():
    signal = [pl.read_parquet(f"{name}.parquet") for name in ("train", "test")]
    for name, table in zip(("train", "test"), signal, strict=True):
        table.with_columns(logit=pl.col("confidence").log()).write_parquet(f"{name}.parquet")
    invoke("calibrate train.parquet --method platt --features logit -o p.json")
    _, plain = evaluated("selective test.parquet --calibration p.json --confidence calibrated")
    pl.read_parquet("test.parquet").rename({"logit": "lp"}).write_parquet("other.parquet")
    line = "selective other.parquet --calibration p.json --confidence calibrated"
    missing = invoke(line)
    assert "--column logit=NAME" in missing.stderr
    _, renamed = evaluated(f"{line} --column logit=lp")
    assert renamed.equals(plain)


def test_what_is_correct_may_be_a_column():
    """Graders know better than whether two texts are equal; who abstains is not trained on."""
    items = answers(1)
    right = (pl.col("prediction") == pl.col("label")).fill_null(value=False)
    judged = items.select(
        "confidence", "prediction", correct=right, rated=right.cast(pl.Float64), label=pl.lit("-")
    )
    judged.write_parquet("judged.parquet")
    judged.filter(pl.col("prediction").is_not_null()).drop("prediction", "label").write_csv("j.csv")
    line = "--method temperature --features confidence -o j.json"
    expected = ef.selective.read_calibration("c.json").temperature
    for table in ("judged.parquet", "j.csv", "judged.parquet --column correct=rated"):
        made = invoke(f"calibrate {table} {line}")
        assert made.exit_code == 0, made.stderr
        assert "correct: the column correct" in made.stdout
        artifact = json.loads(Path("j.json").read_text())
        assert artifact["model"]["temperature"] == pytest.approx(expected, rel=1e-12)
        assert artifact["training_metadata"]["correct"] == "the column correct"
    for change, told in [
        (pl.lit(0.5), "correct is 0 or 1: not so in 160 of 160 rows"),
        (pl.lit("yes"), "is String, not a number or a boolean"),
        (pl.when(pl.col("rated") == 1).then(1), "predicted items have no label"),
    ]:
        judged.with_columns(correct=change).write_parquet("odd.parquet")
        made = invoke(f"calibrate odd.parquet {line}")
        assert made.exit_code == 1
        assert told in made.stderr
    refused = invoke(f"calibrate judged.parquet {line} --target loss --column correct=rated")
    assert "unknown column 'correct'" in refused.stderr
