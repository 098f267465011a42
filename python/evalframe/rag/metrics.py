"""Rates of labelled responses: accuracy, rejection, detection and correction of errors.

A label has a 1 or 0 for each group of the answer, or is [-1] for a rejection. A label made by hand
with a -1 among others is a rejection. A response without a label is missing, never wrong;
`evalframe.rag.rates(dropped="wrong")` counts it as a failure.
"""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.state import State, Totals, ratio
from evalframe.core.typing import Role


def good(label: pl.Expr) -> pl.Expr:
    """True if some group is in the response and none is missing."""
    return has_value(label, 1) & ~has_value(label, 0)


def rejected(label: pl.Expr) -> pl.Expr:
    """True if the response is a rejection."""
    return has_value(label, -1)


def correct(label: pl.Expr) -> pl.Expr:
    """True if every group of the answer is in the response."""
    return good(label) & ~rejected(label)


def counted(label: pl.Expr, noise_rate: pl.Expr, tolerance: float) -> pl.Expr:
    """True if RGB counts it: good, or a rejection if all documents are noise."""
    first = _ints(label).list.first().fill_null(0)
    return ((noise_rate - 1).abs() <= tolerance) & (first == -1) | good(label)


def not_missed(label: pl.Expr) -> pl.Expr:
    """True if no group is missing, as in rejections and empty labels."""
    return ~has_value(label, 0)


def judge_rejected(evaluation: pl.Expr) -> pl.Expr:
    """True if the judge calls the response a rejection."""
    return evaluation.cast(pl.String).str.contains("not addressed", literal=True)


def judge_detected(evaluation: pl.Expr) -> pl.Expr:
    """True if the judge says that the response finds the documents wrong."""
    text = evaluation.cast(pl.String)
    return pl.any_horizontal(
        text.str.contains(words, literal=True) for words in ("has identified", "Yes")
    )


def has_value(label: pl.Expr, value: int) -> pl.Expr:
    """True if a label has this value."""
    return _ints(label).list.contains(value)


def _ints(label: pl.Expr) -> pl.Expr:
    # Labels can be lists of any integer type, or of nulls if all are empty.
    return label.cast(pl.List(pl.Int64))


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def answer_accuracy(label: Role = "label", *, weight: Role = None) -> State:
    """Share of responses that contain every group of the answer.

    A rejection counts as a failure, at any noise rate.

    Returns:
        Null if no response has a label.

    References:
        Chen et al. (2024), tables 1 and 5; RGB 65ec39e, `all_rate` below a noise rate of 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labels = pl.DataFrame({"label": [[1, 1], [1, 0], [-1], None]})
        >>> round(labels.select(ef.answer_accuracy()).item(), 4)
        0.3333
    """
    return _share(correct(label), label, weight)


