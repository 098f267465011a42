"""Survey documents, validated as the original does."""

import copy
import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat.dtef import read_survey, validate, write_survey
from evalframe.core.errors import ContractError, InputError, OutputError, ParameterError
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import as_long

GOOD = {
    "surveyId": "s",
    "surveyName": "S",
    "questions": {
        "q": {"text": "Hot?", "type": "single-select", "options": ["Yes", "No"]},
        "r": {"text": "Late?", "type": "multi-select", "options": ["a", "b", "c"]},
    },
    "segments": [
        {
            "id": "gender:male",
            "label": "Male",
            "attributes": {"gender": "Male"},
            "sampleSize": 50,
            "responses": [
                {"questionId": "q", "distribution": [60, 40]},
                {"questionId": "r", "distribution": [20.5, 30.5, 49.0]},
            ],
        }
    ],
}


def changed(*path, to):
    """The good survey with another value in one place; `...` takes the place out."""
    survey = copy.deepcopy(GOOD)
    place = survey
    for step in path[:-1]:
        place = place[step]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return survey


def test_validation_as_the_original(golden):
    for case in golden("survey/blueprint_validation")["validation"]:
        report = validate(case["data"])
        assert report.errors["path"].to_list() == case["errors"], case["name"]
        assert report.warnings["path"].to_list() == case["warnings"], case["name"]
        assert report.valid == case["valid"]
        assert case["summary"] == {
            "questionCount": report.questions,
            "segmentCount": report.segments,
            "totalResponses": report.responses,
        }


SEGMENT, ANSWER = ("segments", 0), ("segments", 0, "responses", 0)
INVALID = [
    (changed("surveyName", to=""), "surveyName", "must be a text"),
    (changed("questions", to=None), "questions", "must be an object"),
    (changed("questions", "q", to="x"), "questions.q", "must be an object"),
    (changed("questions", "q", "text", to=...), "questions.q.text", "must be a text"),
    (changed("questions", "q", "type", to=1), "questions.q.type", "must be a text"),
    (changed("questions", "q", "options", to=["Yes"]), "questions.q.options", "two options"),
    (changed("segments", to={}), "segments", "must be an array"),
    (changed("segments", 0, to=None), "segments[0]", "must be an object"),
    (changed(*SEGMENT, "id", to=""), "segments[0].id", "must be a text"),
    (changed("segments", to=GOOD["segments"] * 2), "segments[1].id", "earlier segment"),
    (changed(*SEGMENT, "responses", to=None), "segments[0].responses", "must be an array"),
    (changed(*ANSWER, to=None), "segments[0].responses[0].questionId", "must be a text"),
    (changed(*ANSWER, "questionId", to="z"), "segments[0].responses[0].questionId", "no question"),
    (changed(*ANSWER, "distribution", to="x"), "segments[0].responses[0].distribution", "array"),
    (changed(*ANSWER, "distribution", to=[]), "segments[0].responses[0].distribution", "empty"),
    (
        changed(*ANSWER, "distribution", to=[0.6, 0.4]),
        "segments[0].responses[0].distribution",
        "sums to 1,",
    ),
    (
        changed(*ANSWER, "distribution", to=["60", 40]),
        "segments[0].responses[0].distribution",
        "numbers only",
    ),
    (
        changed(*ANSWER, "distribution", to=[True, 99]),
        "segments[0].responses[0].distribution",
        "numbers only",
    ),
    (
        changed(*ANSWER, "distribution", to=[-10, 60]),
        "segments[0].responses[0].distribution",
        "holds -10",
    ),
    (
        changed(*ANSWER, "distribution", to=[float("nan"), 40]),
        "segments[0].responses[0].distribution",
        "holds nan",
    ),
    (
        changed(*ANSWER, "distribution", to=[50, 30, 20]),
        "segments[0].responses[0].distribution",
        "3 values for 2 options",
    ),
]


@pytest.mark.parametrize(("survey", "path", "message"), INVALID)
def test_errors_are_named_and_refused(survey, path, message):
    report = validate(survey)
    assert not report.valid
    assert path in report.errors["path"].to_list()
    assert any(message in text for text in report.errors["message"])
    with pytest.raises(InputError, match=r"correct the survey\n\d+ errors:"):
        read_survey(survey)


@pytest.mark.parametrize(
    ("survey", "path"),
    [
        (changed(*SEGMENT, "label", to=""), "segments[0].label"),
        (changed(*SEGMENT, "sampleSize", to=29), "segments[0].sampleSize"),
        (changed(*SEGMENT, "sampleSize", to=True), "segments[0].sampleSize"),
        (changed(*SEGMENT, "sampleSize", to=...), "segments[0].sampleSize"),
        (changed(*SEGMENT, "responses", to=[]), "segments[0].responses"),
    ],
)
def test_warnings_are_kept(survey, path):
    assert validate(survey).valid
    assert path in read_survey(survey).warnings["path"].to_list()


