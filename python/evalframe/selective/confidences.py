"""Confidence of each item: the named variants as expressions over signal columns.

What the two sets of rules make of the same signals:

| signals | `rules="documented"` | `rules="reference"` |
|---|---|---|
| NaN in a signal whose confidence is limited to [0, 1] | null | 1.0, full confidence |
| NaN in a count, similarity, entropy or deviation that is not limited | null | NaN |
| infinity, where it does not mean a confidence of 0 | null | as it computes, such as 1.0 |
| infinity in a feature of `calibrated` | null | the end of the calibrated scale |
| an artifact | read as `read_calibration` says of these rules | likewise |

Alike in both: an infinite `token_pe` or `consistency_score_std`, and a `token_energy` of -infinity,
give 0.0. Where the original stops with an error the value is null: null in a signal without a
default; `verbalized_confidence` that is no whole number; -1 in `token_pe` or
`consistency_score_std`; a `token_energy` whose exponential overflows. `check_signals` refuses all
of these, and NaN, which in an item table says that the key was absent, under both sets of rules.
A feature of `calibrated` must be a column, where the original takes a default for it; `read_run`
makes one of every signal that it is asked for. The original refuses features that are true or text,
of which a column of numbers no longer knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_rules
from evalframe.selective.signal_contract import (
    calibrator_for,
    check_signals,
    requirements,
    signals_contract,
)
from evalframe.selective.variants import BASE, Calibrated, parse

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.selective.signal_contract import Calibration

__all__ = ["check_signals", "confidence", "requirements", "select_variants", "signals_contract"]

DEFAULT = ("llm", "total_evidence")
"""The variants that the original evaluates unless told otherwise."""


def confidence(
    variant: str, *, calibration: Calibration | None = None, rules: Rules = "documented"
) -> pl.Expr:
    """Confidence of each item by a named variant; higher is accepted earlier.

    Scales differ between variants: counts are not limited, most others lie in [0, 1]. Defaults are
    only those of the method: a null similarity counts as 0.0, a null stated confidence as the
    middle of its scale, 0.5. `check_signals` tells beforehand which rows give no confidence.

    Args:
        variant: `llm`, `total_evidence`, `retrieval_similarity_mean`, `retrieval_similarity_max`,
            `hybrid_evidence_similarity`, `verbalized`, `hybrid_verbalized`, `token_msp`,
            `token_pe`, `token_energy`, `consistency`, `consistency_inverse_std`,
            `hybrid_consistency`; `secondary:<a>+<b>:<average|product>` of two of these;
            `calibrated:<name>` of one of these or of a secondary one; `verbalized_calibrated`,
            which is `calibrated:verbalized`; `calibrated`, from the features of the artifact.
        calibration: A calibrator, its artifact, or the path of one; read only if the variant
            needs it. `calibrated` takes logistic, platt or isotonic, `calibrated:<name>`
            temperature_scaling or isotonic.
        rules: `"reference"` lets invalid signals through as the original does; the table at the
            head of this module lists the differences.

    Returns:
        Float64 over the variant's signal columns, named as the variant; null where a signal that
        it needs is invalid.

    Raises:
        UnknownNameError: No variant has this name; the message lists those there are.
        ParameterError: A combination is malformed, or the calibration is missing or of a method
            that the variant cannot use.
        InputError: The artifact cannot be read.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.confidences import confidence
        >>> items = pl.DataFrame(
        ...     {"token_msp": [0.75, None, 1.5], "verbalized_confidence": [4, 4, None]}
        ... )
        >>> items.select(
        ...     confidence("token_msp"),
        ...     confidence("verbalized"),
        ...     confidence("secondary:token_msp+verbalized:average").alias("both"),
        ... )
        shape: (3, 3)
        ┌───────────┬────────────┬──────┐
        │ token_msp ┆ verbalized ┆ both │
        │ ---       ┆ ---        ┆ ---  │
        │ f64       ┆ f64        ┆ f64  │
        ╞═══════════╪════════════╪══════╡
        │ 0.75      ┆ 0.75       ┆ 0.75 │
        │ null      ┆ 0.75       ┆ null │
        │ 1.0       ┆ 0.5        ┆ 0.75 │
        └───────────┴────────────┴──────┘
    """
    check_rules(rules)
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated):
        return parsed.expression(rules).alias(variant)
    calibrator = calibrator_for(parsed, calibration, rules)
    if parsed.base is not None:
        return calibrator.apply(parsed.base.expression(rules)).alias(variant)
    from evalframe.selective.calibrators import feature

    value = calibrator.apply(*map(feature, calibrator.features))
    if rules == "documented":
        columns = [pl.col(name).cast(pl.Float64) for name in calibrator.features]
        bad = pl.any_horizontal(column.is_infinite() for column in columns)
        value = pl.when(~bad.fill_null(value=False)).then(value)
    return value.alias(variant)


def select_variants(text: str) -> list[str]:
    """The variants that a command line asks for.

    Args:
        text: `default` is `llm` and `total_evidence`, `all` the 13 that need no artifact and are
            no combination, sorted; else names between commas, blanks counting.

    Raises:
        UnknownNameError: A name is unknown.
        ParameterError: A name is given twice, or a combination is malformed.

    Examples:
        >>> from evalframe.selective.confidences import select_variants
        >>> select_variants("default")
        ['llm', 'total_evidence']
        >>> select_variants("token_msp,secondary:token_msp+llm:product")
        ['token_msp', 'secondary:token_msp+llm:product']
    """
    if text == "default":
        return list(DEFAULT)
    if text == "all":
        return sorted(BASE)
    names = text.split(",")
    for name in names:
        if name in ("default", "all"):
            raise ParameterError(f"{name!r} stands alone; got it in {text!r}")
        parse(name)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ParameterError(f"confidence variants are given twice: {', '.join(twice)}")
    return names
