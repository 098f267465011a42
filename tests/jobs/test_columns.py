"""Columns by other names, in what no main command reads, and where tables differ."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.selective.sample import sample_signals


@pytest.fixture
def few(samples):
    """Items of one mode with their signals, which `few.parquet` has."""
    table = sample_signals(participants=12).filter(mode="few_shot")
    table.write_parquet("few.parquet")
    return table


def renamed(path, roles):
    """Rename columns of a file, and give the flags that say so."""
    names = {role: f"{role} of mine" for role in roles}
    pl.read_parquet(path).rename(names).write_parquet(path)
    return [word for role, name in names.items() for word in ("--column", f"{role}={name}")]


SURVEY = ("segment_id", "question_id", "option_index", "share", "sample_size", "question_text")
COMMANDS = {  # the first of these a table must have
    "rag documents rag_instances.parquet -o {}.parquet": ("positive", "query", "negative", "id"),
    "survey prompts survey.parquet --context-count 2 -o {}.parquet": SURVEY,
    "survey baselines survey.parquet -o {}.parquet": SURVEY,
    "calibrate few.parquet --method platt --features token_msp --folds 2 -o {}.json": (
        *("label", "prediction", "participant_id", "token_msp"),
    ),
    "selective --from-run few.parquet --confidence token_msp --bootstrap 9 -o {}.parquet": (
        *("label", "prediction", "participant_id", "item", "mode", "token_msp"),
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_further_commands(call, few, command):
    words, roles = shlex.split(command), COMMANDS[command]
    call(*(word.format("before") for word in words), "-q")
    table = next(word for word in words if word.endswith(".parquet"))
    flags = renamed(table, roles)
    assert f"--column {roles[0]}=NAME" in call(*words, *flags[2:], exit_code=1).stderr
    call(*(word.format("after") for word in words), *flags, "-q")
    output = words[words.index("-o") + 1]
    assert_alike(Path(output.format("before")), Path(output.format("after")))
    told = call(*words, *flags, "--column", "lable=x", exit_code=1).stderr
    assert "unknown column 'lable'" in told
    unused = call(*words, *flags, "--column", f"{roles[0]}=x", exit_code=1).stderr
    assert "no column 'x', which is to be" in unused


def assert_alike(before, after):
    if before.suffix == ".parquet":
        found, expected = pl.read_parquet(after), pl.read_parquet(before)
        assert_frame_equal(found, expected, check_column_order=False)
        return
    ours, theirs = (json.loads(path.read_text()) for path in (after, before))
    assert ours["model"] == theirs["model"]
    assert ours["cross_validated_metrics"] == theirs["cross_validated_metrics"]


def test_two_tables_call_a_column_differently(call, samples):
    line = ("survey", "survey_responses.parquet", "--truth", "survey.parquet", "-q", "-o")
    call(*line, "before.parquet")
    flags = []
    for name, question in {"survey_responses": "asked", "survey": "item"}.items():
        table = pl.read_parquet(f"{name}.parquet")
        table.rename({"question_id": question}).write_parquet(f"{name}.parquet")
        flags += ["--column", f"question_id={question}"]
    call(*line, "after.parquet", *flags)
    assert_frame_equal(pl.read_parquet("after.parquet"), pl.read_parquet("before.parquet"))


def test_columns_of_text_formats_are_text_by_another_name(call, samples):
    """Ids that look like numbers stay what they are, and lists are read."""
    rows = {"who": ["7b", "7b"], "segment_id": ["a:b", "a:b"], "q": ["01", "02"]}
    pl.DataFrame({**rows, "said": ["[40, 60]", "[10, 90]"]}).write_csv("said.csv")
    truth = pl.DataFrame({**rows, "actual": ["[50, 50]", "[20, 80]"]}).drop("who")
    truth.rename({"q": "question_id"}).write_csv("truth.csv")
    columns = ("--column", "model=who", "--column", "question_id=q", "--column", "predicted=said")
    call("survey", "said.csv", "--truth", "truth.csv", *columns, "-o", "out.csv")
    assert pl.read_csv("out.csv").filter(model="7b")["n_items"].item() == 2


def test_a_role_takes_the_place_of_another_column(call, few):
    """The column that is called so already is another one."""
    table = few.filter(pl.col("prediction").is_not_null())
    line = ("selective", "few.parquet", "--loss", "abs", "--metrics", "selective_risk")
    table.with_columns(truth="label", label=pl.lit("none")).write_parquet("few.parquet")
    flags = ("--confidence", "token_msp", "-o", "out.parquet", "-q")
    for words in (("--column", "label=truth"), ("--label", "truth")):
        call(*line, *flags, *words)
        risk = (table["prediction"] - table["label"]).abs().mean()
        assert pl.read_parquet("out.parquet")["estimate"].item() == pytest.approx(risk)


@pytest.mark.parametrize(
    "line",
    [
        "selective --from-run run.json --mode few_shot --column label=x",
        "calibrate --from-run run.json --mode few_shot --method verbalized -o c.json "
        "--column label=x",
        "survey validate round.json --column question_id=x",
    ],
)
def test_files_of_the_originals_have_fixed_names(call, samples, line):
    Path("round.json").write_text("{}")
    told = call(*line.split(), exit_code=2 if "calibrate" in line else 1).stderr
    assert "column" in told
    assert "name" in told
