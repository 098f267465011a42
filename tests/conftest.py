"""Fixtures of all tests, and how files are shared out among processes."""

import gc
import json
import os
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # processes share the cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from evalframe.core.metric import registered

settings.register_profile("patient", deadline=None)  # a busy machine breaks no law
settings.load_profile("patient")

registered()  # loads all metrics for the tests over the registry


LONG = ("engine", "test_laws.py", "test_tutorials.py", "test_typing.py", "README.md")


def pytest_configure(config):
    """End the run when a process dies: for another in its place, the scheduler waits forever."""
    if hasattr(config.option, "maxworkerrestart"):
        config.option.maxworkerrestart = "0"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than cores: some wait for programs that they began."""
    return os.cpu_count() + 1


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in the package only: these files have none."""
    return [node for node in (yield) if not isinstance(node, DoctestModule)]


def pytest_sessionfinish():
    """Look for garbage once, where pytest would ten times among millions of objects."""
    gc.collect()
    gc.freeze()


def place(item):
    """The place of a test in the run."""
    file = item.nodeid.partition("::")[0]
    return next((number for number, part in enumerate(LONG) if part in file), len(LONG))


def pytest_collection_modifyitems(items):
    """Begin with files that take long, or one process would wait for the other at the end."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give whole files to a process, for what their tests share, and all of engines to one."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # by number of tests

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "engines" if "engine" in file else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared():
    """The folder of golden values and real records, beside the repository."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(
            "golden values and real records are not here: no ../shared beside the repository"
        )
    return folder


@pytest.fixture(scope="session")
def golden(shared):
    """Read golden values, named as `selective/rc_curve`."""

    def read(name):
        return json.loads((shared / "golden" / f"{name}.json").read_text())

    return read
