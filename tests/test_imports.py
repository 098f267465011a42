"""The order of the rooms (design section 2), and what `import evalframe` may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalframe

PACKAGE = Path(evalframe.__file__).parent

VERBS = {"evaluate", "compare"}
FAMILY = {"core", "resample", *VERBS}
MAY_IMPORT = {
    "core": set(),
    "resample": {"core"},
    "evaluate": {"core", "resample"},
    "compare": {"core", "resample", "evaluate"},
    "selective": FAMILY,
    "replication": FAMILY,
    "survey": FAMILY,
    "rag": FAMILY,
    "engine": {"core"},
    "jobs": {*FAMILY, "selective", "replication", "survey", "rag", "engine", "report"},
    "report": set(),
    "testing": FAMILY,
    "__init__": {*FAMILY, "selective", "replication", "survey", "rag"},
}


def rooms_imported(path):
    """Rooms of this package that a file imports anywhere, with the line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"relative import in {path.name}:{node.lineno}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "evalframe":
                yield rest.partition(".")[0], node.lineno


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(f.relative_to(PACKAGE)) for f in FILES])
def test_rooms_import_only_what_stands_above_them(path):
    parts = path.relative_to(PACKAGE).parts
    room = parts[0].removesuffix(".py")
    allowed = MAY_IMPORT[room] | ({room} if len(parts) > 1 else set())
    for other, line in rooms_imported(path):
        assert other in allowed, (
            f"{'/'.join(parts)}:{line}: {room} must not import {other or 'all'}"
        )


def loaded_by(code):
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in shown.stdout.split()}


HEAVY = {"numpy", "scipy", "pyarrow", "click", "msgspec", "altair", "matplotlib", "pandas", "dask"}


def test_import_loads_polars_and_nothing_heavy():
    loaded = loaded_by("import evalframe")
    assert "polars" in loaded
    assert not loaded & HEAVY


def test_an_expression_is_made_without_numpy():
    made = "import evalframe as ef; ef.aurc(); ef.metric_set(ef.coverage, ef.risk_at(0.5))"
    assert not loaded_by(made) & HEAVY