def test_a_response_to_an_unknown_question_is_also_one_that_is_missing():
    report = validate(changed(*ANSWER, "questionId", to="z"))
    assert report.warnings["message"].to_list() == ["'gender:male' has no response to question 'q'"]


@pytest.mark.parametrize("sums", [[59, 40], [61, 40], [59.0, 40.0], [60.6, 40.4]])
def test_sums_from_99_to_101_pass(sums):
    assert validate(changed(*ANSWER, "distribution", to=sums)).valid


@pytest.mark.parametrize("content", [1, "x", None])
def test_the_top_level_is_an_object(content, tmp_path):
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(content))
    assert validate(path).errors["path"].to_list() == [""]
    path.write_text("[]")
    assert len(validate(path).errors) == 4


CONFLICTS = [
    (
        changed(*SEGMENT, "responses", to=[GOOD["segments"][0]["responses"][0]] * 2),
        "answers question 'q' more than once",
    ),
    (changed(*SEGMENT, "sampleSize", to=50.5), "50.5 is no whole number"),
    (changed(*ANSWER, "sampleSize", to="many"), "must be a whole number"),
    (changed("questions", "q", "options", to=["Yes", 0]), "must be texts"),
]


@pytest.mark.parametrize(("survey", "message"), CONFLICTS)
def test_what_tables_cannot_hold_is_refused(survey, message):
    report = validate(survey)
    assert report.valid
    assert any(message in text for text in report.conflicts["message"])
    with pytest.raises(InputError, match=message):
        read_survey(survey)


def test_lengths_of_questions_without_options_agree():
    survey = changed("questions", "q", to={"text": "Why?", "type": "open-ended"})
    second = copy.deepcopy(GOOD["segments"][0]) | {"id": "gender:female"}
    second["responses"][0]["distribution"] = [50, 30, 20]
    assert len(read_survey(survey).responses) == 5
    survey["segments"].append(second)
    with pytest.raises(InputError, match="distributions of 2 and 3 values"):
        read_survey(survey)


def test_repeated_keys_are_found(tmp_path):
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(GOOD).replace('"r": {', '"q": {', 1))
    with pytest.raises(InputError, match="the key 'q' more than once"):
        read_survey(path)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "survey.json"
    with pytest.raises(InputError, match="no such file"):
        read_survey(path)
    path.write_bytes(json.dumps(GOOD).encode()[:-20])
    with pytest.raises(InputError, match=r"survey\.json: .*the file ends too early"):
        read_survey(path)
    path.write_bytes(json.dumps(GOOD).encode().replace(b"Hot", b"H\xff\xfe"))
    with pytest.raises(InputError, match=r"survey\.json: byte \d+ is not UTF-8"):
        validate(path)
    with pytest.raises(InputError, match="no file matches"):
        read_survey(tmp_path / "*.jsn")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \.json file"):
        read_survey(tmp_path / "empty")


def test_attributes_and_sample_sizes():
    survey = changed(*SEGMENT, "attributes", to={"gender": "Male", "ageGroup": "18-25"})
    survey["segments"][0] |= {"id": "young-men", "label": "Young men"}
    survey["segments"][0]["responses"][1]["sampleSize"] = 48
    read = read_survey(survey)
    assert read.segment_attributes["value"].to_list() == ["Male", "18-25"]
    assert read.segments.row(0)[1:6] == ("young-men", "Young men", None, "Young men", 50)
    assert read.distributions()["sample_size"].to_list() == [50, 48]


def test_round_trip_of_a_survey(tmp_path):
    survey = copy.deepcopy(GOOD) | {"description": "D", "source": "—"}
    survey["segments"][0]["responses"][1]["sampleSize"] = 48
    [path] = write_survey(read_survey(survey), tmp_path / "out.json")
    order = list(survey)
    assert json.loads(path.read_text()) == {key: survey[key] for key in order}


def test_the_real_survey_is_written_byte_by_byte(shared, tmp_path):
    source = shared / "data" / "survey" / "dtef_survey_gd5.json"
    survey = read_survey(source)
    assert len(survey.warnings) == 22
    [path] = write_survey(survey, tmp_path / "out.json")
    assert path.read_bytes() == source.read_bytes()


