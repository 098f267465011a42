"""Confidence of each item: the named variants as expressions over signal columns.

A value is null if a signal that it needs is invalid: null in a signal without a default; NaN; an
infinity, unless it means a confidence of 0; `verbalized_confidence` that is not a whole number; -1
in `token_pe` or `consistency_score_std`; a `token_energy` whose exponential overflows. An infinite
`token_pe` or `consistency_score_std`, and a `token_energy` of -infinity, give 0.0. `check_signals`
refuses all of these, and NaN, which in an item table means that the key was missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import Argument, ContractError, MissingColumnsError, ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.selective.calibrators.maps import Calibrator
from evalframe.selective.calibrators.saved import read_calibration
from evalframe.selective.calibrators.training import check_named, feature_default
from evalframe.selective.variants import (
    ANY,
    BASE,
    CALIBRATED,
    REQUIREMENTS,
    Calibrated,
    Requirement,
    parse,
)

Calibration: TypeAlias = Calibrator | Mapping[str, Any] | str | Path
Registry: TypeAlias = Mapping[str, Requirement]
Needs: TypeAlias = Mapping[Requirement, "Sequence[str]"]
"""Requirements, each with the names of the variants that have it."""

DEFAULT = ("llm", "total_evidence")
"""Variants that are evaluated by default."""

_SHOWN = ("participant_id", "item")


def confidence(variant: str, *, calibration: Calibration | None = None) -> pl.Expr:
    """Confidence of each item by a named variant; higher is accepted earlier.

    Scales differ between variants: counts are not limited, most others lie in [0, 1]. A null
    similarity is 0.0, a null stated confidence the middle of its scale, 0.5. `check_signals` lists
    the rows that have no confidence.

    Args:
        variant: `llm`, `total_evidence`, `retrieval_similarity_mean`, `retrieval_similarity_max`,
            `hybrid_evidence_similarity`, `verbalized`, `hybrid_verbalized`, `token_msp`,
            `token_pe`, `token_energy`, `consistency`, `consistency_inverse_std`,
            `hybrid_consistency`; `secondary:<a>+<b>:<average|product>` of two of these;
            `calibrated:<name>` of one of these or of a secondary one; `verbalized_calibrated`,
            which is `calibrated:verbalized`; `calibrated`, from the features of the calibration.
        calibration: A calibrator, its artifact, or the path of one; read only if the variant
            needs it. `calibrated` takes logistic, platt or isotonic, `calibrated:<name>`
            temperature_scaling or isotonic.

    Returns:
        Float64 over the variant's signal columns, named as the variant; null if a signal that it
        needs is invalid.

    Raises:
        EvalframeError: The variant is unknown, or its calibration is missing or of another method.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"token_msp": [0.75, None], "verbalized_confidence": [4, 4]})
        >>> both = "secondary:token_msp+verbalized:average"
        >>> items.select(map(ef.selective.confidence, ("token_msp", "verbalized", both))).rows()
        [(0.75, 0.75, 0.75), (None, 0.75, None)]
    """
    return confidence_by(REQUIREMENTS, variant, calibration)


def confidence_by(registry: Registry, variant: str, calibration: Calibration | None) -> pl.Expr:
    """Confidence from signals that meet the requirements of a registry."""
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated):
        return parsed.expression(registry).alias(variant)
    calibrator = calibrator_for(parsed, calibration)
    if parsed.base is not None:
        inputs = [parsed.base.expression(registry)]
    else:
        inputs = [need.value for need in _of_features(registry, calibrator)]
    return calibrator.apply(*inputs).alias(variant)


def select_variants(text: str) -> list[str]:
    """The variants of a command line.

    Args:
        text: `default` is `llm` and `total_evidence`, `all` the 13 that need no calibration and are
            not combined, sorted; otherwise names between commas, without blanks.

    Returns:
        The names, in their order; those of `all` sorted.

    Raises:
        EvalframeError: A name is unknown, malformed or given twice.

    Examples:
        >>> import evalframe as ef
        >>> ef.selective.select_variants("token_msp,secondary:token_msp+llm:product")
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


def requirements(
    variant: str, *, calibration: Calibration | None = None
) -> tuple[Requirement, ...]:
    """Columns that a variant reads, with their defaults and the demands on their values.

    Args:
        variant: As for `confidence`.
        calibration: As for `confidence`; the features of `calibrated` are in the artifact.

    Returns:
        One `Requirement` per column, with `column`, `null` (the value that a null stands for, None
        if it is an error), `absent` (the same for NaN) and `demand`.

    Examples:
        >>> import evalframe as ef
        >>> need, *_ = ef.selective.requirements("hybrid_verbalized")
        >>> need.column, need.null, need.demand.words
        ('verbalized_confidence', 3.0, 'is a whole number')
    """
    return requirements_by(REQUIREMENTS, variant, calibration)


def requirements_by(
    registry: Registry, variant: str, calibration: Calibration | None
) -> tuple[Requirement, ...]:
    """Requirements of a variant from a registry of requirements by column."""
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated):
        return parsed.requirements(registry)
    calibrator = calibrator_for(parsed, calibration)
    if parsed.base is not None:
        return parsed.base.requirements(registry)
    return _of_features(registry, calibrator)


def _of_features(registry: Registry, calibrator: Calibrator) -> tuple[Requirement, ...]:
    defaults = {name: feature_default(name) for name in calibrator.features}
    return tuple(
        replace(registry[CALIBRATED], column=name, null=value, absent=value)
        for name, value in defaults.items()
    )


