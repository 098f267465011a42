"""Run documents for tests: whole ones, and such with one value changed."""

import copy
import json

import pytest

from evalframe.selective.total_score import ITEM_NAMES

NAMES = list(ITEM_NAMES)


def entry(participant=301, success=True, **signals):
    """A successful entry: every item predicted 1, true 2, with the same signals."""
    return {
        "participant_id": participant,
        "success": success,
        "ground_truth_items": dict.fromkeys(NAMES, 2),
        "predicted_items": dict.fromkeys(NAMES, 1),
        "item_signals": {name: dict(signals) for name in NAMES},
    }


def document(*entries, mode="few_shot"):
    results = {"mode": mode, "results": list(entries)}
    return {"experiments": [{"provenance": {"mode": mode}, "results": results}]}


def changed(*path, value, **signals):
    """A document of one entry in which one value is another one."""
    changed = entry(**signals)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document(changed)


def as_bytes(plain):
    return json.dumps(plain).encode()


EACH_WAY = pytest.mark.parametrize("given", [copy.copy, as_bytes], ids=["decoded", "bytes"])
"""A decoded document is checked piece by piece, bytes by types: one outcome."""
