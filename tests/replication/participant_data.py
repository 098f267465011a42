"""Responses to one test of every kind, and what scipy makes of them."""

import numpy as np
import polars as pl
from scipy import stats

KEYS = ("study_id", "sub_study_id", "finding_id", "test_id")

CASES = {
    "independent": ("t-test", "independent", ["x", "y"]),
    "paired": ("t_test", "paired", None),
    "one": ("t-test", "one", None),
    "anova": ("ANOVA", None, ["x", "y", "z"]),
    "f2": ("f-test", None, ["y", "x"]),
    "pearson": ("correlation", None, None),
    "spearman": ("spearman", None, None),
    "2x2": ("chi-square", None, ["x", "y"]),
    "3x4": ("chi2", None, ["x", "y", "z"]),
    "ranks": ("mannwhitneyu", None, ["x", "y"]),
    "binomial": ("binomial", None, None),
}
"""Test types, samples and conditions by the id of the test."""

P0, NULL_VALUE = 0.3, 0.25


def keyed(test_id, study=1):
    return dict(zip(KEYS, (f"s{study}", "main", "F1", test_id), strict=True))


def design_of(studies=1, cases=CASES):
    rows = [
        {
            **keyed(test_id, study),
            "test_type": test_type,
            "samples": samples,
            "conditions": conditions,
            "categories": [3.0, 0.0, 1.0, 2.0] if test_id == "3x4" else None,
            "p0": P0,
            "null_value": NULL_VALUE if test_id in ("one", "paired", "independent") else None,
        }
        for study in range(1, studies + 1)
        for test_id, (test_type, samples, conditions) in cases.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def responses_of(rng, people=30, studies=1, *, coarse=False):
    """Each participant takes part in all tests of the study, in one condition each."""
    parts = []
    for study in range(1, studies + 1):
        for test_id, (_, _, conditions) in CASES.items():
            value, value_2 = rng.normal(0.3, 1.0, (2, people))
            if coarse:
                value, value_2 = np.round(value), np.round(value_2)
            if test_id in ("2x2", "binomial"):
                value = (value > 0).astype(float)
            if test_id == "3x4":
                value = np.clip(np.round(value + 1), 0, 3)
            # As many in all conditions, but for what is left over.
            put = rng.permutation(np.resize(conditions or ["-"], people))
            parts.append(
                pl.DataFrame(
                    {
                        **keyed(test_id, study),
                        "participant_id": np.arange(people),
                        "condition": put if conditions else [None] * people,
                        "value": value,
                        "value_2": value_2,
                    },
                    schema_overrides={"condition": pl.String},
                )
            )
    return pl.concat(parts)


def by_scipy(test_id, rows):
    """The statistic that scipy gives."""
    conditions = CASES[test_id][2]
    groups = [rows.filter(condition=c)["value"].to_numpy() for c in conditions or []]
    x, y = rows["value"].to_numpy(), rows["value_2"].to_numpy()
    if test_id == "independent":
        return float(stats.ttest_ind(groups[0] - NULL_VALUE, groups[1]).statistic)
    if test_id == "paired":
        return float(stats.ttest_rel(x - NULL_VALUE, y).statistic)
    if test_id == "one":
        return float(stats.ttest_1samp(x, NULL_VALUE).statistic)
    if test_id in ("anova", "f2"):
        return float(stats.f_oneway(*groups).statistic)
    if test_id == "pearson":
        return float(stats.pearsonr(x, y).statistic)
    if test_id == "spearman":
        return float(stats.spearmanr(x, y).statistic)
    if test_id in ("2x2", "3x4"):
        values = [1, 0] if test_id == "2x2" else [3, 0, 1, 2]
        table = [[(group == v).sum() for v in values] for group in groups]
        return float(stats.chi2_contingency(table).statistic)
    if test_id == "ranks":
        return float(stats.mannwhitneyu(*groups).statistic)
    return float(stats.binomtest(int(x.sum()), len(x), P0).k)
