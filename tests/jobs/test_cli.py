"""The command line of the selective family."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.jobs.family import help_texts
from evalframe.jobs.written import read_provenance

BY_MODE = ("--by", "mode")
RATED = ("--loss", "abs_norm")
"""Labels are ratings from 0 to 3."""
FEW = ("--metrics", "coverage,aurc,risk_at_0.50")
QUANTITIES = [
    *("coverage", "selective_risk", "aurc", "augrc", "aurc_at_0.50", "augrc_at_0.50"),
    *("aurc_optimal", "augrc_optimal", "eaurc", "eaugrc", "aurc_achievable"),
    *(f"risk_at_0.{k}0" for k in range(1, 10)),
]
JOB = """
family = "selective"
items = ["items.parquet"]
output = "job.parquet"
by = ["mode"]
confidence = ["confidence", "evidence"]
metrics = ["coverage", "aurc", "risk_at_0.50"]
loss = { name = "abs" }
bootstrap = { n = 50, seed = 7, interval = "basic", level = 0.9 }
"""


def test_the_result_is_what_evaluate_gives(selective, items):
    found = selective(*BY_MODE, *FEW)
    loss = (pl.col("prediction") - pl.col("label")).abs() / 3
    metrics = [ef.coverage(), ef.aurc(loss, "confidence"), ef.risk_at(0.5)(loss, "confidence")]
    expected = ef.evaluate(items, metrics, by="mode")
    assert found.columns[:4] == ["mode", "confidence", "metric", "estimate"]
    assert_frame_equal(found.drop("confidence"), expected, check_row_order=False)


def test_all_quantities_in_order_by_default(selective):
    found = selective(*BY_MODE, "--confidence", "evidence,confidence")
    keys = [
        (mode, confidence, metric)
        for mode in ("few", "zero")
        for confidence in ("evidence", "confidence")
        for metric in QUANTITIES
    ]
    assert found.select("mode", "confidence", "metric").rows() == keys
    cells = found.group_by("confidence").agg(pl.col("metric") == "aurc")
    assert cells.height == 2


def test_bootstrap_of_participants(selective, items):
    flags = ("--bootstrap", "200", "--seed", "7", "--loss", "abs")
    found = selective(*FEW, *flags, "--key", "")  # both modes share (participant, item)
    loss = (pl.col("prediction") - pl.col("label")).abs()
    metrics = [ef.coverage(), ef.aurc(loss, "confidence"), ef.risk_at(0.5)(loss, "confidence")]
    resample = ef.Bootstrap(cluster="participant_id", n=200, seed=7)
    expected = ef.evaluate(items, metrics, resample=resample)
    assert_frame_equal(found.drop("confidence"), expected, check_row_order=False)


def test_a_job_file_and_flags_mean_the_same(selective, call, folder):
    flags = selective(
        *BY_MODE, *FEW, "--confidence", "confidence,evidence", "--loss", "abs",
        *("--bootstrap", "50", "--seed", "7", "--interval", "basic", "--level", "0.9"),
    )  # fmt: skip
    Path("job.toml").write_text(JOB)
    call("run", "job.toml", "-q")
    assert_frame_equal(pl.read_parquet("job.parquet"), flags)


def test_a_job_file_elsewhere(call, folder, monkeypatch):
    (folder / "sub").mkdir()
    Path("job.toml").write_text(JOB)
    monkeypatch.chdir(folder / "sub")
    call("run", "../job.toml", "-q")
    assert (folder / "job.parquet").exists(), "paths in a job are relative to its folder"
    assert read_provenance(folder / "job.parquet")["inputs"][0]["name"] == "items.parquet"


def test_weights_repeat_rows(selective, items):
    twice = items.with_columns(weight=pl.lit(2.0))
    twice.write_parquet("weighted.parquet")
    expected = selective(*BY_MODE).select("metric", "estimate")
    found = selective(*BY_MODE, "--weight", "weight", items=["weighted.parquet"])
    per_item = pl.col("metric").str.contains("optimal|eau")  # an oracle orders single items
    assert_frame_equal(
        found.select("metric", "estimate").filter(~per_item), expected.filter(~per_item)
    )


def test_no_participant_column(selective, call, items):
    expected = selective(*BY_MODE)
    items.select("mode", "prediction", "label", "confidence").write_parquet("bare.parquet")
    assert_frame_equal(selective(*BY_MODE, items=["bare.parquet"]), expected)
    done = call(
        "selective", "bare.parquet", "-o", "out.csv", *RATED, "--bootstrap", "10", exit_code=1
    )
    assert "error: items needs column 'participant_id'" in done.stderr


def test_provenance(selective, folder):
    selective(*BY_MODE, *FEW, "--bootstrap", "20", "--hash-inputs")
    text = json.dumps(record := read_provenance("out.parquet"))
    assert str(folder) not in text, "no path of this machine"
    assert record["polars"] == pl.__version__
    assert record["job"]["bootstrap"] == {
        "n": 20, "seed": 42, "interval": "expanded_bca", "level": 0.95,
        "cluster": None, "draws": "reference",
    }  # fmt: skip
    assert record["metrics"][-1] == {
        "name": "risk_at_0.50",
        "metric": "risk_at",
        "arguments": {"coverage": 0.5, "convention": "trapezoid_total"},
    }
    assert record["records"] == {"rows": 48, "rejected": {}}
    (source,) = record["inputs"]
    assert (source["name"], source["rows"]) == ("items.parquet", 48)
    assert source["bytes"] == Path("items.parquet").stat().st_size
    assert len(source["sha256"]) == 64


def test_the_result_is_printed_unless_quiet(call, folder):
    shown = call("selective", "items.parquet", "-o", "out.csv", *BY_MODE, *RATED, *FEW).stdout
    assert "risk@0.50" in shown
    assert "zero" in shown
    quiet = call("selective", "items.parquet", "-o", "out.csv", *BY_MODE, *RATED, *FEW, "-q")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_quarantine(call, items, folder):
    bad = pl.when(pl.int_range(pl.len()) == 3).then(float("nan")).otherwise("confidence")
    items.with_columns(confidence=bad).write_parquet("bad.parquet")
    flags = ("selective", "bad.parquet", "-o", "out.parquet", *BY_MODE, *RATED, *FEW)
    assert "confidence is finite" in call(*flags, exit_code=1).stderr
    done = call(*flags, "--on-invalid", "quarantine", "-q")
    assert "47 of 48 rows accepted" in done.stderr
    assert pl.read_parquet("out.rejected.parquet").height == 1
    assert pl.read_parquet("out.parquet").height == 6


def test_validate(call, items, folder):
    assert "all 48 rows accepted" in call("validate", "items.parquet", *BY_MODE).stdout
    done = call("validate", "items.parquet", "--label", "lable", exit_code=1)
    assert "error: items: no column 'lable'" in done.stderr
    assert "Did you mean 'label'?" in done.stderr


def test_percent_are_named_with_the_remedy(call, items, folder):
    named = items.with_columns(
        pl.col("confidence") * 100, correct=pl.col("prediction") == pl.col("label")
    )
    named.write_parquet("percent.parquet")
    done = call("validate", "percent.parquet", *BY_MODE).stdout
    assert "all 48 rows accepted" in done
    assert re.search(r"confidence lies in \[0, 1\] where correct is: not so in \d+ of 48", done)
    assert "divide percent by 100" in done
    flags = ("selective", "percent.parquet", "-o", "out.parquet", *BY_MODE, "--metrics")
    assert call(*flags, "aurc,expected_calibration_error", exit_code=1).stderr.count("divide") == 1
    assert call(*flags, "aurc", "-q").stderr == ""
    done = call(*flags, "brier_score", "-q", "--on-invalid", "quarantine")
    assert "confidence lies in [0, 1] where correct is: not so in" in done.stderr
    rejected = pl.read_parquet("out.rejected.parquet")
    assert rejected["rejected_for"].unique().to_list() == ["confidence"]
    assert (rejected["confidence"] > 1).all()


def test_negative_losses_are_refused(call, items, folder):
    items.with_columns(gain=-pl.col("label")).write_parquet("gains.parquet")
    for command in (("validate",), ("selective", "-o", "out.parquet")):
        done = call(*command, "gains.parquet", *BY_MODE, "--loss", "column:gain", exit_code=1)
        assert "gain is not negative: not so in" in done.stderr
        assert "of a score in [0, 1] that is 1 - score" in done.stderr


BAD = {
    "no rows": ("none.parquet", "error: items: the table has no rows"),
    "missing column": (
        "items.parquet --confidence confidense",
        "items needs column 'confidense'; the table has .* Did you mean 'confidence'?",
    ),
    "missing group": ("items.parquet --by modell", "needs column 'modell'.* Did you mean 'mode'"),
    "wrong dtype": ("items.parquet --confidence mode", "column 'mode' .* is String, not a number"),
    "duplicate": ("twice.parquet", "mode, participant_id, item are unique: not so in 48 of 96"),
    "label missing": ("unlabelled.parquet", "label is present where prediction is"),
    "infinite": ("infinite.parquet", "confidence is finite where prediction is"),
    "scale": ("items.parquet --loss-scale 0", "scale must be above 0 and finite, got 0"),
    "no scale": ("items.parquet --loss-scale nan", "scale must be above 0 and finite, got nan"),
    "answers in words": ("words.parquet", "column 'prediction' is String.*--loss zero_one"),
    "convention": ("items.parquet --convention x --metrics coverage", "unknown convention 'x'"),
    "undefined": ("items.parquet --convention population --metrics risk_at", "error: .*convention"),
    "named item": (
        "items.parquet --item itme",
        "no column 'itme', which is to be item.*Did you mean 'item'",
    ),
    "no name": (
        "items.parquet --loss column:evidence --label lable",
        "no column 'lable', which is to be label.*Did you mean 'label'",
    ),
    "pattern": ("star.parquet", r"star.parquet: Polars takes this name .*rename column '\*'"),
    "nested in CSV": (
        "nested.parquet --by tags -o out.csv",
        r"out.csv cannot hold column 'tags' \(List\(String\)\); write .parquet instead",
    ),
    "remedy": ("twice.parquet", r"tells these rows apart, in by or in key"),
    "one cluster": ("one.parquet --bootstrap 10", "error: .*cluster"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_data(call, items, folder, what):
    items.clear().write_parquet("none.parquet")
    pl.concat([items, items]).write_parquet("twice.parquet")
    items.with_columns(label=None).write_parquet("unlabelled.parquet")
    items.with_columns(confidence=float("inf")).write_parquet("infinite.parquet")
    items.filter(participant_id=1).write_parquet("one.parquet")
    words = pl.col("prediction", "label").cast(pl.String)
    items.with_columns(words).write_parquet("words.parquet")
    items.with_columns(pl.lit(1).alias("*")).write_parquet("star.parquet")
    items.with_columns(tags=pl.concat_list(pl.lit("a"))).write_parquet("nested.parquet")
    args, message = BAD[what]
    line = ("selective", *BY_MODE, *RATED, "-o", "out.parquet")
    done = call(*line, *args.split(), exit_code=1)
    assert done.stderr.startswith("error: ")
    assert re.search(message, done.stderr), done.stderr
    assert not Path("out.parquet").exists()


def test_usage_errors(call, folder):
    assert "name ITEMS, or --from-run" in call("selective", "-o", "a.csv", exit_code=2).stderr
    grid = ("--coverage-grid", "0.1,half")
    done = call("selective", "items.parquet", "-o", "out.csv", *grid, exit_code=2)
    assert "Invalid value for '--coverage-grid'" in done.stderr


def test_conventions(selective, call, items):
    aurc = pl.col("metric") == "aurc"
    default = selective("--key", "").filter(aurc)["estimate"].item()
    predicted = selective("--key", "", "--convention", "trapezoid_predicted")
    coverage = items["prediction"].is_not_null().mean()
    assert predicted.filter(aurc)["estimate"].item() * coverage == pytest.approx(default)
    assert read_provenance("out.parquet")["job"]["convention"] == "trapezoid_predicted"
    flags = ("selective", "items.parquet", "-o", "out.parquet", "--key", "", *RATED)
    done = call(*flags, "--convention", "population")
    assert "Convention: population." in done.stdout
    assert "not defined in the convention population, left out: " in done.stderr
    assert "risk_at" in done.stderr
    assert "risk_at" not in done.stdout
    assert "Convention" not in call(*flags, "--convention", "trapezoid_total").stdout


def test_long_results_are_cut(call, items, folder):
    many = [items.with_columns(participant_id=pl.col("participant_id") + 6 * k) for k in range(6)]
    pl.concat(many).write_parquet("many.parquet")
    by = ("--by", "mode,participant_id")
    shown = call("selective", "many.parquet", *RATED, *by).stdout
    assert shown.count("\n") < 70
    assert "The first 60 of 72 rows." in shown


def test_a_readable_report(call, folder):
    line = ("selective", "items.parquet", "-o", "out.md", *BY_MODE, *RATED, "-q")
    call(*line)
    text = Path("out.md").read_text()
    head, rule, few, zero = text.partition("\n\n")[0].splitlines()
    assert head.startswith("| mode | confidence ")
    assert set(rule) == set("| -:")
    assert few.startswith("| few  | confidence |")
    assert zero.startswith("| zero | confidence |")
    assert "Also in the result: selective_risk, " in text
    flags = ("--metrics", "selective_risk,aurc_at", "--bootstrap", "10", "--level", "0.9")
    call(*line, *flags, "--convention", "trapezoid_predicted", "--key", "")
    text = Path("out.md").read_text()
    heads = [name.strip() for name in text.partition("\n")[0].strip("|").split("|")]
    assert heads == ["mode", "confidence", "n", "selective_risk", "AURC@0.50"]
    assert len(re.findall(r"\d\.\d+ \[\d\.\d+, \d\.\d+\]", text)) == 2 * 2
    assert "90% intervals in brackets." in text
    assert text.endswith("Convention: trapezoid_predicted.\n")
    Path("job.toml").write_text(JOB.replace("job.parquet", "job.md"))
    call("run", "job.toml", "-q")
    assert "| zero | evidence " in Path("job.md").read_text()


def test_sample_and_metrics(call, folder):
    assert "data/items.parquet" in call("sample", "data", "--participants", "8").stdout
    call("selective", "data/items.parquet", "-o", "out.parquet", *BY_MODE, *RATED, "-q")
    listed = call("metrics", "--family", "selective").stdout
    assert "risk_at_{coverage}" in listed
    assert "minimize" in listed


def test_the_examples_of_the_help_run(call, folder, monkeypatch):
    ran = []  # what a demo shows and a report holds is tested with them
    for name in ("samples.show", "pages.write_reports"):
        monkeypatch.setattr(f"evalframe.jobs.{name}", lambda *_, name=name: ran.append(name))
    Path("report.toml").write_text(JOB)
    commands = re.findall(
        r"  evalframe (.*)", help_texts()["evalframe: examples"].replace("\\\n", " ")
    )
    assert len(commands) == 16
    faster = {"selective": ["--bootstrap", "10"], "sample": ["--participants", "9"]}
    for command in commands:
        words = shlex.split(command)
        call(*words, *faster.get(words[0], []))
    assert Path("out.json").exists()
    assert ran == ["samples.show", "pages.write_reports"]


def test_help_teaches(call):
    assert "Exit codes:" in call("--help").stdout
    shown = call("selective", "--help").stdout
    assert "as a job file" in shown
    assert "evalframe selective --from-run run.json" in shown
    assert call("--version").stdout.startswith("evalframe ")


def test_the_validation_in_the_readme_passes(call, folder):
    call("sample", "data", "--participants", "8")
    readme = Path(__file__).parents[2] / "README.md"
    (example,) = re.findall(r"evalframe (validate [^#\n]*)", readme.read_text(encoding="utf-8"))
    assert "rows accepted" in call(*example.split()).stdout


LIGHT = """
import sys, types
package = types.ModuleType("evalframe")
package.__path__ = [sys.argv.pop(1)]
sys.modules["evalframe"] = package
from evalframe.jobs.cli import cli
for words in (["--help"], ["selective", "--help"], ["calibrate", "--help"]):
    cli(words, standalone_mode=False)
heavy = {"polars", "numpy", "scipy", "pyarrow"} & sys.modules.keys()
assert not heavy, heavy
"""


def test_the_command_line_itself_loads_nothing_heavy():
    path = str(Path(ef.__file__).parent)
    subprocess.run([sys.executable, "-c", LIGHT, path], check=True, stdout=subprocess.DEVNULL)


def test_help_and_version_answer_at_once():
    for line in ("--help", "--version", "selective --help", "calibrate --help"):
        program = [sys.executable, "-c", "from evalframe.jobs.cli import main; main()"]
        command = [*program, *line.split()]
        assert any(_seconds(command) < 0.5 for _ in range(3))


def _seconds(command):
    """Of processor time, which other work on the machine does not stretch."""
    start = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    end = os.times()
    return sum(end[2:4]) - sum(start[2:4])
