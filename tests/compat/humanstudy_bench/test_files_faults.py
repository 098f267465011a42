"""Documents that cannot be read: each fault is told with its file and its place."""

import json
import math
import os

import pytest

from compat.humanstudy_bench.file_data import read, stored
from evalframe.compat.humanstudy_bench import read_evaluation, read_results
from evalframe.core.errors import InputError, ParameterError


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"pas": "high"}, r"test_results\[1\]\.pas is 'high', not a number of 64 bits"),
        ({"pas": True}, r"test_results\[1\]\.pas is True, not a number"),
        ({"pas": 10**400}, r"test_results\[1\]\.pas is 1000000.*000, not a number of 64 bits"),
        ({"finding_id": 1}, r"test_results\[1\]\.finding_id is 1, not text"),
        ({"human_test_statistic": [1]}, r"human_test_statistic is \[1\], not text"),
        ({"direction_match": 1}, r"direction_match is 1, not true or false"),
        ({"human_direction": 2}, r"human_direction is 2, not 1, -1 or 0"),
        ({"human_direction": 0.5}, r"human_direction is 0\.5, not 1, -1 or 0"),
        ({"pi_human_3way": 0.5}, r"\[1\]\.pi_human_3way must be an object, but is 0\.5"),
        (
            {"pi_human_3way": {"pi_plus": "x"}},
            r"\[1\]\.pi_human_3way\.pi_plus is 'x', not a number",
        ),
    ],
)
def test_a_fault_in_a_test_is_told_with_its_place(tmp_path, fault, told):
    path = stored(tmp_path, "s", "m", {"test_results": [{"pas": None}, fault]})
    with pytest.raises(InputError, match=told) as refused:
        read_evaluation(path)
    assert str(refused.value).startswith(f"{path}: test_results[1].")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"score": "x"}, "document 0: score is 'x', not a number of 64 bits"),
        ({"usage_stats": 3}, "document 0: usage_stats must be an object, but is 3"),
        (
            {"usage_stats": {"total_tokens": 0.5}},
            "document 0: usage_stats.total_tokens is 0.5, not a whole number from 0 to 2**53",
        ),
        (
            {"n_runs": 2**53 + 1},
            "document 0: n_runs is 9007199254740993, not a whole number from 0 to 2**53",
        ),
        ({"n_runs": -1}, "document 0: n_runs is -1, not a whole number from 0 to 2**53"),
        ({"n_runs": math.nan}, "document 0: n_runs is nan, not a whole number from 0 to 2**53"),
        ({"test_results": {}}, "document 0: test_results must be a list, but is {}"),
        ({"test_results": [{}, 3]}, "document 0: test_results[1] must be an object, but is 3"),
        ({"finding_results": 3}, "document 0: finding_results must be a list, but is 3"),
        ({"ecs_corr_details": 3}, "document 0: ecs_corr_details must be an object, but is 3"),
        (
            {"ecs_corr_details": {"ecs_domain": 3}},
            "document 0: ecs_corr_details: ecs_domain must be an object, but is 3",
        ),
    ],
)
def test_a_fault_in_a_document_is_told_with_its_place(changes, told):
    with pytest.raises(InputError) as refused:
        read(**changes)
    assert str(refused.value) == told


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", r"is empty \(0 bytes\)"),
        (b'{"test_results": [', r"line 1, column 19 .*the file ends too early"),
        (b'{"score": \xff}', "is not UTF-8 text"),
        (b"[1]", r"must hold an object, but holds \[1\]; is it the right file\?"),
        (b'{"a": 1, "test_results": [], "a": 2}', "has the key 'a' more than once; keep one"),
        (b'{"test_results": [{"pas": 1, "pas": 2}]}', "has the key 'pas' more than once"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply to be read"),
        (b'{"score": 1' + b"0" * 5000 + b"}", "an integer has more than 4,300 digits"),
        (b'{"score": 1}', "holds no 'test_results'; is it the right file"),
        (
            b'{"test_results": [{"scenario": "\\ud800"}]}',
            r"test_results\[0\]\.scenario has half of a character \(a lone surrogate\)",
        ),
        (b'{"x\\udc00": 1, "test_results": []}', r"'x\\udc00' has half of a character"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, data, told):
    path = stored(tmp_path, "s", "m", data)
    with pytest.raises(InputError, match=told) as refused:
        read_evaluation(path)
    assert str(path) in str(refused.value)


HALF = chr(0xD800)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8"])
@pytest.mark.parametrize("escaped", [True, False])
def test_halves_of_characters_in_every_encoding(tmp_path, encoding, escaped):
    test = {"finding_id": "F1", "test_name": HALF}
    for content, place in (
        ({"test_results": [test]}, r"test_results\[0\]\.test_name"),
        ({HALF: 1}, "'"),
    ):
        text = json.dumps({"test_results": []} | content, ensure_ascii=escaped)
        path = stored(tmp_path, "s", "m", text.encode(encoding, "surrogatepass"))
        with pytest.raises(InputError, match=rf"{place}.* has half of a character"):
            read_evaluation(path)
    text = json.dumps({"test_results": [{"test_name": "Höhle 😀"}]}, ensure_ascii=escaped)
    path = stored(tmp_path, "s", "m", text.encode(encoding))
    assert read_evaluation(path).tests["test_name"].item() == "Höhle 😀"


def test_names_with_halves_of_characters(tmp_path):
    with pytest.raises(ParameterError, match=r"model has half of a character .*: '.ud800'"):
        read_evaluation({"test_results": []}, model=HALF, study_id="s")
    with pytest.raises(InputError, match="document 0: model has half of a character"):
        read_evaluation({"test_results": [], "model": HALF}, study_id="s")
    path = stored(tmp_path, "s", os.fsdecode(b"m\xff"), {"test_results": []})
    with pytest.raises(InputError, match=r"is no text \(UTF-8\); rename the file or its folder"):
        read_evaluation(path)


def test_documents_that_are_none_of_json():
    cyclic = {"test_results": [], "model": "m", "study_id": "s"}
    cyclic["more"] = [cyclic]
    for reader, document in ((read_evaluation, cyclic), (read_results, {"configs": cyclic})):
        with pytest.raises(InputError, match="document 0 holds itself, or is nested too deeply"):
            reader(document)
    assert read(odd={("a", 1): "b"}).runs["unread"].to_list() == [["odd"]]


def test_places_where_nothing_is(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty' holds no evaluation_results\.json, at any depth"):
        read_evaluation(tmp_path / "empty")
    with pytest.raises(InputError, match=r"none\.json: no such file; check the path"):
        read_evaluation(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"no file matches '.*\*\.json'"):
        read_evaluation(f"{tmp_path}/*.json")
    with pytest.raises(InputError, match="nothing to read; name a file, a glob or a folder"):
        read_evaluation([])
    with pytest.raises(InputError, match="cannot read 'xxxx"):
        read_evaluation("x" * 5000)
    with pytest.raises(InputError, match="cannot read"):
        read_evaluation("a\0b")
    with pytest.raises(ParameterError, match=r"expected files.* got 3 \(int\)"):
        read_evaluation(3)
    with pytest.raises(ParameterError, match="got b'a'"):
        read_evaluation(b"a")
