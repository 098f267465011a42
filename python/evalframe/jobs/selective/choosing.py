"""The loss of a job that names none, and `correct` if the table lacks it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.jobs.paths import reading
from evalframe.jobs.selective.job import LABEL, LOSSES, PREDICTION, Loss, SelectiveJob
from evalframe.selective.contract import loss as named_loss

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
        told: Notes on how `loss` and `correct` were derived.
    """

    loss: Loss | None
    column: str | None = None
    columns: tuple[pl.Expr, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_loss(self) -> bool:
        """True if the loss is among the columns."""
        return self.loss is not None or self.column is not None


def choose(job: SelectiveJob, items: pl.LazyFrame, roles: Collection[str]) -> Chosen:
    """The loss of a job, and what is correct."""
    schema = items.collect_schema()
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


def _agreement(job: SelectiveJob, items: pl.LazyFrame, *, needed: bool) -> tuple[Loss | None, str]:
    """The loss `zero_one` and the reason for it; None if the answers do not imply it."""
    schema = items.collect_schema()
    for kind, name in _KINDS.items():
        if any(isinstance(schema[column], kind) for column in _ANSWERS):
            return Loss(name="zero_one"), f"answers are {name}"
    if not all(schema[name].is_numeric() or schema[name] == pl.Null for name in _ANSWERS):
        return None, ""  # the contract refuses these types
    numbers = {name: pl.col(name).cast(pl.Float64).drop_nulls().drop_nans() for name in _ANSWERS}
    ranges = (
        items.select(
            pl.struct(
                each.min().alias("from"), each.max().alias("to"), binary=_only_binary(each)
            ).alias(name)
            for name, each in numbers.items()
        )
        .collect()
        .row(0, named=True)
    )
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


def _correct(loss: Loss | None, items: pl.LazyFrame) -> Iterator[tuple[str, pl.Expr]]:
    """Origin and expression of `correct`, null for abstentions; nothing if it cannot be derived."""
    schema = items.collect_schema()
    if loss is not None and (loss.name == "zero_one" or _is_binary(loss.column, items)):
        yield "1 - loss", 1 - pl.col(LOSS)
    elif {*_ANSWERS} <= {*schema}:
        yield "prediction = label", 1 - named_loss("zero_one", *_ANSWERS)


def _is_binary(column: str | None, items: pl.LazyFrame) -> bool:
    dtype = items.collect_schema().get(column or "")
    if dtype is None or not (dtype.is_numeric() or dtype == pl.Boolean):
        return False
    value = pl.col(str(column)).cast(pl.Float64).drop_nulls().drop_nans()
    return bool(items.select(_only_binary(value)).collect().item())


def _only_binary(value: pl.Expr) -> pl.Expr:
    return value.is_in([0.0, 1.0]).all()
