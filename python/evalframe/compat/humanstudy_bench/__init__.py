"""HumanStudy-Bench (HEAD of February 2026): its files, its numbers, and its legacy quantities."""

from evalframe.compat.adaptors import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
