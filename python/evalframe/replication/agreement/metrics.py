"""PAS of many rows as metrics, for `ef.evaluate`, `ef.compare` and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.metric import metric
from evalframe.core.state import State, ratio
from evalframe.replication.agreement.fisher import pas_of_z, z_of_pas
from evalframe.replication.agreement.possible import possible_share

if TYPE_CHECKING:
    from evalframe.core.typing import Role


@metric(family="replication", direction="maximize", range=(0.0, 1.0))
def mean_pas(pas: Role = "pas", *, weight: Role = None) -> State:
    """Mean PAS: of studies, the score of a model.

    Args:
        pas: PAS of a study, a finding or a test, 0 to 1; what lies outside is missing, like null
            and NaN.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], null where no row has a PAS.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_raw` of models.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import mean_pas
        >>> pl.DataFrame({"pas": [0.75, 0.0, None]}).select(mean_pas()).item()
        0.375
    """
    return State(
        sums={"pas": weight * possible_share(pas), "rows": weight},
        finish=lambda totals: ratio(totals.pas, totals.rows),
        valid=possible_share(pas).is_not_null(),
    )


@metric(family="replication", direction="maximize", range=(0.0, 1.0))
def pooled_pas(pas: Role = "pas", *, weight: Role = None) -> State:
    """PAS pooled through Fisher's z, that is by the mean of log odds.

    PAS is kept within [5e-7, 1 - 5e-7] first, also that of a single row, so that one sure row does
    not decide alone.

    Args:
        pas: PAS of a test or a finding, 0 to 1; what lies outside is missing, like null and NaN.
        weight: How much each row counts: of tests usually the column `n_eff`.

    Returns:
        Float64 in [5e-7, 1 - 5e-7], null where no row has a PAS, or all weights are 0.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import pooled_pas
        >>> tests = pl.DataFrame({"pas": [0.9, 0.1, 0.5], "n_eff": [10, 10, 80]})
        >>> tests.select(pooled_pas(weight="n_eff")).to_series().round(12).item()
        0.5
    """
    return State(
        sums={"z": weight * z_of_pas(pas), "rows": weight},
        finish=lambda totals: pas_of_z(ratio(totals.z, totals.rows)),
        valid=possible_share(pas).is_not_null(),
    )
