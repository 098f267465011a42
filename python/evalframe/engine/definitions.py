"""What a state is a state of, as a short text: equal texts, equal sums of equal rows.

A definition is hashed by the binary form of its expressions, since their text hides data: a
literal Series prints `Series`, and 200 values of an `is_in` print as four. Of a metric of the
user's, that is what the author's function *returned*: so parameters, edits and what the function
closes over all count. A metric of this package is known by its name and parameters, and the package
by its version and its source, which also decides how rows are added up.

A Python function within an expression cannot be hashed: equal bytes may call what has changed.
Finishes are not part of a definition. They are computed anew from the sums.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import Bound

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.state import State
    from evalframe.core.tables import Keys

_PYTHON = re.compile(rb"PLPYFN|\xcc\x80[\x04\x05]\xcc\x95")
"""How Polars begins a Python function: by a mark, or (`fold`, `name.map`) as a list of the bytes
of a pickle, of which those above 127 stand behind 0xcc."""

_PLUGIN = b"FfiPlugin"
"""What it writes before a function of a compiled plugin, whose file may change."""


def definition(metrics: Sequence[AnyBound], keys: Keys, cluster: pl.Expr | None = None) -> str:
    """The digest of what is added up of rows.

    Args:
        metrics: The metrics, with columns, weights and parameters.
        keys: The group keys.
        cluster: The cluster whose sums are kept apart.

    Returns:
        32 hexadecimal digits, the same in every process.

    Raises:
        ParameterError: A column or a sum holds a Python function.

    Examples:
        >>> import evalframe as ef
        >>> from evalframe.core.tables import Keys
        >>> one, other = (definition([ef.risk_at(c).bound], Keys.of("mode")) for c in (0.5, 0.6))
        >>> len(one), one == other
        (32, False)
    """
    return digest(
        {
            "metrics": [_metric(metric) for metric in metrics],
            "keys": [
                [name, _expr(key, f"the key {name!r}")]
                for name, key in zip(keys.names, keys.exprs, strict=True)
            ],
            "cluster": None if cluster is None else _expr(cluster, "the cluster"),
        }
    )


def digest(plain: Any) -> str:
    """The digest of plain values."""
    return _hashed(json.dumps(plain).encode())


def recipe_of(plan: pl.LazyFrame, path: str) -> str:
    """The digest of how a plan of `shards_of` reads a file, wherever that lies.

    A plan that names the file otherwise than expected makes a renamed file a new one, no more.
    """
    return _hashed(plan.serialize().replace(_text(path), _text("")))


def further(recipe: str, step: Any) -> str:
    """The digest of a recipe with a further step: a function of this package, and its arguments.

    The function travels by its name, whose meaning the version and source of the package decide.
    """
    return _hashed(recipe.encode() + pickle.dumps(step))


def _text(text: str) -> bytes:
    """A text as it stands in the binary form of a plan, behind its length."""
    written = text.encode()
    length = len(written)
    if length < 32:
        return bytes([0xA0 | length]) + written
    return (bytes([0xD9, length]) if length < 256 else b"\xda" + length.to_bytes(2)) + written


def _hashed(written: bytes) -> str:
    return blake2b(written, digest_size=16).hexdigest()


@lru_cache
def program() -> dict[str, str]:
    """The versions of this package, with a digest of its source, and of Polars."""
    package = Path(__file__).parents[1]
    source = blake2b(digest_size=8)
    for file in sorted(package.rglob("*.py")) + sorted(package.rglob("*.toml")):
        source.update(file.relative_to(package).as_posix().encode())
        source.update(file.read_bytes())
    return {
        "evalframe": f"{version('evalframe')}+{source.hexdigest()}",
        "polars": pl.__version__,
    }


def _metric(metric: AnyBound) -> dict[str, Any]:
    """A metric as plain values; of a nested one the tree."""
    if isinstance(metric, Bound):
        return _applied(metric) | {
            "columns": _exprs(metric.columns.items(), metric.name),
            "state": None if _is_ours(metric) else _state(metric.state, metric.name),
        }
    then = metric.then
    roles = then.roles if then.weight is None else {**then.roles, "weight": then.weight}
    return {
        "name": metric.name,
        "unit": _exprs(metric.unit.items(), metric.name),
        "parts": {name: _metric(part) for name, part in metric.columns.items()},
        "weight": None if metric.weight is None else _metric(metric.weight),
        "then": _applied(then) | {"columns": _exprs(roles.items(), metric.name)},
        "fixed": metric.fixed,
        "given": metric.given,
    }


def _applied(metric: Bound) -> dict[str, Any]:
    return {"metric": metric.metric.name, "name": metric.name, "params": dict(metric.params)}


def _is_ours(metric: Bound) -> bool:
    return metric.metric.define.__module__.partition(".")[0] == "evalframe"


def _state(state: State, name: str) -> list[Any]:
    """What a state adds up; its terms and its finish read the sums only."""
    axes = [
        [
            _exprs([("level", axis.level), ("where", axis.where), *axis.sums.items()], name),
            axis.descending,
        ]
        for axis in state.axes
    ]
    return [_exprs(state.sums.items(), name), axes]


def _exprs(named: Iterable[tuple[str, pl.Expr]], metric: str) -> list[list[str]]:
    return [[name, _expr(expr, f"{name!r} of metric {metric!r}")] for name, expr in named]


def _expr(expr: pl.Expr, what: str) -> str:
    """The digest of an expression."""
    try:
        written = expr.meta.serialize()
    except pl.exceptions.ComputeError as error:
        raise ParameterError(f"{what} holds a value that cannot be kept ({error})") from error
    is_python = _PYTHON.search(written) is not None
    if is_python or _PLUGIN in written:
        raise ParameterError(
            f"{what} calls a {'Python function' if is_python else 'plugin'}, which may change "
            "unseen, so its states cannot be kept; add the column to the files first, or compute "
            "without a store"
        )
    return _hashed(written)
