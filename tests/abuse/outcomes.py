"""How a call may end: with a right result, or with an error of ours that can be read.

`EVALFRAME_ABUSE` is how many broken inputs each reader and contract gets, `EVALFRAME_ABUSE_SEED`
the first seed.
"""

import math
import os
import time

from evalframe.core.documents import is_whole
from evalframe.core.errors import EvalframeError

N = int(os.environ.get("EVALFRAME_ABUSE", "15"))
SEED = int(os.environ.get("EVALFRAME_ABUSE_SEED", "0"))

LONGEST = 10_000
"""Characters of a message that can still be read."""
SLOWEST = 30.0
"""Seconds after which a call hangs; it takes milliseconds."""


def outcome(call, name=""):
    """What is wrong with how a call ends, or None; and its result, None if it raises.

    Args:
        call: The call.
        name: What an error must name.
    """
    start = time.monotonic()
    try:
        found = call()
    except EvalframeError as error:
        return _complaint(str(error), name), None
    except BaseException as error:
        return f"{type(error).__name__}: {error!s:.300}", None
    seconds = time.monotonic() - start
    return (f"{seconds:.0f} seconds" if seconds > SLOWEST else None), found


def _complaint(told, name):
    if len(told) > LONGEST or not is_whole(told):
        return f"a message of {len(told):,} characters: {told!a:.300}"
    return None if name in told else f"a message without {name}: {told}"


def difference(found, truth):
    """The first place where two values differ, whatever the types of equal numbers."""
    kinds = (list, tuple)
    if isinstance(found, kinds) and isinstance(truth, kinds) and len(found) == len(truth):
        return next(filter(None, map(difference, found, truth)), None)
    if isinstance(found, dict) and isinstance(truth, dict) and found.keys() == truth.keys():
        return difference([*found.values()], [truth[key] for key in found])
    return None if _same(found, truth) else f"read as {found!r:.300}, but is {truth!r:.300}"


def _same(found, truth):
    if isinstance(found, bool) is not isinstance(truth, bool):
        return False
    if isinstance(found, float) and isinstance(truth, int | float):
        truth = float(truth)
        return found == truth or (math.isnan(found) and math.isnan(truth))
    return bool(found == truth)
