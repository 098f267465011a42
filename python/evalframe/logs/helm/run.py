"""What a folder of HELM is a run of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError
from evalframe.logs.lines import as_json, as_text, inside

if TYPE_CHECKING:
    from evalframe.logs.reading import Log

SPEC = "run_spec.json"


def _spec(folder: Path) -> Mapping[str, Any]:
    """What was run."""
    path = folder / SPEC
    found = decoded(path.read_bytes(), str(path))
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise InputError(f"{path}: a run of HELM has a name; is it the right file?")
    return found


def facts(log: Log) -> dict[str, str | None]:
    """The columns that are the same in all rows of a run."""
    spec = _spec(log.path)
    name = as_text(spec["name"])
    deployment = inside(spec, "adapter_spec", "model_deployment")
    return {
        "log": log.name,
        "format": log.format,
        "run_id": name,
        "log_id": name,
        "task": str(name).partition(":")[0],
        "task_version": None,
        "model": as_text(inside(spec, "adapter_spec", "model")),
        "model_args": None if deployment is None else as_json(deployment),
        "dataset": as_text(inside(spec, "scenario_spec", "class_name")),
    }
