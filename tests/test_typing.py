"""Types of the public surface, as a type checker of a user sees them."""

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "typing"
# Half of what a check takes is to read these, none of which the files name.
SETTINGS = """
[mypy]
strict = True
[mypy-ray.*,dask.*,distributed.*,IPython.*,great_tables.*,hypothesis.*,altair.*]
follow_imports = skip
"""


@pytest.fixture
def found(tmp_path_factory):
    """The codes of the complaints of `mypy --strict`, by file and line."""
    mypy = pytest.importorskip("mypy.api")
    folder = tmp_path_factory.mktemp("mypy")
    files = [str(FILES / name) for name in ("accepted.py", "refused.py")]
    (folder / "settings.ini").write_text(SETTINGS)
    options = [
        f"--config-file={folder}/settings.ini",
        f"--cache-dir={folder}",
        "--no-error-summary",
    ]
    deepest = sys.getrecursionlimit()
    shown, failure, _ = mypy.run([*options, f"--python-executable={sys.executable}", *files])
    sys.setrecursionlimit(deepest)  # mypy raises it so far that deep JSON overflows the stack
    assert not failure, failure
    codes = defaultdict(set)
    for line in shown.splitlines():
        if told := re.fullmatch(r"(.*):(\d+): error: .*\[([\w-]+)\]", line):
            codes[Path(told[1]).name, int(told[2])].add(told[3])
        else:
            assert ": note: " in line, line
    return codes


def test_what_users_write_is_accepted_and_mistakes_are_refused_each_for_its_reason(found):
    lines = (FILES / "refused.py").read_text().splitlines()
    marked = {
        ("refused.py", number): set(line.partition("# error: ")[2].split(", "))
        for number, line in enumerate(lines, 1)
        if "# error: " in line
    }
    assert len(marked) > 50
    assert found == marked
