"""The laws of metrics, for the tests of those who write their own."""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
