"""Robustness of retrieval-augmented generation: labels of responses.

Groups and aliases: an answer is a list of groups, each a list of aliases. Every group is required,
and any of its aliases suffices.
"""

from evalframe.rag.labels import label

__all__ = ["label"]
