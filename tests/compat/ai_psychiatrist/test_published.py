"""Published figures of the ai-psychiatrist runs, held to the identities between them.

Facts from that project's run history at commit 36e9fba (loss abs_norm, confidence llm); per-item
data were not published. `normalized` are AURC / Cmax and AUGRC / Cmax^2 of the published figures.
"""

import itertools

import polars as pl
import pytest

import evalframe as ef

RUNS = """
3  zero .555  .134  .037  .241 .120
3  few  .701  .193  .065  .275 .132
4  zero .569  .138  .039  .243 .120
4  few  .655  .192  .058  .293 .135
4b few  .535  .163  .037  .305 .129
5  few  .710  .213  .073  .300 .145
7  zero .569  .138  .039  .243 .120
7  few  .659  .151  .048  .229 .111
8  zero .488  .141  .031  .289 .130
8  few  .509  .125  .031  .246 .120
9  zero .488  .144  .032  .295 .134
9  few  .530  .135  .035  .255 .125
11 zero .4896 .1035 .0253 .211 .106
11 few  .4757 .1184 .0270 .249 .119
12 zero .485  .1019 .0252 .210 .107
12 few  .460  .1085 .0242 .236 .114
13 zero .488  .1066 .0267 .218 .112
13 few  .485  .1153 .0279 .238 .119
14 zero .601  .1292 .0409 .215 .113
14 few  .575  .1467 .0421 .255 .127
"""
PREDICTED = {
    "12 zero": (159, 328),
    "12 few": (151, 328),
    "13 zero": (160, 328),
    "13 few": (159, 328),
    "14 zero": (197, 328),
    "14 few": (184, 320),
}
"""Predicted items and all items that Cmax of the last runs stands for, eight per participant."""

PAIRED = {"11": (0.0149, 0.0017), "12": (0.0066, -0.001)}
"""Few-shot minus zero-shot in AURC and AUGRC, of runs whose two modes have the same people."""


def published():
    rows = [line.split() for line in RUNS.strip().splitlines()]
    return {f"{run} {mode}": figures for run, mode, *figures in rows}


def bounds(shown):
    """The numbers that are shown so when rounded."""
    half = 0.5 * 10.0 ** -len(shown.partition(".")[2])
    return float(shown) - half, float(shown) + half


@pytest.mark.parametrize("run", published())
def test_normalized_areas_are_the_areas_over_coverage(run):
    cmax, aurc, augrc, *normalized = published()[run]
    for area, power, shown in ((aurc, 1, normalized[0]), (augrc, 2, normalized[1])):
        ratio = float(area) / float(cmax) ** power
        assert abs(ratio - float(shown)) < 0.00051, (area, cmax, shown)


@pytest.mark.parametrize("run", published())
def test_generalized_risk_never_exceeds_selective_risk(run):
    """At every coverage c the joint risk is c times the selective one, so AUGRC <= Cmax AURC."""
    cmax, aurc, augrc, *_ = (bounds(shown) for shown in published()[run])
    assert augrc[0] <= cmax[1] * aurc[1]


@pytest.mark.parametrize("run", PREDICTED)
def test_coverage_counts_participants_who_abstain_on_everything(run):
    predicted, asked = PREDICTED[run]
    items = pl.DataFrame({"prediction": [1] * predicted + [None] * (asked - predicted)})
    low, high = bounds(published()[run][0])
    assert low <= items.select(ef.coverage()).item() <= high


@pytest.mark.parametrize("run", PAIRED)
def test_paired_differences_are_those_of_the_two_modes(run):
    zero, few = published()[f"{run} zero"], published()[f"{run} few"]
    for column, delta in zip((1, 2), PAIRED[run], strict=True):
        assert abs(float(few[column]) - float(zero[column]) - delta) < 1.01e-4


def test_the_convention_decides_whether_run_14_is_worse_than_13():
    figures = published()
    for mode, by_area, by_normalized in (("zero", True, False), ("few", True, True)):
        (strict, strict_over), (infer, infer_over) = (
            (float(figures[f"{run} {mode}"][1]), float(figures[f"{run} {mode}"][3]))
            for run in (13, 14)
        )
        assert (infer > strict) is by_area
        assert (infer_over > strict_over) is by_normalized


def test_the_identities_hold_for_the_package_on_the_counts_of_run_13():
    """Over 160 of 328 items: dividing by Cmax is evaluating the predicted items alone."""
    predicted, asked = PREDICTED["13 zero"]
    items = pl.DataFrame(
        {
            "loss": [k % 4 / 3 if k < predicted else None for k in range(asked)],
            "confidence": [float(k * 37 % 11) for k in range(asked)],
        }
    )
    alone = items.filter(pl.col("loss").is_not_null())
    cmax = items.select(ef.coverage("loss")).item()
    for (area, normalized), power in zip(
        ((ef.aurc, ef.aurc_normalised), (ef.augrc, ef.augrc_normalised)),
        itertools.count(1),
    ):
        over = items.select(area()).item() / cmax**power
        assert items.select(normalized()).item() == pytest.approx(over, abs=1e-12)
        assert alone.select(area()).item() == pytest.approx(over, abs=1e-12)
