"""PAS of tables = PAS as metrics of units, which are declared from public metrics alone."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from replication.score_data import drawn_tables, studied

FINDING = ["sub_study_id", "finding_id"]
IDS = pl.concat_str(FINDING, separator="-").alias("finding")
METHOD = ef.Bootstrap(cluster="study_id", n=50, interval="percentile")
WITHIN_STUDIES = replace(METHOD, cluster=IDS, within="study_id")
DESIGNS = [
    ("study_id", ["model"], METHOD),
    ("study_id", ["model", "domain"], replace(METHOD, within="domain")),
    ("finding_id", ["model"], WITHIN_STUDIES),
    ("finding_id", ["model", "domain"], WITHIN_STUDIES),
]

AS_UNITS = {
    ("mean", "mean"): ef.per(FINDING, ef.mean_pas()),
    ("fisher_z", "mean"): ef.per(FINDING, ef.pooled_pas(weight="n_eff")),
    ("mean_z", "mean_z"): ef.per(FINDING, pas=ef.pooled_pas(), then=ef.pooled_pas()),
    ("weighted_mean", "weighted_mean"): ef.per(
        FINDING, ef.mean_pas(weight="test_weight"), weight="finding_weight"
    ),
}


@pytest.mark.parametrize("rules", AS_UNITS, ids="/".join)
@pytest.mark.parametrize(("cluster", "by", "method"), DESIGNS)
def test_scores_of_tables_are_metrics_of_units(cluster, by, method, rules):
    tests = studied(studies=9, missing=0.0).with_columns(test_weight=1.0 + pl.col("test_id"))
    scores = replication.domain_scores if "domain" in by else replication.model_scores
    finding_rule, study_rule = rules
    by_name = replace(METHOD, cluster=cluster)
    found = scores(tests, resample=by_name, finding_rule=finding_rule, study_rule=study_rule)
    metric = ef.per("study_id", AS_UNITS[rules])
    names = {"estimate": "pas", "drop_rate": "pas_drop_rate"}
    names |= {name: f"pas_{name}" for name in ("std_error", "lower", "upper")}
    long = ef.evaluate(tests, metric, by=by, resample=method).rename(names)
    columns = [*by, *names.values(), "n_clusters"]
    assert_frame_equal(found.select(columns), long.select(columns), rel_tol=1e-9)


def test_weights_below_zero_are_drawn_as_they_are_averaged():
    tests = studied(models=2, studies=7, missing=0.0).with_columns(
        finding_weight=pl.when(finding_id="F0", sub_study_id="part0").then(-0.5).otherwise(2.0)
    )
    method = ef.Bootstrap(cluster="finding_id", n=25, seed=5, interval="percentile")
    rules = {"finding_rule": "weighted_mean", "study_rule": "weighted_mean"}
    found = humanstudy_bench.model_scores(tests, resample=method, **rules)
    drawn = [
        humanstudy_bench.model_scores(table, **rules)["pas"].to_list()
        for table in drawn_tables(method, tests, FINDING, "study_id")
    ]
    assert found["pas_std_error"].to_list() == pytest.approx(np.std(drawn, axis=0, ddof=1))


@pytest.mark.parametrize("interval", ["basic", "normal"])
def test_intervals_of_pas_end_at_its_range(interval):
    studies = pl.DataFrame({"study_id": range(4), "pas": [0.0, 0.0, 0.1, 0.9]})
    studies = pl.concat(
        [
            studies.with_columns(model=pl.lit("low")),
            studies.with_columns(model=pl.lit("high"), pas=1.0 - pl.col("pas")),
        ]
    )
    method = ef.Bootstrap(cluster="study_id", n=200, interval=interval)
    found = replication.model_scores(studies, resample=method)
    assert found["pas_lower"].min() == 0.0
    assert found["pas_upper"].max() == 1.0
