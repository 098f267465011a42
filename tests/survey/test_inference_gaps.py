"""Gaps between segments against the noise of respondents."""

import numpy as np
import polars as pl
import pytest

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey import respondent_gaps, score


def asked(shares, sizes, predicted, *, seed, questions=20):
    """Scores of one model in segments that asked few respondents of what they think."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "model": "a",
            "round": "1",
            "segment_id": f"ageGroup:{number}",
            "question_id": f"q{question}",
            "predicted": predicted,
            "actual": (rng.multinomial(size, share) / size).tolist(),
            "sample_size": size,
        }
        for number, (share, size) in enumerate(zip(shares, sizes, strict=True))
        for question in range(questions)
    ]
    return score(pl.DataFrame(rows))


def test_a_gap_of_small_segments_is_noise():
    """All think alike: about one gap in 20 is beyond the noise that is to be expected."""
    shares, sizes = [[0.3, 0.3, 0.4]] * 6, [40] * 6
    found = [
        respondent_gaps(asked(shares, sizes, [0.4, 0.4, 0.2], seed=seed), seed=seed)
        for seed in range(30)
    ]
    tested = pl.concat(found)
    assert tested["gap"].min() > 0
    assert (~tested["within_noise"]).sum() <= 5
    assert 0.3 < tested["p_value"].mean() < 0.7


def test_a_segment_that_is_not_understood_stands_out():
    shares = [[0.3, 0.3, 0.4]] * 5 + [[0.7, 0.2, 0.1]]
    found = respondent_gaps(asked(shares, [40] * 6, [0.3, 0.3, 0.4], seed=1))
    row = found.row(0, named=True)
    assert row["worst_segment"] == "ageGroup:5"
    assert row["n_segments"] == 6
    assert row["p_value"] == pytest.approx(1 / 201)
    assert not row["within_noise"]


def test_categories_of_one_segment_have_no_gap():
    scored = asked([[0.5, 0.5]], [10], [0.5, 0.5], seed=0)
    assert respondent_gaps(scored).is_empty()


def test_the_category_is_the_attribute_where_there_is_one():
    scored = asked([[0.5, 0.5]] * 2, [10] * 2, [0.5, 0.5], seed=0)
    named = scored.with_columns(segment_attribute=pl.lit("generation"))
    found = respondent_gaps(named)
    assert found["category"].to_list() == ["generation"]
    rows = respondent_gaps(scored)
    assert found.drop("category").equals(rows.drop("category"))


def test_what_is_refused():
    scored = asked([[0.5, 0.5]] * 2, [10] * 2, [0.5, 0.5], seed=0)
    with pytest.raises(MissingColumnsError, match="'sample_size'"):
        respondent_gaps(scored.drop("sample_size"))
    with pytest.raises(ParameterError, match="sample_size must be 1 or more respondents"):
        respondent_gaps(scored.with_columns(sample_size=None))
