"""Metrics by name: the decorator that declares one, what a call of one returns, the registry."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import polars as pl

from evalframe.core.declaration import check_declaration, metric_docstring, shown_name, signature
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.expression import curve, sums
from evalframe.core.rows import as_expr, spread_literals
from evalframe.core.soundness import check, complete
from evalframe.core.state import ONE, WEIGHT, State
from evalframe.core.typing import Direction, IntoExpr

if TYPE_CHECKING:
    from evalframe.core.per import Per

P = ParamSpec("P")
P_co = ParamSpec("P_co")
Part = TypeVar("Part", bound=Callable[..., Any])

_REGISTRY: dict[str, Metric] = {}


@dataclass(frozen=True)
class Metric:
    """A metric's definition and what is known about it.

    Attributes:
        name: The field's term, and the registered name.
        define: From role expressions and parameters to the state, or to a metric of units.
        direction: Which way is better.
        range: Smallest and largest possible value.
        roles: Role names with their canonical default columns; None marks an optional role.
        labels: Roles of any dtype; all other roles are numbers and cast to Float64.
        params: Parameter names with their defaults (`inspect.Parameter.empty` if there is none).
        family: Where it belongs.
        label: Format of the output name from the parameters.
        summary: First line of the docstring.
        checked: Choices of roles and parameters for which the author's state was looked at.
    """

    name: str
    define: Callable[..., Any]
    direction: Direction
    range: tuple[float, float]
    roles: Mapping[str, str | None]
    labels: frozenset[str]
    params: Mapping[str, Any]
    family: str = "user"
    label: str | None = None
    summary: str = ""
    checked: set[tuple[Any, ...]] = field(default_factory=set, repr=False, compare=False)

    def bind(
        self,
        roles: Sequence[IntoExpr | None] = (),
        named_roles: Mapping[str, IntoExpr | None] | None = None,
        weight: IntoExpr | None = None,
        params: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> MetricExpr:
        """The metric of these columns, as an expression that remembers its definition."""
        given = {**dict(zip(self.roles, roles, strict=False)), **(named_roles or {})}
        chosen = {**self.roles, **given}
        columns = {role: as_expr(col) for role, col in chosen.items() if col is not None}
        params = dict(self.params) | dict(params or {})
        if missing := [key for key, value in params.items() if value is inspect.Parameter.empty]:
            raise ParameterError(f"{self.name} needs a value for {', '.join(missing)}")
        for key, value in params.items():
            if not isinstance(value, str | int | float | bool | None):
                raise ParameterError(f"{self.name}: {key} must be a plain value, got {value!r}")
        weight = None if weight is None or weight is ONE else as_expr(weight)
        name = name or self.named(params)
        if (*columns, *params.items()) not in self.checked:  # then it is a metric of rows
            made = self._defined(columns if weight is None else {**columns, WEIGHT: weight}, params)
            if isinstance(made, MetricExpr):
                return made.alias(name)
        return MetricExpr.of(Bound(self, columns, weight, params, name))

    def named(self, params: Mapping[str, Any]) -> str:
        """The output name of this metric with these parameters."""
        return shown_name(self.label, params) if self.label else self.name

    def state(self, columns: Mapping[str, pl.Expr], params: Mapping[str, Any]) -> State:
        """The sound state over these columns: roles, and `weight` if given."""
        self._check([role for role in columns if role != WEIGHT], params)
        return complete(self._defined(columns, params), columns, self.labels)

    def _defined(self, columns: Mapping[str, pl.Expr], params: Mapping[str, Any]) -> Any:
        return self.define(**{**dict.fromkeys(self.roles), WEIGHT: ONE, **columns}, **params)

    def _check(self, roles: Sequence[str], params: Mapping[str, Any]) -> None:
        """Check the author's state, once for each choice of roles and parameters."""
        choice = (*roles, *params.items())
        if choice in self.checked:
            return
        columns = {name: pl.col(name) for name in (*roles, WEIGHT)}
        check(self.name, self._defined(columns, params), roles)
        self.checked.add(choice)


