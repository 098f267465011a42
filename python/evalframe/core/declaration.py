"""The declaration of a metric: checks, its signature, and the docstring that follows from it.

An author writes what is particular to a metric. Missing `Args` lines, and the dtype, name, range
and direction under `Returns`, are added here. A line that the author wrote always wins.
"""

from __future__ import annotations

import inspect
import math
import re
import string
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from evalframe.core.errors import ParameterError, did_you_mean
from evalframe.core.state import WEIGHT
from evalframe.core.typing import Direction

if TYPE_CHECKING:
    from evalframe.core.metric import Metric


_WEIGHT = "How often each row counts; null, negative and infinite weights are missing."

_ROLES: dict[str, dict[str, str]] = {
    "selective": {
        "loss": "Loss of each item, at least 0; null is an abstention.",
        "confidence": "Items are accepted from the highest confidence down; any scale. An item "
        "with a loss but no confidence (null or NaN) is left out and counted as missing.",
        "confidence of correct": "Stated probability of being correct, in [0, 1]. A row with any "
        "other value, null or NaN is left out and counted as missing.",
        "correct": "True if the item was answered correctly: Boolean, or a share in [0, 1]. A row "
        "without it is left out and counted as missing.",
        "prediction": "The prediction; null is an abstention.",
        "label": "The true value; a row without one is left out and counted as missing.",
        "score": "Higher speaks for the positive class; any scale.",
    },
    "rag": {
        "label": "Result of `evalframe.rag.label`; a response without one is left out and counted "
        "as missing.",
        "factlabel": "1 if the response flags errors in the documents, else 0; a response without "
        "it is left out and counted as missing.",
        "evaluation": "Text of the judge; a response without one is left out and counted as "
        "missing.",
    },
    "replication": {
        "x": "Effects of humans; a pair without one, or with an infinite one, is left out and "
        "counted as missing.",
        "y": "Effects of agents, missing in the same cases.",
        "pas": "PAS in [0, 1]; any other value, null or NaN is left out and counted as missing.",
    },
}
"""Standard texts of roles by family; `role of other` if the metric has that other role."""

_PARAMETERS = {
    "positive": "The positive class; all others are negative. Booleans are 1 and 0.",
    "bins": "Number of bins, at least 1.",
    "binning": "`equal_width` for bins over [0, 1], or `equal_mass` for bins of equally many "
    "items (items of equal confidence stay together).",
    "closed": "Closed end of a bin of equal width: `left` makes bins [lo, hi), the last one "
    "closed; `right` makes (lo, hi], with 0 in the first.",
    "coverage": "Share of the items, in (0, 1].",
    "convention": "As for `aurc`.",
    "convention of coverage": "Coverage as a share of all items (`trapezoid_total`), or of the "
    "predicted ones (`trapezoid_predicted`).",
}
"""Standard texts of parameters; `parameter of other` if the metric has that other parameter."""

_UNDEFINED = {
    "selective": {
        "loss": "0.0 or null in the same cases as `aurc`.",
        "prediction": "Null if nothing is predicted.",
        "correct": "Null without items.",
    },
}
"""Standard texts of when a result is null, by family and role."""

_DIRECTIONS = {
    "minimize": "lower is better",
    "maximize": "higher is better",
    "none": "neither direction is better",
}

_SECTION = re.compile(r"^(Args|Returns|Raises|References|Examples?):\n", re.MULTILINE)


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


def metric_docstring(metric: Metric) -> str:
    """Complete an author's docstring by the facts of the declaration."""
    body, parts = sections(inspect.getdoc(metric.define) or f"Metric `{metric.name}`.")
    written = entries(parts.pop("Args", ""))
    arguments = {name: _role(metric, name) for name in metric.roles} | {WEIGHT: _WEIGHT}
    arguments |= {
        name: _standard(_PARAMETERS, name, metric.params, "Parameter of the metric.")
        for name in metric.params
    }
    args = [
        written.get(name) or _wrapped(f"{name}: {text}", hanging=4)
        for name, text in arguments.items()
    ]
    undefined = _UNDEFINED.get(metric.family, {})
    null = next((text for role, text in undefined.items() if role in metric.roles), "")
    returned = f"{_facts(metric)} {_capitalised(parts.pop('Returns', null))}"
    known = {"Args": "\n".join(args), "Returns": _wrapped(returned, hanging=0)}
    return joined(body, known | parts)


def _role(metric: Metric, name: str) -> str:
    """The standard text of a role, with its default column if that has another name."""
    default = metric.roles[name]
    texts = _ROLES.get(metric.family, {})
    text = _standard(texts, name, metric.roles, "A column or an expression.")
    if default is None:
        return f"Optional. {text}"
    return text if default == name else f"{text} By default the column `{default}`."


def _standard(texts: Mapping[str, str], name: str, others: Collection[str], text: str) -> str:
    """The standard text of a role or parameter, or else the text given."""
    keys = (*(f"{name} of {other}" for other in others), name)
    return next((texts[key] for key in keys if key in texts), text)


def _facts(metric: Metric) -> str:
    """Dtype, name, range and direction of the result."""
    least, most = metric.range
    start = f"({least:g}" if math.isinf(least) else f"[{least:g}"
    end = f"{most:g})" if math.isinf(most) else f"{most:g}]"
    name = metric.label or metric.name
    return f"Float64 named `{name}`, in {start}, {end}; {_DIRECTIONS[metric.direction]}."


def _capitalised(returned: str) -> str:
    """The author's text on the result, without the dtype, as a sentence."""
    text = re.sub(r"^Float64( in [\[(][^])]*[\])])?[.,:;]? *", "", returned.strip())
    return text[:1].upper() + text[1:]


def joined(body: str, sections: Mapping[str, str]) -> str:
    """The docstring of a text and its sections by title."""
    parts = [body, *(f"{title}:\n{text.rstrip()}" for title, text in sections.items())]
    return "\n\n".join(parts) + "\n"


def sections(docstring: str) -> tuple[str, dict[str, str]]:
    """The text before the first section, and the sections by title."""
    body, *parts = _SECTION.split(docstring)
    return body.rstrip(), dict(zip(parts[::2], parts[1::2], strict=True))


def entries(text: str) -> dict[str, str]:
    """The entries of an `Args` section as written, by name."""
    entries = re.split(r"^(?=    \w)", text.rstrip(), flags=re.MULTILINE)
    return {e.strip().partition(":")[0]: e.rstrip() for e in entries if e.strip()}


def _wrapped(text: str, *, hanging: int) -> str:
    """The text as lines of a section."""
    rest = " " * (4 + hanging)
    text = " ".join(text.split())
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent=rest)
