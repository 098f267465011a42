"""Contracts of tables: what passes, and what is complained of."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import ContractError, MissingColumnsError, OutputError, ParameterError

SCORES = Contract(
    "scores",
    (
        Column("who", "key"),
        Column("score", "number", meaning="higher is better"),
        Column("note", "string", required=False, nullable=True),
        Column("guess", "value", required=False, where="score"),
    ),
    rules=(
        Rule("score is at most 1", pl.col("score") <= 1, ("score",), "divide by the maximum"),
        Rule("note is short", pl.col("note").str.len_chars() < 9, ("note",), "shorten it"),
    ),
    key=("who",),
    alike=(("guess", "truth"),),
)


def scores(who=("a", "b", "c"), score=(0.5, 0.25, 1.0), **more):
    return pl.DataFrame({"who": who, "score": score, **more})


def complaint(frame, contract=SCORES, **options):
    with pytest.raises(ContractError) as caught:
        validate(frame, contract, **options)
    return str(caught.value)


def test_a_good_table_passes_as_it_is():
    frame = scores(extra=[1, 2, 3])
    report = validate(frame, SCORES)
    assert (report.rows, report.rejected, report.breaches.height) == (3, 0, 0)
    assert str(report) == "scores: all 3 rows accepted"
    assert_frame_equal(report.valid.collect(), frame)


def test_counts_may_be_collected_with_other_queries():
    good, bad = scores(), scores(who=("a", "a", "c"), score=(0.5, 2.0, 1.0))
    counts, rows = pl.collect_all([SCORES.query(good.lazy()), good.lazy().select(pl.len())])
    assert rows.item() == 3
    assert validate(good, SCORES, counts=counts).rows == 3
    assert complaint(bad, counts=SCORES.query(bad.lazy()).collect()) == complaint(bad)
    with pytest.raises(MissingColumnsError):
        SCORES.query(good.lazy().drop("who"))


def test_missing_columns_suggest_the_nearest():
    frame = scores().rename({"score": "scores", "who": "x"})
    with pytest.raises(
        MissingColumnsError, match=r"scores needs columns 'score', 'who'.*'scores'\?"
    ):
        validate(frame, SCORES)


def test_a_key_column_is_needed_even_if_undeclared():
    with pytest.raises(MissingColumnsError, match="'day'"):
        validate(scores(), Contract("scores", (), key=("day",)))


def test_the_schema_is_checked_before_any_row_is_read(tmp_path):
    def fail(_):
        raise AssertionError

    schema = {"who": pl.Float64, "score": pl.String}
    unread = pl.LazyFrame(schema=schema).map_batches(fail, schema=schema)
    told = complaint(unread)
    assert "column 'who' is Float64, not an integer or a string. Cast it" in told
    assert "column 'score' (higher is better) is String, not a number. Cast it: " in told
    assert "frame.with_columns(pl.col('score').cast(pl.Float64))" in told
    target = tmp_path / "bad.parquet"
    assert complaint(unread, on_invalid="quarantine", quarantine=target) == told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("number", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(9, 2)], [pl.String, pl.Boolean]),
        ("integer", [pl.Int64, pl.UInt8], [pl.Float64, pl.Boolean]),
        ("string", [pl.String, pl.Categorical(), pl.Enum(["a"])], [pl.Int64, pl.Binary]),
        ("boolean", [pl.Boolean], [pl.Int8]),
        ("key", [pl.Int32, pl.String, pl.Categorical()], [pl.Float64, pl.Date]),
        ("value", [pl.Int32, pl.Float64, pl.String, pl.Boolean], [pl.List(pl.Int8), pl.Date]),
        (
            "integers",
            [pl.List(pl.Int8), pl.List(pl.Null)],
            [pl.Int8, pl.List(pl.Float64), pl.List(pl.List(pl.Int8))],
        ),
        (
            "texts",
            [pl.List(pl.String), pl.List(pl.Null)],
            [pl.String, pl.List(pl.Int8), pl.List(pl.List(pl.String))],
        ),
        (
            "groups",
            [pl.List(pl.List(pl.String)), pl.List(pl.List(pl.Null)), pl.List(pl.Null)],
            [pl.String, pl.List(pl.String)],
        ),
        (("integer", "texts"), [pl.Int8, pl.List(pl.String)], [pl.String, pl.List(pl.Int8)]),
        ("any", [pl.Date, pl.List(pl.String), pl.Struct({"a": pl.Int8})], []),
    ],
)
def test_kinds(kind, good, bad):
    contract = Contract("t", (Column("x", kind),))
    for dtype in [*good, pl.Null]:
        contract.check_schema(pl.Schema({"x": dtype}))
    for dtype in bad:
        with pytest.raises(ContractError, match="column 'x' is"):
            contract.check_schema(pl.Schema({"x": dtype}))


def test_a_column_of_several_kinds():
    contract = Contract("t", (Column("x", ("string", "texts")),))
    assert complaint(pl.DataFrame({"x": [1]}), contract) == (
        "t: column 'x' is Int64, not a string or a list of texts. Cast it: "
        "frame.with_columns(pl.col('x').cast(pl.String))."
    )


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        (pl.Int8, pl.Float64, True),
        (pl.String, pl.Categorical(), True),
        (pl.Boolean, pl.Boolean, True),
        (pl.Null, pl.String, True),
        (pl.String, pl.Int8, False),
        (pl.Boolean, pl.Int8, False),
        (pl.String, pl.Boolean, False),
    ],
)
def test_compared_columns_are_alike(left, right, alike):
    contract = Contract("t", (Column("a"), Column("b")), alike=(("a", "b"),))
    schema = pl.Schema({"a": left, "b": right})
    if alike:
        return contract.check_schema(schema)
    with pytest.raises(
        ContractError, match=r"columns 'a' and 'b' are compared, but are .* Cast one"
    ):
        contract.check_schema(schema)


def test_one_error_tells_of_every_broken_rule():
    frame = scores(
        ["a", "b", None, "d", "a"],
        [math.nan, None, math.inf, 0.5, 2.0],
        note=["fine", None, "far too long", "", None],
    )
    assert complaint(frame) == (
        "scores: 6 rules broken (rows are numbered from 0).\n"
        "  who is present: not so in 1 of 5 rows\n"
        "    row 2: who=null\n"
        "    Remedy: fill in 'who' or drop these rows.\n"
        "  score is present: not so in 1 of 5 rows\n"
        "    row 1: who='b', score=null\n"
        "    Remedy: fill in 'score' or drop these rows.\n"
        "  score is finite: not so in 2 of 5 rows\n"
        "    row 0: who='a', score=nan\n"
        "    row 2: who=null, score=inf\n"
        "    Remedy: replace NaN and infinity in 'score' by numbers or drop these rows.\n"
        "  score is at most 1: not so in 3 of 5 rows\n"
        "    row 0: who='a', score=nan\n"
        "    row 2: who=null, score=inf\n"
        "    row 4: who='a', score=2.0\n"
        "    Remedy: divide by the maximum.\n"
        "  note is short: not so in 1 of 5 rows\n"
        "    row 2: who=null, note='far too long'\n"
        "    Remedy: shorten it.\n"
        "  who is unique: not so in 1 of 5 rows\n"
        "    row 4: who='a' (as row 0)\n"
        "    Remedy: drop the repeats, or name the further column that tells these rows apart, in "
        "by or in key."
    )


def test_only_the_first_rows_are_shown_and_cells_stay_short():
    told = complaint(scores(["x" * 99] * 9, [9.0] * 9), examples=1)
    assert told.count("\n    row ") == 2
    assert "x" * 40 not in told


def test_a_column_may_be_asked_for_only_where_another_is_present():
    contract = Contract("t", (Column("x", "number", nullable=True), Column("y", where="x")))
    told = complaint(pl.DataFrame({"x": [None, None, 3.0], "y": [math.nan, None, None]}), contract)
    assert "y is present where x is: not so in 1 of 3 rows\n    row 2: y=null, x=3.0" in told
    assert "Remedy: fill in 'y', set 'x' to null, or drop these rows." in told
    assert "1 rule broken" in told


def test_infinity_can_be_allowed():
    contract = Contract("t", (Column("x", "number", finite=False),))
    assert not validate(pl.DataFrame({"x": [math.inf, math.nan]}), contract).rejected


def test_rows_that_lack_their_key_do_not_repeat_it():
    assert "unique" not in complaint(scores([None, None, "c"]))
    nullable = Contract("t", (Column("who", nullable=True),), key=("who",))
    assert "who is unique: not so in 1 of 3" in complaint(scores([None, None, "c"]), nullable)


@pytest.mark.parametrize("on_invalid", ["raise", "quarantine"])
def test_a_table_without_rows_is_refused(tmp_path, on_invalid):
    target = tmp_path / "bad.parquet" if on_invalid == "quarantine" else None
    told = complaint(scores().clear(), on_invalid=on_invalid, quarantine=target)
    assert told.startswith("scores: the table has no rows.")


def test_quarantine_sets_rows_apart(tmp_path):
    frame = scores(["a", "b", "a", "d", "e"], [2.0, 0.1, 3.0, math.nan, 0.2], extra=[1, 2, 3, 4, 5])
    target = tmp_path / "bad.parquet"
    report = validate(frame, SCORES, on_invalid="quarantine", quarantine=str(target))
    assert_frame_equal(report.valid.collect(), frame[[1, 4]])
    rejected = pl.read_parquet(target)
    assert rejected.columns == ["who", "score", "extra", "row", "broken_rules"]
    assert rejected["row"].to_list() == [0, 2, 3]
    assert rejected["broken_rules"].to_list() == [
        ["score is at most 1"],
        ["score is at most 1", "who is unique"],
        ["score is finite", "score is at most 1"],
    ]
    assert report.breaches.select("rule", "columns", "rows").rows() == [
        ("score is finite", ["score"], 1),
        ("score is at most 1", ["score"], 3),
        ("who is unique", ["who"], 1),
    ]
    assert str(report) == (
        f"scores: 2 of 5 rows accepted, 3 written to {target}\n"
        "  score is finite: not so in 1\n"
        "  score is at most 1: not so in 3\n"
        "  who is unique: not so in 1"
    )


def test_quarantine_of_a_good_table_is_empty(tmp_path):
    target = tmp_path / "bad.parquet"
    target.write_text("of an earlier run")
    report = validate(scores(), SCORES, on_invalid="quarantine", quarantine=target)
    assert report.rejected == 0
    written = pl.read_parquet(target)
    assert written.height == 0
    assert written.schema["broken_rules"] == pl.List(pl.String)


def test_a_failed_quarantine_leaves_the_old_file_whole(tmp_path):
    target = tmp_path / "bad.parquet"
    target.write_text("old")
    left = []

    def interrupt(frame):
        if not left:
            return left.append("the counting pass") or frame
        raise KeyboardInterrupt

    frame = scores(score=[2.0, 0.1, 0.2])
    lazy = frame.lazy().map_batches(interrupt, schema=frame.schema)
    with pytest.raises(KeyboardInterrupt):
        validate(lazy, SCORES, on_invalid="quarantine", quarantine=target)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(target.name, "old")]


def test_quarantine_needs_a_place(tmp_path):
    absent = tmp_path / "absent" / "bad.parquet"
    with pytest.raises(
        OutputError, match=r"cannot write bad.parquet: no folder .*absent.*; create it first"
    ):
        validate(scores(), SCORES, on_invalid="quarantine", quarantine=absent)
    with pytest.raises(ParameterError, match=r"go together; .*'raise' and quarantine='x.parquet'"):
        validate(scores(), SCORES, quarantine="x.parquet")
    with pytest.raises(ParameterError, match=r"'quarantine' and quarantine=None"):
        validate(scores(), SCORES, on_invalid="quarantine")
    with pytest.raises(ParameterError, match=r"got 'quarantin'\. Did you mean 'quarantine'"):
        validate(scores(), SCORES, on_invalid="quarantin")
    taken = scores(row=[1, 2, 3], broken_rules=[1, 2, 3])
    with pytest.raises(ContractError, match="rename 'broken_rules' and 'row'"):
        validate(taken, SCORES, on_invalid="quarantine", quarantine=tmp_path / "bad.parquet")


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from([0.0, 0.5, 1.0, 2.0, math.nan, math.inf, None]),
        st.sampled_from(["short", "much too long", None]),
    ),
    min_size=1,
    max_size=12,
)


@given(rows=ROWS)
@settings(max_examples=20, deadline=None)
def test_valid_and_rejected_rows_partition_the_table(tmp_path_factory, rows):
    schema = {"who": pl.String, "score": pl.Float64, "note": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_row_index("order")
    target = tmp_path_factory.getbasetemp() / "partition.parquet"
    report = validate(frame.lazy(), SCORES, on_invalid="quarantine", quarantine=target)
    valid, rejected = report.valid.collect(), pl.read_parquet(target)

    assert report.rows == valid.height + rejected.height
    assert report.rejected == rejected.height
    assert rejected["row"].to_list() == rejected["order"].to_list()
    together = pl.concat([valid, rejected.select(frame.columns)])
    assert_frame_equal(together, frame, check_row_order=False)
    assert valid["order"].is_sorted()
    counted = rejected.explode("broken_rules").group_by("broken_rules").len()
    assert dict(counted.rows()) == dict(report.breaches.select("rule", "rows").rows())
    if valid.height:
        assert not validate(valid, SCORES).breaches.height


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """200,000 rows in 40 row groups, with breaches in several of them."""
    n = 200_000
    repeat, unknown, broken = [17, 60_000, 199_999], [4_999, 5_000, 123_456], [0, 150_001]
    row = pl.col("row_number")
    frame = pl.select(row_number=pl.int_range(n)).with_columns(
        who=pl.when(row.is_in(repeat)).then(16).otherwise(row),
        score=pl.when(row.is_in(unknown))
        .then(None)
        .when(row.is_in(broken))
        .then(math.nan)
        .otherwise(row / n),
    )
    path = tmp_path_factory.mktemp("many") / "many.parquet"
    frame.write_parquet(path, row_group_size=5_000)
    return path, repeat, unknown, broken


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_a_scan_is_counted_exactly(many, tmp_path, engine):
    path, repeat, unknown, broken = many
    target = tmp_path / "bad.parquet"
    with pl.Config(engine_affinity=engine):
        told = complaint(pl.scan_parquet(path))
        scan = pl.scan_parquet(path)
        report = validate(scan, SCORES, on_invalid="quarantine", quarantine=target)
        valid = report.valid.collect()
    for rule, rows, value in [("present", unknown, "null"), ("finite", broken, "nan")]:
        shown = "".join(f"\n    row {row}: who={row}, score={value}" for row in rows)
        assert f"score is {rule}: not so in {len(rows)} of 200,000 rows{shown}\n" in told
    shown = "".join(f"\n    row {row}: who=16 (as row 16)" for row in repeat)
    assert f"who is unique: not so in 3 of 200,000 rows{shown}\n" in told
    bad = sorted({*repeat, *unknown, *broken})
    assert pl.read_parquet(target)["row"].to_list() == bad
    assert_frame_equal(valid, pl.read_parquet(path).filter(~pl.col("row_number").is_in(bad)))
