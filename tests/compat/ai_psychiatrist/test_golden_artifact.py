"""The original's evaluation, end to end: run documents in, artifact out."""

import json

import pytest
from click.testing import CliRunner

from evalframe.jobs.cli import cli

FLAGS = {"--bootstrap-resamples": "--bootstrap"}
"""What the original calls otherwise."""


@pytest.fixture(scope="module")
def cases(golden):
    return golden("selective/cli_artifacts")


def command(case, golden, folder):
    """The golden case's command line, over its documents written into the folder."""
    arguments = ["selective"]
    for number, name in enumerate(case["inputs"]):
        path = folder / f"{number}-{name}.json"
        path.write_text(json.dumps(golden["runs"][name]))
        arguments += ["--from-run", str(path)]
    for mode in case["modes"]:
        arguments += ["--mode", mode]
    if case["calibration"]:
        path = folder / "calibration.json"
        path.write_text(json.dumps(golden["calibrations"][case["calibration"]]))
        arguments += ["--calibration", str(path)]
    extra = [FLAGS.get(argument, argument) for argument in case["extra_args"]]
    return [*arguments, *extra, "--artifact", str(folder / "out.json")]


def test_every_golden_run_is_reproduced(cases, tmp_path):
    assert len(cases["cases"]) >= 9
    for case in cases["cases"]:
        folder = tmp_path / case["id"]
        folder.mkdir()
        done = CliRunner().invoke(cli, command(case, cases, folder))
        written = folder / "out.json"
        if case["outcome"] != "exit" or case["exit_code"]:
            assert done.exit_code == case.get("exit_code", 1), (case["id"], done.output)
            assert "error" in done.output.lower(), case["id"]
            assert not written.exists(), case["id"]
            continue
        assert done.exit_code == 0, (case["id"], done.output)
        made = json.loads(written.read_text())
        assert made.pop("created_at").endswith("Z")
        for given in made["inputs"]:
            given.pop("path")
        differences = list(differ(case["artifact"], made, ""))
        assert not differences, (case["id"], differences[:10])


def differ(expected, made, place):
    """Where two documents differ, keys and their order included; numbers within 1e-12."""
    if isinstance(expected, dict) and isinstance(made, dict):
        if list(expected) != list(made):
            yield place, list(expected), list(made)
            return
        for key in expected:
            yield from differ(expected[key], made[key], f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(made, list) and len(expected) == len(made):
        for k, (a, b) in enumerate(zip(expected, made, strict=True)):
            yield from differ(a, b, f"{place}[{k}]")
    elif isinstance(expected, float) and isinstance(made, int | float):
        if abs(expected - made) > 1e-12 + 1e-10 * abs(expected):
            yield place, expected, made
    elif expected != made:
        yield place, expected, made
