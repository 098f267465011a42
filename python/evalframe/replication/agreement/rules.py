"""Names of rules, and the thresholds of the documentation, each in one place."""

from __future__ import annotations

from typing import Literal, TypeAlias

FindingRule: TypeAlias = Literal["fisher_z", "mean_z", "weighted_mean", "mean"]
StudyRule: TypeAlias = Literal["mean", "mean_z", "weighted_mean"]
FindingKey: TypeAlias = Literal["composite", "finding_id"]
Missing: TypeAlias = Literal["skip", "chance"]

EPSILON = 1e-6
"""How far correlations, and posteriors of the original's two-way PAS, are kept from their ends."""

NO_CEILING = 1e-8
"""A ceiling of agreement nearer to chance than this cannot be divided by."""

CHANCE = 0.5
"""The PAS that `missing="chance"` gives a finding without a test and a study without a finding."""
