"""What each confidence variant reads, and the check that a table has it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import (
    Argument,
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.core.rules import check_rules
from evalframe.selective.runs import RunWarning
from evalframe.selective.variants import (
    ANY,
    NOT_INFINITE,
    Calibrated,
    Requirement,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.selective.calibrators import Calibrator

    Calibration: TypeAlias = Calibrator | Mapping[str, Any] | str | Path

_SHOWN = ("participant_id", "item")


def requirements(
    variant: str, *, calibration: Calibration | None = None, rules: Rules = "documented"
) -> tuple[Requirement, ...]:
    """What a variant reads: columns, what null and NaN mean in each, and what its values must be.

    Args:
        variant: As for `confidence`.
        calibration: Likewise; the features of `calibrated` are in the artifact.
        rules: Whose demands on values.

    Returns:
        One `Requirement` per column, with `column`, `null` (the value that a null stands for, None
        where it is an error), `absent` (the same for NaN) and `demand`.

    Raises:
        UnknownNameError: As `confidence`.
        ParameterError: As `confidence`.
        InputError: As `confidence`.

    Examples:
        >>> from evalframe.selective.signal_contract import requirements
        >>> for need in requirements("hybrid_verbalized"):
        ...     print(need.column, need.null, need.demand.words)
        verbalized_confidence 3.0 is a whole number
        llm_evidence_count None is finite
        retrieval_similarity_mean 0.0 is finite
    """
    check_rules(rules)
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated):
        return parsed.requirements(rules)
    calibrator = calibrator_for(parsed, calibration, rules)
    if parsed.base is not None:
        return parsed.base.requirements(rules)
    from evalframe.selective.calibrators.features import feature_default

    defaults = {name: feature_default(name) for name in calibrator.features}
    demand = NOT_INFINITE if rules == "documented" else ANY
    return tuple(Requirement(name, value, value, demand) for name, value in defaults.items())


def signals_contract(
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
    rules: Rules = "documented",
    shown: Sequence[str] = (),
) -> Contract:
    """The contract of the signals that some variants read, for `validate`.

    Args:
        variants: Names of variants.
        calibration: As for `confidence`.
        where: Rows where this is not true may hold anything; by default all rows are held to it.
        rules: Whose demands on values.
        shown: Further columns that tell a reader of messages which row is meant.

    Examples:
        >>> for rule in signals_contract("token_msp").rules:
        ...     print(rule.name)
        token_msp is present, for token_msp
        token_msp is a number (NaN: no such key, or no number there), for token_msp
        token_msp is finite, for token_msp
    """
    return _contract(_needs(variants, calibration, rules), where, shown)


def check_signals(
    frame: Frame,
    variants: str | Sequence[str],
    *,
    calibration: Calibration | None = None,
    where: pl.Expr | None = None,
    rules: Rules = "documented",
) -> None:
    """Check that a table has every signal that some variants need, before any work starts.

    One lazy pass serves all variants; a table without rows passes. NaN in a signal is refused
    under both sets of rules, since in an item table it says that the key was absent.

    Args:
        frame: The item table.
        variants: Names of variants.
        calibration: As for `confidence`.
        where: Check only rows where this is true, such as predicted items; the original checks all.
        rules: Whose demands on values.

    Raises:
        MissingColumnsError: A column is absent; the message names the variants that read it.
        ContractError: Rows lack a signal, or hold an invalid one: the message names the variants,
            the column, how many rows, the first of them, and the remedy; or a column is no number.
        UnknownNameError: As `confidence`.
        ParameterError: As `confidence`.
        InputError: As `confidence`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.signal_contract import check_signals
        >>> items = pl.DataFrame({"prediction": [1, None], "token_msp": [0.5, None]})
        >>> check_signals(items, "token_msp", where=pl.col("prediction").is_not_null())
        >>> check_signals(items, "token_msp")
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: confidence signals: 1 rule broken (rows are numbered
        from 0).
          token_msp is present, for token_msp: not so in 1 of 2 rows
            row 1: token_msp=null
            Remedy: record 'token_msp' for these rows, leave out token_msp, or in Python check only
            those that matter (where=...).
    """
    lazy = frame.lazy()
    schema = lazy.collect_schema()
    needs = _needs(variants, calibration, rules)
    if absent := {need.column for need in needs} - schema.keys():
        asking = (name for need in needs if need.column in absent for name in needs[need])
        needed_by = f"confidence ({', '.join(dict.fromkeys(asking))})"
        raise MissingColumnsError.of(needed_by, absent, schema)
    if where is not None and (missing := set(where.meta.root_names()) - schema.keys()):
        raise MissingColumnsError.of("where", missing, schema)
    contract = _contract(needs, where, [name for name in _SHOWN if name in schema])
    contract.check_schema(schema)
    try:
        validate(lazy, contract)
    except ContractError:
        if lazy.select(pl.len()).collect().item():  # nobody included is no fault of the signals
            raise


def calibrator_for(
    variant: Calibrated, calibration: Calibration | None, rules: Rules
) -> Calibrator:
    """The calibrator, if the variant can use it.

    Raises:
        ParameterError: It is missing, or of a method that the variant cannot use.
        InputError: Its artifact cannot be read.
    """
    methods: tuple[str, ...] = ("temperature_scaling", "isotonic")
    if variant.base is None:
        methods = ("logistic", "platt", "isotonic")
    wanted = f"confidence {variant.name!r} needs a calibration of method {' or '.join(methods)}"
    if calibration is None:
        raise ParameterError(f"{wanted}; name one by ", Argument("calibration"))
    calibrator = _opened(calibration, rules)
    if calibrator.method not in methods:
        takes = "a supervised model" if variant.base is None else "a map of one scalar confidence"
        raise ParameterError(f"{wanted}, {takes}; this one is of method {calibrator.method!r}")
    if variant.base is None:
        from evalframe.selective.calibrators.features import check_named

        check_named(calibrator.inputs, by=f"confidence {variant.name!r}")
    return calibrator


def check_trained_on(variant: str, calibration: Calibration | None, rules: Rules) -> None:
    """Raise, or under reference rules warn, where a map of one confidence is put on another.

    Args:
        variant: As for `confidence`; only `calibrated:<name>` is checked.
        calibration: Likewise. One of `confidence`, as are those without features, fits all.
        rules: `documented` or `reference`.

    Raises:
        InputError: Under documented rules.
    """
    parsed = parse(variant)
    if not isinstance(parsed, Calibrated) or parsed.base is None:
        return
    trained_on = calibrator_for(parsed, calibration, rules).features[0]
    if trained_on in ("confidence", parsed.base.name, parsed.base.itself):
        return
    told = f"the calibration was trained on {trained_on!r}, and maps {parsed.base.name!r} here"
    if rules == "documented":
        raise InputError(f"{told}; train one on that, or leave out {variant}")
    warnings.warn(told, RunWarning, stacklevel=2)


def _opened(calibration: Calibration, rules: Rules) -> Calibrator:
    if isinstance(calibration, str | Path | Mapping):
        from evalframe.selective.calibrators import read_calibration

        return read_calibration(calibration, rules=rules)
    if not hasattr(calibration, "method"):
        raise ParameterError(
            f"calibration must be a calibrator, an artifact or its path, got {calibration!r}"
        )
    return calibration


def _needs(
    variants: str | Sequence[str], calibration: Calibration | None, rules: Rules
) -> dict[Requirement, list[str]]:
    """Each requirement with the variants that make it."""
    needs: dict[Requirement, list[str]] = {}
    for name in dict.fromkeys([variants] if isinstance(variants, str) else variants):
        for need in requirements(name, calibration=calibration, rules=rules):
            needs.setdefault(need, []).append(name)
    return needs


def _contract(
    needs: Mapping[Requirement, Sequence[str]], where: pl.Expr | None, shown: Sequence[str]
) -> Contract:
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
    """What a good row looks like, one rule for each remedy."""
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
