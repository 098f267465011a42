"""The option that a label names: by all its words, or by a letter or number."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES

_ENUMERATOR = (
    r"^[^\p{L}\p{N}]*(?i-u:(?:option|answer|choice)\s+)?([a-zA-Z]|[0-9]{1,2})"
    rf"(?:[.):\]]|\s+[{DASHES}]\s|[^\p{{L}}\p{{N}}]*$)"
)
_ENUMERATED = r"^ ?(?:option|answer|choice)? ?(?:[a-z]|[0-9]{1,2})?$"
_DENIED = r"(?:^| )(?:not|dont|doesnt|never|no|neither|nor|non|without)$"
_FILLER = (
    r"^(?: (?:percentage|percent|share|shares|proportion|value|probability|is|are|at|be|would be"
    r"|will be|about|around|approximately|roughly|respondents|people|voters|answers|votes|say|would"
    r"|get|gets|with|option|[0-9]+))* ?$"
)


def with_options(pairs: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add `option`: the index of the option that the label names, or null."""
    # The label must end with all words of the option, or be the same except for spaces. The longest
    # option is named, none of two of the same length. `exact` is true if only a letter or number
    # precedes the words, and `near` if the label contains an option but is another.
    if "options" not in rows.columns or pairs.is_empty():
        unknown = pl.lit(None, dtype=pl.Int64)
        no = pl.lit(value=False)
        return pairs.with_columns(option=unknown, exact=no, near=no)
    numbered = pairs.with_row_index("pair")
    options = rows.with_row_index("row").select(
        pl.col("row").cast(pl.Int64),
        name="options",
        option=pl.int_ranges(pl.col("options").list.len()),
    )
    candidates = options.filter(pl.col("row").is_in(pairs["row"].unique().implode()))
    words = candidates.explode("name", "option").with_columns(name=_words(pl.col("name")))
    label, name, before = (pl.col(column) for column in ("label", "name", "before"))
    both = numbered.select("pair", "row", label=_words(label)).join(
        words.filter(name.str.strip_chars() != ""), on="row"
    )
    same = _spaceless(label) == _spaceless(name)
    held = both.with_columns(same=same).filter(
        pl.col("same") | label.str.contains(name, literal=True)
    )
    size = name.str.len_chars()
    single = (
        held.filter(size == size.max().over("pair"))
        .filter(pl.len().over("pair") == 1)
        .with_columns(before=label.str.split(name).list.first())
        .with_columns(behind=_behind(label, before, name))
    )
    meant = ~before.str.contains(_DENIED) & pl.col("behind").str.contains(_FILLER)
    alone = before.str.contains(_ENUMERATED) & (pl.col("behind") == " ")
    matches = single.select(
        "pair",
        option=pl.when(pl.col("same") | meant).then("option"),
        exact=pl.col("same") | alone,
    )
    joined = numbered.join(matches, on="pair", how="left", maintain_order="left")
    near = joined.select(pl.col("exact").is_not_null() & pl.col("option").is_null()).to_series()
    return joined.drop("pair").with_columns(pl.col("exact").fill_null(value=False), near=near)


def with_marks(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add `mark`, the letter or number of the label from 0, and `lettered`; null without one."""
    enumerator = pl.col("label").str.extract(_ENUMERATOR).str.to_lowercase()
    letter = pl.lit("abcdefghijklmnopqrstuvwxyz").str.find(pl.col("mark"), literal=True)
    number = pl.col("mark").cast(pl.Int64, strict=False) - 1
    return pairs.with_columns(mark=enumerator).with_columns(
        mark=pl.coalesce(letter.cast(pl.Int64), number), lettered=letter.is_not_null()
    )


def _behind(label: pl.Expr, before: pl.Expr, name: pl.Expr) -> pl.Expr:
    """The text after the first occurrence of the name, with the space that ends it."""
    size = before.str.len_chars() + name.str.len_chars() - 1
    return label.str.slice(size)


def _words(text: pl.Expr) -> pl.Expr:
    """Lower-case words between spaces."""
    bare = text.str.to_lowercase().str.replace_all(f"[{QUOTES}]", "")
    return pl.concat_str(
        pl.lit(" "), bare.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" "), pl.lit(" ")
    )


def _spaceless(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(" ", "", literal=True)
