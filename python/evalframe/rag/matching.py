"""Texts against groups of aliases: flat pairs, literal search, flags by group and by row.

Fake answers are masked, so that the accepted ones around them are searched for without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evalframe.core import segments

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

Codes: TypeAlias = npt.NDArray[np.int8]

UNKNOWN = -2
"""The code of a group that is null or contains a null."""


# Masks are pairs of letters of a dead script, removed from all texts before. They stay the same in
# lower case and as tokens, are glued to nothing, and each stands for one fake answer.
_FIRST_LETTER, _LETTERS = 0x14400, 512
_ANY_LETTER = r"[\x{14400}-\x{145FF}]"
_ONLY_A_MASK = rf"^ *{_ANY_LETTER}{{2}} *$"


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of consecutive rows, flat."""

    row_starts: Ints  # start of each row in the groups, and the number of groups
    group_starts: Ints  # start of each group in the aliases, and the number of aliases
    row: Ints  # of each alias
    aliases: pl.Series
    unknown: Bools  # groups that are null or contain a null

    @classmethod
    def of(cls, answers: pl.Series) -> Groups:
        """The groups of a column of List(List(String)) without nulls."""
        groups = answers.explode(empty_as_null=False)
        row_starts = segments.starts_of(answers.list.len().to_numpy())
        aliases = groups.explode(empty_as_null=False, keep_nulls=False)
        sizes = groups.list.len().fill_null(0).to_numpy()
        group_starts = segments.starts_of(sizes)
        row = np.repeat(np.repeat(np.arange(len(answers)), np.diff(row_starts)), sizes)
        unknown = groups.is_null().to_numpy() | holds(aliases.is_null().to_numpy(), group_starts)
        return cls(row_starts, group_starts, row, aliases, unknown)

    @property
    def group(self) -> Ints:
        """The group of each alias."""
        return np.repeat(np.arange(len(self.unknown)), np.diff(self.group_starts))


def contains(texts: pl.Series, parts: pl.Series) -> Bools:
    """True if a text contains its part literally; False if either is null."""
    pairs = pl.DataFrame({"text": texts, "part": parts})
    hits = pairs.select(pl.col("text").str.contains(pl.col("part"), literal=True)).to_series()
    return hits.fill_null(value=False).to_numpy()


def holds_any(phrases: Sequence[str], text: str = "response") -> pl.Expr:
    """True if the text contains one of the phrases as written."""
    return pl.any_horizontal(pl.col(text).str.contains(p, literal=True) for p in phrases)


def holds(flags: Bools, starts: Ints) -> Bools:
    """True for segments with a flag that is set."""
    count = segments.starts_of(flags)
    return count[starts[1:]] > count[starts[:-1]]


def not_ascii(texts: pl.Series) -> Bools:
    """True for texts with a character beyond ASCII."""
    return (texts.str.len_bytes() != texts.str.len_chars()).to_numpy()


