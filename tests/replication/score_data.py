"""Tests of several models in findings and studies, and naive bootstraps of them."""

import numpy as np
import polars as pl

from evalframe.resample.strata import SLOT, strata_of, stratified_weights


def studied(models=3, studies=6, seed=0, missing=0.15):
    """Tests with PAS, human posteriors and effects; findings of one to three tests."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{study}", f"d{study % 2}", f"part{finding % 2}", f"F{finding // 2}", test)
        for study in range(studies)
        for finding in range(1 + study % 4)
        for test in range(1 + (study + finding) % 3)
    ]
    names = ["study_id", "domain", "sub_study_id", "finding_id", "test_id"]
    tests = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        effect_d_human=pl.Series(rng.normal(0.4, 0.5, len(rows))),
        pi_human=pl.Series(rng.random(len(rows))),
        n_eff=pl.Series(rng.integers(20, 200, len(rows)).astype(float)),
        finding_weight=1.0 + pl.col("sub_study_id").str.len_chars() % 2,
    )
    parts = []
    for model in range(models):
        there = pl.Series(rng.random(len(rows)) >= missing)
        pas = pl.Series(rng.beta(4 + model, 3, len(rows)))
        moved = pl.Series(rng.normal(0.1 * model, 0.4, len(rows)))
        parts.append(
            tests.with_columns(
                pl.lit(f"m{model}").alias("model"),
                pl.when(there).then(pas).alias("pas"),
                pl.when(there).then(pl.col("effect_d_human") + moved).alias("effect_d_agent"),
            )
        )
    return pl.concat(parts)


def drawn(method, tests, cluster, stratum=None):
    """The tests that each `replicate` draws, each copy under a name of its own.

    Args:
        method: The bootstrap.
        tests: As `studied` makes them.
        cluster: What is drawn: columns.
        stratum: The column within which it is drawn.
    """
    columns = [*cluster] if stratum is None else [stratum, *cluster]
    members = (
        tests.select(columns)
        .unique()
        .with_columns(
            (pl.lit("") if stratum is None else pl.col(stratum)).alias("stratum"),
            pl.concat_str(cluster, separator="\x1f").alias("member"),
        )
    )
    strata = strata_of(method, members, [], "stratum", "member")
    slots = members.join(strata.members, on=["stratum", "member"])
    weights = np.concatenate([*stratified_weights(method, strata).chunks(1 << 10)])
    times = weights[:, slots[SLOT].to_numpy()].astype(np.int64)
    copies = (
        pl.concat([slots.select(columns)] * len(times))
        .with_columns(
            replicate=np.repeat(np.arange(len(times)), len(slots)),
            copy=pl.int_ranges(pl.Series(times.ravel())),
        )
        .explode("copy", empty_as_null=True)
        .drop_nulls("copy")
    )
    renamed = pl.format("{}-{}", cluster[-1], "copy").alias(cluster[-1])
    return tests.join(copies, on=columns).with_columns(renamed)
