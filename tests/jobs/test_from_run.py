"""Run documents on the command line; the artifacts themselves are golden, in tests/selective."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from evalframe.compat.ai_psychiatrist import sample_document
from evalframe.jobs.family import help_texts
from evalframe.jobs.written import read_provenance

QUICK = ("--confidence", "token_msp", "--bootstrap", "10")
FEW = ("--mode", "few_shot")
TEMPERATURE = {"method": "temperature_scaling", "temperature": 2.0}
LOGISTIC = {
    "method": "logistic",
    "features": ["token_msp"],
    "target": "correctness",
    "model": {"coefficients": [1.0], "intercept": 0.0, "scaler": {"mean": [0.0], "std": [1.0]}},
}


@pytest.fixture(scope="module")
def sample():
    """Twelve participants in two modes; 308 and 309 fail in some."""
    found = json.loads(sample_document(participants=12, seed=1))
    return found


@pytest.fixture
def runs(tmp_path, sample, monkeypatch):
    """The working directory, with the sample as `run.json` in it."""
    monkeypatch.chdir(tmp_path)
    write("run.json", sample)
    return tmp_path


def write(name, document):
    Path(name).write_text(json.dumps(document))


def changed(sample, change, mode="few_shot"):
    """A copy of the sample, after a change of the entries of a mode."""
    copy = json.loads(json.dumps(sample))
    for experiment in copy["experiments"]:
        if experiment["results"]["mode"] == mode:
            change(experiment["results"]["results"])
    return copy


def set_signal(entries, name, value):
    """One signal of one predicted item."""
    entry = next(entry for entry in entries if entry["success"])
    item = next(k for k, value in entry["predicted_items"].items() if value is not None)
    entry["item_signals"][item][name] = value


def artifact(name="out.json"):
    found = json.loads(Path(name).read_text())
    return found


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_one_run(call, runs):
    line = ("selective", "--from-run", "run.json", *FEW, "--bootstrap", "10")
    shown = call(*line, "--artifact", "out.json").stdout
    assert shown.startswith("run.json, few_shot, sample-12-1\n")
    found = artifact()
    population = found["population"]
    assert (
        f"{population['participants_included']} of 12 participants; "
        f"{population['participants_failed']} failed.\n"
    ) in shown
    assert list(found["confidence_variants"]) == ["llm", "total_evidence"]
    assert found["inputs"][0]["path"] == "run.json"
    assert found["comparison"] == {"enabled": False, "intersection_only": False, "deltas": None}
    aurc = found["confidence_variants"]["llm"]["aurc_full"]
    assert f"{aurc:.3f} [" in shown
    assert "95% intervals in brackets." in shown
    assert "Also in the result: aurc_at" in shown


def test_defaults_are_those_of_the_original(call, runs, monkeypatch):
    call("selective", "--from-run", "run.json", *FEW, "--artifact", "out.json", "-q")
    figures = artifact()["confidence_variants"]["llm"]
    assert figures["bootstrap"]["n_resamples"] == 10_000
    assert figures["bootstrap"]["seed"] == 42
    assert list(figures["mae_at_coverage"]) == [f"0.{k}0" for k in range(1, 10)]
    assert figures["aurc_at_c"]["requested"] == 0.5
    assert artifact()["loss"]["name"] == "abs_norm"


def test_every_flag_reaches_the_artifact(call, runs):
    call(
        *("selective", "--from-run", "run.json", "--mode", "zero_shot", "--loss", "abs"),
        *("--confidence", "token_pe,secondary:llm+token_msp:product", "--coverage-grid", "0.2,0.4"),
        *("--area-coverage", "0.3", "--bootstrap", "11", "--seed", "7", "--artifact", "out.json"),
        "-q",
    )
    found = artifact()
    assert found["inputs"][0]["mode"] == "zero_shot"
    assert found["loss"] == {"name": "abs", "definition": "abs(pred - gt)", "raw_multiplier": 1}
    assert list(found["confidence_variants"]) == ["token_pe", "secondary:llm+token_msp:product"]
    apart = ("--confidence", "token_pe", "--confidence", "secondary:llm+token_msp:product")
    line = ("selective", "--from-run", "run.json", *FEW, *apart, "--bootstrap", "0", "--artifact")
    call(*line, "again.json", "-q")
    assert list(artifact("again.json")["confidence_variants"]) == list(found["confidence_variants"])
    figures = found["confidence_variants"]["token_pe"]
    assert list(figures["mae_at_coverage"]) == ["0.20", "0.40"]
    assert figures["aurc_at_c"]["requested"] == 0.3
    assert figures["bootstrap"]["n_resamples"] == 11
    assert figures["bootstrap"]["seed"] == 7


def test_no_resampling(call, runs):
    line = ("selective", "--from-run", "run.json", *FEW, "--bootstrap", "0")
    shown = call(*line, "--artifact", "out.json").stdout
    assert artifact()["confidence_variants"]["llm"]["bootstrap"] == {}
    assert "[" not in shown
    assert "intervals" not in shown


def test_two_runs(call, runs):
    line = ("selective", "--from-run", "run.json", "run.json", *QUICK)
    modes = ("--mode", "few_shot", "--mode", "zero_shot")
    shown = call(*line, *modes, "--artifact", "out.json").stdout
    assert "Input 0: run.json, few_shot, sample-12-1\nInput 1: run.json, zero_shot" in shown
    assert "participants in both runs" in shown
    found = artifact()
    assert [run["mode"] for run in found["inputs"]] == ["few_shot", "zero_shot"]
    assert list(found["confidence_variants"]["token_msp"]) == ["input_0", "input_1"]
    delta = found["comparison"]["deltas"]["token_msp"]["aurc_full"]
    table = shown.partition("Input 1 minus input 0")[2]
    ends = rf"{delta['delta']:.3f} \[ *{delta['ci95'][0]:.3f}, ".replace("-", "\N{MINUS SIGN}")
    assert re.search(f"aurc +{ends}", table), table
    assert "p value" in table
    both = call("selective", "--from-run", "run.json", "--from-run", "run.json", *QUICK, *FEW)
    assert "Input 1: run.json, few_shot" in both.stdout, "one mode is that of both"


def test_different_participants(call, runs, sample):
    write("fewer.json", changed(sample, lambda entries: entries.pop(0)))
    line = ("selective", "--from-run", "run.json", "fewer.json", *FEW, *QUICK)
    done = call(*line, "--artifact", "out.json", exit_code=1)
    assert done.stderr == (
        "error: the two runs have different participants: 1 are in the first only, 0 in the second "
        "only; compare those in both by --intersection-only\n"
    )
    assert not Path("out.json").exists()
    call(*line, "--artifact", "out.json", "--intersection-only", "-q")
    assert artifact()["comparison"]["participants_left_only"] == 1
    assert artifact()["population"]["participants_total"] == 11


def test_everybody_failed(call, runs, sample):
    def fail(entries):
        for entry in entries:
            entry["success"] = False

    write("run.json", changed(sample, fail))
    line = ("selective", "--from-run", "run.json", *FEW, *QUICK)
    assert "0 of 12 participants; 12 failed." in call(*line, "--artifact", "out.json").stdout
    assert artifact()["population"]["items_total"] == 0
    assert call(*line, "--rules", "documented").stdout


def test_signals_that_nobody_asks_for_do_not_block(call, runs, sample):
    line = ("selective", "--from-run", "run.json", *FEW, "-q", "--artifact")
    call(*line, "clean.json", *QUICK)
    write("run.json", changed(sample, lambda entries: set_signal(entries, "token_pe", ["junk"])))
    call(*line, "out.json", *QUICK)
    curves = [
        artifact(name)["confidence_variants"]["token_msp"]["curve"]
        for name in ("clean.json", "out.json")
    ]
    assert curves[0] == curves[1]
    done = call(*line, "no.json", "--confidence", "token_pe", exit_code=1)
    assert re.search("item .*: token_pe must be a number or null, not a list", done.stderr)


def test_rules(call, runs, sample):
    change = changed(sample, lambda entries: set_signal(entries, "llm_evidence_count", None))
    write("run.json", change)
    line = ("selective", "--from-run", "run.json", *FEW, *QUICK, "--artifact", "out.json")
    done = call(*line, exit_code=1)
    assert "llm_evidence_count is present, for llm: not so in 1 of " in done.stderr
    assert "--rules documented does not." in done.stderr
    assert not Path("out.json").exists()
    call(*line, "--rules", "documented", "-q")
    assert list(artifact()["confidence_variants"]) == ["token_msp"]
    line = ("selective", "--from-run", "run.json", *FEW, "--rules", "documented")
    done = call(*line, exit_code=1)
    assert "llm_evidence_count is present, for llm, total_evidence" in done.stderr
    assert "--rules documented" not in done.stderr


def test_calibration(call, runs):
    write("t.json", TEMPERATURE)
    write("l.json", LOGISTIC)
    line = ("selective", "--from-run", "run.json", *FEW, "--bootstrap", "0", "-q", "-o", "o.csv")
    temperature = ("--confidence", "calibrated:token_msp,verbalized_calibrated")
    call(*line, *temperature, "--calibration", "t.json", "--artifact", "out.json")
    thresholds = artifact()["confidence_variants"]["calibrated:token_msp"]["curve"]["threshold"]
    assert all(0 < threshold < 1 for threshold in thresholds)
    call(*line, "--confidence", "calibrated", "--calibration", "l.json")
    done = call(*line, "--confidence", "llm", "--calibration", "t.json")
    assert done.stderr == (
        "warning: --calibration is not used: none of the variants is calibrated (llm)\n"
    )


def test_warnings_are_one_line(call, runs, sample):
    sample = {**sample, "experiments": [sample["experiments"][0]] * 2}
    mode = sample["experiments"][0]["results"]["mode"]
    write("twice.json", sample)
    line = ("selective", "--from-run", "twice.json", "--mode", mode, "--rules", "documented")
    done = call(*line, *QUICK, "--intersection-only")
    one, run = done.stderr.splitlines()
    assert one == "warning: --intersection-only is not used: there is one run document"
    assert re.fullmatch(rf"warning: twice.json has 2 experiments of mode '{mode}'; .*", run)


BAD = {
    "absent": ("--from-run absent.json", 1, "absent.json: no such file"),
    "no mode": ("--from-run run.json", 1, r"say which to read by --mode. Its modes: 'zero"),
    "mode": ("--from-run run.json --mode few", 1, "no experiment of mode 'few'. Did you mean 'few"),
    "modes": (
        "--from-run run.json --mode few_shot --mode few_shot",
        1,
        "2 modes for 1 run document; name one for all or one for each",
    ),
    "variant": ("--from-run run.json --confidence token_mps", 1, "Did you mean 'token_msp'"),
    "no variant": ("--from-run run.json --confidence=", 1, "unknown confidence variant ''"),
    "calibration of another method": (
        "--from-run run.json --mode few_shot --confidence calibrated --calibration t.json",
        1,
        "this one is of method 'temperature_scaling'",
    ),
    "supervised for a scalar": (
        "--from-run run.json --mode few_shot --confidence calibrated:llm --calibration l.json",
        1,
        "this one is of method 'logistic'",
    ),
    "calibration is no artifact": (
        "--from-run run.json --mode few_shot --confidence calibrated:llm --calibration run.json",
        1,
        "error: run.json: ",
    ),
    "calibration absent": (
        "--from-run run.json --mode few_shot --calibration none.json",
        1,
        "error: cannot read the calibration 'none.json': No such file",
    ),
    "loss": ("--from-run run.json --loss zero_one", 2, "one of abs, abs_norm, got 'zero_one'"),
    "grid": ("--from-run run.json --coverage-grid 0.5,1.5", 2, r"needs numbers in \(0, 1\]"),
    "empty grid": ("--from-run run.json --coverage-grid=", 2, r"needs numbers in \(0, 1\]"),
    "grid of words": ("--from-run run.json --coverage-grid half", 2, "--coverage-grid"),
    "others' flags": (
        "--from-run run.json --by mode --interval bca --hash-inputs",
        2,
        "--by, --interval, --hash-inputs: not for run documents",
    ),
    "tables": (
        "items.parquet -o out.csv --mode a --intersection-only --rules reference",
        2,
        "--mode, --intersection-only, --rules without --from-run RUN.json",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(call, runs, sample, what):
    write("t.json", TEMPERATURE)
    write("l.json", LOGISTIC)
    before = names(runs)
    arguments, exit_code, message = BAD[what]
    line = ["selective", *arguments.split()]
    if exit_code == 1:
        line += ["--artifact", "out.json", "-o", "out.parquet"]
    done = call(*line, exit_code=exit_code)
    assert re.search(message, done.stderr), done.stderr
    assert exit_code == 2 or done.stderr.startswith("error: ")
    assert "Warning" not in done.stderr
    assert names(runs) == before, "nothing is written"


TARGETS = {
    "an input": ("--artifact run.json", "run.json is one of the inputs"),
    "the calibration": ("--calibration t.json --artifact t.json", "t.json is one of the inputs"),
    "no JSON": ("--artifact out.txt", "cannot write 'out.txt': an artifact is JSON"),
    "no name": ("--artifact=", "cannot write '.': an artifact is JSON"),
    "no folder": ("--artifact absent/out.json", "cannot write out.json: no folder 'absent'"),
    "a folder": ("--artifact folder.json", "there is a folder of this name"),
    "twice": ("--artifact out.json -o out.json", "--artifact and --output name the same file"),
    "format": ("-o out.xls", "unknown format '.xls'; known: .parquet, .csv"),
}


@pytest.mark.parametrize("what", TARGETS)
def test_where_nothing_can_be_written(call, runs, what):
    Path("folder.json").mkdir()
    write("t.json", TEMPERATURE)
    before = {path.name: path.stat().st_mtime_ns for path in runs.iterdir()}
    arguments, message = TARGETS[what]
    done = call("selective", "--from-run", "run.json", *FEW, *arguments.split(), exit_code=1)
    assert f"error: {message}" in done.stderr or message in done.stderr
    assert {path.name: path.stat().st_mtime_ns for path in runs.iterdir()} == before


def test_a_link_to_an_artifact_stays_one(call, runs):
    Path("real").mkdir()
    Path("out.json").symlink_to("real/a.json")
    call("selective", "--from-run", "run.json", *FEW, *QUICK, "--artifact", "out.json", "-q")
    assert Path("out.json").is_symlink()
    assert artifact("real/a.json")["schema_version"] == "1"


def test_tables_of_the_result(call, runs):
    line = ("selective", "--from-run", "run.json", "run.json", *QUICK, "-q")
    modes = ("--mode", "few_shot", "--mode", "zero_shot")
    call(*line, *modes, "-o", "out.parquet", "--artifact", "out.json")
    found = pl.read_parquet("out.parquet")
    aurc = found.filter(metric="aurc", input=1)["estimate"].item()
    assert aurc == artifact()["confidence_variants"]["token_msp"]["input_1"]["aurc_full"]
    record = read_provenance("out.parquet")
    assert record["settings"]["rules"] == "reference"
    assert [run["mode"] for run in record["inputs"]] == ["few_shot", "zero_shot"]


def test_a_readable_report(call, runs):
    line = ("selective", "--from-run", "run.json", "run.json", *QUICK, "-q")
    call(*line, "--mode", "few_shot", "--mode", "zero_shot", "-o", "report.md")
    text = Path("report.md").read_text()
    assert text.startswith("Input 0: run.json, few_shot, sample-12-1  \nInput 1: run.json, zero_")
    figures, deltas = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert "| input | confidence |" in figures
    assert " AURC |" in figures
    ends = r" .?\d\.\d+ \[.?\d\.\d+, .?\d\.\d+\] \|"
    assert len(re.findall(ends, figures)) == 2 * 3, "Cmax, AURC and AUGRC of both modes"
    assert figures.count("\n") == 4
    assert deltas.count("\n") == 5
    assert len(re.findall(ends, deltas)) == 3
    call(*line[:3], *FEW, *QUICK, "-o", "report.md", "-q", "--report", "report.html")
    assert "minus" not in Path("report.md").read_text()
    page = Path("report.html").read_text()
    assert all(told in page for told in ("token_msp", "aurc", "run.json"))


def test_the_examples_of_the_help_run(call, runs, sample):
    for name in ("a.json", "b.json"):
        write(name, sample)
    text = (
        help_texts("selective")["evaluate: examples"]
        .partition("Run documents")[2]
        .replace("\\\n", " ")
    )
    commands = re.findall(r"evalframe (selective .*)", text)
    assert len(commands) == 2
    for command in commands:
        call(*command.split(), "--bootstrap", "10", "-q")
    assert {"out.json", "report.md", "paired.json"} <= names(runs)
