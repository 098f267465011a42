"""What broken inputs have found, each in its smallest form."""

import json
import random

import polars as pl
import pytest

import evalframe as ef
from abuse.contracts import CONTRACTS
from abuse.mutations import BYTES
from abuse.rag_files import READERS
from evalframe import rag, replication, survey
from evalframe.compat import ai_psychiatrist, dtef
from evalframe.core.contract import Column, Contract
from evalframe.core.documents import check_parquet
from evalframe.core.errors import ContractError, InputError, MissingColumnsError, ParameterError
from evalframe.core.scan import scan
from evalframe.engine.journal import Journal
from evalframe.engine.shelf import Kept, Seen
from evalframe.jobs.pages import write_reports
from evalframe.jobs.written import write_result
from evalframe.logs.lines import items_of
from evalframe.logs.streams import top_level
from evalframe.reporting.table import plain
from evalframe.survey.sample import sample_responses
from run_documents import as_bytes, document, entry

ANSWERS = READERS["read_responses"]
ITEMS = pl.DataFrame(
    {"person": ["a", "a", "b"], "prediction": [1, None, 2], "label": 1, "loss": [0.5, 0.25, 1.0]}
)


def read(tmp_path, *lines):
    path = tmp_path / ANSWERS.name
    path.write_bytes(b"\n".join(lines))
    return ANSWERS.read(path)


def table(tmp_path, text):
    path = tmp_path / "GD9.csv"
    path.write_bytes(text)
    return dtef.read_dialogues(path).responses["percent"].to_list()


def test_a_signal_named_by_half_of_a_character():
    with pytest.raises(InputError, match=r"signal has half of a character: '\\ud800'"):
        ai_psychiatrist.open_run(as_bytes(document(entry(**{"\ud800": 1.0}))))


def test_bytes_that_are_no_text_in_a_key_that_is_skipped_over():
    broken = as_bytes(document(entry())).replace(b'"success"', b'"s\xffuccess"')
    with pytest.raises(InputError, match="is not UTF-8 text"):
        ai_psychiatrist.open_run(broken)


def test_the_last_of_a_repeated_key_counts(tmp_path):
    [line, *_] = ANSWERS.document().split(b"\n")
    found = read(tmp_path, line.replace(b'"model"', b'"model": "first", "model"'))
    assert [model for _, _, model in found] == ["m"]


def test_numbers_do_not_become_texts(tmp_path):
    one, other = ANSWERS.document().split(b"\n")
    with pytest.raises(InputError, match="'model' is numbers and texts; give all lines the same"):
        read(tmp_path, one, other.replace(b'"m"', b"1e18"))
    with pytest.raises(InputError, match=r"'model\[\].a' is numbers and true or false"):
        read(tmp_path, one.replace(b'"m"', b'[{"a": 1}]'), other.replace(b'"m"', b'[{"a": true}]'))


def test_two_objects_on_a_line_are_none(tmp_path):
    with pytest.raises(InputError, match=r"answers.jsonl, line 1: Extra data"):
        read(tmp_path, ANSWERS.document().replace(b"\n", b" "))


def test_lists_in_lists_that_would_take_minutes(tmp_path):
    [line, *_] = ANSWERS.document().split(b"\n")
    with pytest.raises(InputError, match="is nested more than 50 deep"):
        read(tmp_path, line.replace(b'"m"', b"[" * 500 + b"]" * 500))


def test_pages_of_parquet_are_looked_at_before_polars_ends_the_process():
    data = READERS["read_responses parquet"].document()
    check_parquet(data, "answers.parquet")
    names = [data.replace(b"response", b"resp\xefnse"), data[:-1], data[40:], b""]
    for broken in names:
        with pytest.raises(InputError, match=r"cannot read answers.parquet as Parquet: "):
            check_parquet(broken, "answers.parquet")


HEAD = b"Question ID,Question,Question Type,Response,O3: Male\n"
FIRST = b"q,Hot?,Poll Single Select,Yes,60%\n"


