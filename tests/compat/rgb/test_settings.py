"""Settings in file names, read and written."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.compat.rgb.settings import (
    Settings,
    is_named_as_run,
    is_scores,
    run_name,
    settings_of,
)
from evalframe.core.errors import EvalframeError, InputError, ParameterError

DATASETS = ["en", "zh", "en_refine", "zh_refine", "en_int", "zh_int", "en_fact", "zh_fact"]


def read(name, **told):
    return settings_of(Path("some/folder", name), Settings(**told))


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(
    "model", ["chatgpt", "BELLE-7B-2M", "gemma3:4b-it_q4.0", "a_temp_b", "int"]
)
def test_names_of_the_original(dataset, model):
    if f"{dataset}_{model}" == "en_int":
        return
    name = f"prediction_{dataset}_{model}_temp0.7_noise0.2_passage5_correct0.0"
    expected = Settings(model, dataset, 0.7, 0.2, 5, 0.0)
    assert read(f"{name}.json") == expected
    assert read(f"{name}.jsonl") == read(f"{name}_result.json") == expected
    assert run_name(expected) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "prediction_en_m:4b_noise1.0_passage0_correct0.0_chatgpt.json",
            Settings("m:4b", "en", None, 1.0, 0, 0.0, "chatgpt"),
        ),
        (
            "prediction_en_m_temp1_noise1e-05_passage10_correct1_chatgptresult.json",
            Settings("m", "en", 1.0, 1e-05, 10, 1.0, "chatgpt"),
        ),
        (
            "old-prediction_zh_int_m_temp0.2_noise_0.4_passage_5_output.json",
            Settings("m", "zh_int", 0.2, 0.4, 5, None, "old_output"),
        ),
    ],
)
def test_other_names(name, expected):
    assert read(name) == expected


def test_what_is_told_goes_before_the_name():
    name = "prediction_en_fact_m_temp0.7_noise0.2_passage5_correct0.0.json"
    found = read(name, dataset="en", noise_rate=0.4, passage_num=3, temperature=0.0)
    assert found == Settings("fact_m", "en", 0.0, 0.4, 3, 0.0)
    assert read(name, dataset="en_refine", model="n").model == "n"
    assert read(name, dataset="en_refine").model == "m"
    other = "prediction_hot_pot_m_b_noise0.2_passage5.json"
    assert read(other, dataset="hot_pot").model == "m_b"
    assert read(other, dataset="pot").model == "hot_pot_m_b"
    assert read("a.json", model="m", dataset="d", noise_rate=0.0, passage_num=5).temperature is None


@pytest.mark.parametrize(
    ("name", "told", "message"),
    [
        ("a.json", {}, "a.json: nothing says what model and dataset and .* are. Names are read as"),
        ("a.json", {"model": "m", "dataset": "d", "passage_num": 1}, "what noise_rate is"),
        ("prediction_pot_m_noise0.2_passage5.json", {}, "what dataset is"),
        ("prediction_en_m_noise1.2_passage5.json", {}, r"noise_rate is 1.2, which lies outside"),
        ("prediction_en_m_noise0_passage5_correct-1.json", {}, "correct_passage_rate is -1.0"),
        ("prediction_en_m_noise0_passage5.json", {"passage_num": -5}, "-5, which is negative"),
        ("prediction_en_m_noise0_passage5.json", {"noise_rate": float("nan")}, "is nan, which"),
        ("prediction_en_m_noise0_passage5.json", {"model": ""}, "must have a name"),
        (f"prediction_en_m_noise0_passage{10**20}.json", {}, "passage_num is above 9,223,372"),
        ("prediction_en_m_noise0_passage5.json", {"passage_num": 10**30}, "passage_num is above"),
        ("prediction_en_m_temp1e999_noise0_passage5.json", {}, "temperature is not finite"),
        ("prediction_en_m_noise0_passage5.json", {"temperature": 10**400}, "is not finite"),
    ],
)
def test_settings_that_are_not_known_or_senseless(name, told, message):
    with pytest.raises(InputError, match=message):
        read(name, **told)


def test_kinds_of_files():
    run = "prediction_en_m_temp0.7_noise0.2_passage5_correct0.0"
    assert is_named_as_run(Path(f"{run}.json"))
    assert not any(is_named_as_run(Path(name)) for name in (f"{run}.txt", "prediction_en_m.json"))
    assert not is_scores(Path(f"{run}.json"))
    assert all(is_scores(Path(f"{run}{end}.json")) for end in ("_result", "_chatgptresult"))


@pytest.mark.parametrize("model", ["fact_m", "int_x", "m_temp0.2", ""])
def test_names_that_would_be_read_otherwise_are_refused(model):
    with pytest.raises(ParameterError, match=r"a file's name cannot say so|must have a name"):
        run_name(Settings(model, "en", None, 0.2, 5, 0.0))


@pytest.mark.parametrize(
    "model", ["m_noise0.1_passage3", "m_temp0.3_noise0.1_passage3_correct0.2", "m_temp0.3_noise0.1"]
)
def test_the_last_settings_of_a_name_count(model):
    told = Settings(model, "en", 0.7, 0.4, 5, 0.0, "chatgpt")
    assert read(f"{run_name(told)}.json") == told


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"noise_rate": "0.4"}, "noise_rate must be a number, but is '0.4'"),
        ({"noise_rate": True}, "noise_rate must be a number, but is True"),
        ({"temperature": [0.2]}, "temperature must be a number"),
        ({"passage_num": 5.5}, r"passage_num must be an integer, but is 5\.5"),
        ({"passage_num": False}, "passage_num must be an integer"),
        ({"model": 7}, "model must be text, but is 7"),
    ],
)
def test_settings_of_other_types(told, message):
    with pytest.raises(ParameterError, match=message):
        Settings(**told)


TEXTS = st.one_of(
    st.sampled_from(["a/b%2F", "100%", "a_noise0.1_b", "a_noise0.1_passage3", "..", "模型-7b"]),
    st.text(max_size=6),
)
SHARES = st.floats(0, 1)


@settings(max_examples=80, deadline=None)
@given(
    st.builds(
        Settings,
        TEXTS,
        st.one_of(st.sampled_from(DATASETS), TEXTS),
        st.none() | st.floats(0, 1e20),
        SHARES,
        st.integers(0, 10**6),
        st.none() | SHARES,
        st.none() | TEXTS,
    )
)
def test_what_is_written_is_read_back(told):
    try:
        name = run_name(told)
    except EvalframeError:
        return
    assert "/" not in name
    dataset = None if told.dataset in DATASETS else told.dataset
    assert read(f"{name}.json", dataset=dataset) == told
