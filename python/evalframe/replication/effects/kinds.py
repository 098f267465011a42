"""Names of statistical tests, and the kind that each stands for: one table for the family."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import UnknownNameError
from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

EffectKind: TypeAlias = Literal["t", "f", "correlation", "chi_square", "rank", "binomial"]
Kind: TypeAlias = EffectKind | Literal["variance_ratio", "p_value", "directional_p_value"]

ORIGINAL_KINDS: dict[str, EffectKind] = {
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

SOME_KINDS: dict[str, EffectKind] = ORIGINAL_KINDS | {
    "mann-whitney": "rank",
    "binomtest": "binomial",
}
"""With the names that the original knows in some of its functions only."""

FURTHER_NAMES: dict[str, Kind] = {
    "t_jzs": "t",
    "anova_jzs": "f",
    "r_jzs": "correlation",
    "chi2_bic": "chi_square",
    "mannwhitney_jzs": "rank",
    "binomial_beta11": "binomial",
    "variance_f_vsb": "variance_ratio",
    "variance-ratio": "variance_ratio",
    "variance_ratio": "variance_ratio",
    "p_vsb": "p_value",
    "p-value": "p_value",
    "p_value": "p_value",
    "p_half_vsb": "directional_p_value",
    "directional_p_value": "directional_p_value",
}
"""Names beyond those of tests: of the original's Bayes factors, and of what it has no name for."""

_BETWEEN = "[^a-z0-9]"
_TEST = "test"


def canonical(name: str) -> str:
    """A name in lower case, of letters and digits of ASCII alone.

    >>> canonical("Mann-Whitney U test")
    'mannwhitneyutest'
    """
    return re.sub(f"{_BETWEEN}+", "", name.lower())


def _by_canonical_name(names: Mapping[str, Kind]) -> dict[str, Kind]:
    """Kinds by canonical names, and by these with `test` behind them."""
    kinds = {canonical(name): kind for name, kind in names.items()}
    return kinds | {f"{n}{_TEST}": kind for n, kind in kinds.items() if not n.endswith(_TEST)}


_KINDS = _by_canonical_name(SOME_KINDS | FURTHER_NAMES)


def kind_of(test_type: IntoExpr) -> pl.Expr:
    """The kind of a test, from its name in any case and with any separators between its words.

    `test` may stand behind any name.

    Args:
        test_type: String, Categorical or Enum.

    Returns:
        String: one of the kinds of `kind_of_test`, `variance_ratio`, `p_value` or
        `directional_p_value`, which have no effect size; null for other names.

    >>> tests = pl.DataFrame({"test_type": ["T-Test", "P Value", "Mann-Whitney U test", "guess"]})
    >>> tests.select(kind_of("test_type")).to_series().to_list()
    ['t', 'p_value', 'rank', None]
    """
    return among(_canonical(test_type), _KINDS)


def kind_of_test(test_type: IntoExpr, rules: Rules = "documented") -> pl.Expr:
    """The kind of effect that a test is about, from its name.

    Args:
        test_type: String, Categorical or Enum.
        rules: `documented`: as `kind_of` reads names. `reference`: in any case, and only those
            that the original converts.

    Returns:
        String: `t`, `f`, `correlation`, `chi_square`, `rank` or `binomial`. Null for other names,
        and for tests without an effect size.

    >>> tests = pl.DataFrame({"test_type": ["T-Test", "Binomial Test", "ANOVA", "p-value"]})
    >>> tests.select(kind_of_test("test_type")).to_series().to_list()
    ['t', 'binomial', 'f', None]
    """
    if rules == "reference":
        return among(as_expr(test_type).cast(pl.String).str.to_lowercase(), ORIGINAL_KINDS)
    effects = {name: kind for name, kind in _KINDS.items() if kind in get_args(EffectKind)}
    return among(_canonical(test_type), effects)


def is_kind(test_type: IntoExpr, kind: str) -> pl.Expr:
    """Whether `kind_of` is this kind, null for no type.

    A pattern on the name as it is, since many rules that each look the kind up in a table would
    take ten times as long.

    >>> tests = pl.DataFrame({"test_type": ["P Value", "p-test"]})
    >>> tests.select(is_kind("test_type", "p_value")).to_series().to_list()
    [True, False]
    """
    between = f"{_BETWEEN}*"
    names = "|".join(between.join(name) for name, named in _KINDS.items() if named == kind)
    name = as_expr(test_type).cast(pl.String)
    return name.str.contains(f"(?i)^{between}(?:{names}){between}$")


def is_named(test_type: IntoExpr, name: str) -> pl.Expr:
    """Whether a test has this name, in any case and with any separators.

    >>> tests = pl.DataFrame({"test_type": ["Spearman test", "Pearson"]})
    >>> tests.select(is_named("test_type", "spearman")).to_series().to_list()
    [True, False]
    """
    plain = canonical(name)
    return _canonical(test_type).is_in([plain, f"{plain}{_TEST}"])


def among(name: pl.Expr, kinds: Mapping[str, Any]) -> pl.Expr:
    """The kind of each name, null for those that have none."""
    return name.replace_strict(dict(kinds), default=None, return_dtype=pl.String)


def kinds_of(types: pl.Series) -> dict[str, str]:
    """The kinds of tests by the names of their types, of which null is none.

    Raises:
        UnknownNameError: A type is unknown; it names the nearest known spelling.

    >>> kinds_of(pl.Series(["anova", None]))
    {'anova': 'f'}
    """
    named = pl.DataFrame({"type": types.drop_nulls()}).with_columns(kind=kind_of("type"))
    for unknown in named.filter(pl.col("kind").is_null())["type"].head(1):
        raise UnknownNameError.of("test type", unknown, known_names())
    return dict(named.iter_rows())


def check_types(tests: pl.LazyFrame, test_type: IntoExpr = "test_type") -> None:
    """Raise where a table has a test of an unknown type; it is read for its types.

    Raises:
        UnknownNameError: It names the nearest known spelling.
    """
    types = tests.select(as_expr(test_type).cast(pl.String).unique().sort())
    kinds_of(types.collect().to_series())


def known_names() -> Iterable[str]:
    """All names that are known, as they are usually written."""
    return [*SOME_KINDS, *FURTHER_NAMES]


def _canonical(test_type: IntoExpr) -> pl.Expr:
    name = as_expr(test_type).cast(pl.String).str.to_lowercase()
    return name.str.replace_all(f"{_BETWEEN}+", "")
