"""Signals of consistency."""

import math
import statistics

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.core.errors import ParameterError
from evalframe.selective.signals import (
    SIGNALS,
    consistency,
    consistency_modal_confidence,
    consistency_score_std,
    token_energy,
    token_msp,
    token_pe,
)

TOKENS = pl.List(
    pl.Struct({"logprob": pl.Float64, "top_logprobs": pl.List(pl.Struct({"logprob": pl.Float64}))})
)
FIELDS = ("modal_score", "modal_count", "modal_confidence", "score_std", "na_rate")
PRODUCERS = {"token_msp": token_msp, "token_energy": token_energy, "token_pe": token_pe}


def summaries(samples, dtype=pl.Int64):
    frame = pl.DataFrame({"samples": samples}, schema={"samples": pl.List(dtype)})
    return frame.select(consistency("samples")).to_series().to_list()


def test_golden_consistency(golden):
    cases = golden("selective/csf")["consistency_cases"]
    found = summaries([case["samples"] for case in cases])
    for case, summary in zip(cases, found, strict=True):
        if case["error_type"]:
            assert summary is None
        else:
            assert summary == pytest.approx(case["expected"], abs=1e-12)


def test_single_signals_are_fields_of_the_summary(golden):
    cases = golden("selective/csf")["consistency_cases"]
    frame = pl.DataFrame({"samples": [case["samples"] for case in cases]})
    found = frame.select(
        consistency("samples"),
        consistency_modal_confidence("samples"),
        consistency_score_std("samples"),
    )
    assert {*found.columns} - {"consistency"} <= {*SIGNALS}
    fields = found["consistency"].struct
    assert found["consistency_modal_confidence"].equals(fields.field("modal_confidence"))
    assert found["consistency_score_std"].equals(fields.field("score_std"))


@settings(deadline=None, max_examples=20)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(-2, 3)), min_size=1, max_size=12), min_size=1
    )
)
def test_consistency_by_counting(samples):
    for drawn, summary in zip(samples, summaries(samples), strict=True):
        most = max(drawn.count(answer) for answer in drawn)
        modes = {answer for answer in drawn if drawn.count(answer) == most}
        scores = [answer for answer in drawn if answer is not None]
        expected = {
            "modal_score": None if None in modes else min(modes),
            "modal_count": most,
            "modal_confidence": most / len(drawn),
            "score_std": statistics.pstdev(scores) if len(scores) > 1 else 0.0,
            "na_rate": drawn.count(None) / len(drawn),
        }
        assert summary == pytest.approx(expected, abs=1e-12)


def test_what_is_no_score():
    bad = summaries([[1.0, math.nan, math.inf, None]], pl.Float64)[0]
    assert bad == {
        "modal_score": None,
        "modal_count": 3,
        "modal_confidence": 0.75,
        "score_std": 0.0,
        "na_rate": 0.75,
    }
    unscored = dict(zip(FIELDS, (None, 1, 1.0, 0.0, 1.0), strict=True))
    assert summaries([None, [], [None]]) == [None, None, unscored]
    assert summaries([], pl.Float64) == []


def test_consistency_of_every_group_at_once():
    answers = pl.DataFrame({"item": ["a", "a", "b"], "score": [2, 2, None]})
    by_item = answers.group_by("item").agg(consistency(pl.col("score").implode())).sort("item")
    assert by_item["consistency"].struct.field("modal_confidence").to_list() == [1.0, 1.0]


def test_golden_tokens(golden):
    cases = golden("selective/csf")["token_signal_cases"]
    frame = pl.DataFrame(
        {"tokens": [case["logprobs"] for case in cases]}, schema={"tokens": TOKENS}
    )
    for name, signal in PRODUCERS.items():
        found = frame.select(signal("tokens")).to_series()
        assert found.name == name
        assert found.to_list() == pytest.approx([case[name] for case in cases], abs=1e-12)


def test_golden_token_edges(golden):
    cases = golden("selective/csf")["token_signal_edge_cases"]
    frame = pl.DataFrame(
        {"tokens": [case["logprobs"] for case in cases]}, schema={"tokens": TOKENS}
    )
    for name, signal in PRODUCERS.items():
        expected = [None if case[name]["error_type"] else case[name]["value"] for case in cases]
        found = frame.select(signal("tokens")).to_series().to_list()
        assert [v is None for v in found] == [v is None for v in expected]
        assert found == pytest.approx(expected, abs=1e-12)


def test_plain_lists_give_the_same(golden):
    cases = golden("selective/csf")["token_signal_cases"]
    tokens = [case["logprobs"] for case in cases]
    tops = [[[top["logprob"] for top in token["top_logprobs"]] for token in a] for a in tokens]
    frame = pl.DataFrame(
        {
            "tokens": pl.Series(tokens, dtype=TOKENS),
            "logprobs": [[token["logprob"] for token in answer] for answer in tokens],
            "tops": tops,
        }
    )
    plain = frame.select(
        token_msp("logprobs", plain=True),
        token_energy("tops", plain=True),
        token_pe("tops", plain=True),
    )
    assert plain.equals(frame.select(signal("tokens") for signal in PRODUCERS.values()))


@pytest.mark.parametrize("top", [None, [None], [math.nan], [0.0, None], [800.0]])
def test_a_token_that_spoils_its_list(top):
    tops = pl.DataFrame(
        {"tops": [[[-0.5, -1.0], top], [[-0.5, -1.0]]]},
        schema={"tops": pl.List(pl.List(pl.Float64))},
    )
    found = tops.select(token_energy("tops", plain=True), token_pe("tops", plain=True))
    assert found["token_pe"].is_null().to_list() == [True, False]
    # A shifted sum takes exp(800), too large for a float, in its stride.
    assert found["token_energy"].is_null().to_list() == [top != [800.0], False]


def test_a_token_without_probability():
    frame = pl.DataFrame({"p": [[-0.1, None], [-0.1, math.nan], [], None, [800.0], [-math.inf]]})
    found = frame.select(token_msp("p", plain=True)).to_series().to_list()
    assert found == [None, None, None, None, None, 0.0]


def test_small_probabilities_keep_their_energy():
    tops = pl.DataFrame({"tops": [[[-1000.0, -1000.0]]]})
    energy = tops.select(token_energy("tops", plain=True)).item()
    assert energy == pytest.approx(-1000 + math.log(2), abs=1e-12)


def test_no_column():
    with pytest.raises(ParameterError, match="expected a column name or a Polars expression"):
        consistency([1, 2])
