"""Item tables as runs: the same evaluation as of the document they are from."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat.ai_psychiatrist import open_run, run_of_items, sample_document
from evalframe.compat.ai_psychiatrist.evaluation import evaluate_runs
from evalframe.compat.ai_psychiatrist.settings import RunSettings
from evalframe.core.errors import ContractError, InputError, MissingColumnsError
from evalframe.selective.sample import sample_signals

SIGNALS = sample_signals(participants=10)
SETTINGS = RunSettings(variants=("token_msp", "verbalized"), n=20)


def test_a_table_in_any_order_is_the_run_of_its_document():
    document = open_run(sample_document(participants=10), mode="few_shot")
    shuffled = SIGNALS.sample(fraction=1, shuffle=True, seed=1)
    failed = document.failed.to_list()
    run = run_of_items(shuffled.lazy(), mode="few_shot", failed=failed, path=Path("a.parquet"))
    assert (run.mode, run.path, run.failed.to_list()) == ("few_shot", Path("a.parquet"), failed)
    assert_frame_equal(run.items, document.items, check_column_order=False)
    expected = evaluate_runs(document, settings=SETTINGS)
    assert_frame_equal(evaluate_runs(run, settings=SETTINGS).result, expected.result)
    of_table = SIGNALS.filter(mode="few_shot").drop("mode")
    assert_frame_equal(evaluate_runs(of_table, settings=SETTINGS).result, expected.result)


@pytest.mark.parametrize("column", ["item", "item_index"])
def test_one_name_of_an_item_is_enough(column):
    run = run_of_items(SIGNALS.drop(column), mode="zero_shot")
    assert_frame_equal(run.items, run_of_items(SIGNALS, mode="zero_shot").items)


def test_only_the_signals_that_are_asked_for_are_taken():
    run = run_of_items(SIGNALS, mode="few_shot", signals=["token_pe", "absent"])
    assert run.items.columns[5:] == ["token_pe"]


FEW = SIGNALS.filter(mode="few_shot")


@pytest.mark.parametrize(
    ("table", "mode", "error", "message"),
    [
        (SIGNALS, None, InputError, "of 3 modes; say which to read by mode=..."),
        (SIGNALS, "few", InputError, "no item is of mode 'few'"),
        (FEW.drop("mode"), "few_shot", MissingColumnsError, "'mode'"),
        (FEW.drop("label"), None, MissingColumnsError, "'label'"),
        (FEW.drop("item", "item_index"), None, MissingColumnsError, "'item_index'"),
        (FEW[1:], None, ContractError, "item_index counts from 0 to 7"),
        (FEW.cast({"prediction": pl.String}), None, ContractError, "prediction"),
        (
            FEW.drop("item_index").with_columns(pl.col("item").str.replace("Sleep", "Slep")),
            None,
            InputError,
            r"9 rows have an item .* 'Slep'. Did you mean 'Sleep'",
        ),
    ],
)
def test_tables_that_are_no_run(table, mode, error, message):
    with pytest.raises(error, match=message):
        run_of_items(table, mode=mode)
