"""Arguments that are one of a few texts."""

from typing import Literal

import pytest

from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError


def test_choices_pass():
    check_choice("level", "study", Literal["study", "model"])


@pytest.mark.parametrize("level", [None, 3, ["study"], "Study", ""])
def test_other_values_are_refused(level):
    with pytest.raises(ParameterError, match=r"level must be one of \['study', 'model'\]"):
        check_choice("level", level, Literal["study", "model"])


def test_the_nearest_is_named():
    with pytest.raises(ParameterError, match=r"got 'studies'\. Did you mean 'study'\?"):
        check_choice("level", "studies", Literal["study", "model"])