def test_rows_that_are_too_short(tmp_path):
    assert table(tmp_path, HEAD + FIRST + b"q,Hot?,Poll Single Select,No,40%") == [60.0, 40.0]
    with pytest.raises(InputError, match=r"GD9.csv: .*Row #3: Expected 5 columns, got 4"):
        table(tmp_path, HEAD + FIRST + b"q,Hot?,Poll Single Select,No")


def test_lines_that_are_no_rows(tmp_path):
    last = b"q,Hot?,Poll Single Select,No,40%"
    for text in (HEAD + FIRST + b"\n" + last, (HEAD + FIRST + last).replace(b"\n", b"\r")):
        with pytest.raises(InputError, match=r"blank lines .*, or ends of lines that are no line"):
            table(tmp_path, text)


def test_columns_that_share_a_name(tmp_path):
    with pytest.raises(InputError, match="two columns are called 'Response'"):
        table(tmp_path, HEAD.replace(b"O3: Male", b"Response") + FIRST)


def test_counts_of_no_segment(tmp_path):
    (tmp_path / "GD9.csv").write_bytes(HEAD + FIRST.replace(b"60%", b"100%"))
    (tmp_path / "counts.csv").write_text("Question ID,All\nq,100\n")
    with pytest.raises(InputError, match="none of the columns of segments, as 'O3: Male'"):
        dtef.read_dialogues(tmp_path / "GD9.csv", tmp_path / "counts.csv")


def test_errors_about_a_table_name_its_file(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("question_id,segment_id,share\nq,s,1\n")
    with pytest.raises(MissingColumnsError, match=r"survey.csv: "):
        survey.read_survey(path)


def test_python_objects_are_no_values():
    items = pl.DataFrame({"item": pl.Series([{1}, {2}], dtype=pl.Object)})
    with pytest.raises(ContractError, match="column 'item' holds Python objects"):
        ef.validate(items, Contract("items", (Column("item"),), key=("item",)))


@pytest.mark.parametrize(
    ("name", "column", "dtype", "message"),
    [
        ("distributions", "actual", pl.Boolean, "is Boolean, not a list of numbers"),
        ("distributions", "actual", pl.Null, "actual is present: not so in 4 of 4 rows"),
        ("designs", "conditions", pl.Int8, "is Int8, not a list of values"),
    ],
)
def test_columns_that_hold_no_lists(name, column, dtype, message):
    kept = CONTRACTS[name]
    frame = kept.sound().with_columns(pl.lit(None, dtype).alias(column))
    with pytest.raises(ContractError, match=message):
        ef.validate(frame, kept.contract)


def test_respondents_of_nothing_but_nulls_are_not_known():
    for name in ("survey", "distributions"):
        kept = CONTRACTS[name]
        frame = kept.sound().with_columns(sample_size=pl.lit(None))
        assert ef.validate(frame, kept.contract).rows == len(frame)


def test_designs_of_nothing_but_nulls_name_no_conditions():
    kept = CONTRACTS["designs"]
    frame = kept.sound().with_columns(conditions=pl.lit(None), categories=pl.lit(None))
    with pytest.raises(ContractError, match="two samples have two conditions: not so in 2 of 4"):
        ef.validate(frame, kept.contract)


def test_types_of_tests_that_are_no_text():
    frame = CONTRACTS["tests"].sound().with_columns(test_type=pl.struct("test_id"))
    with pytest.raises(ParameterError, match=r"test_type must be text, but is Struct"):
        replication.with_evidence(frame)


def test_a_column_named_like_a_pattern():
    kept = CONTRACTS["tests"]
    frame = kept.sound().with_columns(pl.lit(1).alias("^.*$"))
    assert replication.with_evidence(frame).lazy().collect()["^.*$"].to_list() == [1] * len(frame)


def test_a_statistic_beyond_all_numbers_is_null():
    kept = CONTRACTS["designs"]
    made = kept.use(kept.sound().with_columns(null_value=pl.lit(1e308)).lazy()).lazy().collect()
    assert not any(column.is_nan().any() for column in made if column.dtype.is_float())


def test_more_options_than_fit_into_memory():
    letters = pl.DataFrame({"response": ['["A", "B", "A"]'], "n_options": [2**31]})
    for parse in (survey.parse, dtef.parse):
        assert parse(letters)["predicted"].to_list() == [None]


def test_a_flipped_bit_in_a_file_of_ours(tmp_path):
    path, state = tmp_path / "state.parquet", ef.partial(ITEMS, ef.coverage()).lazy().collect()
    write_result(state, path, {"seed": 1})
    whole = path.read_bytes()
    assert scan(path).collect().equals(state)
    for place in (0, 9, len(whole) // 2, whole.index(b"checksum") + 20, len(whole) - 20):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(InputError, match=r"state\.parquet was changed since it was written"):
            scan(path)
        with pytest.raises(InputError, match=r"state\.parquet was changed"):
            write_reports([str(tmp_path)], tmp_path / "o.html", "")


STATE = ef.partial(ITEMS, [ef.coverage(), ef.mean("loss")], by="person").lazy().collect()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (STATE.drop(":mass"), "the state has no column ':mass'; make it anew"),
        (STATE.drop(":level"), "the state has no column ':level'"),
        (STATE.drop("person"), "the state has no column 'person'"),
        (STATE.with_columns(day=1), "a state has no column 'day'; take it out"),
        (STATE.with_columns(pl.col(":mass").cast(pl.String)), "':mass' of the state is String"),
        (STATE.with_columns(pl.col(":n") + 0.5), "':n' of the state counts rows, but is not a"),
        (STATE.with_columns(pl.lit(1).alias(":block")), "':block' is Int32, and does not say"),
        (STATE.with_columns(pl.lit(None, STATE.schema[":block"]).alias(":block")), "nothing known"),
        (STATE[1:], "the state lacks rows: its sums are of different groups"),
    ],
)
def test_a_table_that_is_no_whole_state(broken, message):
    with pytest.raises(ParameterError, match=message):
        ef.finish(broken).lazy().collect()


