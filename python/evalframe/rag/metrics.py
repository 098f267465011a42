"""Rates of labelled responses: accuracy, rejection, detection and correction of errors.

Each is a count over a count of `evalframe.rag.outcomes`. A response without a label is missing,
never wrong: `evalframe.rag.rates(dropped="wrong")` counts it as a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.state import State, ratio
from evalframe.rag import outcomes

if TYPE_CHECKING:
    from evalframe.core.state import Totals
    from evalframe.core.typing import Role


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def answer_accuracy(label: Role = "label", *, weight: Role = None) -> State:
    """Share of the responses that hold every group of the answer.

    A rejection is no answer and counts as a failure, at any noise.

    Args:
        label: What `evalframe.rag.label` gives: 1 or 0 for each group, or [-1].
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response has a label.

    References:
        Chen et al. (2024), tables 1 and 5; RGB 65ec39e, `all_rate` below a noise rate of 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> labels = pl.DataFrame({"label": [[1, 1], [1, 0], [-1], None]})
        >>> round(labels.select(ef.answer_accuracy()).item(), 4)
        0.3333
    """
    return _share(outcomes.correct(label), label.is_not_null(), weight)


@metric(family="rag", direction="none", range=(0.0, 1.0), labels=("label",))
def rejection_rate(label: Role = "label", *, weight: Role = None) -> State:
    """Share of the responses that say that the documents do not hold the answer.

    Higher is better where all documents are noise, lower where they are not.

    Args:
        label: What `evalframe.rag.label` gives; [-1] is a rejection.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response has a label.

    References:
        Chen et al. (2024), negative rejection. RGB 65ec39e adds right answers to it: `all_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"label": [[-1], [1], [0], [-1]]}).select(ef.rejection_rate()).item()
        0.5
    """
    return _share(outcomes.rejected(label), label.is_not_null(), weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def all_rate(
    label: Role = "label",
    noise_rate: Role = "noise_rate",
    *,
    weight: Role = None,
    tolerance: float = 0.0,
) -> State:
    """What the original reports: right answers and, where all documents are noise, rejections.

    At a noise rate of 1 the original calls this its rejection rate, though right answers count in
    it; `rejection_rate` is the share of rejections alone.

    Args:
        label: What `evalframe.rag.label` gives.
        noise_rate: Share of noise among the documents, as asked for. A response without one is
            missing.
        weight: How often each row counts.
        tolerance: How far from 1 a noise rate may be to count as 1; the original allows nothing.

    Returns:
        Float64 in [0, 1], null where no response has a label and a noise rate. An empty label is
        not counted; the original fails over one at a noise rate of 1.

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
    hit = outcomes.counted(label, noise_rate, tolerance)
    return _share(hit, label.is_not_null() & noise_rate.is_not_nan(), weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def error_detection_rate(
    label: Role = "label", factlabel: Role = "factlabel", *, weight: Role = None
) -> State:
    """Share of the responses that say that the documents hold factual errors.

    Higher is better where they do. The original's name is `fact_check_rate`.

    Args:
        label: What `evalframe.rag.label` gives; a response without one is missing.
        factlabel: 1 where the response says so; a response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response has both.

    References:
        Chen et al. (2024), ED of table 7; RGB 65ec39e, `fact_check_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> flags = pl.DataFrame({"label": [[1], [0], [-1], [1]], "factlabel": [1, 0, 0, 0]})
        >>> flags.select(ef.error_detection_rate()).item()
        0.25
    """
    present = label.is_not_null() & factlabel.is_not_nan()
    return _share(outcomes.detected(factlabel), present, weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label",))
def error_correction_rate(
    label: Role = "label", factlabel: Role = "factlabel", *, weight: Role = None
) -> State:
    """Share of right answers among the responses that flag factual errors.

    A refusal is no correction; RGB counts it, see `evalframe.compat.rgb.correct_rate`.

    Args:
        label: What `evalframe.rag.label` gives; a response without one is missing.
        factlabel: 1 where the response flags errors; a response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response flags an error.

    References:
        Chen et al. (2024), CR of table 7.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> flags = pl.DataFrame({"label": [[1], [0], [-1], [1]], "factlabel": [1, 1, 1, 0]})
        >>> round(flags.select(ef.error_correction_rate()).item(), 4)
        0.3333
    """
    present = label.is_not_null() & factlabel.is_not_nan()
    return _share(outcomes.good(label), present, weight, among=outcomes.detected(factlabel))


@metric(family="rag", direction="none", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_rejection_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of the judged responses that a judge calls rejections.

    The judge does so by the words `not addressed`.

    Args:
        label: What `evalframe.rag.label` gives; a response without one is missing.
        evaluation: The judge's text. A response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response has both.

    References:
        Chen et al. (2024), Rej* of table 3; RGB 65ec39e, `reject_rate`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = ["No, the question is not addressed.", "Yes", None]
        >>> judged = pl.DataFrame({"label": [[-1], [0], [0]], "evaluation": texts})
        >>> judged.select(ef.judge_rejection_rate()).item()
        0.5
    """
    present = label.is_not_null() & evaluation.is_not_null()
    return _share(outcomes.judge_rejected(evaluation), present, weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_detection_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of the judged responses that a judge says found the documents' errors.

    The judge does so by the words `has identified` or `Yes`.

    Args:
        label: What `evalframe.rag.label` gives; a response without one is missing.
        evaluation: The judge's text. A response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no response has both.

    References:
        Chen et al. (2024), ED* of table 7; RGB 65ec39e, `reject_rate` of its error check.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> texts = ["Yes, the model has identified them.", "No"]
        >>> judged = pl.DataFrame({"label": [[1], [0]], "evaluation": texts})
        >>> judged.select(ef.judge_detection_rate()).item()
        0.5
    """
    present = label.is_not_null() & evaluation.is_not_null()
    return _share(outcomes.judge_detected(evaluation), present, weight)


@metric(family="rag", direction="maximize", range=(0.0, 1.0), labels=("label", "evaluation"))
def judge_correction_rate(
    label: Role = "label", evaluation: Role = "evaluation", *, weight: Role = None
) -> State:
    """Share of right answers among the responses that a judge says found the documents' errors.

    Args:
        label: What `evalframe.rag.label` gives; a response without one is missing.
        evaluation: The judge's text. A response without one is missing.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where the judge says so of no response.

    References:
        Chen et al. (2024), CR of table 7; RGB 65ec39e, `correct_rate` of its error check.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> judged = pl.DataFrame({"label": [[1], [0], [1]], "evaluation": ["Yes", "Yes", "No"]})
        >>> judged.select(ef.judge_correction_rate()).item()
        0.5
    """
    present = label.is_not_null() & evaluation.is_not_null()
    found = outcomes.judge_detected(evaluation)
    return _share(outcomes.good(label), present, weight, among=found)


def _share(hit: pl.Expr, valid: pl.Expr, weight: pl.Expr, *, among: pl.Expr | None = None) -> State:
    """The weight of hits over the weight of all rows, or of those with the flag `among`."""
    rows = weight if among is None else pl.when(among).then(weight).otherwise(0.0)
    return State(
        sums={"hits": pl.when(hit).then(rows).otherwise(0.0), "rows": rows},
        finish=_ratio,
        valid=valid.fill_null(value=False),
    )


def _ratio(totals: Totals) -> pl.Expr:
    return ratio(totals.hits, totals.rows)
