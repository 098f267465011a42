"""Kinds of statistical tests, from the names of their types."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

import polars as pl

from evalframe.core.errors import UnknownNameError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.types import KINDS, SIDES, SIGNED, TYPES, Form

Says: TypeAlias = Callable[[Form], pl.Expr]

STATISTICS = ("stat", "k", "p_value", "a", "estimate")
"""Columns of a side, each enough for a Bayes factor."""

_EFFECTS_FROM = ("stat", "k", "a", "estimate", "effect_size")
EVIDENCE = ("log_bayes_factor", "bayes_factor", "pi", "pi_plus")
"""Columns of a side, each of which is evidence."""

_FINISHED_EFFECTS = ("effect_d",)

_BETWEEN = r"[\x00-/:-@\[-`{-\xa0\xb4\xb7\xd7\u2000-\u2044\u2212]"
"""What may stand between the letters of a name: blanks, hyphens, quotes, brackets, in ASCII or not.

Other signs, as those of `T²` and `χ²`, are letters.
"""
_TEST = "test"
_NEAR = 0.7


def canonical(name: str) -> str:
    """A name in lower case, without what separates its words."""
    return re.sub(f"{_BETWEEN}+", "", name.lower())


def spelled(names: Iterable[str]) -> set[str]:
    """Canonical names, and these with `test` behind them."""
    plain = {canonical(name) for name in names}
    return plain | {f"{name}{_TEST}" for name in plain if not name.endswith(_TEST)}


_TYPES = {name: each for each in TYPES for name in spelled(each.names)}
KIND_NAMES = {name: each.kind for name, each in _TYPES.items() if each.kind}
_EFFECTS = {name: kind for name, kind in KIND_NAMES.items() if KINDS[kind].has_effect}
_FORMS = {name: each.form for name, each in _TYPES.items() if each.form}
_DESIGNED = {
    name: kind
    for name, kind in KIND_NAMES.items()
    if KINDS[kind].from_responses and _FORMS.get(name) != "factorial"
}


def kind_of(test_type: IntoExpr, names: Mapping[str, str] = KIND_NAMES) -> pl.Expr:
    """The kind of a test, from its name in any case and with any separators; null for others."""
    return among(_canonical(test_type), names)


def kind_of_test(test_type: IntoExpr) -> pl.Expr:
    """The kind of a test with an effect size; null for others."""
    return among(_canonical(test_type), _EFFECTS)


def kind_of_design(test_type: IntoExpr) -> pl.Expr:
    """The kind of a test that can be computed from responses; null for others."""
    return among(_canonical(test_type), _DESIGNED)


def form_of(test_type: IntoExpr) -> pl.Expr:
    """What the name of a test says beyond its kind: of samples or factors; else null."""
    return among(_canonical(test_type), _FORMS)


def is_kind(test_type: IntoExpr, kind: str) -> pl.Expr:
    """True if `kind_of` is this kind, null for no type."""
    return _is_one_of(test_type, (name for name, named in KIND_NAMES.items() if named == kind))


def is_form(test_type: IntoExpr, form: str) -> pl.Expr:
    """True if `form_of` is this form, null for no type."""
    return _is_one_of(test_type, (name for name, named in _FORMS.items() if named == form))


def in_groups(says: Says, independent: pl.Expr) -> pl.Expr:
    """True for independent samples: by the name of the test, else by the Boolean column."""
    apart = pl.when(says("independent")).then(statement=True)
    return apart.when(says("paired") | says("one")).then(statement=False).otherwise(independent)


def among(name: pl.Expr, kinds: Mapping[str, str]) -> pl.Expr:
    """The kind of each name, null for others."""
    return name.replace_strict(dict(kinds), default=None, return_dtype=pl.String)


def kinds_of(types: pl.Series, names: Mapping[str, str] = KIND_NAMES) -> dict[str, str]:
    """The kinds of the types that are not null; UnknownNameError for an unknown type."""
    named = pl.DataFrame({"type": types.drop_nulls()}).with_columns(kind=kind_of("type", names))
    for unknown in named.filter(pl.col("kind").is_null())["type"].head(1):
        raise unknown_type(unknown)
    return dict(named.iter_rows())


def check_types(tests: pl.LazyFrame, names: Mapping[str, str] = KIND_NAMES) -> None:
    """Raise UnknownNameError if a test has an unknown type; reads the types of the table."""
    types = tests.select(pl.col("test_type").cast(pl.String).unique().sort())
    kinds_of(types.collect().to_series(), names)


def unknown_type(name: str) -> UnknownNameError:
    """The error of a type that is unknown or refused."""
    hint = what_to_write(name)
    return UnknownNameError(f"unknown test type {name!r}.{hint} Known: {usual_names()}")


def what_to_write(name: str) -> str:
    """A hint for an unknown type, after a space; empty if no known name is similar."""
    import difflib

    known = _TYPES.get(canonical(name))
    if known is not None and known.instead:
        return f" {known.instead[0].upper()}{known.instead[1:]}."
    by_name = {name: each for each in TYPES for name in each.names}
    # Refused types go first: a two-way mixed ANOVA is refused, not computed as a two-way one.
    held = [each for each in by_name if _words(each) <= _words(name)]
    held.sort(key=lambda n: (not by_name[n].instead, -len(_words(n)), not by_name[n].form))
    near = difflib.get_close_matches(name.lower(), [*by_name], n=1, cutoff=_NEAR)
    for meant in [*held, *near][:1]:
        instead = by_name[meant].instead
        return f" Did you mean {meant!r}?" + f" Then {instead}." * bool(instead)
    return ""


def _words(name: str) -> set[str]:
    """The words of a name, without plural and genitive."""
    words = {word.removesuffix("s") for word in re.findall(r"[^\W_]+", name.lower())}
    return words - {"", _TEST}


def usual_names() -> str:
    """The usual name of each type, for messages."""
    names = sorted(each.names[0] for each in TYPES if each.kind)
    return f"{', '.join(names)}; known_test_types() lists all names"


def known_test_types() -> pl.DataFrame:
    """All known names of types of tests, and the kind that each is computed as.

    Case, blanks, hyphens, underscores and apostrophes of a name do not matter, and it can end in
    `test`.

    Returns:
        One row per name: `test_type`; `kind`, null if it is refused; `form`, what the name says of
        samples or factors (`independent`, `paired`, `one`, `one_way`, `factorial`, `ranks`, or
        null); `is_signed`, true if the statistic has the sign of the effect; `instead`, what to
        write instead of a refused name, else null.

    Examples:
        >>> import evalframe as ef
        >>> types = ef.replication.known_test_types()
        >>> types.filter(test_type="ttest_rel").row(0)
        ('ttest_rel', 't', 'paired', True, None)
        >>> types.filter(test_type="kruskal").row(0)
        ('kruskal', None, None, None, "write 'p-value', with p_value")
    """
    rows = [
        (name, each.kind, each.form, each.kind in SIGNED if each.kind else None, each.instead)
        for each in TYPES
        for name in each.names
    ]
    names = ["test_type", "kind", "form", "is_signed", "instead"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None).with_columns(
        pl.when(pl.col("instead") != "").then("instead")
    )


def _canonical(test_type: IntoExpr) -> pl.Expr:
    name = as_expr(test_type).cast(pl.String).str.to_lowercase()
    return name.str.replace_all(f"{_BETWEEN}+", "")


def _is_one_of(test_type: IntoExpr, names: Iterable[str]) -> pl.Expr:
    # A pattern on the name: many rules that each look it up in a table take ten times as long.
    between = f"{_BETWEEN}*"
    pattern = "|".join(between.join(name) for name in names)
    name = as_expr(test_type).cast(pl.String)
    return name.str.contains(f"(?i)^{between}(?:{pattern}){between}$")


def needs_type(schema: pl.Schema) -> pl.Expr:
    """True for rows that need a known type: a Bayes factor or an effect is to be computed."""
    evidence = _lacks(schema, EVIDENCE, STATISTICS) & ~_is_there(schema, ["pas"])
    return evidence | needs_type_for_effects(schema)


def needs_type_for_effects(schema: pl.Schema) -> pl.Expr:
    """True for rows whose effect is missing but computable, or that have no finished value."""
    names = [f"{name}_{side}" for name in (*EVIDENCE, *_FINISHED_EFFECTS) for side in SIDES]
    return _lacks(schema, _FINISHED_EFFECTS, _EFFECTS_FROM) | ~_is_there(schema, ["pas", *names])


def _lacks(schema: pl.Schema, finished: Collection[str], sources: Collection[str]) -> pl.Expr:
    return pl.any_horizontal(
        _is_there(schema, [f"{name}_{side}" for name in sources])
        & ~_is_there(schema, [f"{name}_{side}" for name in finished])
        for side in SIDES
    )


def _is_there(schema: pl.Schema, names: Collection[str]) -> pl.Expr:
    """True for rows with a value in one of the columns; a table can lack any of them."""
    values = [
        pl.col(name).is_not_null() & (pl.col(name).is_not_nan() if dtype.is_float() else True)
        for name, dtype in schema.items()
        if name in names
    ]
    return pl.any_horizontal(pl.lit(value=False), *values).fill_null(value=False)
