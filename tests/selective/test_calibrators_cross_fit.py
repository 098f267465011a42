"""Cross-fitting: no row is calibrated by a map that has seen its cluster."""

from functools import partial

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.selective.calibrators.cross_fitting import cross_fit
from evalframe.selective.calibrators.linear import fit_logistic
from evalframe.selective.calibrators.scalar import fit_isotonic, fit_temperature
from evalframe.selective.calibrators.training import feature

ITEMS = pl.DataFrame(
    {
        "person": [f"p{i // 4}" for i in range(92)],
        "model": ["a", "b"] * 46,
        "confidence": [(i * 37 % 100) / 100 for i in range(92)],
        "correct": [float(i * 53 % 97 < i * 37 % 100) for i in range(92)],
    }
)


def test_values_are_those_of_a_fit_without_the_fold():
    crossed = cross_fit(ITEMS, fit_temperature, cluster="person", folds=4)
    assert crossed.columns == [*ITEMS.columns, "fold", "calibrated", "calibrated_in_sample"]
    assert crossed.select(ITEMS.columns).equals(ITEMS)
    for fold in range(4):
        own = crossed.filter(fold=fold)
        rest = fit_temperature(crossed.filter(pl.col("fold") != fold))
        held_out = own.select(rest.apply())["calibrated"]
        assert own["calibrated"].to_list() == pytest.approx(held_out.to_list(), abs=1e-15)
    whole = ITEMS.select(fit_temperature(ITEMS).apply())["calibrated"].to_list()
    assert crossed["calibrated_in_sample"].to_list() == pytest.approx(whole, abs=1e-15)


def test_a_map_never_sees_the_cluster_it_calibrates():
    seen = []

    def watch(rows):
        seen.append({*rows["person"]})
        return fit_temperature(rows)

    crossed = cross_fit(ITEMS, watch, cluster="person", folds=5)
    for fold in range(5):
        assert not seen[fold] & {*crossed.filter(fold=fold)["person"]}
    assert len(seen[5]) == 23
    assert "fold" not in ITEMS.columns


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 23), st.randoms())
def test_folds_are_whole_clusters_balanced_and_blind_to_row_order(seed, folds, random):
    fit = partial(fit_isotonic, target="correct")
    crossed = cross_fit(ITEMS, fit, cluster="person", folds=folds, seed=seed)
    of_cluster = crossed.group_by("person").agg(pl.col("fold").unique())
    assert (of_cluster["fold"].list.len() == 1).all()
    sizes = of_cluster.explode("fold", empty_as_null=True)["fold"].value_counts()["count"]
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1
    order = list(range(len(ITEMS)))
    random.shuffle(order)
    shuffled = cross_fit(ITEMS[order], fit, cluster="person", folds=folds, seed=seed)
    assert shuffled["fold"].to_list() == crossed[order]["fold"].to_list()
    assert shuffled["calibrated"].to_list() == pytest.approx(
        crossed[order]["calibrated"].to_list(), abs=1e-12
    )


def test_seeds_deal_differently():
    deals = {
        tuple(cross_fit(ITEMS, fit_temperature, cluster="person", seed=seed)["fold"])
        for seed in range(5)
    }
    assert len(deals) == 5


def test_groups_are_crossed_by_themselves():
    keyed = ITEMS.with_columns(model=pl.col("model").replace({"b": None}))
    crossed = cross_fit(keyed, fit_temperature, cluster="person", folds=3, by="model")
    for own in keyed.partition_by("model"):
        alone = cross_fit(own, fit_temperature, cluster="person", folds=3)
        there = crossed.filter(pl.col("model").eq_missing(own["model"][0]))
        assert there["fold"].to_list() == alone["fold"].to_list()
        assert there["calibrated"].to_list() == alone["calibrated"].to_list()