def test_several_rounds_in_one_scan(tmp_path):
    for name in ("One", "Two"):
        text = json.dumps(changed("surveyId", to=name))
        (tmp_path / f"{name}.json").write_text(text)
    survey = read_survey(tmp_path)
    assert survey.rounds["round"].to_list() == ["One", "Two"]
    assert len(survey.distributions()) == 4
    (tmp_path / "out").mkdir()
    files = write_survey(survey, tmp_path / "out")
    assert [file.name for file in files] == ["one.json", "two.json"]
    assert_frame_equal(read_survey(files).responses, survey.responses)
    with pytest.raises(OutputError, match="cannot write 2 rounds"):
        write_survey(survey, tmp_path / "out.json")
    (tmp_path / "copy.json").write_text((tmp_path / "One.json").read_text())
    with pytest.raises(InputError, match="are both round 'One'"):
        read_survey(tmp_path)


def test_a_table_is_written(tmp_path):
    table = as_long(read_survey(GOOD))
    [path] = write_survey(table, tmp_path / "s.json")
    written = json.loads(path.read_text())
    assert written["segments"][0]["responses"] == GOOD["segments"][0]["responses"]
    assert written["questions"]["q"] == GOOD["questions"]["q"] | {"text": "q"}


def test_questions_in_an_array_go_by_their_numbers():
    survey = changed("questions", to=list(GOOD["questions"].values()))
    for number, answer in enumerate(survey["segments"][0]["responses"]):
        answer["questionId"] = str(number)
    assert read_survey(survey).questions["question_id"].to_list() == ["0", "1"]


def test_halves_of_characters_are_named(tmp_path):
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(changed("questions", "q", "text", to="\ud800")))
    with pytest.raises(InputError, match=r"half of a character"):
        read_survey(path)
    broken = changed("questions", to={"\ud800": {"text": ""}})
    assert r"questions.\ud800.text" in validate(broken).errors["path"].to_list()


@pytest.mark.parametrize("size", [10**30, 1e30, float("inf"), float("nan")])
def test_numbers_beyond_measure(size):
    with pytest.raises(InputError, match="no whole number of respondents"):
        read_survey(changed(*SEGMENT, "sampleSize", to=size))
    assert not validate(changed(*ANSWER, "distribution", to=[size, 10**400])).valid


def test_a_table_without_labels_can_be_read_again(tmp_path):
    table = pl.DataFrame({"question_id": ["q"], "segment_id": ["s"], "actual": [[25.0, 75.0]]})
    [file] = write_survey(table, tmp_path / "n.json")
    assert validate(file).valid
    survey = read_survey(file)
    assert survey.questions["question_type"].to_list() == ["open-ended"]
    assert survey.distributions()["actual"].to_list() == [[0.25, 0.75]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": [["a"]], "actual": [[1.0]]}, "must be an array of two options or more"),
        ({"options": [["a", None]]}, "questions.q.options: must be texts"),
        ({"question_id": [""]}, "questions..text: must be a text that is not empty"),
        ({"segment_id": [""]}, r"segments\[0\].id: must be a text that is not empty"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path, change, message):
    table = {"question_id": ["q"], "segment_id": ["s"], "options": [["a", "b"]]}
    table |= {"actual": [[0.25, 0.75]], **change}
    with pytest.raises(ContractError, match=f"(?s)the format cannot hold this survey.*{message}"):
        write_survey(pl.DataFrame(table), tmp_path / "n.json")
    assert not [*tmp_path.iterdir()]


def test_a_round_without_a_name_for_a_file(tmp_path):
    table = {"round": ["Ä"], "question_id": ["q"], "segment_id": ["s"], "actual": [[0.25, 0.75]]}
    with pytest.raises(OutputError, match="round 'Ä' has no letter from a to z and no digit"):
        write_survey(pl.DataFrame(table), tmp_path)
    [file] = write_survey(pl.DataFrame(table), tmp_path / "a.JSON")
    assert read_survey(file).rounds["round"].to_list() == ["Ä"]


def test_what_is_no_source():
    table = pl.DataFrame({"question_id": ["q"], "segment_id": ["s"], "actual": [[0.25, 0.75]]})
    for source in (None, 5, table, as_survey(table), [GOOD, 5]):
        for read in (validate, read_survey):
            with pytest.raises(ParameterError, match="expected files, globs, folders or decoded"):
                read(source)  # type: ignore[arg-type]


def test_suffixes_in_any_case_and_tables(tmp_path):
    (tmp_path / "X.PARQUET").write_bytes(b"")
    with pytest.raises(InputError, match=r"X.PARQUET is a table.*survey.read_survey reads"):
        validate(tmp_path / "X.PARQUET")
    (tmp_path / "Y.JSON").write_text(json.dumps(GOOD))
    assert validate(tmp_path).valid
