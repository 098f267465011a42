"""The metrics of a job: their names, texts such as `mean:score`, and entries of job files.

A text is `NAME[:COLUMN...][,KEY=VALUE...]`, where NAME is a metric, a variant such as
`risk_at_0.50`, `METRIC_per_UNIT`, or an import path `module:name`. It is short for an entry of a
job file, a table with `name`, the columns of roles, parameters and `alias`; or, over units, with
`per`, `metric` or `columns`, and perhaps `then`, `weight`, `fixed`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import evalframe as ef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.metric import Metric, MetricExpr, lookup, registered
from evalframe.jobs.family import FAMILIES
from evalframe.jobs.family import family as family_named
from evalframe.jobs.imported import metric_at

Entry: TypeAlias = "str | Mapping[str, Any]"
_PER, _COLUMNS = "_per_", ":columns"
"""What stands before a unit, and the columns of an entry that a text gives by their place."""


class Call(NamedTuple):
    """A metric as an entry names it: the columns of its roles, its parameters and its alias."""

    metric: Metric
    columns: Mapping[str, str]
    params: Mapping[str, Any]
    alias: str | None


@dataclass(frozen=True)
class Reading:
    """How a job reads the entries of its metrics.

    Attributes:
        folder: Where modules of metrics are looked for first.
        bind: Binds a call to the columns that play the roles, of which some may be named.
        columns: All columns of the table, if it is known.
    """

    folder: Path
    bind: Callable[[Call, Mapping[str, str]], Iterator[MetricExpr]]
    columns: Collection[str] = ()

    def metrics(
        self, entries: Sequence[Entry], roles: Mapping[str, str] | None = None
    ) -> list[MetricExpr]:
        """The metrics of all entries; ParameterError if two have one name."""
        found = [metric for entry in entries for metric in self.read(entry, roles or {})]
        names = [metric.bound.name for metric in found]
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(
                    f"metric {name!r} is asked for twice; name it once, or give one an alias in a "
                    "job file"
                )
        return found

    def read(self, entry: Entry, roles: Mapping[str, str]) -> Iterator[MetricExpr]:
        """The metrics of an entry; several where the job adds a parameter of its own."""
        if not isinstance(entry, str | Mapping):
            raise ParameterError(f"a metric is a name or a table with a name, got {entry!r}")
        arguments = spelled(entry) if isinstance(entry, str) else dict(entry)
        if "per" in arguments:
            yield self._per(arguments, roles)
            return
        written = arguments.get("name")
        if isinstance(written, str) and ":" not in written and _PER in written:
            # As results name it: `accuracy_per_task`, `mean_pas_per_finding_per_study`.
            unit = self._last_unit(written)
            inner = written.removesuffix(_PER + unit)
            alias = arguments.pop("alias", "_".join([written, *arguments.get(_COLUMNS, ())]))
            outer = {"per": unit, "metric": {**arguments, "name": inner}, "alias": alias}
            yield self._per(outer, roles)
            return
        placed = "_".join(arguments.get(_COLUMNS, ()))
        call = _call(arguments, self.folder)
        for metric in self.bind(call, roles):
            name = metric.bound.name
            if call.alias is not None or not placed:
                yield metric
            elif is_known(f"{name}_{placed}"):  # readers would take it for another metric
                yield metric.alias(f"{name}_of_{placed}")
            else:
                yield metric.alias(f"{name}_{placed}")

    def _last_unit(self, name: str) -> str:
        """The unit at the end: the longest that is a column, or what is behind `_per_`."""
        parts = name.split(_PER)[1:]
        ends = [_PER.join(parts[first:]) for first in range(len(parts))]
        return next((end for end in ends if end in self.columns), ends[-1])

    def _per(self, entry: Mapping[str, Any], roles: Mapping[str, str]) -> MetricExpr:
        """A metric over units."""
        known = ("per", "metric", "columns", "then", "weight", "fixed", "alias")
        for key in entry:
            if key not in known:
                raise UnknownNameError.of("argument of per", key, known)
        alias, fixed, columns = (
            entry.get("alias"),
            entry.get("fixed", False),
            entry.get("columns", {}),
        )
        if alias is not None and not (isinstance(alias, str) and alias):
            raise ParameterError(f"the alias of a per must be a name, got {alias!r}")
        if not isinstance(fixed, bool):
            raise ParameterError(f"fixed of a per must be true or false, got {fixed!r}")
        if not isinstance(columns, Mapping):
            raise ParameterError(
                f"columns of a per are a table of metrics by name, got {columns!r}"
            )
        if taken := sorted({*columns} & {*inspect.signature(ef.per).parameters}):
            raise ParameterError(f"a column of a per cannot be named {taken[0]!r}; rename it")

        def one(part: Any, names: Mapping[str, str]) -> MetricExpr:
            found = list(self.read(part, names))
            if len(found) > 1:
                raise ParameterError(
                    f"{part} is {len(found)} metrics, one for each coverage; name one, such as "
                    f"{found[0].bound.name}"
                )
            return found[0]

        weight = entry.get("weight")
        units = entry["per"] if isinstance(entry["per"], list) else [entry["per"]]
        if not all(isinstance(unit, str) for unit in units):
            raise ParameterError(f"per names the columns of a unit, got {entry['per']!r}")
        metric = ef.per(
            [roles.get(unit, unit) for unit in units],
            one(entry["metric"], roles) if "metric" in entry else None,
            weight=one(weight, roles) if isinstance(weight, Mapping) else weight,
            then=one(entry["then"], {}) if "then" in entry else None,
            fixed=fixed,
            **{name: one(part, roles) for name, part in columns.items()},
        )
        return metric if alias is None else metric.alias(alias)


def _call(arguments: dict[str, Any], folder: Path) -> Call:
    """The call of an entry without units."""
    if not isinstance(arguments.get("name"), str) or not isinstance(
        arguments.get("alias", ""), str
    ):
        raise ParameterError(f"a metric needs a name, and perhaps an alias, got {arguments}")
    metric, in_name, preset, called = _named(named := arguments.pop("name"), folder)
    columns = _placed(metric, arguments.pop(_COLUMNS, ()))
    alias = arguments.pop("alias", called)
    if alias == "":
        raise ParameterError(f"the alias of {named} is empty; give it a name, or leave it out")
    for role in metric.roles:
        if role in arguments:
            if role in columns:
                raise ParameterError(f"{named} got {role} twice, by place and by name")
            columns[role] = arguments.pop(role)
    for key, value in arguments.items():
        if key not in metric.params:
            known = [*metric.params, *metric.roles]
            raise UnknownNameError.of(f"argument of {metric.name}", key, known)
        if key in in_name:
            raise ParameterError(
                f"{named} has its {key} in its name; leave out {key}, or name it {metric.name!r}"
            )
        if not isinstance(value, str | int | float):
            raise ParameterError(f"{key} of {metric.name} must be a single value, got {value!r}")
    return Call(metric, columns, {**preset, **in_name, **arguments}, alias)


def _placed(metric: Metric, columns: Sequence[str]) -> dict[str, str]:
    """The columns of roles, given by their place."""
    if len(columns) > len(metric.roles):
        raise ParameterError(
            f"{metric.name} takes {len(metric.roles)} columns ({', '.join(metric.roles)}), got "
            f"{len(columns)}: {', '.join(columns)}"
        )
    return dict(zip(metric.roles, columns, strict=False))


def _named(name: str, folder: Path) -> tuple[Metric, dict[str, Any], Mapping[str, Any], str | None]:
    """A metric, what its name says of its parameters, what a variant presets, and its own name."""
    if ":" not in name:
        return *parse(name), {}, None
    function = metric_at(name, folder)
    return function.metric, {}, function.preset, function.output_name


def spelled(text: str) -> dict[str, Any]:
    """A text as the entry that it is short for.

    >>> spelled("pass_at:correct,k=5")
    {'name': 'pass_at', ':columns': ['correct'], 'k': 5}
    """
    called, *arguments = text.split(",")
    name, *columns = called.split(":")
    if columns and not is_known(name):
        name, columns = f"{name}:{columns[0]}", columns[1:]
    if not all(columns):
        raise ParameterError(f"{text!r} names an empty column; write METRIC:COLUMN")
    entry: dict[str, Any] = {"name": name, **({_COLUMNS: columns} if columns else {})}
    for argument in arguments:
        key, equals, value = (part.strip() for part in argument.partition("="))
        if not (equals and key and value) or key in entry:
            raise ParameterError(
                f"metric {text!r}: {argument.strip()!r} is not KEY=VALUE, once for each key; write "
                "METRIC:COLUMN,KEY=VALUE, such as pass_at:correct,k=5"
            )
        entry[key] = _value(value)
    return entry


def _value(text: str) -> str | int | float | bool:
    """A number or truth value as such; what else is a text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def is_known(name: str) -> bool:
    """True if a metric is called so, by itself, as a variant or over units."""
    try:
        parse(name.partition(_PER)[0])
    except UnknownNameError:
        return False
    return True


