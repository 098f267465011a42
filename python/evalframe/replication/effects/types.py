"""Kinds of statistical tests, and the types that belong to each, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, cast

Side: TypeAlias = Literal["human", "agent"]
Form: TypeAlias = Literal["independent", "paired", "one", "one_way", "factorial", "ranks"]

SIDES: tuple[Side, ...] = ("human", "agent")


class KindOfTest(NamedTuple):
    """Properties of a kind of tests.

    Attributes:
        symbol: The letter of its statistic in reports.
        signed: The statistic has the sign of the effect.
        means: It compares means, so its sizes are those of one or two groups.
        in_halves: Its groups are halves of all observations by default.
        from_responses: It can be computed from participants' responses.
        has_effect: Its tests have an effect size.
    """

    symbol: str = ""
    signed: bool = False
    means: bool = False
    in_halves: bool = False
    from_responses: bool = False
    has_effect: bool = True


KINDS = {
    "t": KindOfTest("t", signed=True, means=True, from_responses=True),
    "welch": KindOfTest("t", signed=True, means=True),
    "z": KindOfTest("z", signed=True, means=True, in_halves=True),
    "coefficient": KindOfTest(signed=True, means=True, in_halves=True),
    "wald": KindOfTest("chi2", means=True, in_halves=True),
    "f": KindOfTest("F", means=True, from_responses=True),
    "correlation": KindOfTest("r", signed=True, from_responses=True),
    "chi_square": KindOfTest("chi2", from_responses=True),
    "rank": KindOfTest("U", from_responses=True),
    "binomial": KindOfTest("k", from_responses=True),
    "variance_ratio": KindOfTest(has_effect=False),
    "p_value": KindOfTest(has_effect=False),
    "directional_p_value": KindOfTest(has_effect=False),
}
SIGNED = [name for name, kind in KINDS.items() if kind.signed]
MEANS = [name for name, kind in KINDS.items() if kind.means]
IN_HALVES = [name for name, kind in KINDS.items() if kind.in_halves]


class TypeOfTest(NamedTuple):
    """A type of tests: its kind and its names.

    Attributes:
        kind: One of `KINDS`; None for a type that is refused.
        names: Its names, the usual one first, in any case and with any separators; `test` can
            stand behind each.
        form: What the name says beyond the kind: of t and z the samples; of F how many factors; of
            a correlation that it is one of ranks.
        instead: What to write instead of a type that is refused.
    """

    kind: str | None
    names: tuple[str, ...]
    form: Form | None = None
    instead: str = ""


_COMPUTED = """\
t: t-test, t, student t, student's t, t_jzs
t independent: ttest_ind, independent t, independent samples t, independent sample t, two-sample t,
    two-samples t, 2-sample t, unpaired t, between-subjects t, t-test independent,
    t-test independent samples, t-test unpaired
t paired: ttest_rel, paired t, paired samples t, paired sample t, dependent t, dependent samples t,
    related t, related samples t, matched pairs t, within-subjects t, repeated measures t,
    t-test paired, t-test dependent
t one: ttest_1samp, one-sample t, 1-sample t, single-sample t, t-test one-sample, t-test 1-sample
welch: welch, welch's, welch t, welch's t, welch two-sample t, t-test welch, welch's two-sample t,
    unequal variances t, welch's unequal variances t, unequal variance t
z: z, z-test, wald z, proportions_ztest, two-proportion z, proportion z
z independent: two-sample z, independent samples z
z one: one-sample z, 1-sample z
coefficient: coefficient, coef, regression coefficient, slope, estimate
wald: wald, wald chi-square, wald chi-squared, wald chi2, wald's, wald χ²
f: anova, f-test, f, analysis of variance, anova_jzs
f one_way: f_oneway, one-way anova, anova one-way, 1-way anova, one-factor anova,
    single-factor anova, one-way analysis of variance
f factorial: factorial anova, two-way anova, 2-way anova, three-way anova, 3-way anova,
    two-factor anova, 2x2 anova, 2x3 anova, 3x2 anova, 3x3 anova, 2x4 anova, 4x2 anova,
    2\N{MULTIPLICATION SIGN}2 anova, 2\N{MULTIPLICATION SIGN}3 anova,
    3\N{MULTIPLICATION SIGN}2 anova, 2x2x3 anova, four-way anova, 4-way anova, n-way anova,
    multi-factor anova, 2x2x2 anova, anova factorial, anova two-way, anova interaction
