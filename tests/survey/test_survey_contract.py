"""The contracts of surveys and predictions."""

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.survey.contract import (
    distributions_contract,
    predictions_contract,
    survey_contract,
)

LONG = pl.DataFrame(
    {
        "round": ["A"] * 4,
        "segment_id": ["a", "a", "b", "b"],
        "question_id": ["q"] * 4,
        "option_index": [0, 1, 0, 1],
        "share": [0.4, 0.6, 0.995, 0.0],
        "sample_size": [9, 9, None, None],
    }
)
PREDICTIONS = pl.DataFrame(
    {
        "model": ["m", "m"],
        "round": ["A", "A"],
        "segment_id": ["a", "b"],
        "question_id": ["q", "q"],
        "response": ["[40, 60]", None],
        "context_count": [0, None],
    }
)


def test_good_tables_pass():
    assert validate(LONG, survey_contract()).rejected == 0
    percent = LONG.with_columns(percent=pl.col("share") * 100)
    assert validate(percent, survey_contract(share="percent", unit="percent")).rejected == 0
    renamed = LONG.drop("round", "sample_size").rename({"share": "p", "segment_id": "group"})
    contract = survey_contract(round=None, segment_id="group", share="p", sample_size=None)
    assert validate(renamed, contract).rows == 4
    keyed = predictions_contract(context_count="context_count")
    assert validate(PREDICTIONS, keyed).rejected == 0


@pytest.mark.parametrize("total", [0.99, 1.01, 1.0])
def test_sums_at_the_ends_pass(total):
    table = LONG.with_columns(share=pl.Series([total - 0.3, 0.3, 0.5, 0.5]))
    assert validate(table, survey_contract()).rejected == 0


@pytest.mark.parametrize("total", [0.9899, 1.0101])
def test_sums_beyond_them_do_not(total):
    table = LONG.with_columns(share=pl.Series([total - 0.3, 0.3, 0.5, 0.5]))
    with pytest.raises(ContractError, match=r"sum to 1: not so in 2 of 4 rows"):
        validate(table, survey_contract())


def test_a_prediction_that_is_there_twice_is_found():
    twice = pl.concat([PREDICTIONS, PREDICTIONS.head(1)])
    with pytest.raises(ContractError, match=r"(?s)are unique.*\(as row 0\)"):
        validate(twice, predictions_contract())
    runs = twice.with_columns(run=pl.Series([1, 1, 2]))
    assert validate(runs, predictions_contract(by="run")).rejected == 0
    with pytest.raises(MissingColumnsError, match="'weight'"):
        validate(PREDICTIONS, predictions_contract(weight="weight"))
    negative = PREDICTIONS.with_columns(context_count=-1)
    with pytest.raises(ContractError, match="context_count is not negative"):
        validate(negative, predictions_contract(context_count="context_count"))


def test_rows_can_be_set_apart(tmp_path):  # type: ignore[no-untyped-def]
    lists = pl.DataFrame(
        {
            "round": "A",
            "segment_id": ["a", "b"],
            "question_id": "q",
            "actual": [[1.0, 0.0], [0.5, 0.4]],
        }
    )
    report = validate(
        lists,
        distributions_contract(sample_size=None),
        on_invalid="quarantine",
        quarantine=tmp_path / "rejected.parquet",
    )
    assert report.rejected == 1
    assert report.breaches["rule"].to_list() == ["actual sums to 1 or to 100"]


def test_units_and_sizes_and_numbers_of_options():
    with pytest.raises(ParameterError, match="unit must be 'share' or 'percent', got 'pct'"):
        survey_contract(unit="pct")  # type: ignore[arg-type]
    part = LONG.with_columns(sample_size=pl.lit(33.5))
    with pytest.raises(ContractError, match="sample_size is a whole number: not so in 4 of 4 rows"):
        validate(part, survey_contract())
    lists = pl.DataFrame({"segment_id": ["a", "b"], "question_id": "q", "actual": [[0.5, 0.5]] * 2})
    contract = distributions_contract(round=None, sample_size=None, n_options="n_options")
    assert validate(lists.with_columns(n_options=2), contract).rows == 2
    with pytest.raises(ContractError, match="n_options is present: not so in 1 of 2 rows"):
        validate(lists.with_columns(n_options=pl.Series([2, None])), contract)