def test_fits_may_be_grouped_and_read_expressions():
    grouped = cross_fit(ITEMS, partial(fit_temperature, by="model"), cluster="person", folds=3)
    alone = cross_fit(ITEMS, fit_temperature, cluster="person", folds=3, by="model")
    assert grouped["calibrated"].to_list() == pytest.approx(alone["calibrated"].to_list())
    gaps = ITEMS.with_columns(token_pe=pl.when(pl.int_range(92) > 5).then("confidence"))
    signal = feature("token_pe")
    fit = partial(fit_logistic, features=signal)
    filled = cross_fit(gaps, fit, cluster="person")
    assert filled["calibrated"].null_count() == 0
    assert_frame_equal(filled, cross_fit(gaps, fit, cluster="person", columns=[signal]))
    bare = cross_fit(gaps, fit, cluster="person", columns="token_pe")
    assert bare["calibrated"].null_count() == 6


def test_what_cannot_be_crossed():
    with pytest.raises(ParameterError, match=r"24 folds need at least as many clusters.*are 23"):
        cross_fit(ITEMS, fit_temperature, cluster="person", folds=24)
    with pytest.raises(ParameterError, match=r"there are 1 in group person='p0'"):
        cross_fit(ITEMS, fit_temperature, cluster="person", folds=2, by="person")
    for folds in (1, 2.0, True):
        with pytest.raises(ParameterError, match="folds must be a whole number of at least 2"):
            cross_fit(ITEMS, fit_temperature, cluster="person", folds=folds)
    for seed in (-1, 2**32, None, 0.5):
        with pytest.raises(ParameterError, match=r"seed must lie in \[0, 2\*\*32\), got"):
            cross_fit(ITEMS, fit_temperature, cluster="person", seed=seed)
    with pytest.raises(MissingColumnsError, match="'persno'"):
        cross_fit(ITEMS, fit_temperature, cluster="persno")
    with pytest.raises(ContractError, match=r"4 of 92 rows have no cluster"):
        cross_fit(ITEMS, fit_temperature, cluster=pl.col("person").replace({"p3": None}))
    with pytest.raises(ParameterError, match="adds a column 'fold'"):
        cross_fit(ITEMS.with_columns(fold=1), fit_temperature, cluster="person")
    with pytest.raises(ParameterError, match="there are no rows"):
        cross_fit(ITEMS.clear(), fit_temperature, cluster="person")


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_a_fold_that_leaves_one_class_is_named():
    one = ITEMS.with_columns(correct=(pl.col("person") == "p7").cast(pl.Float64))
    fold = cross_fit(one, fit_temperature, cluster="person").filter(person="p7")["fold"][0]
    told = rf"the rows outside fold {fold} of 5: fit_logistic needs both classes"
    with pytest.raises(ParameterError, match=told):
        cross_fit(one, partial(fit_logistic, features="confidence"), cluster="person")


def test_a_group_whose_clusters_share_a_fold_is_refused():
    rows = pl.DataFrame(
        {
            "model": ["x"] * 10 + ["y"] * 30,
            "person": [0] * 10 + [1, 2, 3] * 10,
            "confidence": [k / 40 for k in range(40)],
            "correct": [k % 2 for k in range(40)],
        }
    )

    def fit(train):
        return fit_isotonic(train, by="model")

    with pytest.raises(ParameterError, match=r"10 of 40 rows can only be calibrated in sample"):
        cross_fit(rows, fit, cluster="person", folds=2)
    spoilt = pl.when(pl.col("person") > 0).then("person").otherwise(float("nan"))
    unknown = rows.with_columns(person=spoilt)
    with pytest.raises(ContractError, match="10 of 40 rows have no cluster"):
        cross_fit(unknown, fit_isotonic, cluster="person", folds=2)
    one = cross_fit(rows, fit_isotonic, cluster="person", folds=2, columns="confidence")
    assert_frame_equal(one, cross_fit(rows, fit_isotonic, cluster="person", folds=2))
