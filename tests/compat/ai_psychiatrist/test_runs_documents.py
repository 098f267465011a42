"""Modes and names of run documents."""

import json
import math
import os
import warnings

import pytest

from evalframe.compat.ai_psychiatrist import RunWarning, open_run, read_run
from evalframe.core.errors import InputError, ParameterError
from run_documents import EACH_WAY, as_bytes, changed, document, entry


def experiments(*modes):
    return {
        "experiments": [
            {"provenance": {"mode": p}, "results": {"mode": r, "results": [entry(i)]}}
            for i, (p, r) in enumerate(modes)
        ]
    }


@EACH_WAY
def test_a_mode_is_named_by_provenance_or_results(given):
    some = given(experiments(("a", "b"), (None, "c"), ("d", None)))
    for mode, index, stated in (("a", 0, "b"), ("b", 0, "b"), ("c", 1, "c"), ("d", 2, None)):
        run = open_run(some, mode=mode)
        assert (run.included.to_list(), run.mode) == ([index], stated)


@EACH_WAY
def test_unknown_and_ambiguous_modes_name_those_there_are(given):
    some = given(experiments(("zero_shot", "zero_shot"), ("few_shot", "few_shot")))
    with pytest.raises(InputError, match=r"2 experiments; say which .*'zero_shot', 'few_shot'\."):
        open_run(some)
    message = r"no experiment of mode 'fewshot'\. Did you mean 'few_shot'\? Its modes: 'zero_shot',"
    with pytest.raises(InputError, match=message):
        open_run(some, mode="fewshot")
    with pytest.raises(InputError, match=r"mode 'a'\. Its modes: none is named\."):
        open_run(given({"experiments": [{}]}), mode="a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": 3}, "mode must be a name such as 'few_shot', got 3"),
        ({"signals": [3]}, "signals must be names of signals, got 3"),
        ({"signals": ["label"]}, "signal 'label' is called like a column of the item table"),
    ],
)
def test_names_that_are_none(options, message):
    with pytest.raises(ParameterError, match=message):
        open_run(document(entry()), **options)


@EACH_WAY
def test_of_two_experiments_of_a_mode_the_first_is_read_and_said(given):
    some = given(experiments(("a", "a"), ("b", "b"), ("x", "a")))
    for read in (open_run, read_run):
        with pytest.warns(RunWarning, match="2 experiments of mode 'a'; the first") as caught:
            read(some, mode="a")
        assert caught[0].filename == __file__
    assert open_run(some, mode="a", strict=False).included.to_list() == [0]


@EACH_WAY
@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "a run document must be an object, not a list"),
        (3, "a run document must be an object, not 3"),
        ({}, "has no experiments"),
        ({"experiments": []}, "has no experiments"),
        ({"experiments": None}, "experiments must be a list, not null"),
        ({"experiments": {"a": 1}}, "experiments must be a list, not an object"),
        ({"experiments": ["x"]}, r"experiment 0 \(numbered from 0\) must be an object, not 'x'"),
        ({"experiments": [{}, {"provenance": 1}]}, "provenance of experiment 1 .*object, not 1"),
        ({"experiments": [{"results": []}]}, "results of experiment 0 .* an object, not a list"),
        ({"experiments": [{}], "run_metadata": "x"}, "run_metadata must be an object, not 'x'"),
        (
            {"experiments": [{"results": {"results": {}}}]},
            "the results of an experiment must be a list, not an object",
        ),
        (
            {"experiments": [{"results": {"results": None}}]},
            "the results of an experiment must be a list, not null",
        ),
        (document(entry(), "x"), r"result 1 \(numbered from 0\) must be an object, not 'x'"),
    ],
)
def test_pieces_of_the_wrong_type(given, plain, message):
    with pytest.raises(InputError, match=f"run document:? {message}"):
        open_run(given(plain))


