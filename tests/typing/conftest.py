"""These files are type-checked by `tests/test_typing.py`, never imported."""

from __future__ import annotations

collect_ignore = ["accepted.py", "refused.py"]
