"""The run that a file of samples of lm-evaluation-harness is of: the results beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError
from evalframe.logs.lines import count_of, inside

_NAME = re.compile(r"(?:samples_)?(.+?)(?:_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl")


@dataclass(frozen=True)
class Samples:
    """A file of samples, and what the results of its run say about it."""

    path: Path

    @cached_property
    def named(self) -> tuple[str, str | None]:
        """The task and the date of the run, as the name of the file says."""
        found = _NAME.fullmatch(self.path.name)
        return (found[1], found[2]) if found else (self.path.stem, None)

    @property
    def task(self) -> str:
        """The task."""
        return self.named[0]

    @cached_property
    def results_file(self) -> Path | None:
        """The results of the same date."""
        date = self.named[1]
        named = self.path.parent.glob(f"*_{date}.json") if date else ()
        found = sorted(path for path in named if path.is_file())
        first = self.path.with_name(f"results_{date}.json")
        return first if first in found else found[0] if found else None

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """The results of the run, empty if there are none."""
        if self.results_file is None:
            return {}
        found = decoded(self.results_file.read_bytes(), str(self.results_file))
        if not isinstance(found, dict) or not isinstance(found.get("results"), dict):
            raise InputError(
                f"{self.results_file}: no results of lm-evaluation-harness; is it the right file?"
            )
        return found

    def of_task(self, key: str) -> Any:
        """The entry of the task in a part of the results."""
        return inside(self.results, key, self.task)

    @property
    def delimiter(self) -> str:
        """What stands between a prompt and its choices."""
        found = inside(self.of_task("configs"), "target_delimiter")
        return found if isinstance(found, str) else " "

    @property
    def n_documents(self) -> int:
        """How many documents were evaluated; 0 if that is not said."""
        return count_of(inside(self.of_task("n-samples"), "effective"))

    @property
    def groups(self) -> list[str]:
        """The groups of which this is the first task that has samples in the folder."""
        groups = self.results.get("group_subtasks")
        here = {path.name for path in self.path.parent.glob("samples_*.jsonl")}
        found = []
        for group in groups if isinstance(groups, Mapping) else ():
            names = (f"samples_{task}_{self.named[1]}.jsonl" for task in self.tasks_of(group))
            if next((name for name in names if name in here), None) == self.path.name:
                found.append(group)
        return found

    def tasks_of(self, group: str) -> list[str]:
        """The tasks of a group, also those of groups in it."""
        found: dict[str, None] = {}
        open_ones, seen = [group], {group}
        while open_ones:
            parts = inside(self.results, "group_subtasks", open_ones.pop(0))
            named = (
                [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
            )
            for part in named:
                if inside(self.results, "group_subtasks", part):
                    open_ones += [part] * (part not in seen)
                    seen.add(part)
                else:
                    found[part] = None
        return [*found]