def signals_contract(
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
    shown: Sequence[str] = (),
) -> Contract:
    """The contract of the signals that some variants read, for `validate`.

    Args:
        variants: Names of variants.
        calibration: As for `confidence`.
        where: As for `check_signals`.
        shown: More columns to show in messages, which identify a row.

    Returns:
        The contract, for `ef.validate`. It has a rule for each signal, and no key.

    Examples:
        >>> import evalframe as ef
        >>> ef.selective.signals_contract("token_msp").rules[0].name
        'token_msp is present, for token_msp'
    """
    needs = needs_of(variants, partial(requirements, calibration=calibration))
    return _contract(needs, where, shown)


@any_frame
def check_signals(
    frame: Frame,
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
) -> None:
    """Check that a table has every signal that some variants need.

    All variants are checked in one lazy pass. A table without rows is accepted. NaN in a signal is
    refused: in an item table it means that the key was missing.

    Args:
        frame: The item table.
        variants: Names of variants.
        calibration: As for `confidence`.
        where: Check only rows where this is true, such as predicted items.

    Raises:
        ContractError: Rows lack a signal or have an invalid one, or a column is not a number; the
            message names the variants, the column, the rows, and the remedy.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"token_msp": [0.5, None]})
        >>> ef.selective.check_signals(items, "token_msp")
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: confidence signals: 1 rule broken (rows are numbered
        from 0).
          token_msp is present, for token_msp: not so in 1 of 2 rows
            row 1: token_msp=null
            Remedy: record 'token_msp' for these rows, leave out token_msp, or in Python check only
            those that matter (where=...).
    """
    check_needs(frame, needs_of(variants, partial(requirements, calibration=calibration)), where)


def check_needs(frame: Frame, needs: Needs, where: pl.Expr | None) -> None:
    """Check that a table satisfies requirements."""
    lazy = frame.lazy()
    schema = lazy.collect_schema()
    if absent := {need.column for need in needs} - schema.keys():
        names = (name for need in needs if need.column in absent for name in needs[need])
        needed_by = f"confidence ({', '.join(dict.fromkeys(names))})"
        raise MissingColumnsError.of(needed_by, absent, schema)
    if where is not None and (missing := set(where.meta.root_names()) - schema.keys()):
        raise MissingColumnsError.of("where", missing, schema)
    contract = _contract(needs, where, [name for name in _SHOWN if name in schema])
    contract.check_schema(schema)
    try:
        validate(lazy, contract)
    except ContractError:
        if lazy.select(pl.len()).collect().item():  # validate refuses an empty table
            raise


def calibrator_for(variant: Calibrated, calibration: Calibration | None) -> Calibrator:
    """The calibrator; ParameterError if it is missing or the variant cannot use its method."""
    methods: tuple[str, ...] = ("temperature_scaling", "isotonic")
    if variant.base is None:
        methods = ("logistic", "platt", "isotonic")
    need = f"confidence {variant.name!r} needs a calibration of method {' or '.join(methods)}"
    if calibration is None:
        raise ParameterError(f"{need}; name one by ", Argument("calibration"))
    if isinstance(calibration, str | Path | Mapping):
        calibration = read_calibration(calibration)
    if not hasattr(calibration, "method"):
        raise ParameterError(
            f"calibration must be a calibrator, an artifact or its path, got {calibration!r}"
        )
    if calibration.method not in methods:
        takes = "a supervised model" if variant.base is None else "a map of one scalar confidence"
        raise ParameterError(f"{need}, {takes}; this one is of method {calibration.method!r}")
    if variant.base is None:
        check_named(calibration.inputs, by=f"confidence {variant.name!r}")
    return calibration


def needs_of(
    variants: str | Sequence[str], required: Callable[[str], Sequence[Requirement]]
) -> dict[Requirement, list[str]]:
    """Each requirement with the names of the variants that have it."""
    needs: dict[Requirement, list[str]] = {}
    for name in dict.fromkeys([variants] if isinstance(variants, str) else variants):
        for need in required(name):
            needs.setdefault(need, []).append(name)
    return needs


def _contract(needs: Needs, where: pl.Expr | None, shown: Sequence[str]) -> Contract:
    exempt = pl.lit(value=False) if where is None else ~where.fill_null(value=False)
    return Contract(
        "confidence signals",
        tuple(
            Column(column, "number", nullable=True, finite=False)
            for column in dict.fromkeys(need.column for need in needs)
        ),
        rules=tuple(
            Rule(rule.name, rule.holds | exempt, (*shown, *rule.columns), rule.remedy)
            for need, names in needs.items()
            for rule in _rules(need, ", ".join(names))
        ),
    )


def _rules(need: Requirement, names: str) -> Iterator[Rule]:
    """Rules of a valid row, one for each remedy."""
    column, value = need.column, pl.col(need.column).cast(pl.Float64)
    otherwise = f"leave out {names}, or in Python check only those that matter (where=...)"
    record = f"record {column!r} for these rows, {otherwise}"
    if need.null is None:
        yield Rule(f"{column} is present, for {names}", value.is_not_null(), (column,), record)
    if need.absent is None:
        is_number = f"{column} is a number (NaN: no such key, or no number there), for {names}"
        yield Rule(is_number, value.is_not_nan(), (column,), record)
    if need.demand is not ANY:
        good = need.demand.holds(value) | value.is_nan()
        correct = f"correct {column!r} in these rows, {otherwise}"
        yield Rule(f"{column} {need.demand.words}, for {names}", good, (column,), correct)
