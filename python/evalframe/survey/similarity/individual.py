"""Answers of single persons: the letter and the probabilities that a response names, and scores.

Texts are read as the original reads them: ASCII letters, the blanks of ECMAScript, and the longest
prefix of each piece that is a number.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import check_choice, check_rules
from evalframe.survey.parsing.characters import BRACKET, SPACE, number
from evalframe.survey.similarity.rules import normalised
from evalframe.survey.similarity.shapes import over_rows

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import IntoExpr

IndividualKind: TypeAlias = Literal["brier", "binary", "confidence"]

_ANSWER = rf"(?i-u:ANSWER:){SPACE}*([A-Za-z])"
_LETTER_LINE = rf"(?mR)^{SPACE}*([A-Za-z])\.?{SPACE}*$"
_PROBABILITIES = rf"(?i-u:PROBABILITIES:){SPACE}*{BRACKET}"
_MISMATCH = {"documented": 0.0, "reference": 0.1}


def answer_letter(response: IntoExpr = "response") -> pl.Expr:
    r"""The letter of the option that a response chooses.

    The first letter after `ANSWER:`, in any case; else the first line that is one letter, with a
    full stop or without.

    Args:
        response: The text.

    Returns:
        String `answer_letter`, in lower case; null where there is none.

    References:
        dtef-app 52d79c0, `individual_metric`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = pl.DataFrame({"response": ["Well...\nANSWER: B", "c.", "none"]})
        >>> texts.select(ef.survey.answer_letter()).to_series().to_list()
        ['b', 'c', None]
    """
    text = as_expr(response)
    letter = pl.coalesce(text.str.extract(_ANSWER), text.str.extract(_LETTER_LINE))
    return letter.str.to_lowercase().alias("answer_letter")


def answer_probabilities(response: IntoExpr = "response") -> pl.Expr:
    r"""The probabilities that a response gives its options, as they are written.

    The pieces of the first `PROBABILITIES: [...]`, in any case, split at commas; pieces that do not
    begin with a number are left out.

    Args:
        response: The text.

    Returns:
        List(Float64) `answer_probabilities`; null where there is none.

    References:
        dtef-app 52d79c0, `individual_metric`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = pl.DataFrame({"response": ["ANSWER: a\nPROBABILITIES: [0.7, 30%, x]", "a"]})
        >>> texts.select(ef.survey.answer_probabilities()).to_series().to_list()
        [[0.7, 30.0], None]
    """
    inside = as_expr(response).str.extract(_PROBABILITIES)
    numbers = inside.str.split(",").list.eval(number(pl.element()).drop_nulls())
    return pl.when(numbers.list.len() > 0).then(numbers).alias("answer_probabilities")


def individual_score(
    response: IntoExpr = "response",
    actual: IntoExpr = "actual",
    *,
    kind: IndividualKind = "brier",
    rules: Rules = "documented",
) -> pl.Expr:
    r"""How well a response foretells the answer of one person.

    Args:
        response: The text.
        actual: The person's answer as List(number) or Array(number): 1 or 100 for the option that
            was chosen and 0 for the others, or a distribution.
        kind: `brier`: 1 less the squared distance of the normalised probabilities from the truth,
            at least 0. `binary`: 1 where the letter is the most likely true option, else 0; of
            several the first. `confidence`: the normalised probability of that option.
        rules: `documented` or `reference`, which differ where there is nothing to score: without
            probabilities `brier` is 0 by both; with too many or too few of them it is 0 documented
            and 0.1 by the original; and probabilities of 0 alone are uniform to the original.

    Returns:
        Float64 in [0, 1], named `individual_score`: 0 where a response does not say what is
        scored; null where the response or the truth is null, or the truth is no distribution.

    Raises:
        ParameterError: There is no such kind.
        ParameterError: Unknown rules.

    References:
        Brier (1950). dtef-app 52d79c0, `individual_metric`, which calls 1 - Brier a skill score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame(
        ...     {"response": ["ANSWER: a\nPROBABILITIES: [0.8, 0.2]"], "actual": [[1, 0]]}
        ... )
        >>> round(people.select(ef.survey.individual_score()).item(), 4)
        0.92
    """
    check_rules(rules)
    check_choice("kind", kind, IndividualKind)
    text = as_expr(response)
    if kind == "binary":
        code = answer_letter(text).replace_strict(_LETTERS, _CODES, default=-1.0)
        given = pl.concat_list(code.cast(pl.Float64))
    else:
        given = answer_probabilities(text).fill_null(pl.lit([], dtype=pl.List(pl.Float64)))
    kernels = {
        "brier": partial(_brier, rules=rules),
        "binary": partial(_hit, rules=rules),
        "confidence": partial(_confidence, rules=rules),
    }
    known = pl.when(text.is_not_null()).then(given)
    return over_rows("individual_score", kernels[kind], known, actual, any_length=True)


_LETTERS = [chr(ord("a") + place) for place in range(26)]
_CODES = [float(place) for place in range(26)]


def _brier(given: Floats, actual: Floats, rules: Rules) -> Floats:
    import numpy as np

    truth, none = normalised(actual, rules), len(given) == 0
    if none or len(given) != len(actual):
        score = np.full(actual.shape[1], 0.0 if none else _MISMATCH[rules])
    else:
        probabilities = normalised(given, rules)
        squares = (probabilities - truth) ** 2
        score = np.maximum(0.0, 1 - squares.sum(axis=0))
        score = _unsaid(score, probabilities, rules)
    return _where_known(score, truth)


def _hit(given: Floats, actual: Floats, rules: Rules) -> Floats:
    import numpy as np

    truth = normalised(actual, rules)
    if not len(truth):
        return np.full(actual.shape[1], np.nan)
    return _where_known((given[0] == truth.argmax(axis=0)).astype(np.float64), truth)


def _confidence(given: Floats, actual: Floats, rules: Rules) -> Floats:
    import numpy as np

    truth = normalised(actual, rules)
    if not len(given) or not len(truth):
        return _where_known(np.zeros(actual.shape[1]), truth)
    probabilities = normalised(given, rules)
    mode = truth.argmax(axis=0)
    stated = np.take_along_axis(probabilities, mode.clip(max=len(given) - 1)[None], axis=0)[0]
    score = np.where(mode < len(given), stated, 0.0)
    return _where_known(_unsaid(score, probabilities, rules), truth)


def _unsaid(score: Floats, probabilities: Floats, rules: Rules) -> Floats:
    """The score, documented 0 where the probabilities that were given are none."""
    import numpy as np

    if rules == "reference":
        return score
    return np.where(np.isnan(probabilities).any(axis=0), 0.0, score)


def _where_known(score: Floats, truth: Floats) -> Floats:
    import numpy as np

    unknown = np.isnan(truth).any(axis=0) if len(truth) else np.ones(len(score), dtype=np.bool_)
    return np.where(unknown, np.nan, score)
