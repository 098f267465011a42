"""Engines that tests share, since they take seconds to start, and workers that idle take time."""

from contextlib import ExitStack

import pytest

from evalframe.engine.opening import opened

_ENGINES = {}
_STACK = ExitStack()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem):
    """Close the engines behind the last test of this folder."""
    if nextitem is None or "tests/engine/" not in nextitem.nodeid:
        _ENGINES.clear()
        _STACK.close()


def started(name):
    """The engine of this name, which all tests of this folder share."""
    if name not in _ENGINES:
        _ENGINES[name] = _STACK.enter_context(opened(name))
    return _ENGINES[name]


@pytest.fixture
def dask_engine():
    """Dask on this machine; a test may kill its workers."""
    return started("dask")


@pytest.fixture
def ray_engine():
    """Ray on this machine, likewise."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'evalframe[ray]'")
    return started("ray")


@pytest.fixture
def process_engine():
    """Two processes."""
    return started("processes:2")


@pytest.fixture(params=["process_engine", "dask_engine", "ray_engine"])
def engine(request):
    """Each of them."""
    return request.getfixturevalue(request.param)
