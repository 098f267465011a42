"""`evalframe rag`: what it writes, what it prints, and what it refuses."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import rgb
from evalframe.core.errors import ParameterError
from evalframe.jobs.flags import parse
from evalframe.jobs.rag import KEYS, RagJob
from evalframe.jobs.written import read_provenance
from evalframe.rag.abilities import ABILITIES
from evalframe.rag.sample.questions import sample_instances
from evalframe.rag.sample.responses import sample_responses

RESPONSES = sample_responses(questions=6)


@pytest.fixture
def rag(commands):
    """Run `evalframe rag` in a folder with `responses.parquet`."""
    return commands("rag", responses=RESPONSES)


def rates(frame, **options):
    return rgb.rates(ef.rag.label(frame), **options)


def test_the_result_is_what_rates_gives(rag):
    rag("responses.parquet", "-o", "out.parquet", "--quiet")
    expected = rates(RESPONSES, by=KEYS, intervals="wilson")
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    record = read_provenance("out.parquet")
    assert record["records"] == {"rows": len(RESPONSES), "rejected": 0}
    assert record["inputs"][0]["rows"] == len(RESPONSES)
    again = parse(record["job"])
    assert isinstance(again, RagJob)
    assert again.items == ("responses.parquet",)


def test_every_ability_is_printed_under_its_name(rag):
    text = rag("responses.parquet", "-o", "out.md", "--by", "model,dataset,noise_rate")
    for name in ABILITIES:
        assert name.replace("_", " ").capitalize() in text
    assert "95% intervals in brackets." in text
    assert "dropped" in text
    written = Path("out.md").read_text(encoding="utf-8")
    assert written.count("## ") == 4
    whole = rag("responses.parquet", "-o", "out.csv", "--by", "model", "--intervals", "none")
    assert whole.startswith("All responses")
    assert "[" not in whole


def test_a_folder_gets_every_table(rag):
    rag("responses.parquet", "-o", "tables", "--bootstrap", "20", "--level", "0.9", "-q")
    found = {path.stem: pl.read_parquet(path) for path in Path("tables").iterdir()}
    assert found.keys() == {"rates", "accuracy_drop", *ABILITIES}
    resample = ef.Bootstrap(cluster=pl.struct("dataset", "id"), n=20, level=0.9)
    labelled = ef.rag.label(RESPONSES)
    expected = rgb.rates(labelled, by=KEYS, resample=resample)
    assert_frame_equal(found["rates"], expected)
    by = [key for key in KEYS if key != "noise_rate"]
    drop = ef.rag.accuracy_drop(labelled, by=by, resample=resample)
    assert_frame_equal(found["accuracy_drop"], drop)
    noise = ef.rag.published_table(expected, "noise_robustness")
    assert_frame_equal(found["noise_robustness"], noise)


def test_answers_come_from_instances(rag):
    bare = RESPONSES.filter(dataset="en").drop("answers", "fake_answers", "query")
    bare.write_parquet("bare.parquet")
    sample_instances(questions=6).write_parquet("instances.parquet")
    args = ["bare.parquet", "--instances", "instances.parquet", "-q"]
    rag(*args, "-o", "out.parquet")
    expected = rates(RESPONSES.filter(dataset="en"), by=KEYS, intervals="wilson")
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    sample_instances(questions=4).write_parquet("instances.parquet")
    assert "have no instance" in rag(*args, "-o", "out.parquet", exit_code=1)


def test_prediction_files_keep_their_labels_unless_a_mode_is_asked_for(rag):
    labelled = ef.rag.label(RESPONSES.filter(pl.col("response").is_not_null())).with_columns(
        temperature=pl.lit(0.2)
    )
    Path("runs").mkdir()
    rgb.write(labelled.drop("evaluation"), "runs")
    rag("--from-rgb", "runs", "-o", "stored.parquet", "-q")
    rag("--from-rgb", "runs", "-o", "strict.parquet", "-q", "--mode", "strict")
    rag("--from-rgb", "runs", "-o", "lenient.parquet", "-q", "--mode", "lenient")
    stored, lenient = pl.read_parquet("stored.parquet"), pl.read_parquet("lenient.parquet")
    assert_frame_equal(stored, pl.read_parquet("strict.parquet"))
    assert (lenient["n_rejected"] >= stored["n_rejected"]).all()
    assert lenient["n_rejected"].sum() > stored["n_rejected"].sum()
    expected = labelled.filter(model="quill-70b", dataset="zh", noise_rate=1.0)
    found = stored.filter(model="quill-70b", dataset="zh", noise_rate=1.0)
    assert found["n"].item() == len(expected)


def test_rows_that_break_the_contract(rag):
    twice = pl.concat([RESPONSES, RESPONSES.head(2)])
    twice.write_parquet("twice.parquet")
    assert "are unique" in rag("twice.parquet", "-o", "out.parquet", exit_code=1)
    told = rag("twice.parquet", "-o", "out.parquet", "--on-invalid", "quarantine", "-q")
    assert "2 written to out.rejected.parquet" in told
    assert pl.read_parquet("out.rejected.parquet").height == 2
    assert_frame_equal(
        pl.read_parquet("out.parquet"), rates(RESPONSES, by=KEYS, intervals="wilson")
    )
    wrong = RESPONSES.with_columns(noise_rate=pl.col("noise_rate") * 100)
    wrong.write_parquet("wrong.parquet")
    text = rag("wrong.parquet", "-o", "out.parquet", exit_code=1)
    assert "noise_rate lies in [0, 1]" in text
    assert "divide percentages by 100" in text


@pytest.mark.parametrize(
    ("args", "exit_code", "message"),
    [
        (["-o", "out.parquet"], 2, "name RESPONSES, or --from-rgb FOLDER"),
        (["absent.parquet", "-o", "out.parquet"], 1, "no file or folder 'absent.parquet'"),
        (["responses.parquet", "-o", "out.csv", "--by", "modle"], 1, "Did you mean 'model'"),
        (["responses.parquet", "-o", "out.csv", "--level", "95"], 1, "level must lie between"),
        (["responses.parquet", "-o", "out.csv", "--mode", "loose"], 2, "'loose' is not one of"),
        (["--from-rgb", "responses.parquet", "-o", "out.csv"], 1, "responses.parquet"),
    ],
)
def test_refusals(rag, args, exit_code, message):
    assert message in " ".join(rag(*args, exit_code=exit_code).split())


MIXED = [
    {"answers": ["Rome", "Kyiv"]},
    {"answers": [["Rome", "Roma"], ["Kyiv"]]},
    {"answers": "Rome"},
    {"answers": ["Rome", ["Kyiv", "Kiev"]]},
]


def test_answers_of_mixed_shapes_in_json_lines(rag):
    rows = [
        {"dataset": "en", "id": k, "response": "Rome and Kyiv", **row}
        for k, row in enumerate(MIXED)
    ]
    Path("mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rag("mixed.jsonl", "-o", "out.parquet", "-q")
    assert pl.read_parquet("out.parquet")["n_correct"].item() == 4
    rag("mixed.jsonl", "-o", "out.parquet", "-q", "--answers", "text")
    assert pl.read_parquet("out.parquet")["n_correct"].item() == 1


def test_answers_of_a_csv_file_are_text_or_json(rag):
    cells = ["12", '["Rome"]', "Rome"]
    pl.DataFrame(
        {"dataset": "en", "id": [0, 1, 2], "response": ["12", "Rome", "Rome"], "answers": cells}
    ).write_csv("answers.csv")
    rag("answers.csv", "-o", "out.parquet", "-q")
    assert pl.read_parquet("out.parquet")["accuracy"].item() == 1.0


def test_what_was_assumed_of_answers_is_told(rag):
    rows = [{"dataset": "en", "id": k, "response": "Rome", **row} for k, row in enumerate(MIXED)]
    Path("mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pl.DataFrame(rows[:1]).write_parquet("lists.parquet")
    told = rag("mixed.jsonl", "-o", "out.parquet")
    assert "3 of 4 are read as JSON, the others as one alias each" in told
    assert "1 of 4 are flat lists of several texts, all of them required" in told
    assert pl.read_parquet("out.parquet")["n_partial"].item() == 3
    told = rag("mixed.jsonl", "-o", "out.parquet", "--flat-answers", "aliases")
    assert "any of which suffices (--flat-answers aliases)" in told
    assert pl.read_parquet("out.parquet")["n_correct"].item() == 2
    for flat, correct in (("parts", 0), ("aliases", 1)):
        told = rag("lists.parquet", "-o", "out.parquet", "--flat-answers", flat)
        assert "1 of 1 are flat lists" in told
        assert "JSON" not in told
        assert pl.read_parquet("out.parquet")["n_correct"].item() == correct
    assert "Answers" not in rag("responses.parquet", "-o", "out.parquet")
    told = rag("responses.parquet", "-o", "out.parquet", "--flat-answers", "aliases")
    assert "no flat list of several texts is among them; --flat-answers aliases changes" in told
    instances = sample_instances(questions=1).filter(dataset="en")
    flat = instances.with_columns(answers=pl.lit(["Rome", "Roma"]))
    flat.write_parquet("flat.parquet")
    for more, answers in (("parts", [["Rome"], ["Roma"]]), ("aliases", [["Rome", "Roma"]])):
        told = rag("documents", "flat.parquet", "-o", "p.parquet", "--flat-answers", more)
        assert "1 of 1 are flat lists of several texts" in told
        assert pl.read_parquet("p.parquet")["answers"].to_list() == [answers]


LANGUAGE = """
rejections = ["unzureichende Informationen"]
errors = ["sachliche Fehler"]
absence = ["nicht genannt"]
"""


def test_a_third_language(rag, call):
    said = ["unzureichende Informationen", "Das wird nicht genannt", "Rom: sachliche Fehler"]
    rows = pl.DataFrame({"dataset": "de", "id": [0, 1, 2], "answers": "Rom", "response": said})
    rows.write_parquet("german.parquet")
    Path("de.toml").write_text(LANGUAGE)

    def counts():
        return pl.read_parquet("out.parquet").select("n_rejected", "n_error_detected").row(0)

    rag("german.parquet", "-o", "out.parquet", "-q")
    assert counts() == (0, 0)
    for mode, found in (("strict", (1, 1)), ("lenient", (2, 1))):
        rag("german.parquet", "-o", "out.parquet", "-q", "--language", "de.toml", "--mode", mode)
        assert counts() == found
    job = """family = "rag"\nitems = ["german.parquet"]\noutput = "out.parquet"\n"""
    for entry in (f"[language]{LANGUAGE}", 'language = "de.toml"'):
        Path("job.toml").write_text(job + entry)
        call("run", "job.toml")
        assert counts() == (1, 1)
    instances = sample_instances(questions=1)
    instances.write_parquet("instances.parquet")
    rag("documents", "instances.parquet", "-o", "p.parquet", "--language", "de.toml")
    told = pl.read_parquet("p.parquet")["system"]
    assert told.str.contains("unzureichende Informationen", literal=True).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("absense = []", "unknown entry of de.toml 'absense'. Did you mean 'absence'?"),
        ("rejections = ['a']", "de.toml lacks its entry 'errors'"),
        ("rejections = 'a'\nerrors = ['b']", "rejections of a language must be a list"),
        ("rejections = [", "de.toml is not a TOML file of a language"),
        (None, "de.toml cannot be read (No such file or directory)"),
    ],
)
def test_refused_languages(rag, text, message):
    if text is not None:
        Path("de.toml").write_text(text)
    told = rag("responses.parquet", "-o", "o.csv", "--language", "de.toml", exit_code=1)
    assert message in " ".join(told.split())


def test_labels_that_are_there_need_no_language(rag):
    ef.rag.label(RESPONSES).write_parquet("labelled.parquet")
    Path("de.toml").write_text(LANGUAGE)
    args = ["labelled.parquet", "-o", "o.csv", "--language", "de.toml"]
    assert "name the mode to make new ones" in " ".join(rag(*args, exit_code=1).split())
    rag(*args, "--mode", "strict", "-q")


def test_the_same_run_in_two_files(rag):
    some = RESPONSES.filter(pl.col("response").is_not_null(), dataset="en", noise_rate=0.0)
    labelled = ef.rag.label(some).drop("evaluation")
    for name in ("one", "two"):
        Path(name).mkdir()
        rgb.write(labelled, name)
    args = ["--from-rgb", "one", "--from-rgb", "two", "-o", "out.parquet", "-q"]
    told = " ".join(rag(*args, exit_code=1).split())
    assert "are the same run" in told
    assert "by 'file' among the columns of --by or --key" in told
    # What the message says works.
    rag(*args, "--by", "model,file")
    by_file = pl.read_parquet("out.parquet")
    assert len(by_file) == 6
    assert by_file["n"].sum() == 2 * len(some)
    rag(*args, "--by", "model", "--key", "model,id,file")
    assert pl.read_parquet("out.parquet")["n"].sum() == 2 * len(some)


def test_tables_of_a_folder_are_no_inputs(rag):
    Path("tables").mkdir()
    RESPONSES.write_parquet("tables/rates.parquet")
    for given in ("tables/rates.parquet", "tables"):
        assert "input" in rag(given, "-o", "tables", exit_code=1)
    assert_frame_equal(pl.read_parquet("tables/rates.parquet"), RESPONSES)


def test_a_folder_holds_tables_of_one_run_only(rag):
    rag("responses.parquet", "-o", "tables", "-q")
    rag("responses.parquet", "-o", "tables", "-q", "--by", "dataset")
    assert pl.read_parquet("tables/rates.parquet").columns[0] == "dataset"
    assert pl.read_parquet("tables/noise_robustness.parquet").is_empty()
    assert pl.read_parquet("tables/accuracy_drop.parquet").is_empty()


def test_stored_labels_are_held_to_their_contract(rag):
    labelled = ef.rag.label(RESPONSES)
    labelled.with_columns(factlabel=5).write_parquet("odd.parquet")
    assert "factlabel is 1 or 0" in rag("odd.parquet", "-o", "out.csv", exit_code=1)
    rag("odd.parquet", "-o", "out.csv", "--mode", "strict", "-q")


def test_a_level_beside_a_bootstrap_is_refused():
    job = {"family": "rag", "items": ["a.parquet"], "bootstrap": {"n": 9}}
    for more in ({"level": 0.9}, {"intervals": "wilson"}):
        with pytest.raises(ParameterError, match="not resampled"):
            parse(job | more)
