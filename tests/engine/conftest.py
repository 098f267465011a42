"""Engines that tests share, since they take seconds to start."""

import pytest

from evalframe.engine.opening import opened


@pytest.fixture(scope="session")
def dask_engine():
    """Dask on this machine; a test may kill its workers."""
    with opened("dask") as engine:
        yield engine


@pytest.fixture(scope="session")
def ray_engine():
    """Ray on this machine, likewise."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'evalframe[ray]'")
    with opened("ray") as engine:
        yield engine


@pytest.fixture(scope="session")
def process_engine():
    """Two processes."""
    with opened("processes:2") as engine:
        yield engine


@pytest.fixture(params=["process_engine", "dask_engine", "ray_engine"])
def engine(request):
    """Each of them."""
    return request.getfixturevalue(request.param)
