"""Answers of single persons: the letter and the probabilities in a response, and their scores.

A response is read as JavaScript would: ASCII letters, the white space of ECMAScript, and the
longest prefix of each piece that is a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.survey.parsing.characters import BRACKET, SPACE, number
from evalframe.survey.similarity.lists import over_rows, shares

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.survey.similarity.lists import Kernel


IndividualKind: TypeAlias = Literal["brier", "binary", "confidence"]

_ANSWER = rf"(?i-u:ANSWER:){SPACE}*([A-Za-z])"
_LETTER_LINE = rf"(?mR)^{SPACE}*([A-Za-z])\.?{SPACE}*$"
_PROBABILITIES = rf"(?i-u:PROBABILITIES:){SPACE}*{BRACKET}"
_INDICES = {chr(ord("a") + index): float(index) for index in range(26)}


def answer_letter(response: IntoExpr = "response") -> pl.Expr:
    r"""The letter of the option that a response chooses.

    The first letter after `ANSWER:`, in any case; else the first line that is one letter, with a
    full stop or without it.

    Args:
        response: The text.

    Returns:
        String `answer_letter`, in lower case; null if the response has none.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import answer_letter
        >>> pl.DataFrame({"response": ["ANSWER: B", "none"]}).select(answer_letter()).rows()
        [('b',), (None,)]
    """
    string = as_expr(response)
    letter = pl.coalesce(string.str.extract(_ANSWER), string.str.extract(_LETTER_LINE))
    return letter.str.to_lowercase().alias("answer_letter")


def answer_probabilities(response: IntoExpr = "response") -> pl.Expr:
    r"""The probabilities that a response gives its options, as they are written.

    The pieces of the first `PROBABILITIES: [...]`, in any case, split at commas; pieces that do not
    begin with a number are left out.

    Args:
        response: The text.

    Returns:
        List(Float64) `answer_probabilities`; null if the response has none.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = pl.DataFrame({"response": ["ANSWER: a\nPROBABILITIES: [0.7, 30%, x]"]})
        >>> texts.select(ef.survey.answer_probabilities()).item().to_list()
        [0.7, 30.0]
    """
    inside = as_expr(response).str.extract(_PROBABILITIES)
    numbers = inside.str.split(",").list.eval(number(pl.element()).drop_nulls())
    return pl.when(numbers.list.len() > 0).then(numbers).alias("answer_probabilities")


def individual_score(
    response: IntoExpr = "response", actual: IntoExpr = "actual", *, kind: IndividualKind = "brier"
) -> pl.Expr:
    r"""Score a response that predicts the answer of one person.

    Args:
        response: The text.
        actual: The person's answer as List(number) or Array(number): 1 or 100 for the option that
            was chosen and 0 for the others, or a distribution.
        kind: `brier`: 1 minus the squared distance of the normalised probabilities from the truth,
            at least 0. `binary`: 1 if the letter is the most likely true option (of several the
            first), else 0. `confidence`: the normalised probability of that option.

    Returns:
        Float64 in [0, 1], named `individual_score`. 0 if the response lacks a letter, or valid
        probabilities, or for `brier` has another number of them than there are options. Null if the
        response or the truth is null, or the truth is not a distribution.

    References:
        Brier (1950). dtef-app 52d79c0, `individual_metric`, which calls 1 - Brier a skill score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame({"response": ["PROBABILITIES: [0.8, 0.2]"], "actual": [[1, 0]]})
        >>> round(people.select(ef.survey.individual_score()).item(), 4)
        0.92
    """
    kernels = {"brier": _brier, "binary": _hit, "confidence": _confidence}
    return score_by(kernels, response, actual, kind)


def score_by(
    kernels: Mapping[str, Kernel], response: IntoExpr, actual: IntoExpr, kind: IndividualKind
) -> pl.Expr:
    """Score what the response states, a letter or probabilities, by the kernel of its kind."""
    check_choice("kind", kind, IndividualKind)
    string = as_expr(response)
    if kind == "binary":
        index = answer_letter(string).replace_strict(_INDICES, default=-1.0)
        stated = pl.concat_list(index.cast(pl.Float64))
    else:
        stated = answer_probabilities(string).fill_null(pl.lit([], dtype=pl.List(pl.Float64)))
    stated = pl.when(string.is_not_null()).then(stated)
    return over_rows("individual_score", kernels[kind], stated, actual, any_length=True)


def _brier(stated: Floats, actual: Floats) -> Floats:
    import numpy as np

    truth = shares(actual)
    score = np.zeros(actual.shape[1])
    if len(stated) == len(truth):
        score = np.nan_to_num(brier(shares(stated), truth))
    return where_valid(score, truth)


def _hit(stated: Floats, actual: Floats) -> Floats:
    return hit(stated[0], shares(actual))


def _confidence(stated: Floats, actual: Floats) -> Floats:
    import numpy as np

    truth = shares(actual)
    return where_valid(np.nan_to_num(at_mode(shares(stated), truth)), truth)


def brier(probabilities: Floats, truth: Floats) -> Floats:
    """One minus the squared distance, at least 0."""
    import numpy as np

    return np.maximum(0.0, 1 - ((probabilities - truth) ** 2).sum(axis=0))  # type: ignore[no-any-return]


def hit(index: Floats, truth: Floats) -> Floats:
    """1 if the index is that of the first mode of the truth, else 0."""
    import numpy as np

    if not len(truth):
        return np.full(truth.shape[1], np.nan)
    return where_valid((index == truth.argmax(axis=0)).astype(np.float64), truth)


def at_mode(probabilities: Floats, truth: Floats) -> Floats:
    """The probability of the first mode of the truth, 0 if none is stated for it."""
    import numpy as np

    if not len(probabilities) or not len(truth):
        return np.zeros(truth.shape[1])
    mode = truth.argmax(axis=0)
    last = len(probabilities) - 1
    value = np.take_along_axis(probabilities, mode.clip(max=last)[None], axis=0)[0]
    return np.where(mode <= last, value, 0.0)


def where_valid(score: Floats, truth: Floats) -> Floats:
    """The scores, NaN where the truth is not a distribution."""
    import numpy as np

    return np.where(truth.sum(axis=0) > 0, score, np.nan)
