"""Arguments that are one of a few texts."""

from __future__ import annotations

from typing import Literal

import pytest

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_choice, check_rules


def test_what_is_known_passes() -> None:
    check_rules("documented")
    check_rules("reference")
    check_choice("level", "study", Literal["study", "model"])


@pytest.mark.parametrize("rules", [None, 3, ["documented"], "Documented", ""])
def test_what_is_unknown_is_told(rules: object) -> None:
    with pytest.raises(ParameterError, match=r"rules must be one of \['documented', 'reference'\]"):
        check_rules(rules)


def test_the_nearest_is_named() -> None:
    with pytest.raises(ParameterError, match=r"got 'studies'\. Did you mean 'study'\?"):
        check_choice("level", "studies", Literal["study", "model"])