correlation: correlation, pearson, pearson r, pearson's r, r, corr, cor, pearson correlation,
    pearson's correlation, product-moment correlation, pearson product-moment correlation,
    pearson's product-moment correlation, correlation coefficient, pearson correlation coefficient,
    point-biserial, pointbiserialr, point-biserial correlation, r_jzs
correlation ranks: spearman, spearmanr, spearman's, spearman rho, spearman's rho,
    spearman correlation, spearman rank, spearman rank correlation, spearman's correlation,
    spearman's rank correlation, rank correlation, spearman's rank correlation rho,
    spearman \N{GREEK SMALL LETTER RHO}, spearman's \N{GREEK SMALL LETTER RHO}
chi_square: chi-square, chi-squared, chi2, chi_square, chisq, chi2_contingency, pearson chi-square,
    pearson chi-squared, pearson chi2, pearson's chi-square, pearson's chi-squared,
    chi-square of independence, chi2 contingency table, χ², χ2, chi², x², x2, x-squared, pearson χ²,
    pearson's χ², chi-square test of independence, chi-squared test of independence,
    chi-square test for independence, chi-squared test for independence, chi2_bic
rank: mannwhitneyu, mann-whitney, mann-whitney u, u, rank-sum, mwu, mann-whitney-wilcoxon,
    wilcoxon-mann-whitney, wilcoxon rank-sum, mannwhitney_jzs
binomial: binomial, binomtest, binom, exact binomial, binomial exact, sign_test, sign,
    binomial_beta11
variance_ratio: variance-ratio, variance ratio f, var, variance_f_vsb
p_value: p-value, p_vsb
directional_p_value: directional_p_value, p_half_vsb
"""
"""The kind and the form of each type, and its names."""

_REFUSED = """\
wilcoxon, wilcox -> it means two tests: write 'mannwhitneyu' for U of two groups, and of pairs 'z'
    with the z of the signed ranks and n1 pairs, or 'p-value'
wilcoxon signed-rank, wilcoxon signed-ranks, signed-rank, signed-ranks, wilcoxon's signed-rank,
    wilcoxon matched-pairs, wilcoxon paired, wilcoxon matched-pairs signed-rank, paired wilcoxon,
    wilcoxon_signed -> write 'z', with the z of the signed ranks and n1 pairs, or 'p-value'
ranksums -> write 'z', or 'mannwhitneyu' with U
fisher_exact, fisher, fisher's exact, fisher's -> write 'p-value', or 'chi-square' with its
    statistic or the cells a to d
repeated measures anova, rm anova, anova_rm, rm_anova, within anova, within-subjects anova,
    mixed anova, split-plot anova, anova mixed, paired f, repeated measures f, within-subjects f ->
    write 'p-value', or 'ttest_rel' with the root of F where its df1 is 1
regression, linear regression, ols, lm, glm, logit, mixed model, logistic regression, lmer, mixedlm,
    moderation, mediation -> write 'coefficient', with estimate, std_error and n_total, or 'wald'
kruskal, kruskal-wallis, kruskal-wallis h, h, friedman, kendall, friedmanchisquare, kendalltau,
    kendall tau, kendall's tau, mcnemar, mcnemar's, cochran q, cochran's q, log-rank, levene,
    levene's, bartlett, brunnermunzel, median_test, ks_2samp, kolmogorov-smirnov, anderson, shapiro,
    permutation, permutation_test, bootstrap, barnard_exact, tukey, tukey_hsd, dunn, jonckheere,
    welch anova, welch's anova, ancova, manova, g-test, likelihood ratio, lrt, welch's f, welch f,
    brown-forsythe, hotelling, hotelling t², t², hotelling's t², hotelling's t2, kendall τ,
    kendall's τ, r² -> write 'p-value', with p_value
"""
"""The names of types that are refused, and what to write instead."""


def _blocks(table: str) -> list[str]:
    """Rows of a table; lines that go on with the row before are indented."""
    return [" ".join(block.split()) for block in re.split(r"\n(?! )", table.strip())]


def _types() -> Iterator[TypeOfTest]:
    for row in _blocks(_COMPUTED):
        head, _, names = row.partition(": ")
        kind, _, form = head.partition(" ")
        yield TypeOfTest(kind, tuple(names.split(", ")), cast("Form", form) if form else None)
    for row in _blocks(_REFUSED):
        names, _, instead = row.partition(" -> ")
        yield TypeOfTest(None, tuple(names.split(", ")), instead=instead)


TYPES = tuple(_types())
"""All types of tests; errors and contracts follow from this table."""
