"""dtef-app: surveys, run results, and its numbers where they differ."""

from evalframe.compat.adaptors import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
