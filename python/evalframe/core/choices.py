"""Arguments with a few choices, and those that the library shares with the command line.

It loads no Polars, so that `--help` can list them.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, did_you_mean

Rules: TypeAlias = Literal["documented", "reference"]
"""Sound numbers, or those of the original program; jobs choose between them."""

Training: TypeAlias = Literal["temperature", "platt", "logistic", "isotonic"]
Target: TypeAlias = Literal["correctness", "near_correct", "loss"]

LabelMode: TypeAlias = Literal["strict", "lenient"]
Dropped: TypeAlias = Literal["excluded", "wrong"]
FlatAnswers: TypeAlias = Literal["parts", "aliases"]

BaselineKind: TypeAlias = Literal[
    "uniform", "marginal", "cross_segment", "permutation", "dirichlet", "prior_round"
]
Weighting: TypeAlias = Literal["segment", "question", "sample_size"]
Context: TypeAlias = Literal["highest", "lowest", "all"] | int
Versions: TypeAlias = Literal["all", "latest"]
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

FindingRule: TypeAlias = Literal["fisher_z", "mean_z", "weighted_mean", "mean"]
StudyRule: TypeAlias = Literal["mean", "mean_z", "weighted_mean"]
FindingKey: TypeAlias = Literal["composite", "finding_id"]
Missing: TypeAlias = Literal["skip", "chance"]
MissingAgent: TypeAlias = Literal["skip", "null_finding", "uniform", "half_null"]


def check_choice(name: str, value: Any, literal: Any, *, optional: bool = False) -> None:
    """Raise ParameterError unless the value is one of the choices of a `Literal`."""
    if optional and value is None:
        return
    choices = [*get_args(literal)]
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(str(value), choices)
        raise ParameterError(f"{name} must be one of {choices}, got {value!r}.{hint}")


def check_level(level: float) -> None:
    """Raise ParameterError unless this is a confidence level."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level!r}; usual is 0.95")
