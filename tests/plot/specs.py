"""What is in the specification of a chart."""

import json

_LAST = []


def spec_of(chart):
    """The specification, which must be JSON; that of the last chart is kept."""
    if not _LAST or _LAST[0] is not chart:
        _LAST[:] = [chart, chart.to_dict()]
        json.dumps(_LAST[1], allow_nan=False)
    return _LAST[1]


def walk(node):
    """All dictionaries in a specification."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def marks(chart):
    """The types of marks, in order."""
    return [each["mark"]["type"] for each in walk(spec_of(chart)) if "mark" in each]


def rows(chart):
    """The rows of all tables that are drawn."""
    return [row for table in spec_of(chart)["datasets"].values() for row in table]


def axes(chart):
    """The titles of axes."""
    found = [e.get("title") or (e.get("axis") or {}).get("title") for e in walk(spec_of(chart))]
    return {title for title in found if isinstance(title, str)}


def domain(chart, channel="y"):
    """The labels of an axis, in order."""
    for each in walk(spec_of(chart)):
        if "scale" in each.get(channel, {}):
            return each[channel]["scale"]["domain"]
    return None


def told(chart):
    """The subtitle as one text."""
    return " ".join(chart.title.subtitle)
