"""Ids of configurations: a survey, a segment, and how it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import check_choice

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

ContextFormat: TypeAlias = Literal[
    "attribute-label",
    "distribution-context",
    "narrative",
    "raw-survey",
    "interview",
    "first-person",
]
EvalType: TypeAlias = Literal["distribution", "shift", "synthetic-individual", "individual-answer"]
Reasoning: TypeAlias = Literal["standard", "cot"]

N_INDIVIDUALS = 20
"""How many individuals are asked for, if nothing else is said."""

_COUNTED = ("attribute-label", "distribution-context")
_EVAL_TYPES = {
    "distribution": "",
    "shift": "-shift",
    "synthetic-individual": "-synth",
    "individual-answer": "-indiv",
}


def config_id(
    round: IntoExpr = "round",
    segment_id: IntoExpr = "segment_id",
    *,
    context_count: IntoExpr = "context_count",
    context_format: ContextFormat = "attribute-label",
    eval_type: EvalType = "distribution",
    reasoning: Reasoning = "standard",
    batch_size: int = 1,
    n_individuals: int = N_INDIVIDUALS,
) -> pl.Expr:
    """The id of a configuration: `dtef-ROUND-SEGMENT`, then what differs from the usual.

    Args:
        round: The round, that is, the id of the survey.
        segment_id: The segment.
        context_count: The most context questions of any prompt of the configuration, a whole
            number.
        context_format: How the group is shown.
        eval_type: What is asked for.
        reasoning: Whether reasoning comes before the answer, `cot`.
        batch_size: Questions of a prompt.
        n_individuals: How many individuals are asked for.

    Returns:
        `config_id` (String), null where a part is null.

    Raises:
        ParameterError: No format, type or mode has such a name.

    References:
        Ids are those of dtef-app 52d79c0.

    Example:
        >>> config = pl.DataFrame({"round": "GD4", "segment_id": "gender:male", "context_count": 5})
        >>> config.select(config_id(reasoning="cot", batch_size=3)).item()
        'dtef-GD4-gender:male-c5-cot-b3'
    """
    check_choice("context_format", context_format, ContextFormat)
    check_choice("eval_type", eval_type, EvalType)
    check_choice("reasoning", reasoning, Reasoning)
    count = as_expr(context_count).cast(pl.Int64)
    if context_format in _COUNTED:
        known_count = pl.when(count.is_not_null()).then(pl.lit(""))
        shown = pl.when(count > 0).then(pl.format("-c{}", count)).otherwise(known_count)
    else:
        shown = pl.lit(f"-{context_format.replace('-', '')}")
    suffix = _EVAL_TYPES[eval_type]
    if eval_type == "synthetic-individual" and n_individuals != N_INDIVIDUALS:
        suffix += str(n_individuals)
    suffix += "-cot" if reasoning == "cot" else ""
    suffix += f"-b{batch_size}" if batch_size > 1 else ""
    id_ = pl.format("dtef-{}-{}{}{}", as_expr(round), as_expr(segment_id), shown, pl.lit(suffix))
    return id_.alias("config_id")
