"""Public names of `evalframe.engine`, each with its module."""

from evalframe.engine import dask as dask, ray as ray, spark as spark
from evalframe.engine.frames import header as header
from evalframe.engine.opening import on as on

__all__: list[str]
