"""What the declaration of a metric must say, and what its function's signature says of itself."""

from __future__ import annotations

import inspect
import string
from typing import TYPE_CHECKING, Any, get_args

from evalframe.core.errors import ParameterError, did_you_mean
from evalframe.core.state import WEIGHT
from evalframe.core.typing import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


def check_declaration(
    name: str,
    direction: Any,
    range: Any,
    labels: Sequence[str],
    label: str | None,
    roles: Collection[str],
    params: Collection[str],
) -> None:
    """Raise ParameterError if a declaration does not fit its function."""
    if not name or ":" in name or "<" in name:
        raise ParameterError(f"a metric cannot be named {name!r}; give it another, by name=...")
    if direction not in get_args(Direction) or not _ascends(range):
        raise ParameterError(
            f"metric {name}: direction must be one of {', '.join(get_args(Direction))} and "
            f"range ascending, got {direction!r} and {range!r}"
        )
    for role in labels:
        if role not in roles:
            raise ParameterError(
                f"metric {name}: labels names {role!r}, which is no role of it."
                f"{did_you_mean(role, roles)} Roles: {', '.join(roles)}"
            )
    for _, field, *_ in string.Formatter().parse(label or ""):
        if field is not None and field not in params:
            raise ParameterError(
                f"metric {name}: label {label!r} shows {field!r}, which is no parameter of it."
                f"{did_you_mean(field, params)} Parameters: {', '.join(params) or 'none'}"
            )


def signature(
    name: str, define: Callable[..., Any]
) -> tuple[dict[str, str | None], dict[str, Any]]:
    """The roles of a metric with default columns, and its parameters with defaults."""
    roles: dict[str, str | None] = {}
    params: dict[str, Any] = {}
    weighted = False
    for parameter in inspect.signature(define).parameters.values():
        if parameter.name == WEIGHT:
            weighted = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is None
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ParameterError(
                f"metric {name}: {str(parameter).partition(':')[0]} says neither how many columns "
                "there are nor what they mean; write each role and parameter out"
            )
        elif parameter.kind is parameter.KEYWORD_ONLY:
            params[parameter.name] = parameter.default
        elif parameter.default is None or isinstance(parameter.default, str):
            roles[parameter.name] = parameter.default
        else:
            raise ParameterError(
                f"metric {name}: role {parameter.name!r} needs its default column, such as "
                f'{parameter.name}="{parameter.name}"; a parameter of the metric, such as a '
                "number, comes behind the *"
            )
    if not roles:
        raise ParameterError(f'metric {name}: it needs a column, such as loss="loss", before the *')
    if not weighted:
        raise ParameterError(
            f"metric {name}: it needs the keyword-only parameter weight=None, such as "
            f'def {name}({next(iter(roles))}="{next(iter(roles))}", *, weight=None)'
        )
    return roles, params


def shown_name(label: str, params: Mapping[str, Any]) -> str:
    """The output name of a metric with these parameters.

    >>> shown_name("risk_at_{coverage}", {"coverage": 0.5})
    'risk_at_0.50'
    """
    return label.format_map({name: _shown(value) for name, value in params.items()})


def _shown(value: Any) -> str:
    """A parameter in names: two decimals, more only if they are needed."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if round(value, 2) == value else repr(value)


def _ascends(range: Any) -> bool:
    """True for a pair of numbers, the smaller first."""
    if not isinstance(range, tuple | list) or len(range) != 2:
        return False
    return all(isinstance(end, int | float) for end in range) and range[0] < range[1]
