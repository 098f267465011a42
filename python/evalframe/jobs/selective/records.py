"""The loss of the records of a job, their contract, and the rows that break it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.breaches import BROKEN_RULES, ROW
from evalframe.core.contract import Contract, Rule, Validation, validate
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.core.files import replacing, scratch
from evalframe.core.scan import reading
from evalframe.jobs.selective import (
    ITEM,
    LABEL,
    LOSSES,
    PARTICIPANT,
    PREDICTION,
    Loss,
    SelectiveJob,
)
from evalframe.selective.contract import items_contract
from evalframe.selective.contract import loss as named_loss

if TYPE_CHECKING:
    from evalframe.jobs.rows import Rows

LOSS = "__evalframe_loss__"
"""The column that holds the loss while a job runs."""

CORRECT = "correct"

_ANSWERS = (PREDICTION, LABEL)


@dataclass(frozen=True)
class Chosen:
    """The losses of a job, and which answers are correct.

    Attributes:
        loss: Name of a loss, or a column; None if it is 1 - `correct`, or if no metric needs one.
        column: The column that the loss is read from.
        columns: Expressions to add to the table: the loss, then `correct` if it is derived.
        notes: Notes on how `loss` and `correct` were derived.
    """

    loss: Loss | None
    column: str | None = None
    columns: tuple[pl.Expr, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


def choose(job: SelectiveJob, items: Rows, roles: Collection[str]) -> Chosen:
    """The loss of a job, and what is correct."""
    schema = items.schema
    notes: dict[str, str] = {}
    loss, column, value = job.loss, None, None
    with reading(", ".join(job.items), "is it whole?"):
        if loss is None and "loss" in schema:
            loss, notes["loss"] = Loss(column="loss"), "the column loss"
        elif loss is None and CORRECT in schema:
            column, notes["loss"] = CORRECT, f"1 - the column {CORRECT}"
            value = 1 - pl.col(CORRECT).cast(pl.Float64)
        elif loss is None and {*_ANSWERS} <= {*schema}:
            loss, reason = _agreement(job, items, needed="loss" in roles)
            notes |= {"loss": f"zero_one, since {reason}"} if loss else {}
        elif loss is None and not {*_ANSWERS} & {*schema}:
            error = MissingColumnsError.of("items", _ANSWERS, schema)
            error.add_note(
                f"Without answers a column of losses will do, or one of what is {CORRECT}: "
                f"--column loss=NAME or --column {CORRECT}=NAME."
            )
            raise error
        if loss is not None and loss.column is None:
            value = named_loss(str(loss.name), *_ANSWERS, scale=loss.divisor)
        elif loss is not None:
            column, value = str(loss.column), pl.col(str(loss.column)).cast(pl.Float64)
        columns = [] if value is None else [value.alias(LOSS)]
        if CORRECT in roles and CORRECT not in schema:
            for notes[CORRECT], expr in _correct(loss, items):
                columns.append(expr.alias(CORRECT))
    return Chosen(loss, column, tuple(columns), notes)


def _agreement(job: SelectiveJob, items: Rows, *, needed: bool) -> tuple[Loss | None, str]:
    """The loss `zero_one` and the reason for it; None if the answers do not imply it."""
    schema = items.schema
    for kind, name in _KINDS.items():
        if any(isinstance(schema[column], kind) for column in _ANSWERS):
            return Loss(name="zero_one"), f"answers are {name}"
    if not all(schema[name].is_numeric() or schema[name] == pl.Null for name in _ANSWERS):
        return None, ""  # the contract refuses these types
    numbers = {name: pl.col(name).cast(pl.Float64).drop_nulls().drop_nans() for name in _ANSWERS}
    seen = [
        pl.struct(
            each.min().alias("from"), each.max().alias("to"), binary=_only_binary(each)
        ).alias(name)
        for name, each in numbers.items()
    ]
    parts = items.collect(methodcaller("select", seen))
    whole = [
        pl.struct(
            pl.col(name).struct["from"].min(),
            pl.col(name).struct["to"].max(),
            pl.col(name).struct["binary"].all(),
        ).alias(name)
        for name in numbers
    ]
    ranges = parts.select(whole).row(0, named=True)
    if all(each["binary"] for each in ranges.values()):
        return Loss(name="zero_one"), "answers are only 0 and 1"
    if not needed:
        return None, ""
    others = ", ".join(name for name in LOSSES if name != "abs_norm")
    between = ", ".join(
        f"{name} from {each['from']:g} to {each['to']:g}"
        for name, each in ranges.items()
        if each["from"] is not None
    )
    raise ParameterError(
        f"{', '.join(job.items)}: numbers do not say what loss they want ({between}). Name it by "
        "--loss: abs_norm is |prediction - label| / 3, or by another range with --loss-scale; or "
        f'{others}, or column:NAME for a column; in a job file loss = {{ name = "abs_norm", '
        "scale = 3 }"
    )


_KINDS: Mapping[type[pl.DataType] | tuple[type[pl.DataType], ...], str] = {
    (pl.String, pl.Categorical, pl.Enum): "text",
    pl.Boolean: "true and false",
}


def _correct(loss: Loss | None, items: Rows) -> Iterator[tuple[str, pl.Expr]]:
    """Origin and expression of `correct`, null for abstentions; nothing if it cannot be derived."""
    schema = items.schema
    if loss is not None and (loss.name == "zero_one" or _is_binary(loss.column, items)):
        yield "1 - loss", 1 - pl.col(LOSS)
    elif {*_ANSWERS} <= {*schema}:
        yield "prediction = label", 1 - named_loss("zero_one", *_ANSWERS)


def _is_binary(column: str | None, items: Rows) -> bool:
    dtype = items.schema.get(column or "")
    if dtype is None or not (dtype.is_numeric() or dtype == pl.Boolean):
        return False
    value = pl.col(str(column)).cast(pl.Float64).drop_nulls().drop_nans()
    parts = items.collect(methodcaller("select", _only_binary(value)))
    return bool(parts.to_series().all())


def _only_binary(value: pl.Expr) -> pl.Expr:
    return value.is_in([0.0, 1.0]).all()


REJECTED_FOR = "rejected_for"
"""The column of a quarantined row that names the confidence it lacks; null if it serves none."""

_NUMBER = "__evalframe_number__"


@dataclass(frozen=True)
class Records:
    """The rows that are valid for each confidence.

    Attributes:
        common: What all columns break; with a quarantine, all but the confidences.
        accepted: The rows that serve each confidence.
        own: With a quarantine, what each confidence breaks, of the rows that remain.
        quarantine: The file of rejected rows.
        tables: Tables that were collected together with the validation.
    """

    confidence: Sequence[str]
    common: Validation
    accepted: Mapping[str, Rows]
    own: Mapping[str, Validation] = field(default_factory=dict)
    quarantine: Path | None = None
    tables: Sequence[pl.DataFrame] = ()

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return self.common.rows

    @property
    def is_empty(self) -> bool:
        """True if no row serves any confidence."""
        return all(self.rejected.get(each) == self.rows for each in self.confidence)

    @property
    def rejected(self) -> dict[str, int]:
        """For each confidence that is short of rows, how many."""
        by_confidence = {confidence: found.rejected for confidence, found in self.own.items()}
        counts = {c: self.common.rejected + by_confidence.get(c, 0) for c in self.confidence}
        return {confidence: count for confidence, count in counts.items() if count}

    def describe(self) -> dict[str, Any]:
        """The counts, for the provenance."""
        return {"rows": self.rows, "rejected": self.rejected}

    def __str__(self) -> str:
        """The number of valid rows for each confidence, with the reasons for the others."""
        if not self.rejected:
            return str(self.common)
        lines = [f"{self.common.table}: rejected rows are written to {self.quarantine}"]
        lines += _reasons(self.common)
        for confidence in self.confidence:
            accepted = self.rows - self.rejected.get(confidence, 0)
            lines.append(f"{confidence}: {accepted:,} of {self.rows:,} rows accepted")
            lines += _reasons(self.own[confidence]) if confidence in self.own else []
        return "\n".join(lines)


def check_records(
    job: SelectiveJob,
    items: Rows,
    chosen: Chosen,
    quarantine: Path | None,
    *,
    probability: bool = False,
    queries: Callable[[pl.LazyFrame], Sequence[pl.LazyFrame]] | None = None,
) -> Records:
    """Hold the records of a job against their contract.

    The tables of `queries` are collected together with the counts of the contract, so that this
    process reads the records once; if rows are set apart, or workers read them, later.
    """
    schema = items.schema
    _check_subtraction(chosen, schema)
    if schema.get(chosen.column or "") == pl.Boolean:
        cast = pl.col(str(chosen.column)).cast(pl.Int8)
        items = items.then(methodcaller("with_columns", cast))
    if PREDICTION in schema:
        judged = [name for name in {chosen.column or CORRECT, CORRECT} if name in schema]
        answered = pl.col(PREDICTION).is_not_null()
        kept = [pl.when(answered).then(pl.col(name)).alias(name) for name in judged]
        items = items.then(methodcaller("with_columns", kept))
    contract = _contract(job, schema, chosen, job.confidence, probability=probability)
    with reading(", ".join(job.items)):
        if quarantine is not None:
            contract.check_schema(items.schema)
            return _set_apart(job, items, chosen, contract, quarantine)
        tables: Sequence[pl.DataFrame] = ()
        if items.is_spread:
            validation, accepted = items.checked(contract, None)
        else:
            plans = [contract.query(items.table), *(queries(items.table) if queries else ())]
            counts, *tables = pl.collect_all(plans)
            validation, accepted = validate(items.table, contract, counts=counts), items
        return Records(
            job.confidence, validation, dict.fromkeys(job.confidence, accepted), tables=tables
        )


def _set_apart(
    job: SelectiveJob, items: Rows, chosen: Chosen, contract: Contract, path: Path
) -> Records:
    """First what holds for every confidence, then, of what is left, each by itself."""
    schema = items.schema
    if REJECTED_FOR in schema:
        raise ContractError(f"items: rename {REJECTED_FOR!r}, which quarantined rows gain.")
    numbered = items.numbered(_NUMBER)
    by_confidence: dict[str, Validation] = {}
    with replacing(path) as partial, scratch(len(job.confidence) + 1) as parts:
        shared = _contract(job, schema, chosen, ())
        common, rows = numbered.checked(shared, parts[0])
        accepted = dict.fromkeys(job.confidence, rows)
        rejected = [_named(parts[0], None)]
        if common.rejected < common.rows:
            for confidence, part in zip(job.confidence, parts[1:], strict=True):
                column = (c for c in contract.columns if c.name == confidence)
                rules = (rule for rule in contract.rules if confidence in rule.columns)
                alone = Contract(contract.table, tuple(column), tuple(rules))
                by_confidence[confidence], accepted[confidence] = rows.checked(alone, part)
                rejected.append(_named(part, confidence))
        pl.concat(rejected).sink_parquet(partial)
    return Records(job.confidence, common, accepted, by_confidence, path)


def _named(part: Path, confidence: str | None) -> pl.LazyFrame:
    """Quarantined rows with their number in the input and what they are rejected for."""
    return pl.scan_parquet(part, glob=False).select(
        pl.exclude(_NUMBER, ROW, BROKEN_RULES),
        pl.col(_NUMBER).alias(ROW),
        pl.lit(confidence, pl.String).alias(REJECTED_FOR),
        BROKEN_RULES,
    )


def _reasons(validation: Validation) -> list[str]:
    reasons = validation.breaches.select("rule", "rows").iter_rows()
    return [f"  {rule}: not so in {rows:,}" for rule, rows in reasons]


def _check_subtraction(chosen: Chosen, schema: pl.Schema) -> None:
    """Raise ContractError if the loss subtracts answers that are not numbers."""
    loss = chosen.loss
    if loss is None or loss.column or loss.name == "zero_one":
        return
    for name in (PREDICTION, LABEL):
        dtype = schema.get(name, pl.Null())
        if not dtype.is_numeric() and dtype != pl.Null:
            raise ContractError(
                f"items: column {name!r} is {dtype}, and the loss {loss.name} subtracts "
                "numbers. For answers that are right or wrong take the loss zero_one "
                '(--loss zero_one, or loss = { name = "zero_one" } in a job file).'
            )


def _contract(
    job: SelectiveJob,
    present: Collection[str],
    chosen: Chosen,
    confidence: Sequence[str],
    *,
    probability: bool = False,
) -> Contract:
    """The contract of the columns the job reads; participant and item only if present."""
    named = chosen.loss is not None and chosen.loss.name
    contract = items_contract(
        confidence=confidence,
        loss=chosen.column,
        participant=PARTICIPANT if PARTICIPANT in present else None,
        item=ITEM if ITEM in present else None,
        weight=job.weight,
        cluster=job.cluster if job.bootstrap else None,
        by=job.by,
        key=job.key,
        answers="number" if named and named != "zero_one" else "value",
        probability=probability,
    )
    if chosen.loss is not None or chosen.column != CORRECT:
        return contract
    share = Rule(
        f"{CORRECT} lies in [0, 1]",
        pl.col(CORRECT).is_between(0, 1),
        (CORRECT,),
        "make it 1 where the answer is right and 0 where it is wrong, or a share of 1",
    )
    return replace(contract, rules=(*contract.rules, share))