def test_types_do_not_matter_in_experiments_that_are_not_read():
    some = experiments(("a", "a"), ("b", "b"))
    some["experiments"][0]["results"]["results"] = {"no": "list"}
    assert open_run(as_bytes(some), mode="b").included.to_list() == [1]


@pytest.mark.parametrize("kept", [0.001, 0.1, 0.3, 0.5, 0.9])
def test_truncated_files_say_where_they_end(tmp_path, kept):
    path = tmp_path / "run.json"
    text = json.dumps(document(entry(token_pe=0.5)), indent=1)
    path.write_text(text[: math.ceil(len(text) * kept)])
    message = r"run\.json: .* at line \d+, column \d+ \(byte [\d,]+ of [\d,]+\): the file ends too"
    with pytest.raises(InputError, match=message):
        open_run(path)


def test_every_truncation_is_an_input_error():
    data = as_bytes(document(entry(token_pe=None, note="a\\u00e9b")))
    for end in range(len(data)):
        with pytest.raises(InputError):
            open_run(data[:end])


LARGE = b"1" * 5000
WITH_ID = b'{"experiments": [{"results": {"results": [{"participant_id": %s}]}}]}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"is empty \(0 bytes\)"),
        (b" \n", r"is empty \(2 bytes\)"),
        (b'{"experiments": [}', r"at line 1, column 18 \(byte 17 of 18\): is it JSON\?"),
        (b'{"a": 1} {"b": 2}', "Extra data at line 1, column 10"),
        ('{"é": \n x}'.encode(), r"line 2, column 2 \(byte 9 of 11\): is it JSON\?"),
        (b'{"a": "\xff"', "byte 7 is not UTF-8 text"),
        (b'{"experiments": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"run_metadata": {"run_id": "caf\xe9"}}', "byte 32 is not UTF-8 text"),
        (b'{"run_metadata": {"run_id": %s}}' % LARGE, "an integer has more than 4,300 digits"),
        (WITH_ID % b'"caf\xe9"', "byte 65 is not UTF-8 text"),
        (WITH_ID % LARGE, "results of the experiment: an integer has more than 4,300 digits"),
    ],
)
def test_what_is_no_json(tmp_path, data, message):
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        open_run(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json: no such file"):
        open_run(tmp_path / "absent.json")
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        open_run(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"cannot read .*pipe: it is not a regular file; copy its"):
        open_run(tmp_path / "pipe")


def test_a_file_says_where_its_run_came_from(tmp_path):
    path = tmp_path / "run.json"
    some = document(entry()) | {"run_metadata": {"run_id": "r7", "git_commit": "abc", "by": "me"}}
    path.write_bytes(b"\xef\xbb\xbf" + as_bytes(some))
    run = open_run(str(path))
    assert (run.run_id, run.git_commit, run.mode, run.path) == ("r7", "abc", "few_shot", path)


@EACH_WAY
def test_reference_accepts_what_the_original_does_not_look_at(given):
    some = changed("predicted_items", "Sleep", value=None)
    answers = some["experiments"][0]["results"]["results"][0]
    answers["ground_truth_items"]["Sleep"] = "unread"
    answers["predicted_items"]["Tired"] = True
    answers["ground_truth_items"]["Moving"] = False
    with pytest.raises(InputError, match=r"item Tired: predicted_items .*, not true"):
        read_run(given(some))
    items = read_run(given(some), strict=False)
    assert items["prediction"].to_list() == [1, 1, None, 1, 1, 1, 1, 1]
    assert items["label"].to_list() == [2, 2, None, 2, 2, 2, 2, 0]
    answers["ground_truth_items"]["Moving"] = "read"
    with pytest.raises(InputError, match=r"item Moving: ground_truth_items must .*, not 'read'"):
        read_run(given(some), strict=False)


def test_reference_keeps_repeated_participants_silently():
    some = document(entry(1), entry(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_run(some, strict=False)) == 16
        assert open_run(some).repeated.to_list() == [1]
