"""What a result says, in a sentence: which is best, what is tied with it, what cannot be told.

Words come from tests alone: `tied_with_best`, rank sets and adjusted p-values. Intervals of single
estimates are no tests, and no word is made of their overlap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from evalframe.reporting.names import Measure, cut, number
from evalframe.reporting.results import Form, form_of

ALPHA = 0.05
"""Adjusted p-values below it tell a pair apart."""

_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_UNTESTED = "No intervals were computed, so nothing can be said about ties."
_BASELINE = "baseline:"  # begins the names of entries of leaderboards that are no models
_NO_TESTS = "intervals are no tests: rank and compare say which differences are certain."


def verdict(table: pl.DataFrame, *, cluster: str | None = None) -> str:
    """What a result says, as a sentence or two; empty if there is nothing to compare.

    Args:
        table: A result that `ef.show` takes.
        cluster: What was resampled, such as `question`; the table does not say it.

    Raises:
        MissingColumnsError: The table lacks the columns of these results.

    Examples:
        >>> board = {"rank": [1, 2, 3], "model": ["a", "b", "c"], "estimate": [0.98, 0.96, 0.9]}
        >>> found = {"rank_set_upper": [2, 2, 3], "tied_with_best": [True, True, False]}
        >>> more = {"margin_to_best": [None, 0.0212, 0.0305], "n_clusters": [300, 300, 300]}
        >>> board = pl.DataFrame({**board, **found, **more})
        >>> print(verdict(board, cluster="question"))
        Two of three models are tied with the best; differences below 0.026 cannot be told apart
        with 300 questions.
    """
    form = form_of(table, "a verdict is about")
    if table.is_empty():
        return ""
    if form.value == "delta":
        return _of_pairs(table, form, cluster)
    if "rank" in table.columns:
        return _of_boards(table, form, cluster)
    return _of_estimates(table, form)


def spelled(count: int) -> str:
    """A number as text has it: in letters up to twelve.

    >>> spelled(0), spelled(12), spelled(1_300)
    ('no', 'twelve', '1,300')
    """
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def counted(count: int, key: str | None, otherwise: str) -> str:
    """A number of what a column names, or of something else if its name is no word.

    >>> counted(3, "model", "row"), counted(1, "category", "row"), counted(20, "a[0]", "row")
    ('three models', 'one category', '20 rows')
    >>> counted(3, "q", "cluster"), counted(3, "items", "cluster"), counted(3, "class", "cluster")
    ('three clusters', 'three items', 'three classes')
    """
    return f"{spelled(count)} {_noun(key, otherwise, count)}"


def too_few_draws(
    p_adjusted: pl.Series, p_value: pl.Series, clusters: pl.Series | None = None
) -> str | None:
    """What to do if no pair can be told apart because the draws resolve no smaller p-value.

    It is so if several p-values of different pairs are equally small, none of them would be small
    enough after the correction, and each is before it.

    >>> few = pl.Series([2 / 501] * 51 + [0.3] * 4)
    >>> too_few_draws(few * 55, few)
    'the draws are too few for 55 tests; take at least 2,200'

    P-values of expanded intervals depend on the number of clusters, too:

    >>> few = pl.Series([0.0022] * 55)
    >>> too_few_draws(few * 55, few, pl.Series([200] * 55))
    'the draws are too few for 55 tests; take at least 2,800, or compare fewer'
    >>> few = pl.Series([0.0379] * 3)
    >>> too_few_draws(few * 3, few, pl.Series([5] * 3))
    'the clusters are too few for 3 tests, whatever the draws; compare fewer, or on more clusters'
    """
    tests = len(p_adjusted) - p_adjusted.null_count()
    smallest = _float(p_value.min())
    if smallest is None or not 0 < smallest < ALPHA or (p_adjusted < ALPHA).any():
        return None
    if (p_value <= smallest * (1 + 1e-9)).sum() < 2 or tests * smallest < ALPHA:
        return None
    # Shares of draws have the form 2 / (draws + 1); p-values of expanded intervals have not.
    draws = 2 / smallest
    if math.log2(draws).is_integer():  # all signs were tried: more draws are the same ones
        return f"all flips of signs are too few for {tests:,} tests; compare fewer, or on more keys"
    enough = f"take at least {math.ceil(2 * tests / ALPHA):,}"
    if abs(draws - round(draws)) > 1e-6 * draws:
        if (some := _expanded_draws(tests, clusters)) is None:
            return (
                f"the clusters are too few for {tests:,} tests, whatever the draws; "
                "compare fewer, or on more clusters"
            )
        enough = f"take {some}, or compare fewer"
    return f"the draws are too few for {tests:,} tests; {enough}"


def _expanded_draws(tests: int, clusters: pl.Series | None) -> str | None:
    """How many draws bring p-values of expanded intervals below what the correction asks for.

    None if no number does: they are no smaller than the chance of a replicate of one cluster makes
    them.
    """
    from scipy.special import ndtr, stdtrit

    least = None if clusters is None else _float(clusters.min())
    if least is None or least < 2:
        return "many more"
    end = math.sqrt(least / (least - 1)) * stdtrit(least - 1, ALPHA / tests / 2)
    if (tail := float(ndtr(end))) <= least**-least:
        return None
    draws = 1 / max(tail, 1e-12)
    return f"at least {_rounded_up(draws):,.0f}" if draws < _MOST_DRAWS else "many more"


_MOST_DRAWS = 1e5
"""Advice to take more draws than these is none."""


def _of_boards(table: pl.DataFrame, form: Form, cluster: str | None) -> str:
    """Of ranks: of one board who is best; of several how many have one best."""
    if "tied_with_best" not in table.columns:
        return _UNTESTED
    table, entry, groups = form.board(table)
    known = table.drop_nulls("tied_with_best")
    boards = known.partition_by(groups) if groups else [known]
    boards = [board for board in boards if len(board) > 1]
    if not boards:
        return ""
    if len(boards) == 1:
        said = _of_board(boards[0], entry, form, cluster)
        if unranked := table["rank"].null_count():
            return f"{said[:-1]}; {spelled(unranked)} more could not be ranked."
        return said
    number = counted(len(boards), groups[0] if len(groups) == 1 else None, "group")
    ties = [int(board["tied_with_best"].sum()) for board in boards]
    one = sum(tied == 1 for tied in ties)
    all_tied = sum(tied == len(board) for tied, board in zip(ties, boards, strict=True))
    parts = {
        f"one {_noun(entry, 'system')} that no other is better than": one,
        "several that are tied with the best": len(boards) - one - all_tied,
        f"no {_noun(entry, 'system')} that can be told from the best": all_tied,
    }
    told = [f"{spelled(n)} {'has' if n == 1 else 'have'} {what}" for what, n in parts.items() if n]
    if len(told) == 1:
        told = [f"each has {what}" for what, n in parts.items() if n]
    return f"Of {number}, {_listed(told)}."


def _of_board(board: pl.DataFrame, entry: str, form: Form, cluster: str | None) -> str:
    best = board.filter(pl.col("tied_with_best"))
    tied, total = len(best), len(board)
    if not tied:
        return "Nothing says which is the best."
    systems = counted(total, entry, "system")
    if board[entry].cast(pl.String).str.starts_with(_BASELINE).any():
        systems += " and baselines"
    if tied > 1:
        found = f"No {_noun(entry, 'system')} can be told from the best"
        if tied < total:
            found = f"{spelled(tied).capitalize()} of {systems} are tied with the best"
        return f"{found}{_unresolved(board, form, cluster)}."
    name = _named(best[entry][0])
    if best["rank_set_upper"][0] != 1:  # others are worse than some, but not all than this one
        return f"{name} is the only one of {systems} that no other beats."
    if total == 2:
        return f"{name} is better than {_named(board.filter(~pl.col('tied_with_best'))[entry][0])}."
    others = "both" if total == 3 else f"all {spelled(total - 1)}"
    return f"{name} is better than {others} others."


def _unresolved(board: pl.DataFrame, form: Form, cluster: str | None) -> str:
    """The difference from the best, of one in the middle, that is not certain."""
    margin = board["margin_to_best"] if "margin_to_best" in board.columns else pl.Series([None])
    top = form.ends(board.filter(pl.col("rank") == pl.col("rank").min()))[0]
    away = (form.ends(board)[0] - top[0]).abs()
    return _cannot(margin, away.filter(~board["tied_with_best"]), board, cluster)


def _cannot(widths: pl.Series, told: pl.Series, table: pl.DataFrame, cluster: str | None) -> str:
    """Below the width in the middle differences cannot be told apart, or some cannot."""
    middle = _float(widths.median())
    if middle is None or not 1e-300 < middle < 1e300:  # ends may be in the wrong order, or endless
        return ""
    size = _rounded_up(middle)
    some = "some " if (told.abs() < size).any() else ""
    below = f"; {some}differences below {_plain(size)} cannot be told apart"
    return below + _with_clusters(table, cluster)


def _of_pairs(table: pl.DataFrame, form: Form, cluster: str | None) -> str:
    """Of differences: how many are certain, or which."""
    if "p_adjusted" not in table.columns:
        return "No p-values were computed, so nothing can be said about differences."
    p_adjusted = table["p_adjusted"]
    p_value = table["p_value"] if "p_value" in table.columns else p_adjusted
    told = (p_adjusted < ALPHA).fill_null(value=False)
    found, pairs = int(told.sum()), len(table)
    tests = pairs - p_adjusted.null_count()
    if not tests:
        return "No pair could be tested."
    if pairs == 1:
        left, right = (_named(table[side][0]) for side in ("left", "right"))
        if found:
            delta = form.ends(table)[0][0]
            return _winner(left, right, delta, Measure.of(table["metric"][0]))
        said = f"{left} and {right} cannot be told apart"
    elif reason := too_few_draws(p_adjusted, p_value, table.to_dict().get("n_clusters")):
        return f"No pair can be told apart, since {reason}."
    else:
        said = f"{_share(found, tests)} (adjusted p < {ALPHA})"
    said += _below(table, form, told, p_value, cluster)
    if untested := pairs - tests:
        said += f"; {spelled(untested)} more could not be tested"
    return f"{said}."


def _share(found: int, tests: int) -> str:
    """How many pairs differ."""
    if tests == 1:
        return "One pair differs" if found else "No pair differs"
    if found == tests:
        return "Both pairs differ" if tests == 2 else f"All {spelled(tests)} pairs differ"
    of = "None" if not found else spelled(found).capitalize()
    return f"{of} of {spelled(tests)} pairs differ{'s' * (found < 2)}"


def _below(
    table: pl.DataFrame, form: Form, told: pl.Series, p_value: pl.Series, cluster: str | None
) -> str:
    """Half the width of an interval in the middle: what is below it cannot be told apart."""
    value, lower, upper = form.ends(table)
    apart = (lower > 0) | (upper < 0)
    # Where tests do not go by these intervals, their widths say nothing about what is found.
    if table["metric"].n_unique() > 1 or ((p_value < ALPHA) != apart).any():
        return ""
    return _cannot((upper - lower) / 2, value.filter(told), table, cluster)


def _winner(left: str, right: str, delta: float, measure: Measure) -> str:
    if measure.direction == "none":
        more = "higher" if delta > 0 else "lower"
        return f"{right} has a {more} {cut(measure.spoken)} than {left}."
    better = (delta > 0) == (measure.direction == "maximize")
    first, second = (right, left) if better else (left, right)
    return f"{first} is better than {second} in {cut(measure.spoken)}."


def _of_estimates(table: pl.DataFrame, form: Form) -> str:
    """Of estimates alone: who has the best ones, which is no test."""
    keys = [key for key in form.keys(table) if table[key].n_unique() > 1]
    if not keys:
        return ""
    lower = form.ends(table)[1]
    if lower.null_count() == len(table):
        return _UNTESTED
    best: dict[str, list[str]] = {}
    metrics = [form.measure.name] if form.measure else table["metric"].unique(maintain_order=True)
    for metric in metrics:
        measure = form.measure or Measure.of(metric)
        here = table if form.measure else table.filter(pl.col("metric") == metric)
        values = form.ends(here)[0]
        end = values.min() if measure.direction == "minimize" else values.max()
        names = [] if end is None else here.filter(values == end)[keys[0]].to_list()
        if len(keys) == 1 and len(names) == 1 and measure.direction != "none":
            best.setdefault(_named(names[0]), []).append(cut(measure.spoken))
    if not best or len(best) > 3:
        return _NO_TESTS.capitalize()
    told = [
        f"{name} has the best {_listed(of)}"
        if len(of) < 4
        else f"{name} is best by {spelled(len(of))} metrics"
        for name, of in best.items()
    ]
    return f"{_listed(told)}; {_NO_TESTS}"


def _with_clusters(table: pl.DataFrame, cluster: str | None) -> str:
    """What the result is of: ` with 300 questions`."""
    if "n_clusters" not in table.columns or table["n_clusters"].null_count() == len(table):
        return ""
    ends = table["n_clusters"].drop_nulls().sort()[[0, -1]].unique(maintain_order=True)
    count = " to ".join(f"{end:,}" for end in ends)
    return f" with {count} {_noun(cluster, 'cluster', ends[-1])}"


def _noun(key: str | None, otherwise: str, count: int = 1) -> str:
    """What a column names, in the number that fits."""
    word = (key or "").removesuffix("_id").replace("_", " ")
    if not re.fullmatch(r"[A-Za-z]{3,}( [A-Za-z]+){0,3}", word) or len(word) > 32:
        word = otherwise
    if count == 1 or re.search("[^siu]s$", word):  # `items` is a plural
        return word
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return word + ("es" if re.search("(s|x|ch|sh)$", word) else "s")


def _named(name: Any) -> str:
    """A name between quotation marks."""
    return f"“{cut(name)}”"


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _rounded_up(size: float) -> float:
    """A size with two digits, not below itself but for rounding."""
    step = 10.0 ** (math.floor(math.log10(size)) - 1)
    return math.ceil(size / step - 1e-9) * step


def _plain(size: float) -> str:
    decimals = max(0, 1 - math.floor(math.log10(size) + 1e-12))
    text = number(size, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else f"{size:,.0f}"


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