def parse(name: str) -> tuple[Metric, dict[str, Any]]:
    """A metric and the parameters that the name of a variant spells out."""
    for metric in _candidates(name):
        if name == metric.name:
            return metric, {}
        if metric.label and (match := re.fullmatch(_pattern(metric.label), name)):
            return metric, {key: float(value) for key, value in match.groupdict().items()}
    raise UnknownNameError.of("metric", name, registered())


def listed(family: str | None) -> str:
    """All metrics as lines of text, or those of one family."""
    for name in FAMILIES:
        _ = family_named(name).metrics.value  # which declares them
    metrics = registered().values()
    known = {metric.family for metric in metrics}
    if family is not None and family not in known:
        raise UnknownNameError.of("family", family, known)
    rows = [("name", "family", "direction", "range", "roles")]
    for metric in metrics:
        if family in (None, metric.family):
            name, limits = metric.label or metric.name, "[{:g}, {:g}]".format(*metric.range)
            rows.append((name, metric.family, metric.direction, limits, ", ".join(metric.roles)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _candidates(name: str) -> Iterator[Metric]:
    """Public metrics by name, or by name without a number, before all others are loaded."""
    for each in (name, re.sub(r"_[-+.e\d]+$", "", name)):
        if each in ef.__all__:
            yield lookup(each)
    yield from registered().values()


def _pattern(label: str) -> str:
    """A regular expression for the names that a label can format."""
    parts = re.split(r"\{(\w+)\}", label)
    number = r"(?P<{}>\d*\.?\d+(?:[eE][+-]?\d+)?)"
    return "".join(
        number.format(part) if k % 2 else re.escape(part) for k, part in enumerate(parts)
    )
