"""Group keys of legacy tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection


def group_keys(by: str | Sequence[str], taken: Collection[str]) -> list[str]:
    """The columns to group by, none of which the result has of its own.

    Args:
        by: One column, or several.
        taken: Columns of the result, and keys of its level.

    Raises:
        ParameterError: They are no names, or not all different, or are taken.

    >>> group_keys("model", ["study_id"])
    ['model']
    """
    names = [by] if isinstance(by, str) else [*by] if isinstance(by, Sequence) else []
    if not isinstance(by, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"by must be the name of a column, or several, got {by!r}")
    for name in names:
        if name in taken:
            raise ParameterError(
                f"by names {name!r}, which the result has already; leave it out, or rename the "
                "column"
            )
    if len({*names}) < len(names):
        raise ParameterError(f"by must name different columns, got {names}")
    return names
