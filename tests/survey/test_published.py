"""Figures that the original published and that follow from the survey: rounds GD1 to GD6."""

import json

import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.survey import as_distributions

ROUNDS = [f"GD{number}" for number in range(1, 7)]


@pytest.fixture(scope="module")
def published(shared):
    return json.loads((shared / "data/survey/published_results.json").read_text())


@pytest.fixture(scope="module")
def survey(shared):
    table = pl.read_parquet(shared / "data/survey/survey.parquet")
    return table.filter(pl.col("round").is_in(ROUNDS))


def test_baselines(survey, published):
    uniform, marginal, shuffled = published["baselines"]
    for kind, row in (("uniform", uniform), ("marginal", marginal)):
        scores = dtef.baseline(survey, kind)["score"]
        assert len(scores) == row["pairs"]
        assert scores.mean() == pytest.approx(row["reproduced"], abs=1e-6)
        assert round(scores.mean(), 3) == row["published"]
    other = dtef.baseline(survey, "cross_segment")["score"]
    assert other.mean() == pytest.approx(shuffled["reproduced_excluding_self"], abs=1e-6)
    permuted = dtef.permutation_baseline(survey, by="all", n=20)
    expected = shuffled["reproduced_with_self_matches_expected"]
    assert permuted["expected"].item() == pytest.approx(expected, abs=1e-6)
    assert permuted["mean"].item() == pytest.approx(shuffled["published"], abs=1e-3)


def test_noise_ceilings(survey, published):
    pairs = as_distributions(survey)
    known = pairs.with_columns(dtef.noise_ceiling())
    share = (known["noise_ceiling"] > 0.70).mean()
    stated = published["fraction_pairs_noise_ceiling_above_0_70"]
    assert share == pytest.approx(stated["reproduced"], abs=1e-5)
    (quality,) = (table for table in published["category_quality"] if table["reproduced"])
    found = known.group_by("segment_attribute").agg(
        pl.col("sample_size").mean().round(0).cast(pl.Int64).alias("size"),
        pl.col("noise_ceiling").mean().round(3).alias("ceiling"),
        ((pl.col("noise_ceiling") > 0.70).mean() * 100).round(1).alias("above"),
    )
    rows = {row[0]: row[1:] for row in found.rows()}
    assert rows == {name: pytest.approx(tuple(said), abs=1e-9) for name, *said in quality["rows"]}
