"""Names of rules, and the thresholds of the documentation, each in one place."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, did_you_mean

Rules: TypeAlias = Literal["documented", "reference"]
FindingRule: TypeAlias = Literal["fisher_z", "mean_z", "weighted_mean", "mean"]
StudyRule: TypeAlias = Literal["mean", "mean_z", "weighted_mean"]
FindingKey: TypeAlias = Literal["composite", "finding_id"]
Empty: TypeAlias = Literal["fallback", "null"]

EPSILON = 1e-6
"""How far correlations, and posteriors of the original's two-way PAS, are kept from their ends."""

NO_CEILING = 1e-8
"""A ceiling of agreement nearer to chance than this cannot be divided by."""

CHANCE = 0.5
"""The PAS of a finding without a test and of a study without a finding, by the documentation."""


def check_choice(name: str, value: Any, known: Any) -> None:
    """Raise where an argument is none of the texts of a `Literal`.

    Raises:
        ParameterError: It names those that there are, and the nearest.

    >>> check_choice("rules", "documentd", Rules)
    Traceback (most recent call last):
    evalframe.core.errors.ParameterError: rules must be one of ['documented', 'reference'], got
    'documentd'. Did you mean 'documented'?
    """
    texts = [*get_args(known)]
    if value not in texts:
        hint = did_you_mean(str(value), texts)
        raise ParameterError(f"{name} must be one of {texts}, got {value!r}.{hint}")
