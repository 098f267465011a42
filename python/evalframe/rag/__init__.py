"""Robustness of retrieval-augmented generation: labels of responses, and their rates.

An answer is a list of groups, each a list of aliases. Every group is required; any of its aliases
suffices.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
