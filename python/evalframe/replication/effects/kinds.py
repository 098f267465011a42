"""Names of statistical tests, and the kind of effect that each stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr
    from evalframe.replication.effects.rules import Rules

Kind: TypeAlias = Literal["t", "f", "correlation", "chi_square", "rank", "binomial"]

ORIGINAL_KINDS: dict[str, Kind] = {
    "t-test": "t",
    "t_test": "t",
    "f-test": "f",
    "f_test": "f",
    "anova": "f",
    "correlation": "correlation",
    "pearson": "correlation",
    "spearman": "correlation",
    "chi-square": "chi_square",
    "chi2": "chi_square",
    "chi_square": "chi_square",
    "mannwhitneyu": "rank",
    "wilcoxon": "rank",
    "binomial": "binomial",
    "sign_test": "binomial",
}
"""The names that the original converts and weighs, in lower case."""

SOME_KINDS: dict[str, Kind] = ORIGINAL_KINDS | {"mann-whitney": "rank", "binomtest": "binomial"}
"""With the names that the original knows in some of its functions only."""

_SEPARATORS = r"[\s_-]+"
_WITHOUT_SEPARATORS: dict[str, Kind] = {
    name.replace("-", "").replace("_", ""): kind for name, kind in SOME_KINDS.items()
} | {"binomialtest": "binomial", "chisquaretest": "chi_square"}


def kind_of_test(test_type: IntoExpr, rules: Rules = "documented") -> pl.Expr:
    """The kind of effect that a test is about, from its name.

    Args:
        test_type: String, Categorical or Enum.
        rules: `documented`: in any case, with spaces, `-`, `_` or nothing between words, and with
            the names that the original knows in some places only. `reference`: in any case.

    Returns:
        String: `t`, `f`, `correlation`, `chi_square`, `rank` or `binomial`. Null for other names.

    >>> tests = pl.DataFrame({"test_type": ["T-Test", "Binomial Test", "ANOVA", "guess"]})
    >>> tests.select(kind_of_test("test_type")).to_series().to_list()
    ['t', 'binomial', 'f', None]
    """
    name = as_expr(test_type).cast(pl.String).str.to_lowercase()
    if rules == "reference":
        return among(name, ORIGINAL_KINDS)
    return among(name.str.strip_chars().str.replace_all(_SEPARATORS, ""), _WITHOUT_SEPARATORS)


def among(name: pl.Expr, kinds: dict[str, Kind]) -> pl.Expr:
    """The kind of each name, null for those that have none."""
    return name.replace_strict(kinds, default=None, return_dtype=pl.String)
