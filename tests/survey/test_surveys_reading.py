"""Tables of surveys in files."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import ContractError, InputError, ParameterError
from evalframe.survey.surveys.assembling import as_survey, read_survey
from evalframe.survey.surveys.tables import as_distributions

LONG = pl.DataFrame(
    {
        "question_id": ["q"] * 2 + ["r"] * 3,
        "segment_id": ["gender:male"] * 5,
        "sample_size": [50] * 5,
        "option_index": [0, 1, 0, 1, 2],
        "option_label": ["Yes", "No", "a", "b", "c"],
        "percent": [60.0, 40.0, 20.5, 30.5, 49.0],
    }
)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_tables_are_read(suffix, tmp_path):
    survey = as_survey(LONG)
    path = tmp_path / f"survey.{suffix}"
    getattr(survey.responses, f"write_{suffix}")(path)
    read = read_survey(path)
    assert_frame_equal(read.responses, survey.responses)
    assert_frame_equal(as_distributions(read), as_distributions(survey))
    (tmp_path / "survey.json").write_text("{}")
    assert_frame_equal(read_survey(tmp_path).responses, read.responses)
    with pytest.raises(
        InputError, match=r"survey.json is a document of dtef-app; evalframe.compat"
    ):
        read_survey([path, tmp_path / "survey.json"])


def test_bad_tables_are_named(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_bytes(b"question_id,segment_id,option_index,share\nq,\xff\xfe,0,1.0\n")
    with pytest.raises(InputError, match=r"cannot read .*survey\.csv"):
        read_survey(path)
    path.write_text("question_id,segment_id,option_index,percent\nq,s,0,50\nq,s,1,49\nq,t,0,10\n")
    with pytest.raises(ContractError, match="sum to 100"):
        read_survey(path)
    (tmp_path / "survey.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot read"):
        read_survey(tmp_path / "survey.parquet")


def test_texts_of_a_csv_file_stay_as_they_are(tmp_path):
    path = tmp_path / "survey.CSV"
    head = "question_id,segment_id,segment_value,option_index,option_label,share"
    path.write_text(f"{head}\n1,2,01,0,01,0.5\n1,2,01,1,02,0.5\n")
    found = read_survey(path).responses.select("segment_value", "option_label")
    assert found.rows() == [("01", "01"), ("01", "02")]
    path.write_text(f"{head}\n")
    with pytest.raises(InputError, match=r"survey.CSV: the table has no rows"):
        read_survey(path)
    path.write_bytes(f"{head}\n1,2,x,0,a,0.5\n1,2,".encode() + b"\xff,1,b,0.5\n3,\xfe,,,,\n")
    with pytest.raises(InputError, match=r"not UTF-8 text in 2 lines \(line 3, 4; .* byte 87 of"):
        read_survey(path)


def test_suffixes_in_any_case(tmp_path):
    table = pl.DataFrame({"question_id": ["q"], "segment_id": ["s"], "actual": [[0.25, 0.75]]})
    table.write_parquet(tmp_path / "X.PARQUET")
    assert str(read_survey(tmp_path / "X.PARQUET")).startswith("survey: 1 questions")


def test_what_is_no_source(tmp_path):
    for source in (None, 5, LONG, as_survey(LONG), [{}], {}):
        with pytest.raises(ParameterError, match="expected files, globs, or folders, got"):
            read_survey(source)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no survey to read"):
        read_survey([])
    with pytest.raises(InputError, match=r"holds no \.parquet or \.csv file"):
        read_survey(tmp_path)
    with pytest.raises(InputError, match="no file matches"):
        read_survey(tmp_path / "*.csv")
