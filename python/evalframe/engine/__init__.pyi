"""Public names of `evalframe.engine`, each with its module."""

from evalframe.engine.opening import on as on

__all__: list[str]
