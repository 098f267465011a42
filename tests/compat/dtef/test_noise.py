"""Sampling noise of dtef-app: golden values, and the ceilings of real rounds."""

import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.survey.noise import normalised_score


def test_golden_ceilings(golden):
    cases = pl.DataFrame(golden("survey/statistics")["noise_ceiling"])
    made = cases.select(dtef.noise_ceiling("k", "n")).to_series()
    assert (made - cases["value"].cast(pl.Float64)).abs().max() < 1e-15


def test_golden_normalised_scores(golden):
    cases = pl.DataFrame(golden("survey/statistics")["normalized_score"]).cast(pl.Float64)
    made = cases.select(dtef.normalised_score("raw", ceiling="ceiling")).to_series()
    assert (made - cases["value"]).abs().max() < 1e-15
    ours = cases.select(normalised_score("raw", ceiling="ceiling")).to_series()
    assert (ours.is_null() == (cases["ceiling"] <= cases["uniform"])).all()


def test_real_rounds(shared, golden):
    expected = golden("survey/statistics")["real_surveys"]
    survey = pl.scan_parquet(shared / "data/survey/survey.parquet")
    keys = ["round", "question_id", "segment_id", "segment_attribute", "sample_size"]
    made = (
        survey.group_by(keys).agg(n_options=pl.len()).with_columns(dtef.noise_ceiling()).collect()
    )
    for round_, rows in made.group_by("round"):
        shares = expected[round_[0]]["noise_ceiling_fraction_above"]
        for threshold, share in shares.items():
            above = (rows["noise_ceiling"] > float(threshold)).mean()
            assert above == pytest.approx(share, abs=1e-12)
        for category, part in rows.group_by("segment_attribute"):
            stored = expected[round_[0]]["categories"][category[0]]
            ceiling = part["noise_ceiling"].mean()
            assert ceiling == pytest.approx(stored["avg_noise_ceiling"], abs=1e-12)
            assert part["sample_size"].mean() == pytest.approx(stored["avg_sample_size"])
    first = made.filter(~pl.col("round").is_in(["GD6UK", "GD7"]))
    assert (first["noise_ceiling"] > 0.7).mean() == pytest.approx(0.54499, abs=1e-5)