def test_a_file_of_a_state_is_added_once(tmp_path):
    STATE.write_parquet(tmp_path / "state.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "state.parquet")
    with pytest.raises(InputError, match=r"link\.parquet and .*state\.parquet are one file"):
        ef.merge(tmp_path / "state.parquet", str(tmp_path / "link.parquet"))


def test_sums_that_one_state_lacks_do_not_count_as_0():
    lost = STATE.drop(STATE.columns[-1])
    for states in (
        (STATE, lost),
        (lost, STATE),
        (STATE, lost.with_columns(pl.lit(1.0).alias(":x"))),
    ):
        with pytest.raises(ParameterError, match="state 1 and the ones before it do not both have"):
            ef.merge(*states)


def test_states_whose_keys_are_stored_in_other_types():
    part = STATE.filter(person="b")
    stored = part.with_columns(pl.col("person").cast(pl.Categorical))
    assert ef.retract(STATE, stored).equals(ef.retract(STATE, part))
    with pytest.raises(ParameterError, match="'person' is Int32 and String in different"):
        ef.retract(STATE, part.with_columns(person=pl.lit(1)))


RESULT = pl.DataFrame({"model": ["a", "b"], "metric": "aurc", "estimate": [0.1, 0.2]})


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (RESULT.with_columns(estimate=pl.lit("high")), "column 'estimate' is String, not numbers"),
        (RESULT.with_columns(upper=pl.col("model")), "column 'upper' is String, not numbers"),
        (RESULT.with_columns(tied_with_best=1), "'tied_with_best' is Int32, not true or false"),
        (RESULT.with_columns(metric=pl.lit(None, pl.String)), "column 'metric' has nulls"),
        (RESULT.with_columns(x=pl.Series([{1}, {2}], dtype=pl.Object)), "'x' is Object, not value"),
    ],
)
def test_results_that_hold_something_else(broken, message, tmp_path):
    for use in (ef.show, ef.plot.forest, lambda t: ef.report(t, path=tmp_path / "report.html")):
        with pytest.raises(ParameterError, match=message):
            use(broken)