@metric(family="rag", direction="none", range=(0.0, 1.0), labels=("label",))
def rejection_rate(label: Role = "label", *, weight: Role = None) -> State:
    """Share of responses that say that the documents lack the answer.

    Higher is better if all documents are noise, lower otherwise.

    Returns:
        Null if no response has a label.

    References:
        Chen et al. (2024), negative rejection. RGB 65ec39e adds right answers to it: `all_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"label": [[-1], [1], [0], [-1]]}).select(ef.rejection_rate()).item()
        0.5
    """
    return _share(rejected(label), label, weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def all_rate(
    label: Role = "label",
    noise_rate: Role = "noise_rate",
    *,
    weight: Role = None,
    tolerance: float = 0.0,
) -> State:
    """Share of right answers and, if all documents are noise, of rejections.

    RGB calls this its rejection rate at a noise rate of 1, although right answers are included;
    `rejection_rate` is the share of rejections alone.

    Args:
        noise_rate: Requested share of noise among the documents; a response without one is missing.
        tolerance: Largest distance from 1 at which a noise rate counts as 1; 0 in RGB.

    Returns:
        Null if no response has a label and a noise rate. An empty label is not right; RGB fails on
        one at a noise rate of 1.

    Raises:
        ParameterError: The tolerance is negative or NaN.

    References:
        RGB 65ec39e, `all_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labels = pl.DataFrame({"label": [[-1], [1], [0], [-1]], "noise_rate": [1.0] * 4})
        >>> labels.select(ef.all_rate(), accuracy=ef.answer_accuracy()).row(0)
        (0.75, 0.25)
    """
    if not tolerance >= 0:
        raise ParameterError(f"tolerance must be 0 or more, got {tolerance!r}")
    hit = counted(label, noise_rate, tolerance)
    return _share(hit, label, weight, valid=noise_rate.is_not_nan())


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def error_detection_rate(
    label: Role = "label", factlabel: Role = "factlabel", *, weight: Role = None
) -> State:
    """Share of responses that say that the documents contain factual errors.

    Higher is better if they do. RGB calls it `fact_check_rate`.

    Returns:
        Null if no response has both columns.

    References:
        Chen et al. (2024), ED of table 7; RGB 65ec39e, `fact_check_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> flags = pl.DataFrame({"label": [[1], [0], [-1], [1]], "factlabel": [1, 0, 0, 0]})
        >>> flags.select(ef.error_detection_rate()).item()
        0.25
    """
    return _share(factlabel == 1, label, weight, valid=factlabel.is_not_nan())


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def error_correction_rate(
    label: Role = "label", factlabel: Role = "factlabel", *, weight: Role = None
) -> State:
    """Share of right answers among the responses that flag factual errors.

    A refusal is not a correction; RGB counts it, see `evalframe.compat.rgb.correct_rate`.

    Returns:
        Null if no response flags an error.

    References:
        Chen et al. (2024), CR of table 7.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> flags = pl.DataFrame({"label": [[1], [0], [-1], [1]], "factlabel": [1, 1, 1, 0]})
        >>> round(flags.select(ef.error_correction_rate()).item(), 4)
        0.3333
    """
    valid = factlabel.is_not_nan()
    return _share(good(label), label, weight, valid=valid, among=factlabel == 1)


@metric(family="rag", direction="none", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_rejection_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of judged responses that the judge calls rejections, by the words `not addressed`.

    Returns:
        Null if no response has both columns.

    References:
        Chen et al. (2024), Rej* of table 3; RGB 65ec39e, `reject_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = ["No, the question is not addressed.", "Yes", None]
        >>> judged = pl.DataFrame({"label": [[-1], [0], [0]], "evaluation": texts})
        >>> judged.select(ef.judge_rejection_rate()).item()
        0.5
    """
    return _share(judge_rejected(evaluation), label, weight, valid=evaluation.is_not_null())


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_detection_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of judged responses that find errors, by the words `has identified` or `Yes`.

    Returns:
        Null if no response has both columns.

    References:
        Chen et al. (2024), ED* of table 7; RGB 65ec39e, `reject_rate` of its error check.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = ["Yes, the model has identified them.", "No"]
        >>> judged = pl.DataFrame({"label": [[1], [0]], "evaluation": texts})
        >>> judged.select(ef.judge_detection_rate()).item()
        0.5
    """
    return _share(judge_detected(evaluation), label, weight, valid=evaluation.is_not_null())


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_correction_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of right answers among the responses that find errors, according to the judge.

    Returns:
        Null if no response finds errors.

    References:
        Chen et al. (2024), CR of table 7; RGB 65ec39e, `correct_rate` of its error check.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> judged = pl.DataFrame({"label": [[1], [0], [1]], "evaluation": ["Yes", "Yes", "No"]})
        >>> judged.select(ef.judge_correction_rate()).item()
        0.5
    """
    valid, detected = evaluation.is_not_null(), judge_detected(evaluation)
    return _share(good(label), label, weight, valid=valid, among=detected)


def _share(
    hit: pl.Expr,
    label: pl.Expr,
    weight: pl.Expr,
    *,
    valid: pl.Expr | bool = True,
    among: pl.Expr | None = None,
) -> State:
    """The weight of hits over the weight of labelled rows, or of those with the flag `among`."""
    rows = weight if among is None else pl.when(among).then(weight).otherwise(0.0)
    return State(
        sums={"hits": pl.when(hit).then(rows).otherwise(0.0), "rows": rows},
        finish=_ratio,
        valid=(label.is_not_null() & valid).fill_null(value=False),
    )


def _ratio(totals: Totals) -> pl.Expr:
    return ratio(totals.hits, totals.rows)
