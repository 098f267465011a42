"""Robustness of retrieval-augmented generation: labels of responses, and the rates they give.

Groups and aliases: an answer is a list of groups, each a list of aliases. Every group is required,
and any of its aliases suffices.
"""

from evalframe.rag.abilities import ability, accuracy_drop, published_table
from evalframe.rag.labels import label
from evalframe.rag.rates import rates

__all__ = ["ability", "accuracy_drop", "label", "published_table", "rates"]
