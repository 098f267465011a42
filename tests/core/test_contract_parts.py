"""A contract of parts is the contract of the whole table: reports, errors, rejected rows."""

import pickle
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.contract_parts import validate_parts
from evalframe.core.errors import ContractError

COLUMNS = ef.Column("x", "number"), ef.Column("k", "value", nullable=True), ef.Column("j", "key")
POSITIVE = ef.Rule("x > 0", pl.col("x") > 0, ("x",), "correct it")
CONTRACT = ef.Contract("rows", COLUMNS, (POSITIVE,), key=("k", "j"))
SCHEMA = {"x": pl.Float64, "k": pl.Int64, "j": pl.String}


class Frames:
    """Parts in memory; steps are pickled, as they travel to workers."""

    def __init__(self, frames):
        self.frames, self.reads = frames, 0
        self.table = pl.concat(frames).lazy()

    def each(self, step, own=()):
        self.reads += 1
        step = pickle.loads(pickle.dumps(step))
        own = own or [()] * len(self.frames)
        pairs = zip(self.frames, own, strict=True)
        return [step(frame.lazy(), *values).collect() for frame, values in pairs]


ROWS = st.tuples(
    st.sampled_from([0.5, 1.0, -1.0, None, float("nan")]),
    st.sampled_from([None, *range(8)]),
    st.sampled_from(["a", "b", None]),
)


def told(check):
    """What a check returns, or the text of its error."""
    try:
        return check()
    except ContractError as error:
        return str(error)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.lists(ROWS, max_size=5), min_size=1, max_size=4))
def test_parts_are_told_as_one_table(tmp_path_factory, parts):
    frames = Frames([pl.DataFrame(rows, schema=SCHEMA, orient="row") for rows in parts])
    whole = frames.table.collect()
    expected = told(lambda: str(ef.validate(whole, CONTRACT)))
    assert told(lambda: str(validate_parts(frames, CONTRACT).validation)) == expected
    if whole.is_empty():
        return
    folder = tmp_path_factory.getbasetemp()
    files = {name: Path(folder, f"{name}.parquet") for name in ("whole", "parts")}
    report = ef.validate(whole, CONTRACT, on_invalid="quarantine", quarantine=files["whole"])
    checked = validate_parts(frames, CONTRACT, files["parts"])
    assert checked.validation.describe() == report.describe()
    assert_frame_equal(checked.validation.breaches, report.breaches)
    assert_frame_equal(pl.read_parquet(files["parts"]), pl.read_parquet(files["whole"]))
    accepted = checked.validation.valid.collect()
    assert_frame_equal(accepted, report.valid.collect())
    if checked.step is not None:
        assert_frame_equal(pl.concat(frames.each(checked.step, checked.own)), accepted)


def test_a_table_without_a_key_may_repeat_rows():
    frames = Frames([pl.DataFrame({"x": [-1.0, 1.0]})] * 2)
    contract = ef.Contract("rows", COLUMNS[:1], (POSITIVE,))
    with pytest.raises(ContractError, match=r"not so in 2 of 4 rows\n    row 0: x=-1.0\n    row 2"):
        validate_parts(frames, contract)


def test_good_parts_are_read_once():
    rows = [pl.DataFrame({"x": [1.0], "k": [k], "j": ["a"]}, schema=SCHEMA) for k in range(3)]
    frames = Frames(rows)
    assert validate_parts(frames, CONTRACT).validation.rows == 3
    assert frames.reads == 1


def test_a_column_that_rejected_rows_gain_is_refused(tmp_path):
    frames = Frames([pl.DataFrame({"x": [-1.0], "k": [1], "j": ["a"], "row": [0]})])
    with pytest.raises(ContractError, match="rename 'row', which quarantined rows gain"):
        validate_parts(frames, CONTRACT, tmp_path / "rejected.parquet")
