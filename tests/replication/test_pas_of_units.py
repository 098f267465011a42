"""PAS of tables = PAS as metrics of units, which are declared from public metrics alone."""

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.tables import Keys
from evalframe.replication.agreement.pooling import N_EFF, PAS, RATIO_Z, Z, of_rows, of_tests
from evalframe.replication.agreement.posteriors import z_of_pas
from evalframe.replication.agreement.scored_tests import VALUE, WEIGHT, Rows, Settings
from evalframe.testing import laws
from replication.score_data import drawn, studied

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
    tables = drawn(method, tests, FINDING, "study_id")
    each = humanstudy_bench.model_scores(tables, by=["replicate", "model"], **rules)
    expected = each.group_by("model").agg(pl.col("pas").std()).sort("model")["pas"]
    assert found["pas_std_error"].to_list() == pytest.approx(expected.to_list())


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


SETTINGS = [
    Settings("fisher_z", "mean"),
    Settings("mean_z", "mean_z", missing="chance"),
    Settings("weighted_mean", "weighted_mean"),
]


def rows_of(level, settings):
    """Rows with what is averaged in them: an eighth of it missing, some of it at the ends."""
    count, rng = 60, np.random.default_rng(0)
    pas = rng.choice([None, 0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0], count).tolist()
    frame = pl.DataFrame({"model": rng.choice([*"ab"], count), PAS: pas, "pas_normalised": pas})
    frame = frame.with_columns(
        **{Z: z_of_pas(pl.col(PAS)), RATIO_Z: z_of_pas(pl.col(PAS)), VALUE: pl.col(PAS)},
        **{name: pl.Series(rng.integers(0, 4, count)) for name in ("study_id", "finding_id")},
        **{
            name: pl.Series(rng.integers(low, 3, count))
            for name, low in ((WEIGHT, 1), (N_EFF, 1), ("finding_weight", 0), ("test_weight", 0))
        },
    )
    return frame, Rows(frame.lazy(), level, Keys.of("model"), frozenset(frame.columns), settings)


@pytest.mark.parametrize(
    ("level", "settings"),
    # Scores of studies are averaged in one way, whatever the rules were.
    [*product(("tests", "findings"), SETTINGS), ("studies", SETTINGS[1])],
    ids=str,
)
def test_scores_of_tables_keep_the_laws(level, settings):
    frame, rows = rows_of(level, settings)
    flat = [*(of_tests(rows, z_of_pas) if level == "tests" else of_rows(rows)).values()]
    metrics = [*flat, *(ef.per("study_id", metric) for metric in flat)]
    laws.expressions_equal_tables(metrics, frame, by="model")
    laws.integer_weights_repeat_rows(metrics, frame, by="model")
    laws.zero_weights_remove_rows(metrics, frame, by="model")
    laws.units_are_groups(metrics, frame, by="model")
    laws.replicates_copy_units(metrics, frame, by="model", cluster="finding_id")
    laws.replicates_copy_units(metrics, frame, by="model", cluster="study_id")
