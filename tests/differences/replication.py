"""What differs in replication: published scores of 57 models, tests of 12 studies of humans."""

import functools
import json

import polars as pl

import evalframe as ef
from differences.records import parquet, rank_changes
from evalframe.compat import humanstudy_bench


@functools.cache
def human_tests(shared):
    return parquet(shared / "data/replication/human_tests.parquet")


def pooled_studies(shared):
    folder = shared / "data/replication"
    mixed = parquet(folder / "published_benchmark.parquet").filter("is_mixed")["config"]
    whole = [f"study_{number:03}" for number in (3, 4, 5, 7, 11)]  # the rest publish no tests
    findings = parquet(folder / "published_findings.parquet").filter(
        ~pl.col("config").is_in(mixed.implode()), pl.col("study_id").is_in(whole)
    )
    named = findings.rename({"config": "model", "finding_score": "pas"})
    rooms = {"documented": ef.replication, "reference": humanstudy_bench}
    studies = {name: room.study_scores(named) for name, room in rooms.items()}
    models = {rules: ef.replication.model_scores(each) for rules, each in studies.items()}
    study, model = (
        made["documented"].join(made["reference"], on=keys, suffix="_z")
        for made, keys in ((studies, ["model", "study_id"]), (models, ["model"]))
    )
    moved = (study["pas"] - study["pas_z"]).abs()
    changed = rank_changes(model, ["pas", "pas_z"])
    return (
        f"up to {moved.max():.2f}, on average {moved.mean():.2f} in {len(study)} studies; "
        f"{changed} of {len(model)} models change rank"
    )


def bayes_factors(shared):
    both = both_factors(shared).filter(pl.col("bf_family") != "r_jzs")
    (capped,) = both.filter((pl.col("sound") / pl.col("original")).log().abs() > 1e-4).rows()
    exact, found = (10 * factor / (1 + 10 * factor) for factor in capped[1:])
    return (
        f"1 of {len(both)} human tests: {capped[2]:.0e}, not {capped[1]:.0e}; its posterior moves "
        f"by {exact - found:.0e}"
    )


def correlations(shared):
    both = both_factors(shared).filter(bf_family="r_jzs")
    ratio = (both["sound"] / both["original"]).sort()
    return f"{len(both)} human tests: {ratio[0]:.2f} to {ratio[-1]:.2f} times the original's"


def both_factors(shared):
    """Bayes factors of the tests of humans, sound and as the original has them."""
    sized = human_tests(shared).filter((pl.col("n1") + pl.col("n2")).ne_missing(0))
    sound, original = (
        room.with_bayes_factors(sized, None, test_type="bf_family")
        for room in (ef.replication, humanstudy_bench)
    )
    return sized.select(
        "bf_family", sound=sound["bayes_factor"], original=original["bayes_factor"]
    ).drop_nulls()


def studies_without_agents(shared):
    """Recompute the published scores of the models called mixed from human tests alone."""
    folder = shared / "data/replication"
    tests = human_tests(shared).with_columns(pas="pas_no_agent").drop_nulls("pas")
    composite, plain = ["study_002", "study_004", "study_008"], "study_010"
    study = pl.col("study_id")
    by_rule = [
        ef.replication.study_scores(
            part, rule="weighted_mean", finding_rule="weighted_mean", finding_key=key
        ).select("study_id", "pas")
        for key, part in (
            ("composite", tests.filter(study.is_in(composite))),
            ("finding_id", tests.filter(~study.is_in([*composite, plain]))),
        )
    ]
    all_tests = tests.filter(study == plain).group_by("study_id").agg(pas=ef.mean_pas())
    alone = pl.concat([*by_rule, all_tests])
    mixed = pl.scan_parquet(folder / "published_benchmark.parquet").filter("is_mixed")
    cells = (
        pl.scan_parquet(folder / "published_studies.parquet")
        .join(mixed, on="config", how="semi")
        .join(alone.lazy(), on="study_id")
        .collect()
    )
    same = ((cells["pas_raw"] - cells["pas"]).abs() < 1e-12).sum()
    return f"{same} of {len(cells)} scores of models called mixed are those of no agent at all"


def repaired_posteriors(shared):
    tests = human_tests(shared)
    moved = tests.select(
        (pl.col("pi_human_scalar") - pl.col("pi_h_plus") - pl.col("pi_h_minus")).abs()
    ).to_series()
    return f"{(moved > 1e-6).sum()} of {len(tests)} human tests, by up to {moved.max():.2f}"


def empty_scores(shared):
    pas = parquet(shared / "data/replication/tests.parquet")["pas"]
    odd = len(pas) - ((pas > 0) & pas.is_not_nan()).sum()
    return f"{odd or 'none'} in {len(pas):,} published tests"


def concordances(shared):
    cases = json.loads((shared / "golden/replication/ecs.json").read_text())
    points = pl.concat(
        pl.DataFrame({name: case["inputs"][name] for name in "xyw"}, strict=False).select(
            pl.lit(case["id"]).alias("case"), pl.all().cast(pl.Float64, strict=False)
        )
        for case in cases
        if case["inputs"]["family"] == "weighted_agreement"
        and len({len(case["inputs"][name]) for name in "xyw"}) == 1
    )
    lin, original = (
        room.concordance_correlation("x", "y", weight="w")
        for room in (ef.replication, humanstudy_bench)
    )
    off = points.group_by("case").agg((lin - original).abs().alias("off")).drop_nulls()["off"]
    return (
        f"- (no effects of agents are published; up to {off.max():.2f} in {len(off)} golden sets)"
    )


FIGURES = {
    "`study_scores`": pooled_studies,
    "`bayes_factor_t`, `_f`, `_chi2`, ...": bayes_factors,
    "`bayes_factor_r`": correlations,
    "`with_posteriors`": studies_without_agents,
    "`prior_repair`": repaired_posteriors,
    "`finding_scores`": empty_scores,
    "`ecs`": concordances,
}
