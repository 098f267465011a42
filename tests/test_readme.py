"""The README and the reference texts. Their examples run as doctests."""

import inspect
import re
from pathlib import Path

import pytest

import evalframe as ef
from evalframe.core.errors import UnknownNameError
from evalframe.core.metric import registered
from evalframe.reference_texts import topics

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short():
    before_changes = README.split("\n## Changes\n")[0]
    assert len(before_changes.splitlines()) <= 250


def test_every_topic_is_explained_and_listed():
    for topic, title in topics().items():
        assert ef.explain(topic).startswith(f"# {title}\n")
        assert f"* `{topic}`: {title}" in ef.explain()
        assert f"`{topic}`" in README


def test_the_table_of_metrics_is_the_registry():
    ours = [metric for metric in registered().values() if metric.family != "user"]
    for metric, line in zip(ours, ef.explain("metrics").splitlines()[4:], strict=True):
        assert line.startswith(f"| `{metric.label or metric.name}` | {metric.family} |")
    assert "| `aurc` | selective | lower | [0, inf] | loss, confidence |" in ef.explain("metrics")


def test_a_public_name_is_explained_and_another_refused_with_a_hint():
    assert ef.explain("aurc").startswith("# aurc\n\nArea under the risk-coverage curve")
    with pytest.raises(UnknownNameError, match=r"'aucr'.*Did you mean 'aurc'"):
        ef.explain("aucr")
    assert repr(ef.explain("jobs")) == ef.explain("jobs") == ef.explain("jobs")._repr_markdown_()


def test_ci_runs_the_test_command_of_the_readme():
    command = README.split("```sh\n")[1].split("```")[0].splitlines()[1]
    ci = ROOT / ".ci" / "run"
    if not ci.exists():
        pytest.skip("an installed copy has no .ci/run")
    assert command.removeprefix(".venv/bin/") in ci.read_text(encoding="utf-8")


def test_every_adaptor_has_a_row_that_says_what_differs():
    text = ef.explain("differences")
    for program, family in ef.compat.PROGRAMS.items():
        room, sound = getattr(ef.compat, program), getattr(ef, family)
        for name in {*room.__all__} & {*sound.__all__}:
            row = re.search(rf"\| `{program}\.{name}` \| (.+) \|\n", text)
            assert row, name
            assert row[1] != inspect.getdoc(getattr(sound, name)).split("\n\n")[0], name
