"""Settings of runs, as documents store them."""

import pytest

from evalframe.compat.ai_psychiatrist import RunSettings
from evalframe.core.errors import ParameterError


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        *(({"n": n}, "n, the number .* must be a whole number, got") for n in ("5", None, 2.5)),
        ({"n": True}, "must be a whole number, got True"),
        ({"n": 10**12}, "must be at most 10,000,000, got 1000000000000"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"seed": 1.0}, "seed must be a whole number, got 1.0"),
        ({"area_coverage": None}, r"area_coverage must be a number in \(0, 1\], got None"),
        ({"area_coverage": "0.5"}, "area_coverage must be a number .* got '0.5'"),
        ({"area_coverage": True}, r"area_coverage must be a number .* got True"),
        ({"coverage_grid": 0.5}, "coverage_grid must be a tuple, got 0.5"),
        ({"coverage_grid": None}, "coverage_grid must be a tuple, got None"),
        ({"coverage_grid": (0.5, None)}, "a coverage of the grid must be a number .* got None"),
        ({"variants": "llm"}, "variants must be a tuple, got 'llm'"),
        ({"variants": None}, "variants must be a tuple, got None"),
    ],
)
def test_settings_of_the_wrong_type(wrong, told):
    with pytest.raises(ParameterError, match=told):
        RunSettings(**wrong)


def test_settings_as_they_come():
    settings = RunSettings(coverage_grid=[0.25, 1], area_coverage=1, n=0)
    assert (settings.coverage_grid, settings.bootstrap) == ([0.25, 1], None)