def changed(texts: pl.Series, where: Bools, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts, some of them changed."""
    return replaced(texts, where, change(texts.filter(where))) if where.any() else texts


def replaced(texts: pl.Series, where: Bools, others: pl.Series) -> pl.Series:
    """The texts, some of them replaced by others in the same order."""
    index = np.arange(len(texts))
    index[where] = len(texts) + np.arange(len(others))
    return pl.concat([texts, others]).gather(index)


def expanded(values: pl.Series, where: Bools) -> pl.Series:
    """The values at these rows, null at all others."""
    return values.gather(pl.Series(np.cumsum(where) - 1).set(pl.Series(~where), None))


def once_each(texts: pl.Series, row: Ints, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The changed text of each of these rows; each text is changed once, if at all."""
    used = np.zeros(len(texts), dtype=np.bool_)
    used[row] = True
    return change(texts.filter(used)).gather((np.cumsum(used) - 1)[row])


def labels_of(codes: Codes, groups: Groups, is_searched: Bools, rejected: Bools) -> pl.Series:
    """1 or 0 for each group, [-1] for a rejection, null if a group is unknown."""
    sizes = np.diff(groups.row_starts)
    answered = ~rejected[is_searched]
    lengths, valid = rejected.astype(np.int64), rejected.copy()
    lengths[is_searched & ~rejected] = sizes[answered]
    valid[is_searched & ~rejected] = ~holds(codes == UNKNOWN, groups.row_starts)[answered]
    values = np.full(lengths.sum(), -1, dtype=np.int8)
    values[np.repeat(~rejected, lengths)] = codes[np.repeat(answered, sizes)] > 0
    return segments.listed(values, lengths, valid)


Check: TypeAlias = Callable[[pl.Series, Groups], Codes]


@dataclass(frozen=True, slots=True)
class Spelling:
    """The form in which texts are compared.

    `possible` (responses, row of each fake answer, fake answers) flags the pairs worth writing.
    """

    write: Callable[[pl.Series], pl.Series]
    possible: Callable[[pl.Series, Ints, pl.Series], Bools] | None = None


LOWER_CASE = Spelling(lambda texts: texts.str.to_lowercase())


def fake_answer_hits(
    frame: pl.DataFrame, check: Check, spellings: tuple[Spelling, ...] = (LOWER_CASE,)
) -> pl.Series:
    """True for responses that give a fake answer and no accepted one outside of it.

    The fake answers in a response are masked, the longest first, in it and in its aliases, from
    left to right. So an alias within a fake answer does not count: 70 in `170 seats`, if 170 is the
    fake one. One around it counts: New York City, if New York is fake. One that shares only a part
    with each fake answer does not: York City in `New York City`.

    A later spelling is for responses without a fake answer in the earlier ones. The result is null
    if the response or the list of fake answers is null, or if unknown answers decide; it is False
    for a list without fake answers.
    """
    valid = frame["response"].is_not_null() & frame["fake_answers"].is_not_null()
    verdicts = pl.select(pl.when(valid).then(pl.lit(value=False))).to_series()
    left = np.flatnonzero(valid.to_numpy())
    for spelling in spellings:
        rows = frame.select("response", "answers", "fake_answers").gather(left)
        fakes = _in_response(rows, spelling)
        hits = np.unique(fakes["row"].to_numpy())
        if len(hits):
            fakes = fakes.with_columns(row=pl.col("row").rle_id())
            verdicts.scatter(left[hits], _only_fakes(rows.gather(hits), fakes, spelling, check))
        left = np.delete(left, hits)
    return verdicts


def _in_response(rows: pl.DataFrame, spelling: Spelling) -> pl.DataFrame:
    """Row, text and rank within its row of each fake answer, the longest first."""
    fakes = rows["fake_answers"]
    row = np.repeat(np.arange(len(rows)), fakes.list.len().to_numpy())
    texts = fakes.explode(empty_as_null=False)
    selected = (texts.str.strip_chars() != "").fill_null(value=False).to_numpy()
    row, texts = row[selected], texts.filter(selected)
    if spelling.possible is not None:
        selected = spelling.possible(rows["response"], row, texts)
        row, texts = row[selected], texts.filter(selected)
    written = _written(texts, spelling)
    responses = once_each(rows["response"], row, lambda some: _written(some, spelling))
    hit = contains(responses, written) & (written.str.strip_chars() != "").to_numpy()
    size = pl.col("fake").str.len_bytes()
    return (
        pl.DataFrame({"row": row, "fake": written})
        .filter(hit)
        .sort("row", size, descending=[False, True], maintain_order=True)
        .with_columns(place=pl.int_range(pl.len()).over("row"))
    )


def _only_fakes(
    rows: pl.DataFrame, fakes: pl.DataFrame, spelling: Spelling, check: Check
) -> pl.Series:
    """True if no accepted answer is outside of the fake ones."""
    golds = Groups.of(rows["answers"].fill_null(pl.Series([[]], dtype=rows["answers"].dtype)))
    texts = _written(rows["response"], spelling)
    aliases = _written(golds.aliases.fill_null(""), spelling)
    for (rank,), some in fakes.group_by("place", maintain_order=True):
        has_fake = np.zeros(len(rows), dtype=np.bool_)
        has_fake[some["row"].to_numpy()] = True
        fake = expanded(some["fake"], has_fake)
        texts = _masked(texts, fake, _mask(rank))
        aliases = _masked(aliases, fake.gather(golds.row), _mask(rank))
    aliases = aliases.set(aliases.str.contains(_ONLY_A_MASK), _mask(_LETTERS**2 - 1))
    codes = check(texts, replace(golds, aliases=aliases))
    right = holds(codes > 0, golds.row_starts)
    unknown = holds(codes == UNKNOWN, golds.row_starts) | rows["answers"].is_null().to_numpy()
    return pl.Series(~right).set(pl.Series(unknown & ~right), None)


def _written(texts: pl.Series, spelling: Spelling) -> pl.Series:
    """Texts in the compared form, without the letters of masks."""
    special = not_ascii(texts)
    bare = changed(texts, special, lambda some: some.str.replace_all(_ANY_LETTER, "\ufffd"))
    return spelling.write(bare)


def _mask(number: int) -> str:
    return f" {''.join(chr(_FIRST_LETTER + part) for part in divmod(number, _LETTERS))} "


def _masked(texts: pl.Series, parts: pl.Series, mask: str) -> pl.Series:
    """Texts with a mask for each occurrence of their part; unchanged if that is null."""
    pairs = pl.DataFrame({"text": texts, "part": parts})
    cut = pl.col("text").str.split(pl.col("part")).list.join(mask)
    return pairs.select(pl.when(pl.col("part").is_null()).then("text").otherwise(cut)).to_series()
