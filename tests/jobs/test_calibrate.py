"""`evalframe calibrate`: the original's two training scripts as one command."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from evalframe.compat.ai_psychiatrist import sample_document
from evalframe.jobs.family import help_texts
from evalframe.selective.calibrators.saved import read_calibration
from evalframe.selective.sample import sample_signals

MODE = ("--mode", "few_shot")
TEMPERATURE = ("--method", "temperature", "--features", "token_msp")


@pytest.fixture(scope="module")
def sample():
    return sample_document(participants=30)


@pytest.fixture
def runs(tmp_path, sample, monkeypatch):
    """The working directory, with a run document and its items of one mode in it."""
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_bytes(sample)
    items = sample_signals(participants=30).filter(mode="few_shot").drop("mode")
    items.write_parquet("items.parquet")
    return tmp_path


def written(name="c.json"):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    found = json.loads(Path(name).read_text(), parse_constant=refuse)
    return found


def test_stated_confidence(call, runs):
    line = ("calibrate", "--from-run", "run.json", *MODE, "--method", "verbalized", "-o", "c.json")
    shown = call(*line).stdout
    found = written()
    assert found["fitted_on"]["run_id"] == "sample-30-0"
    assert found["fitted_on"]["path"] == "run.json"
    assert f"{found['fitted_on']['n_samples']} predicted items" in shown
    assert f"temperature {found['temperature']:.6g}" in shown
    assert "In sample, that is on the items it was trained on" in shown
    metrics = found["metrics"]
    assert re.search(rf"NLL +{metrics['nll_before']:.3f} +{metrics['nll_after']:.3f}", shown)
    assert re.search(rf"ECE +{metrics['ece_before']:.3f} +{metrics['ece_after']:.3f}", shown)
    assert call(*line, "-q").stdout == ""


def test_documented_finds_the_optimum(call, runs):
    line = ("calibrate", "--from-run", "run.json", *MODE, "--method", "verbalized", "-o")
    call(*line, "c.json", "-q")
    call(*line, "grid.json", "-q", "--rules", "reference")
    exact, grid = written(), written("grid.json")
    assert exact["temperature"] != grid["temperature"]
    assert exact["temperature"] == pytest.approx(grid["temperature"], rel=1e-2)
    assert exact["metrics"]["nll_after"] <= grid["metrics"]["nll_after"] + 1e-12


def test_what_is_trained_can_be_used(call, runs):
    call("calibrate", "--from-run", "run.json", *MODE, *TEMPERATURE, "-o", "c.json", "-q")
    call(
        *("selective", "--from-run", "run.json", *MODE, "--confidence", "calibrated:token_msp"),
        *("--calibration", "c.json", "--bootstrap", "0", "--artifact", "out.json", "-q"),
    )
    thresholds = json.loads(Path("out.json").read_text())["confidence_variants"][
        "calibrated:token_msp"
    ]["curve"]["threshold"]
    items = pl.read_parquet("items.parquet").filter(pl.col("prediction").is_not_null())
    highest = items.select(read_calibration("c.json").apply("token_msp").max()).item()
    assert thresholds[0] == pytest.approx(highest)


def test_tables_train_the_same(call, runs):
    line = (*TEMPERATURE, "--target", "near_correct", "-q", "-o")
    call("calibrate", "--from-run", "run.json", *MODE, *line, "run-c.json")
    call("calibrate", "items.parquet", *line, "c.json")
    assert written()["model"] == pytest.approx(written("run-c.json")["model"])
    assert written()["target"] == "near_correct"
    assert written()["training_metadata"]["path"] == "items.parquet"
    call("calibrate", "items.parquet", "--method", "verbalized", "-o", "v.json", "-q")
    assert written("v.json")["method"] == "temperature_scaling"


def test_documents_are_read_by_any_flag_and_recognised(call, runs):
    line = (*MODE, *TEMPERATURE, "-q", "-o")
    call("calibrate", "--from-run", "run.json", *line, "c.json")
    for source in (("--from", "run", "run.json"), ("run.json",)):
        call("calibrate", *source, *line, "same.json")
        assert written("same.json")["model"] == written()["model"]
        assert written("same.json")["training_metadata"]["run_id"] == "sample-30-0"


def test_files_of_other_readers_are_tables(call, runs):
    prediction = {"id": 1, "query": "q", "ans": [["a"]], "prediction": "a", "label": [1]}
    Path("prediction_en_m_temp0.2_noise0.0_passage5_correct0.0.json").write_text(
        json.dumps({**prediction, "noise_rate": 0.0, "factlabel": 0})
    )
    line = ("calibrate", "--from", "rgb", ".", *TEMPERATURE, "-o", "c.json")
    told = call(*line, exit_code=1).stderr
    assert "calibrate needs columns" in told
    assert "the table has ['model', 'dataset', " in told


def test_a_column_that_a_table_lacks(call, runs):
    sample_signals(participants=5).write_parquet("items.parquet")
    line = ("calibrate", "items.parquet", "--method", "platt", "--features", "token_mps", "-o")
    told = call(*line, "c.json", exit_code=1).stderr
    assert "needs column 'token_mps'; the table has ['mode', 'participant_id'" in told
    assert "Did you mean 'token_msp'?" in told


def test_out_of_sample(call, runs):
    line = ("calibrate", "--from-run", "run.json", *MODE, *TEMPERATURE, "-o", "c.json")
    shown = call(*line, "--folds", "3", "--seed", "7").stdout
    crossed = written()["cross_validated_metrics"]
    assert crossed["folds"] == 3
    assert crossed["seed"] == 7
    assert crossed["cluster"] == "participant_id"
    assert f"Out of sample, by 3 folds of participant_id: AUROC {crossed['auc_roc']:.4f}" in shown
    read_calibration("c.json")
    call("calibrate", "items.parquet", *TEMPERATURE, "--folds", "2", "--cluster", "item", "-o",
         "c.json", "-q")  # fmt: skip
    assert written()["cross_validated_metrics"]["cluster"] == "item"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--method isotonic --features token_msp", "knots: "),
        ("--method platt --features token_pe", "sigmoid of .* token_pe -"),
        ("--method logistic --features token_msp,token_pe", "sigmoid of .* token_msp .*, token_pe"),
        ("--method logistic --features token_msp --target loss", "identity of .*(.|\n)*MAE"),
    ],
)
def test_summaries(call, runs, flags, words):
    line = ("calibrate", "--from-run", "run.json", *MODE, *flags.split(), "-o", "c.json")
    shown = call(*line).stdout
    assert re.search(words, shown), shown
    assert ("before" in shown) == ("isotonic" in flags), "only of a single feature in [0, 1]"


def test_missing_signals(call, runs):
    line = ("calibrate", "--from-run", "run.json", *MODE, "--method", "platt", "-o", "c.json")
    similar = ("--features", "retrieval_similarity_mean")
    done = call(*line, *similar, exit_code=1)
    assert "'retrieval_similarity_mean' is finite: not so in " in done.stderr
    assert "for a missing signal --rules reference takes the original's default" in done.stderr
    assert not Path("c.json").exists()
    assert call(*line, *similar, "--rules", "reference", "-q").stderr == ""
    done = call(*line, "--features", "token_mps", "--rules", "reference", "-q")
    assert done.stderr == (
        "warning: no item has 'token_mps'; the original's default, 0.0, stands for it throughout\n"
    )


BAD = {
    "mode": ("--mode few", 1, "no experiment of mode 'few'. Did you mean 'few_shot'"),
    "feature": ("--mode few_shot --features token_mps", 1, "'token_mps'.* mean 'token_msp'"),
    "folds": ("--mode few_shot --folds 1", 1, "fold"),
    "no features": ("--features=", 2, "--method temperature needs --features A,B,..."),
    "seed": ("--seed 7", 2, "--seed without --folds N"),
    "two runs": ("--from-run run.json", 2, "a calibrator is trained on one run"),
    "both": ("items.parquet", 2, "name either ITEMS or --from-run RUN.json"),
    "method": ("--method ridge", 2, "'ridge' is not one of"),
    "verbalized": (
        "--method verbalized --target loss",
        2,
        "--features, --target: not for --method verbalized",
    ),
    "text": ("--mode few_shot -o c.txt", 1, "cannot write 'c.txt': an artifact is JSON"),
    "an input": ("--mode few_shot -o run.json", 1, "run.json is one of the inputs"),
    "no folder": ("--mode few_shot -o absent/c.json", 1, "no folder 'absent'; create it first"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(call, runs, sample, what):
    before = {path.name for path in runs.iterdir()}
    flags, exit_code, message = BAD[what]
    given = TEMPERATURE[:2] if "--features" in flags else TEMPERATURE
    line = ("calibrate", "--from-run", "run.json", *given, "-o", "c.json", *flags.split())
    done = call(*line, exit_code=exit_code)
    assert re.search(message, done.stderr), done.stderr
    assert {path.name for path in runs.iterdir()} == before, "nothing is written"
    assert Path("run.json").read_bytes() == sample


def test_nothing_to_train_on(call, runs, sample):
    document = json.loads(sample)
    (run,) = (e for e in document["experiments"] if e["results"]["mode"] == "few_shot")
    entries = run["results"]["results"]
    line = ("calibrate", "--from-run", "bad.json", *MODE, *TEMPERATURE, "-o", "c.json")
    run["results"]["results"] = [*entries, entries[0]]
    Path("bad.json").write_text(json.dumps(document))
    assert "more than one successful entry" in call(*line, exit_code=1).stderr
    for entry in entries:
        entry["success"] = False
    run["results"]["results"] = entries
    Path("bad.json").write_text(json.dumps(document))
    assert "nothing to train on" in call(*line, exit_code=1).stderr
    verbalized = (*line[:5], "--method", "verbalized", "-o", "c.json")
    call(*verbalized, exit_code=1)
    Path("bad.json").write_bytes(sample[:3000])
    assert "the file ends too early" in call(*line, exit_code=1).stderr
    assert "no such file" in call("calibrate", "--from-run", "x", *line[3:], exit_code=1).stderr
    done = call("calibrate", "x.parquet", *line[5:], exit_code=1)
    assert "no file or folder 'x.parquet'" in done.stderr
    pl.DataFrame({"token_msp": [0.5]}).write_parquet("bare.parquet")
    done = call("calibrate", "bare.parquet", *line[5:], exit_code=1)
    assert "needs columns 'label', 'prediction'; the table has ['token_msp']" in done.stderr
    usage = call("calibrate", *line[5:], exit_code=2)
    assert "name either ITEMS or --from-run" in usage.stderr
    usage = call("calibrate", "items.parquet", *MODE, *line[5:], exit_code=2)
    assert "--mode without --from-run" in usage.stderr
    assert not Path("c.json").exists()


def test_the_examples_of_the_help_run(call, runs):
    Path("other.json").write_bytes(Path("run.json").read_bytes())
    commands = re.findall(
        r"evalframe (.*)", help_texts("selective")["calibrate: examples"].replace("\\\n", " ")
    )
    assert [command.split()[0] for command in commands] == [*["calibrate"] * 3, *["selective"] * 2]
    Path("other.parquet").write_bytes(Path("items.parquet").read_bytes())
    for command in commands:
        extra = ["--bootstrap", "10"] if command.startswith("selective --from-run") else []
        call(*command.split(), *extra)
    assert {"verbalized.json", "model.json", "map.json", "out.json"} <= {
        path.name for path in runs.iterdir()
    }
    assert "evalframe calibrate items.parquet" in call("calibrate", "--help").stdout
