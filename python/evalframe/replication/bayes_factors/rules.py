"""The two rule sets, and the scales of priors that they allow."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError

Rules: TypeAlias = Literal["documented", "reference"]


def check_rules(rules: str) -> None:
    """Raise where there are no such rules.

    Raises:
        ParameterError: It names those that there are.
    """
    if rules not in get_args(Rules):
        raise ParameterError(f"unknown rules {rules!r}; known: {', '.join(get_args(Rules))}")


def check_scale(scale: float, rules: str, original: float) -> None:
    """Raise where a scale is none, or is not the original's where that must be reproduced.

    Raises:
        ParameterError: It is not positive and finite, or the original has another.
    """
    if isinstance(scale, bool) or not (scale > 0 and math.isfinite(scale)):
        raise ParameterError(f"scale must be positive and finite, got {scale!r}; usual is 0.707")
    if rules == "reference" and scale != original:
        raise ParameterError(
            f'rules="reference" has the scale {original}, got {scale!r}; leave it out, or use '
            'rules="documented"'
        )
