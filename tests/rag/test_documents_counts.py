"""Counts of documents in closed form: golden values, and lengths and rates out of bounds."""

import polars as pl
import pytest

from evalframe.core.errors import ParameterError
from evalframe.rag.documents.counts import document_counts


def counts(frame, **arguments):
    return frame.select(document_counts(**arguments).struct.unnest())


def test_golden_counts_of_real_instances(golden, shared):
    cases = golden("rag/selection")["counts"]
    assert len(cases) >= 100
    instances = pl.read_parquet(shared / "data/rag/instances.parquet").sort("id")
    for passages in {case["passage_num"] for case in cases}:
        alike = [case for case in cases if case["passage_num"] == passages]
        asked = [
            instances.filter(dataset=case["dataset"]).with_columns(
                noise=pl.lit(case["noise_rate"], pl.Float64),
                correct=pl.lit(case["correct_rate"], pl.Float64),
            )
            for case in alike
        ]
        roles = {"noise_rate": "noise", "correct_rate": "correct", "passage_num": passages}
        made = counts(pl.concat(asked), group_sizes="positive_group_sizes", **roles)
        start = 0
        for case, rows in zip(alike, asked, strict=True):
            found, start = made[start : start + len(rows)], start + len(rows)
            if "error_all" in case:
                assert found["status"].str.contains("leave no room").all()
                continue
            for name in {*case} & {*found.columns}:
                expected = case[name]
                listed = expected if isinstance(expected, list) else [expected] * len(found)
                assert found[name].to_list() == listed, case


def test_golden_shares_of_noise(golden):
    selection = golden("rag/selection")
    grid = [*selection["neg_count_grid"], *(q[:3] for q in selection["ceil_float_quirks"])]
    assert len(grid) >= 85
    frame = pl.DataFrame(sorted(grid), schema=["p", "r", "expected"], orient="row")
    for (p,), rows in frame.group_by("p"):
        found = rows.select(
            document_counts(
                pl.lit("en"), pl.lit(50), pl.lit(50), noise_rate="r", passage_num=p
            ).struct.field("n_neg")
        )
        assert found["n_neg"].to_list() == rows["expected"].to_list()


@pytest.mark.parametrize(
    ("dataset", "n_positive", "n_negative", "noise", "expected"),
    [
        ("en", 9, 9, 0.4, (3, 2, 5, 0.4)),
        ("en", 9, 1, 0.8, (4, 1, 5, 0.2)),  # noise runs short
        ("en", 1, 9, 0.2, (1, 4, 5, 0.8)),  # positives run short
        ("en", 1, 1, 0.4, (1, 1, 2, 0.5)),  # both do
        ("en", 9, 3, 1.0, (0, 3, 3, 1.0)),  # nothing stands in for noise at 1
        ("en", 0, 0, 0.4, (0, 0, 0, None)),
    ],
)
def test_padding_by_hand(dataset, n_positive, n_negative, noise, expected):
    frame = pl.DataFrame(
        {"dataset": [dataset], "n_positive": n_positive, "n_negative": n_negative}
    ).with_columns(pl.col("n_positive", "n_negative").cast(pl.UInt32))
    found = counts(frame, noise_rate=noise)
    assert found.select("n_pos", "n_neg", "n_docs", "realised_noise_rate").row(0) == expected
    assert found.select("n_groups_covered", "n_wrong", "n_correct").row(0) == (None,) * 3


def test_rates_may_be_columns():
    frame = pl.DataFrame(
        {
            "name": ["en_fact", "en_fact", "en", "en", "en", None],
            "length": [4] * 6,
            "noise": [0.2, 0.8, None, float("nan"), 1.5, 0.0],
            "correct": [0.4] * 6,
        }
    )
    roles = {"dataset": "name", "n_positive": "length", "n_negative": pl.col("length")}
    found = counts(frame, **roles, noise_rate="noise", correct_rate=pl.col("correct"))
    assert found.select("n_wrong", "n_correct", "n_neg").row(0) == (2, 2, 1)
    assert found["status"].to_list() == [
        "ok",
        "noise_rate and correct_rate leave no room: 4 of noise and 2 correct of 5 passages",
        *["noise_rate is not a number from 0 to 1"] * 3,
        "the data set is null",
    ]
    assert (
        found.filter(pl.col("status") != "ok").drop("status").null_count().sum_horizontal()[0] == 35
    )


def test_groups():
    frame = pl.DataFrame(
        {"dataset": ["en_int"] * 4, "n_negative": [9] * 4, "sizes": [[1, 4], [1] * 7, [2, 0], None]}
    )
    found = counts(frame, n_positive=pl.lit(None), group_sizes="sizes", noise_rate=0.2)
    assert found.select("n_pos", "n_neg", "n_groups_covered").rows() == [
        (4, 1, 2),
        (7, 0, 7),
        *[(None,) * 3] * 2,
    ]
    assert found["status"].to_list()[2:] == [
        "a group has no passage",
        "no groups of positive passages",
    ]


def test_bad_arguments():
    for rate in (1.5, -0.1, float("nan"), True):
        with pytest.raises(ParameterError, match="noise_rate must be a number from 0 to 1"):
            document_counts(noise_rate=rate)
        with pytest.raises(ParameterError, match="correct_rate must be a number from 0 to 1"):
            document_counts(noise_rate=0, correct_rate=rate)
    with pytest.raises(ParameterError, match="passage_num must be an integer"):
        document_counts(noise_rate=0, passage_num=2.5)
