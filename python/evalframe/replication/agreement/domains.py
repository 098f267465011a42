"""The domains that the benchmark sorts its twelve studies into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

DOMAINS = {
    f"study_{number:03}": name
    for name, numbers in {
        "Cognition": range(1, 5),
        "Social": range(5, 9),
        "Strategic": range(9, 13),
    }.items()
    for number in numbers
}
"""Domain by study."""


def domain(study_id: IntoExpr = "study_id") -> pl.Expr:
    """The domain of a study of HumanStudy-Bench, null for others.

    Args:
        study_id: The study, of any type.

    Returns:
        String, named `domain`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import domain
        >>> pl.select(domain(pl.lit("study_009"))).item()
        'Strategic'
    """
    text = as_expr(study_id).cast(pl.String)
    return text.replace_strict(DOMAINS, default=None).alias("domain")
