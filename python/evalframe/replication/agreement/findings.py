"""From tests to findings: pooled PAS, plain and normalised.

Where the original program differs:

| case | `rules="documented"` | `rules="reference"` |
|---|---|---|
| rule asked for | `fisher_z` | `mean_z` |
| a test without PAS | skipped, counted | `score` if there is one, else 0.5 |
| a test with PAS 0 | 0 | as without PAS, but 0 for `weighted_mean` |
| a PAS of NaN | skipped, counted | perfect agreement |
| a finding or study without a usable test | left out, counted | 0.5 |
| a PAS or a weight that is impossible | skipped, counted | as it is |
| a test without a study | missing, counted | dropped |
| n_eff of 12.7 | 12.7 | 12 |
| a human ceiling below chance (three ways) | skipped | divides by it and turns the sign |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.state import ratio
from evalframe.replication.agreement.alignment import HUMAN
from evalframe.replication.agreement.columns import pas_of_posteriors
from evalframe.replication.agreement.fisher import clamped_fisher_z, pas_of_z, z_of_pas
from evalframe.replication.agreement.given import (
    COUNTS,
    TWO_WAY,
    WEIGHT,
    Settings,
    added_if_known,
    given_table,
    usable_weight,
)
from evalframe.replication.agreement.pooling import of_a_study
from evalframe.replication.agreement.possible import possible_share
from evalframe.replication.agreement.rules import CHANCE
from evalframe.replication.agreement.scalings import pas_ratio

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.replication.agreement.given import Given
    from evalframe.replication.agreement.rules import FindingKey, FindingRule, Missing

PAS, Z, RATIO_Z = ":pas", ":z", ":ratio_z"


def finding_scores(
    tests: Frame,
    *,
    by: By = None,
    rule: FindingRule | None = None,
    finding_key: FindingKey = "composite",
    weight: IntoExpr | None = None,
    missing: Missing | None = None,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """PAS of findings: of each finding's tests, pooled.

    A test's PAS is the column `pas`; without one it is computed from the posteriors, three-way ones
    (`pi_plus_human`, ...) if both sides have them, else two-way ones (`pi_human`, `pi_agent`). Null
    and NaN are missing: skipped and counted. So is, whatever the rule, a test that is impossible: a
    PAS outside [0, 1] by more than 1e-9 of rounding, posteriors that do not make one, an infinite
    `n_eff`, a `test_weight` or `finding_weight` that is negative or infinite. A PAS of 0 counts as
    0. Tests without a study are missing too, in rows of their own that have no PAS.

    By the Fisher rules z is half the log odds of PAS, kept within [5e-7, 1 - 5e-7]; a finding with
    a single test keeps its PAS as it is, but not where that test has a `weight` above 1 and so
    stands for several. Where the weights of all tests of a finding are 0, the mean of z is not
    weighted.

    If the table has posteriors of the human side, each finding also has a normalised PAS: the mean,
    weighted by `n_eff` and through Fisher's z, of `pas_ratio` clamped to 1 - 1e-6. Tests whose
    human ceiling is within 1e-8 of chance are skipped; a finding without other tests has none.

    Args:
        tests: One row per model, study, sub-study, finding and test: `study_id`, `finding_id`, PAS
            or posteriors; as far as there are `model`, `sub_study_id`, `domain`, `n_eff` (weight of
            a test; 1 where null, NaN or not above 0), `test_weight` (1 where null or NaN),
            `is_two_way` (beside a PAS; else it follows) and `finding_weight`, of which a finding
            has the largest of its tests. A finding whose tests have several domains is in the first
            by name; its tests should have one.
        by: Group keys; by default `model` if the table has it. A replicate is one more key.
        rule: `fisher_z`: mean of z weighted by `n_eff` (the documentation). `mean_z`: plain mean of
            z (the published code). `weighted_mean`: mean of PAS weighted by `test_weight`, none
            where the weights sum to 0 (the evaluators' `score`). `mean`: plain mean of PAS, of
            those in [0, 1] by any rules. By default `fisher_z`, and `mean_z` by the original's
            rules.
        finding_key: `composite`: findings are told apart by sub-study too. `finding_id`: findings
            of the same id in several sub-studies of a study are one.
        weight: How often each test counts, on top of these weights; tests of weight 0 are left out,
            and unusable weights make a test missing.
        missing: What a finding without a usable test has. `skip`: nothing, and no study counts it.
            `chance`: PAS 0.5 and normalised PAS 0. By default `skip`, and `chance` by the
            original's rules, but not by their `mean`.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        by..., `study_id`, `sub_study_id` (if it is part of the key), `finding_id`, `domain` (if
        there is one), `pas` (Float64 in [0, 1], null without a usable test), `pas_normalised` (in
        [-1, 1], if there are human posteriors), `z_pas` (Fisher's z of `pas`, after clamping),
        `finding_weight` (if there is one), `n_tests` (Int64, tests that count), `n_two_way` (those
        of them whose PAS is two-way, since nothing says where effects go; null where nothing says
        whether), `n_missing` (tests that do not count). Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain, or a column is no number.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS; arXiv 2602.00685.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import finding_scores
        >>> tests = pl.DataFrame(
        ...     {
        ...         "study_id": ["s1"] * 4,
        ...         "finding_id": ["F1", "F1", "F2", "F2"],
        ...         "pas": [0.9, 0.1, 0.8, None],
        ...         "n_eff": [30, 30, 50, 50],
        ...     }
        ... )
        >>> found = finding_scores(tests).with_columns(pl.col("pas").round(12))
        >>> found.select("finding_id", "pas", "n_tests", "n_missing").collect().rows()
        [('F1', 0.5, 2, 0), ('F2', 0.8, 1, 1)]
    """
    settings = Settings.of(rules, rule, None, finding_key, missing)
    given = given_table("finding_scores", tests, by, weight, settings, levels=["tests"])
    found = findings_of(given)
    return found.frame.drop(WEIGHT).sort(given.finding).rename(given.keys.restore())


def findings_of(given: Given) -> Given:
    """The findings of tests, under internal names of the keys."""
    settings = given.settings
    share, two_way = _pas_as_read(given)
    rows = given.frame.with_columns(share.alias(PAS), two_way.alias(TWO_WAY))
    rows = rows.with_columns(z_of_pas(pl.col(PAS), settings.rules).alias(Z))
    ratios = _ratios(given)
    if ratios is not None:
        rows = rows.with_columns(ratios.alias(RATIO_Z))
    columns, sums = given.columns, _sums(given, has_ratio=ratios is not None)
    extra = given.domains
    if "finding_weight" in columns:
        extra["finding_weight"] = pl.col("finding_weight").fill_nan(None).max()
    added = rows.group_by(given.finding).agg(**sums, **extra)
    table = _finished(added, settings, has_ratio=ratios is not None)
    made = ["pas", *(["pas_normalised"] if ratios is not None else []), "z_pas"]
    weights = ["finding_weight"] if "finding_weight" in columns else []
    order = [*given.finding, *given.domains, *made, *weights, *COUNTS[4:]]
    return given.raised(table.select(order), order)


def _pas_as_read(given: Given) -> tuple[pl.Expr, pl.Expr]:
    """The PAS of each test, null where it does not count, and whether it is two-way."""
    columns, settings = given.columns, given.settings
    original = settings.rules == "reference"
    if "pas" in columns:
        share = pl.col("pas")
        two_way = pl.col(TWO_WAY) if TWO_WAY in columns else pl.lit(None, pl.Boolean)
    else:
        share, two_way = pas_of_posteriors("finding_scores", columns, None, settings.rules)
    if original:
        nothing = share.is_null()
        # Its evaluators, whose rule the weighted mean is, take a PAS of 0 as it is.
        if settings.finding_rule != "weighted_mean":
            nothing |= share == 0.0
        other = pl.col("score") if "score" in columns else pl.lit(None, pl.Float64)
        if settings.finding_rule != "mean":
            other = other.fill_null(CHANCE)
        share = pl.when(nothing).then(other).otherwise(share)
        if settings.finding_rule == "mean":
            share = pl.when(share.is_between(0.0, 1.0)).then(share)
    else:
        share = possible_share(share)
    return pl.when(usable_weight()).then(share), two_way


def _ratios(given: Given) -> pl.Expr | None:
    """Fisher's z of each test's clamped ratio to the human ceiling, null where it has none."""
    original = given.settings.rules == "reference"
    three = given.columns.issuperset(HUMAN)
    if not (three or "pi_human" in given.columns):
        return None
    # The original takes the ceiling from the two-way posterior, although its PAS is three-way.
    two_way_first = original and "pi_human" in given.columns
    pi_human = HUMAN if three and not two_way_first else "pi_human"
    if not original:
        ratio_of_ways = pas_ratio(PAS, pi_human)
        if three and "pi_human" in given.columns:
            # Each test by the ceiling of as many ways as its PAS has.
            two_way = pl.col(TWO_WAY).fill_null(_lacks_a_way())
            ratio_of_ways = pl.when(two_way).then(pas_ratio(PAS)).otherwise(ratio_of_ways)
        return clamped_fisher_z(ratio_of_ways)
    found = pas_ratio(pl.col(PAS).fill_nan(float("inf")), pi_human, rules="reference")
    # The original's clamp takes the ratio of a NaN for the largest.
    return clamped_fisher_z(pl.when(pl.col(PAS).is_nan()).then(found.abs()).otherwise(found))


def _lacks_a_way() -> pl.Expr:
    """Whether humans have no posterior of three ways."""
    return pl.any_horizontal(pl.col(HUMAN).fill_nan(None).is_null())


def _sums(given: Given, *, has_ratio: bool) -> dict[str, pl.Expr]:
    """What is added up within a finding: masses and mass-weighted values."""
    share, z = pl.col(PAS), pl.col(Z)
    times, mass = pl.col(WEIGHT), pl.col(WEIGHT) * _own_mass(given)
    counts = share.is_not_null()
    sums = {
        "n_tests": counts.sum().cast(pl.Int64),
        "n_two_way": added_if_known(pl.when(counts).then(TWO_WAY).cast(pl.Int64)),
        "n_missing": (~counts).sum().cast(pl.Int64),
        "times": times.filter(counts).sum(),
        "times_pas": (times * share).sum(),
        "times_z": (times * z).sum(),
        "mass": mass.filter(counts).sum(),
        "mass_pas": (mass * share).sum(),
        "mass_z": (mass * z).sum(),
    }
    if has_ratio:
        n_eff = pl.col(WEIGHT) * _n_eff(given)
        found = pl.col(RATIO_Z)
        sums |= {
            "ratio_times": times.filter(found.is_not_null()).sum(),
            "ratio_times_z": (times * found).sum(),
            "ratio_mass": n_eff.filter(found.is_not_null()).sum(),
            "ratio_mass_z": (n_eff * found).sum(),
        }
    return sums


def _own_mass(given: Given) -> pl.Expr:
    """The weight of a test by the rule."""
    if given.settings.finding_rule == "fisher_z":
        return _n_eff(given)
    if given.settings.finding_rule == "weighted_mean" and "test_weight" in given.columns:
        return pl.col("test_weight").fill_nan(None).fill_null(1.0)
    return pl.lit(1.0)


def _n_eff(given: Given) -> pl.Expr:
    """The effective sample size of a test, 1 where it is not known or not above 0."""
    if "n_eff" not in given.columns:
        return pl.lit(1.0)
    n_eff = pl.col("n_eff").fill_nan(None)
    size = n_eff.floor() if given.settings.rules == "reference" else n_eff
    return pl.when(n_eff > 0.0).then(size).otherwise(1.0)


def _finished(added: pl.LazyFrame, settings: Settings, *, has_ratio: bool) -> pl.LazyFrame:
    """PAS, its z and the normalised PAS from the sums of findings."""
    c = pl.col
    rule = settings.finding_rule
    plain_z = ratio(c("times_z"), c("times"))
    plain = ratio(c("times_pas"), c("times"))
    if rule in ("fisher_z", "mean_z"):
        z = pl.when(c("mass") > 0.0).then(c("mass_z") / c("mass")).otherwise(plain_z)
        # A test of weight 2 is two tests, so that weights repeat rows.
        alone = (c("n_tests") == 1) & (c("times") <= 1.0)
        share = pl.when(alone).then(plain).otherwise(pas_of_z(z))
    else:
        share = ratio(c("mass_pas"), c("mass")) if rule == "weighted_mean" else plain
        z = z_of_pas(share, settings.rules)
    made = {"pas": share, "z_pas": z}
    if has_ratio:
        by_times = ratio(c("ratio_times_z"), c("ratio_times"))
        by_mass = pl.when(c("ratio_mass") > 0.0).then(c("ratio_mass_z") / c("ratio_mass"))
        made["pas_normalised"] = by_mass.otherwise(by_times).tanh()
    empties = {"pas": CHANCE, "z_pas": 0.0, "pas_normalised": 0.0}
    if settings.missing == "chance" and (rule, settings.rules) != ("mean", "reference"):
        made = {name: value.fill_null(of_a_study(empties[name])) for name, value in made.items()}
    # A PAS of NaN, which the original passes on where a finding has no other, counts as data.
    return added.with_columns(**{name: value.fill_nan(None) for name, value in made.items()})
