"""Score files: objects as the original makes them, real files, and what is said of broken ones."""

import json

import pytest

from evalframe.compat import rgb
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError

NAME = "prediction_en_m_temp0.2_noise0.4_passage5_correct0.0"


def test_score_objects():
    counts = {"nums": 4, "tt": 1, "fact_tt": 0, "correct_tt": 0, "rejecttt": 0}
    fact = rgb.score_object(counts, noise_rate=0.2, dataset="zh_fact")
    assert list(fact) == [
        *("all_rate", "noise_rate", "tt", "nums"),
        *("fact_check_rate", "correct_rate", "fact_tt", "correct_tt"),
    ]
    assert repr(fact["correct_rate"]) == "0"
    errors = rgb.score_object(counts, noise_rate=0.2, dataset="en", judge="errors")
    assert list(errors) == [
        *("reject_rate", "all_rate", "correct_rate", "tt"),
        *("rejecttt", "correct_tt", "nums", "noise_rate"),
    ]
    with pytest.raises(MissingColumnsError, match="needs columns 'correct_tt', 'fact_tt'"):
        rgb.score_object({"nums": 1, "tt": 1}, noise_rate=0.2, dataset="en_fact")
    with pytest.raises(ParameterError, match="scores need at least one"):
        rgb.score_object({"nums": 0, "tt": 0}, noise_rate=0.2, dataset="en")


def test_real_score_files(shared, tmp_path):
    runs = json.loads((shared / "data/rag/real_scores.json").read_text())["runs"]
    expected = []
    for case in runs:
        if "_passage" not in case["run_file"] or not case["stored_scores"]:
            continue
        stem = case["run_file"].removesuffix(".json")
        result = f"{stem}{'' if stem.endswith('chatgpt') else '_'}result.json"
        path = tmp_path / case["source"] / result
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(case["stored_scores"]))
        if "prediction_" in path.name and case["run_file"].count("_passage_") == 0:
            expected.append((str(path), case))
        else:
            path.unlink()
    table = rgb.read_scores(tmp_path)
    assert len(table) == len(expected) > 200
    cases = dict(expected)
    for row in table.iter_rows(named=True):
        case = cases[row["file"]]
        assert row["model"] == case["model"]
        known = {k: v for k, v in case["stored_scores"].items() if k in row and k != "noise_rate"}
        assert {k: row[k] for k in known} == known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty .0 bytes."),
        ('{"all_rate": 1', "the file ends too early"),
        ("[1]", "holds no scores: no object with 'all_rate'"),
        ('{"tt": 1}', "holds no scores"),
        ('{"all_rate": "1"}', "'all_rate' is '1', not a number"),
        ('{"all_rate": true}', "'all_rate' is True, not a number"),
        ('{"all_rate": 1, "tt": 1.5}', "'tt' is 1.5, not an integer"),
        ('{"all_rate": 1, "tt": 10000000000000000000}', "not an integer"),
        (
            '{"all_rate": 1%s}' % ("0" * 400),
            r"'all_rate' is 1000.*\.\.\..*, not a number of 64 bits",
        ),
        ('{"all_rate": 1, "noise_rate": 0.2}', "its name says noise rate 0.4, but it holds 0.2"),
    ],
)
def test_score_files_that_are_none(tmp_path, text, message):
    path = tmp_path / f"{NAME}_result.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        rgb.read_scores(path)


def test_scores_that_are_read(tmp_path):
    path = tmp_path / f"{NAME}_result.json"
    path.write_text('{"all_rate": 1, "noise_rate": 0.2, "tt": 2, "time_average": 1.5}')
    found = rgb.read_scores(str(path), noise_rate=0.2, model="n").row(0, named=True)
    assert (found["model"], found["noise_rate"], found["all_rate"], found["tt"]) == (
        "n",
        0.2,
        1.0,
        2,
    )
    assert found["nums"] is found["rejecttt"] is None
    path.rename(tmp_path / f"{NAME}.json")
    with pytest.raises(InputError, match="holds no score file"):
        rgb.read_scores(tmp_path)
