"""The records of a job on any table: what they are grouped by, drawn by and checked for.

Tables of logs have known columns. Rows of several scorers are kept apart, samples of one id in two
tasks are two samples, and a note says what is pooled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.contract import Column, Contract, Rule, Validation, each_once
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.core.metric import Bound, MetricExpr, make, registered
from evalframe.core.per import leaves_of
from evalframe.core.rows import columns_read
from evalframe.core.scan import reading
from evalframe.jobs.family import LeftOut, Outcome, Place, drawn_by
from evalframe.jobs.inputs import Opened, check_found, open_records, refuse_nothing
from evalframe.jobs.items import KEYS, SAMPLE, SCORE_NAME, SCORER, TASK, RecordsJob
from evalframe.jobs.metrics import Call, Reading, is_known

if TYPE_CHECKING:
    from evalframe.jobs.rows import Rows
    from evalframe.jobs.settings import TableJob

STANDARD = (
    *("mean", "total", "spread", "deviation", "quantile", "mean_at_highest", "mode", "share"),
    *("pass_at", "at_least"),
)
"""Names of the metrics that are of no other family."""

_SCORERS, _PAIRS = (SCORER, SCORE_NAME), ":pairs"
_POOLED = {
    "model": "--by model keeps them apart",
    TASK: "--by task keeps them apart, --macro task weighs them alike",
    "epoch": f"--per {SAMPLE} takes those of a sample together",
}
"""Columns whose values should not be pooled in silence, and what to do about it."""

_COPY, _COPIES = ("uuid", *_SCORERS), ":copies"
"""Columns that are equal in copies of a scored sample, and the number of copies."""


@dataclass(frozen=True)
class Records:
    """The records of a job, and what is computed of them.

    Attributes:
        opened: As they were opened.
        validation: Of these records.
        rows: Those that are accepted.
        keys: The columns that they are grouped by.
        metrics: What is computed.
        cluster: What is drawn together; None if nothing is.
        notes: What is kept apart or pooled.
    """

    opened: Opened
    validation: Validation
    rows: Rows
    keys: Sequence[str]
    metrics: Sequence[MetricExpr]
    cluster: pl.Expr | None
    notes: Sequence[str]

    def left_out(self, system: str) -> Iterator[str]:
        """Notes on the systems of which rows have no value."""
        columns = {
            name
            for metric in self.metrics
            for leaf in leaves_of(metric.bound)
            for name in columns_read(leaf.roles.values())
        }
        schema = self.rows.schema
        gaps = [
            pl.col(name).is_null() | (pl.col(name).is_nan() if schema[name].is_float() else False)
            for name in sorted(columns)
        ]
        parts = self.rows.collect(partial(_gaps, system, gaps))
        counts = parts.group_by(system).sum().filter(pl.col("gaps") > 0).sort(system)
        for name, count, total in counts.rows():
            yield LeftOut(f"{name}: {count:,} of {total:,} rows have no value and are left out.")

    def resample(self, job: RecordsJob) -> ef.Bootstrap | None:
        """The resampling that a job asks for."""
        return job.resample(self.cluster)

    def outcome(
        self,
        job: RecordsJob,
        result: pl.DataFrame,
        name: str,
        shown: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Outcome:
        """The outcome of a job with this main table."""
        settings = {"tables": lambda: {name: result}, "notes": self.notes, **more}
        settings["shown"] = {"cluster": drawn_by(job), **(shown or {})}
        return Outcome(
            job, self.keys, result, self.validation, self.opened, metrics=self.metrics, **settings
        )


def _gaps(system: str, gaps: Sequence[pl.Expr], table: pl.LazyFrame) -> pl.LazyFrame:
    """For each system the number of rows with a gap, and of all."""
    return table.group_by(system).agg(pl.any_horizontal(gaps).sum().alias("gaps"), pl.len())


def records_of(
    job: RecordsJob, place: Place, systems: Sequence[str] = (), *, splits: bool = True
) -> Records:
    """Open the records of a job and check them.

    Args:
        job: The job.
        place: Where it reads, and writes rejected rows.
        systems: Columns that also tell rows apart, but are no group keys.
        splits: True if scorers become keys where a table has several; else that is an error.
    """
    for name in ("extra", "metadata") if job.reader is None else ():
        if getattr(job, name):
            raise ParameterError(f"{name} names what logs hold beside their columns; tables do not")
    opened = open_records(job, place.folder, place.targets, workers=place.workers)
    schema = opened.rows.schema
    check_found(job.columns, "the table", schema)
    rows = _of_scorers(job, opened.rows, schema)
    with reading(", ".join(job.items)):
        counts = counts_of(rows, schema)
        apart = [*job.by, *systems]
        scorers = scorers_of(counts, apart)
        if scorers and not splits:
            raise ParameterError(
                f"the table has several of {' and '.join(scorers)}, and shards must have the same "
                f"keys; name them in by (--by {','.join([*job.by, *scorers])}) or choose one "
                "(--scorer, --score-name)"
            )
        metrics = resolve(job, place.folder, schema)
        cluster = _cluster(job.drawn(), schema, apart)
        keys = [*job.by, *scorers]
        contract = _contract(job, schema, [*keys, *systems], metrics, cluster)
        validation, rows = rows.checked(contract, place.rejects)
        refuse_nothing(validation, place.rejects)
    units = [*job.per, *job.macro]
    notes = [*opened.notes, *_notes(counts, scorers, [*apart, *units], bool(units))]
    if cluster is not None and len(columns_read([cluster])) > 1:
        notes.append(f"Samples are drawn as {TASK} and {SAMPLE}: two tasks may have equal ids.")
    return Records(opened, validation, rows, keys, metrics, cluster, notes)


def roles(job: TableJob, folder: Path) -> set[str]:
    """Names that a job can map to columns; jobs on states map none."""
    if not isinstance(job, RecordsJob):
        return set()
    leaves = [leaf for metric in resolve(job, folder) for leaf in leaves_of(metric.bound)]
    return {
        *KEYS,
        *("weight", "score", *job.by, *job.per, *job.macro),
        *(role for leaf in leaves for role in leaf.roles),
        *(name for leaf in leaves for name in columns_read(leaf.roles.values())),
    }


def resolve(
    job: RecordsJob,
    folder: Path,
    present: Mapping[str, object] | None = None,
    inside: Sequence[str] = (),
) -> list[MetricExpr]:
    """The metrics of a job over its units; a column of the table alone stands for its mean.

    Units whose columns are all among those of `inside` are single, and no units.
    """
    entries = [f"mean:{entry}" if _is_column(entry, present) else entry for entry in job.metrics]
    flat = Reading(folder, partial(_bound, job.columns), present or ()).metrics(entries)
    return [_over_units(job, metric, present or {}, inside) for metric in flat]


def of_items(
    job: RecordsJob,
    folder: Path,
    present: Mapping[str, object],
    items: Sequence[str],
    metrics: Sequence[MetricExpr],
) -> list[MetricExpr]:
    """The metrics within items, under their names: units that are items are no units there."""
    within = resolve(job, folder, present, items)
    return [each.alias(of.bound.name) for each, of in zip(within, metrics, strict=True)]


def _is_column(entry: object, present: Mapping[str, object] | None) -> bool:
    """True for a text that names no metric; UnknownNameError if it is no column either."""
    if not isinstance(entry, str) or {*":,"} & {*entry} or is_known(entry):
        return False
    if present is None or entry in present:
        return True
    raise UnknownNameError(
        f"{UnknownNameError.of('metric', entry, registered())}. The table has no such "
        f"column either: {[*present]}"
    )


def _bound(columns: Collection[str], call: Call, _: Mapping[str, str]) -> Iterator[MetricExpr]:
    named = {role: role for role in call.metric.roles if role in columns}
    yield make(
        call.metric.name, roles={**named, **call.columns}, params=call.params, alias=call.alias
    )


def _over_units(
    job: RecordsJob, metric: MetricExpr, present: Mapping[str, object], inside: Sequence[str]
) -> MetricExpr:
    """The metric of each unit, then their mean; units of `macro` around those of `per`."""
    if job.per:
        metric = _reduced(job.reduce, metric)
        if not {*job.per} <= {*inside}:
            metric = ef.per(_within_tasks(job.per, present, [*job.by, *job.macro]), metric)
    return ef.per([*job.macro], metric) if {*job.macro} - {*inside} else metric


def _within_tasks(
    names: Sequence[str], present: Mapping[str, object], apart: Sequence[str]
) -> list[str]:
    """The columns of a unit, with the task of samples: two tasks may have samples of equal id."""
    is_shared = SAMPLE in names and TASK in present and TASK not in (*names, *apart)
    return [TASK, *names] if is_shared else [*names]


def _reduced(how: str, metric: MetricExpr) -> MetricExpr:
    """The number of a unit from its rows."""
    if how == "mean":
        return metric
    if not isinstance(metric.bound, Bound) or metric.metric.name != "mean":
        raise ParameterError(
            f"reduce {how} is of a column; name its mean, such as mean:score, not "
            f"{metric.bound.name!r}"
        )
    column, alias = metric.bound.roles["value"], how + metric.bound.name.removeprefix("mean")
    if how == "max":
        return make("quantile", roles={"value": column}, params={"q": 1.0}, alias=alias)
    if how == "mode":
        return make(how, roles={"value": column}, alias=alias)
    name, _, k = how.rpartition("_")
    return make(name, roles={"correct": column >= 1}, params={"k": int(k)}, alias=alias)


def _of_scorers(job: RecordsJob, rows: Rows, schema: pl.Schema) -> Rows:
    """The rows of the scorers that a job chooses."""
    for name in _SCORERS:
        chosen = getattr(job, name)
        if not chosen:
            continue
        if name not in schema:
            raise MissingColumnsError.of(f"{name} {', '.join(chosen)}", [name], schema)
        text = pl.col(name).cast(pl.String)
        known = rows.collect(methodcaller("select", text.unique()))[name].unique().drop_nulls()
        for each in chosen:
            if each not in known:
                raise UnknownNameError.of(name, each, known)
        rows = rows.then(methodcaller("filter", text.is_in(chosen)))
    return rows


def counts_of(rows: Rows, schema: pl.Schema) -> dict[str, int]:
    """Numbers of different values of the columns that should not be pooled in silence."""
    names = [name for name in (*_SCORERS, *_POOLED) if name in schema]
    if not names:
        return {}
    values = [pl.col(names).unique().implode()]
    if {*_SCORERS} <= {*names}:
        values.append(pl.struct(_SCORERS).unique().implode().alias(_PAIRS))
    if {*_COPY} <= {*schema}:
        scored = pl.struct(_COPY).hash().filter(pl.col(_COPY[0]).is_not_null())
        values.append(scored.implode().alias(_COPIES))
    lists = rows.collect(methodcaller("select", values))
    every = {each.name: each.list.explode(empty_as_null=False) for each in lists}
    found = {name: each.n_unique() for name, each in every.items()}
    if _COPIES in found:
        found[_COPIES] = len(every[_COPIES]) - found[_COPIES]
    if found.pop(_PAIRS, None) == found.get(SCORER):  # its name says no more than the scorer
        found.pop(SCORE_NAME, None)
    return found


def scorers_of(counts: Mapping[str, int], apart: Sequence[str]) -> list[str]:
    """The columns of scorers that rows must be kept apart by, beyond those they are."""
    return [name for name in _SCORERS if counts.get(name, 1) > 1 and name not in apart]


def _cluster(name: str | None, schema: pl.Schema, apart: Sequence[str]) -> pl.Expr | None:
    """What is drawn together; two tasks may have samples of equal id."""
    if name is None:
        return None
    if name == SAMPLE and SAMPLE not in schema:
        raise ParameterError(
            "name what is drawn together (--cluster COLUMN), such as the item or the person; a "
            "column that numbers the rows if they are independent"
        )
    parts = _within_tasks([name], schema, apart)
    return pl.col(name) if len(parts) == 1 else pl.struct(parts).alias(name)


def _notes(
    counts: Mapping[str, int], scorers: Sequence[str], apart: Sequence[str], has_units: bool
) -> Iterator[str]:
    for name in scorers:
        flag = f"--{name.replace('_', '-')} NAME"
        yield f"{counts[name]} values of {name} are kept apart; {flag} chooses one."
    if copies := counts.get(_COPIES):
        yield (
            f"{copies:,} rows are copies of others, as retries of logs have them, and count again; "
            f"--key {','.join(_COPY)} --on-invalid quarantine sets them apart."
        )
    for name, remedy in _POOLED.items():
        is_pooled = counts.get(name, 1) > 1 and name not in apart
        if is_pooled and not (name == "epoch" and has_units):
            yield f"{counts[name]} values of {name} are pooled; {remedy}."


def _contract(
    job: RecordsJob,
    schema: pl.Schema,
    keys: Sequence[str],
    metrics: Sequence[MetricExpr],
    cluster: pl.Expr | None,
) -> Contract:
    """Requirements on the columns that a job reads; others are ignored."""
    drawn = () if cluster is None else columns_read([cluster])
    roles = (
        Column(
            name, "value" if role in leaf.metric.labels else ("number", "boolean"), nullable=True
        )
        for metric in metrics
        for leaf in leaves_of(metric.bound)
        for role, expr in leaf.roles.items()
        for name in columns_read([expr])
    )
    weights = [Column("weight", "number")] if job.weight else []
    key = job.key
    has_samples = key is None and SAMPLE in schema
    columns = [
        *weights,
        *([Column(SAMPLE, "value")] if has_samples else []),
        *(Column(name, "value") for name in sorted(drawn)),
        *roles,
        *(Column(name, "value", nullable=True) for name in (*keys, *job.per, *job.macro)),
    ]
    if has_samples:
        key = tuple(dict.fromkeys([*keys, *(name for name in KEYS if name in schema)]))
    not_negative = Rule(
        "weight is not negative",
        pl.col("weight") >= 0,
        ("weight",),
        "correct the weights, which are how often rows count",
    )
    rules = (not_negative,) if weights else ()
    return Contract("items", each_once(columns), rules, key or ())
