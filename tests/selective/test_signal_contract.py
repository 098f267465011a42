"""The contract of the signals that variants read."""

import math

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.selective.confidences import check_signals, signals_contract

ITEMS = pl.DataFrame(
    {
        "participant_id": [7, 7, 8, 8],
        "item": ["Sleep", "Tired", "Sleep", "Tired"],
        "prediction": [1, None, 2, 0],
        "token_msp": [0.5, None, math.nan, 0.1],
        "verbalized_confidence": [4.0, 3.5, None, 3.5],
    }
)


def test_one_error_tells_of_all_variants():
    with pytest.raises(ContractError) as error:
        check_signals(ITEMS, ["token_msp", "secondary:token_msp+verbalized:average", "verbalized"])
    told = str(error.value)
    both = "token_msp, secondary:token_msp+verbalized:average"
    for expected in (
        "confidence signals: 3 rules broken (rows are numbered from 0).",
        f"token_msp is present, for {both}: not so in 1 of 4 rows\n"
        "    row 1: participant_id=7, item='Tired', token_msp=null\n"
        f"    Remedy: record 'token_msp' for these rows, leave out {both}, or in Python check only "
        "those that matter (where=...).",
        f"token_msp is a number (NaN: no such key, or no number there), for {both}: "
        "not so in 1 of 4 rows\n    row 2: participant_id=8, item='Sleep', token_msp=nan",
        "verbalized_confidence is a whole number, for secondary:token_msp+verbalized:average, "
        "verbalized: not so in 2 of 4 rows\n"
        "    row 1: participant_id=7, item='Tired', verbalized_confidence=3.5\n"
        "    row 3: participant_id=8, item='Tired', verbalized_confidence=3.5\n"
        "    Remedy: correct 'verbalized_confidence' in these rows",
    ):
        assert expected in told


def test_only_rows_that_matter_are_checked():
    predicted = pl.col("prediction").is_not_null()
    with pytest.raises(ContractError, match=r"1 rule broken.*\n.*is a number.* 1 of 4"):
        check_signals(ITEMS, "token_msp", where=predicted)
    check_signals(ITEMS.head(2), ["token_msp", "verbalized"], where=predicted)
    check_signals(ITEMS.lazy(), "token_msp", where=pl.col("prediction") < 2)
    with pytest.raises(MissingColumnsError, match=r"where needs column 'predicted'.*Did you mean"):
        check_signals(ITEMS, "token_msp", where=pl.col("predicted"))


def test_absent_columns():
    with pytest.raises(
        MissingColumnsError,
        match=r"confidence \(token_pe, secondary:token_pe\+llm:product\) needs columns "
        "'llm_evidence_count', 'token_pe'; the table has",
    ):
        check_signals(ITEMS, ["verbalized", "token_pe", "secondary:token_pe+llm:product"])


def test_columns_of_text():
    text = ITEMS.with_columns(pl.lit("0.5").alias("token_msp"))
    for frame in (text, text.clear()):
        with pytest.raises(ContractError, match="column 'token_msp' is String, not a number"):
            check_signals(frame, "token_msp")


def test_a_table_without_rows_lacks_no_signal():
    check_signals(ITEMS.clear(), ["token_msp", "verbalized"])
    check_signals(ITEMS.clear().lazy(), "token_msp")


def test_the_check_reads_the_table_once():
    reads = []

    def read(frame):
        reads.append(1)
        return frame

    names = ["verbalized", "secondary:verbalized+verbalized:product"]
    check_signals(ITEMS.head(1).lazy().map_batches(read), names)
    assert len(reads) == 1


def test_the_contract_can_set_rows_apart(tmp_path):
    report = validate(
        ITEMS,
        signals_contract("token_msp"),
        on_invalid="quarantine",
        quarantine=tmp_path / "bad.parquet",
    )
    assert report.valid.collect()["item"].to_list() == ["Sleep", "Tired"]
    assert report.rejected == 2