def test_results_without_a_best_or_with_numbers_beyond_the_scale():
    made = RESULT.with_columns(estimate=pl.lit(None, pl.Float64), lower=1e308, upper=-1e308)
    assert "**" not in ef.show(made).markdown()
    limits = {"rank": 1, "tied_with_best": False, "rank_set_lower": 1, "rank_set_upper": 2}
    board = RESULT.with_columns(**{name: pl.lit(value) for name, value in limits.items()})
    assert ef.show(board).verdict == "Nothing says which is the best."


def broken(texts):
    """Texts cut, doubled and with characters that are none."""
    made = []
    for seed, text in enumerate(texts):
        draw = random.Random(seed)
        mutation = draw.choice(BYTES)
        made.append(mutation(text.encode() or b" ", draw).decode(errors="replace"))
    return made


@pytest.mark.parametrize("parse", [survey.parse, dtef.parse])
def test_broken_responses_are_parsed_or_not(parse):
    whole = sample_responses().drop_nulls("response").head(600)
    texts = [*broken(whole["response"].to_list()), "[" * 10_000, "9" * 10_000, json.dumps([1] * 9)]
    responses = pl.DataFrame({"response": texts}).with_columns(n_options=pl.lit(5))
    made = parse(responses)
    assert made["response"].to_list() == texts
    assert made["status"].null_count() == 0
    shares = made.filter(status="ok")["predicted"]
    assert (shares.list.len() == 5).all()
    if parse is survey.parse:
        assert shares.list.eval(pl.element().is_finite() & (pl.element() >= 0)).list.all().all()


def test_broken_responses_are_labelled():
    responses = CONTRACTS["responses"].sound()
    texts = broken(responses["response"].fill_null("?").to_list() * 20)
    repeated = pl.concat([responses] * 20).with_columns(response=pl.Series(texts))
    for mode in ("strict", "lenient"):
        made = rag.label(repeated, mode=mode)
        assert made["response"].to_list() == texts
        assert made["label"].null_count() == 0


@pytest.mark.parametrize("key", [b'"a\0"', b'"a\xe3"'])
def test_keys_of_the_head_of_a_log_that_are_no_json(key):
    assert "a" in top_level(b'{"a": {}, %b: {}}' % key)


def test_a_list_in_another_encoding_is_not_an_empty_one(tmp_path):
    file = tmp_path / "scenario_state.json"
    file.write_bytes(json.dumps({"request_states": [{"instance": {"id": 1}}]}).encode("utf-16"))
    with pytest.raises(InputError, match=r"scenario_state.json is not UTF-8 text; write it anew"):
        [*items_of(file, "request_states", (), dict)]


@pytest.mark.parametrize(
    "told", [{"job": {"family": []}}, {"records": {"rejected": 1}}, {"inputs": [{"rows": "1"}]}]
)
def test_a_result_whose_provenance_is_none(tmp_path, told):
    result = ef.evaluate(ITEMS, ef.mean("loss"))
    write_result(result, tmp_path / "out.parquet", told)
    said = write_reports([str(tmp_path / "out.parquet")], tmp_path / "report.html", "Loss")
    assert said.startswith("out.parquet: ")


def test_a_journal_that_was_changed_is_none(tmp_path):
    file = tmp_path / "runs/journal.json"
    Journal.read(file).write(["a"], [Kept("made", "1" * 40, 1, 0.5, Seen(1, 2, "3"))])
    assert Journal.read(file).seen("a") == (1, 2, "3")
    file.write_bytes(file.read_bytes().replace(b'"3"', b'"4"'))
    assert Journal.read(file).seen("a") is None


def test_numbers_without_any_value_are_shown_if_they_are_all():
    shown = plain(pl.DataFrame({"loss": [None, None]}, schema={"loss": pl.Float64}))
    assert [column.title for column in shown.columns] == ["loss"]


def test_a_survey_whose_shares_are_all_null():
    table = {"question_id": ["q"], "segment_id": ["s"], "option_index": [0], "share": [None]}
    with pytest.raises(ContractError, match="share"):
        survey.as_distributions(pl.DataFrame(table))
