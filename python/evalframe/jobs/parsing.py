"""Jobs from TOML or from flags, with errors that name the entry."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from evalframe.core.errors import EvalframeError, InputError, UnknownNameError
from evalframe.jobs.rag.job import (
    ANSWER_TEXTS,
    DROPPED,
    FLAT_ANSWERS,
    MODES,
    RATE_INTERVALS,
    RagJob,
)
from evalframe.jobs.replication.job import (
    FINDING_KEYS,
    FINDING_RULES,
    MISSING_AGENT,
    STUDY_RULES,
    ReplicationJob,
)
from evalframe.jobs.selective.job import LOSSES, Loss, SelectiveJob
from evalframe.jobs.settings import DRAWS, INTERVALS, ON_INVALID, Bootstrap
from evalframe.jobs.survey.job import (
    AMOUNTS,
    BASELINES,
    METRIC_NAMES,
    RULES,
    VERSIONS,
    WEIGHTINGS,
    SurveyJob,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Job: TypeAlias = SelectiveJob | RagJob | SurveyJob | ReplicationJob

FAMILIES: dict[str, type[Job]] = {
    "selective": SelectiveJob,
    "rag": RagJob,
    "survey": SurveyJob,
    "replication": ReplicationJob,
}


def load(path: Path) -> Job:
    """The job of a TOML file.

    Raises:
        InputError: The file is missing, not TOML, or says something that a job does not know.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"no job file {str(path)!r}") from None
    except RecursionError:
        raise InputError(f"{path} is not a TOML job file: it is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a TOML job file: {error}") from None
    return parse(document)


def parse(document: Mapping[str, Any]) -> Job:
    """The job that a document describes: what a TOML file holds, or flags amount to.

    `bootstrap = 200` is short for `bootstrap = { n = 200 }`.

    Raises:
        InputError: A name that a job does not know, or a value of the wrong type.
        UnknownNameError: A choice that does not exist.

    Example:
        >>> job = parse({"family": "selective", "items": ["items.parquet"], "by": ["model"]})
        >>> job.by, job.loss, job.bootstrap
        (('model',), None, None)
        >>> parse({"family": "selective", "items": ["items.parquet"], "bootstrap": {"n": "10"}})
        Traceback (most recent call last):
        evalframe.core.errors.InputError: bootstrap.n must be a whole number, got a text
    """
    if "family" not in document:
        raise InputError(f"a job names its family, one of: {', '.join(FAMILIES)}")
    if type(n := document.get("bootstrap")) is int:
        document = {**document, "bootstrap": {"n": n}}
    try:
        job: Job = msgspec.convert(document, SelectiveJob | RagJob | SurveyJob | ReplicationJob)
        return job
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, EvalframeError):
            raise error.__cause__ from None
        raise _explained(str(error), document["family"]) from None


_TABLES = {"$.loss": Loss, "$.bootstrap": Bootstrap}
_CHOICES = {
    "$.family": tuple(FAMILIES),
    "$.loss.name": LOSSES,
    "$.bootstrap.interval": INTERVALS,
    "$.bootstrap.draws": DRAWS,
    "$.on_invalid": ON_INVALID,
    "$.mode": MODES,
    "$.dropped": DROPPED,
    "$.intervals": RATE_INTERVALS,
    "$.answers": ANSWER_TEXTS,
    "$.flat_answers": FLAT_ANSWERS,
    "$.metric": METRIC_NAMES,
    "$.rules": RULES,
    "$.weighting": WEIGHTINGS,
    "$.baselines": BASELINES,
    "$.versions": VERSIONS,
    "$.context": AMOUNTS,
    "$.finding_rule": FINDING_RULES,
    "$.study_rule": STUDY_RULES,
    "$.finding_key": FINDING_KEYS,
    "$.missing_agent": MISSING_AGENT,
}


_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "datetime": "a date with a time",
    "date": "a date",
    "time": "a time",
    "list": "a list",
    "dict": "a table",
    "NoneType": "nothing",
}
"""What msgspec calls the kinds of values, in words."""


def _explained(message: str, family: str) -> EvalframeError:
    """What msgspec found, with the names that would have been allowed."""
    what, _, place = message.partition(" - at ")
    place = place.strip("`") or "$"
    table = place.removeprefix("$").removeprefix(".") or "job"
    if found := re.fullmatch(r"(?s)Object contains unknown field `(.*)`", what):
        fields = _TABLES.get(place, FAMILIES[family]).__struct_fields__
        return UnknownNameError.of(f"entry of {table}", found[1], fields)
    if found := re.fullmatch(r"Object missing required field `(.*)`", what):
        return InputError(f"{table} lacks its entry {found[1]!r}")
    if found := re.fullmatch(r"(?s)Invalid (?:enum )?value '(.*)'", what):
        entry = re.sub(r"\[.*\]$", "", place)
        return UnknownNameError.of(entry.removeprefix("$."), found[1], _CHOICES[entry])
    if found := re.fullmatch(r"Expected `(.*)`, got `(.*)`", what):
        wanted = [_WORDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
        entry = table.replace("[...]", ": each")
        if entry == "bootstrap":
            wanted.insert(0, "a number of resamples")
        got = _WORDS.get(found[2], found[2])
        return InputError(f"{entry} must be {' or '.join(wanted)}, got {got}")
    return InputError(f"{table}: {what}")