@dataclass(frozen=True)
class Bound:
    """A metric with its columns, weight and parameters."""

    metric: Metric
    roles: Mapping[str, pl.Expr]
    weight: pl.Expr | None
    params: Mapping[str, Any]
    name: str

    @functools.cached_property
    def columns(self) -> dict[str, pl.Expr]:
        """The row-level expressions of the roles under their canonical names and dtypes."""
        columns = {**self.roles} if self.weight is None else {**self.roles, WEIGHT: self.weight}
        return {
            name: (expr if name in self.metric.labels else expr.cast(pl.Float64)).alias(name)
            for name, expr in spread_literals(columns).items()
        }

    @functools.cached_property
    def state(self) -> State:
        """The state over columns named as the roles are."""
        return self.metric.state({name: pl.col(name) for name in self.columns}, self.params)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.metric.range

    @property
    def expr(self) -> pl.Expr:
        """The metric as one expression over the user's columns."""
        if self.state.axes:
            return curve(self.columns, self.state).alias(self.name)
        exprs = [expr for expr in (*self.roles.values(), self.weight) if expr is not None]
        if all(expr.meta.is_column() or expr.meta.is_literal() for expr in exprs):
            return sums(self.metric.state(self.columns, self.params)).alias(self.name)
        fields = {name: pl.field(name) for name in self.columns}
        return sums(self.metric.state(fields, self.params), self.columns).alias(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        # By name, since decorated functions and what a state closes over cannot be pickled.
        again = functools.partial(
            _again,
            self.metric.define.__module__,
            self.metric.name,
            roles={**dict.fromkeys(self.metric.roles), **self.roles},  # None leaves one out
            weight=self.weight,
            params=self.params,
            alias=self.name,
        )
        return again, ()

    def reweighted(self, weight: IntoExpr) -> MetricExpr:
        """The same metric with each row counted `weight` times as much."""
        weight = as_expr(weight)
        product = weight if self.weight is None else self.weight * weight
        return MetricExpr.of(replace(self, weight=product))


class MetricExpr(pl.Expr):
    """A Polars expression that remembers which metric it is, also under `.alias`."""

    bound: Bound | Per

    @classmethod
    def of(cls, bound: Bound | Per) -> MetricExpr:
        """The expression of a bound metric."""
        self = cast("MetricExpr", cls._from_pyexpr(bound.expr._pyexpr))
        self.bound = bound
        return self

    @property
    def metric(self) -> Metric:
        """The definition and its metadata."""
        return self.bound.metric

    def alias(self, name: str) -> MetricExpr:
        """The same metric under another output name."""
        return MetricExpr.of(replace(self.bound, name=name))

    def __reduce__(self) -> tuple[Any, ...]:
        return MetricExpr.of, (self.bound,)


class MetricFunction(Protocol[P_co]):
    """A declared metric: a function with metadata."""

    @property
    def metric(self) -> Metric:
        """The definition."""

    @property
    def preset(self) -> Mapping[str, Any]:
        """Parameters that a variant sets."""

    @property
    def output_name(self) -> str | None:
        """The name of a variant."""

    def __call__(self, *args: P_co.args, **kwargs: P_co.kwargs) -> MetricExpr:
        """The metric of these columns, as an expression."""


def metric(
    *,
    direction: Direction,
    range: tuple[float, float],
    family: str = "user",
    name: str | None = None,
    labels: Sequence[str] = (),
    label: str | None = None,
) -> Callable[[Callable[P, State | MetricExpr]], MetricFunction[P]]:
    """Declare a metric: decorate a function from role expressions to a `State`.

    Positional parameters are the roles, each with its default column, or None if it can be left
    out. `weight` is the weight of a row; other keyword-only parameters are those of the metric.
    Roles arrive as Float64, those in `labels` as they are. A name is registered once; the module
    that did may register it again, as a notebook does.

    The state is checked at the first call: every sum is an expression of one row, of roles only,
    multiplied by the weight; terms and finish are elementwise. In place of a state, another metric
    of the roles and the weight, such as `ef.per(...)`, gets a name. Annotate roles and weight as
    `ef.Role` for type checkers. `Args` that the docstring lacks are added.

    Args:
        direction: Which way is better.
        range: Smallest and largest possible value.
        family: Where the metric belongs in listings.
        name: The metric's name; by default that of the function.
        labels: Roles of any dtype.
        label: Format of the output name from the parameters, such as `"risk_at_{coverage}"`.

    Returns:
        A function of the same signature, from column names or expressions to a `pl.Expr`.

    Raises:
        ParameterError: The name is taken or cannot be one, there is no role or one without a
            default column, `weight=None` is not among the keyword-only parameters, the direction or
            the range is not valid, `labels` names no role, or `label` shows no parameter.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> @ef.metric(direction="maximize", range=(0, 1))
        ... def hit_rate(hit="hit", *, weight=None):
        ...     return ef.State(
        ...         sums={"hits": weight * hit, "rows": weight},
        ...         finish=lambda t: ef.ratio(t.hits, t.rows),
        ...     )
        >>> pl.DataFrame({"hit": [1, 0, 1, None]}).select(hit_rate()).item()
        0.6666666666666666
    """

    def declare(define: Callable[P, State | MetricExpr]) -> MetricFunction[P]:
        called = name or define.__name__
        roles, params = signature(called, define)
        check_declaration(called, direction, range, labels, label, roles, params)
        declared = Metric(
            name=called,
            define=define,
            direction=direction,
            range=range,
            roles=roles,
            labels=frozenset(labels),
            params=params,
            family=family,
            label=label,
            summary=(inspect.getdoc(define) or "").partition("\n")[0],
        )
        if not (define.__module__ or "").startswith("evalframe."):
            _load_public(called)
        registered_one = _REGISTRY.get(called)
        if registered_one is not None and registered_one.define.__module__ != define.__module__:
            module = registered_one.define.__module__
            raise ParameterError(f"metric {called!r} is registered by {module}; rename yours")
        _REGISTRY[called] = declared
        return function_of(declared, {}, None, define)

    return declare


def sharing(
    state: Callable[Concatenate[Part, P], State],
    *,
    direction: Direction,
    range: tuple[float, float],
    family: str,
    labels: Sequence[str] = (),
) -> Callable[[Part], MetricFunction[P]]:
    """Declare one of several metrics of the same roles and parameters.

    `state` has these, behind the part in which the metrics differ: the decorated function.
    """

    def declare(part: Part) -> MetricFunction[P]:
        @functools.wraps(part)
        def define(*args: P.args, **kwargs: P.kwargs) -> State:
            return state(part, *args, **kwargs)

        _, *shared = inspect.signature(state).parameters.values()
        define.__dict__["__signature__"] = inspect.Signature(shared, return_annotation="State")
        declared = metric(direction=direction, range=range, family=family, labels=labels)
        return declared(define)

    return declare


def function_of(
    metric: Metric, preset: Mapping[str, Any], name: str | None, like: Callable[..., Any]
) -> MetricFunction[Any]:
    """A metric as a function of columns, with some parameters set and perhaps renamed."""

    @functools.wraps(like)
    def call(
        *roles: IntoExpr | None, weight: IntoExpr | None = None, **keywords: Any
    ) -> MetricExpr:
        if len(roles) > len(metric.roles):
            raise ParameterError(
                f"{metric.name} takes {len(metric.roles)} columns ({', '.join(metric.roles)}), "
                f"got {len(roles)}"
            )
        if twice := sorted(set(keywords) & set(list(metric.roles)[: len(roles)])):
            raise ParameterError(f"{metric.name} got {twice[0]!r} twice, by place and by name")
        if unknown := sorted(set(keywords) - set(metric.roles) - set(metric.params)):
            raise ParameterError(
                f"{metric.name} has no argument {', '.join(unknown)}; roles: "
                f"{list(metric.roles)}, parameters: {list(metric.params)}"
            )
        named = {role: keywords.pop(role) for role in list(keywords) if role in metric.roles}
        return metric.bind(roles, named, weight, {**preset, **keywords}, name)

    function: Any = call
    if like is metric.define:
        function.__doc__ = metric_docstring(metric)
    function.metric = metric
    function.preset = dict(preset)
    function.output_name = name
    return cast("MetricFunction[Any]", function)


def registered() -> dict[str, Metric]:
    """All declared metrics by name, in the order of their declaration."""
    for name in importlib.import_module("evalframe").__all__:
        _load_public(name)
    return dict(_REGISTRY)


def lookup(name: str) -> Metric:
    """The metric of this name; UnknownNameError names the nearest."""
    _load_public(name)
    if name not in _REGISTRY:
        error = UnknownNameError.of("metric", name, registered())
        raise UnknownNameError(
            f"{error}. One of your own is known when its module has been imported"
        )
    return _REGISTRY[name]


def _load_public(name: str) -> None:
    """Import the module of a public metric, which registers it."""
    package = importlib.import_module("evalframe")  # by name: core imports no family
    if name not in _REGISTRY and name in package.__all__:
        getattr(package, name)


def _again(module: str, name: str, **arguments: Any) -> Bound | Per:
    """A pickled metric, whose module is imported first in another process."""
    if name not in _REGISTRY and module != "__main__":
        importlib.import_module(module)
    return make(name, **arguments).bound


def make(
    name: str,
    *,
    roles: Mapping[str, IntoExpr | None] | None = None,
    weight: IntoExpr | None = None,
    params: Mapping[str, Any] | None = None,
    alias: str | None = None,
) -> MetricExpr:
    """A metric from its registered name, as a job file names it."""
    return lookup(name).bind((), roles, weight, params, alias)
