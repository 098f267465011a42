"""Robustness of retrieval-augmented generation: labels of responses, and their rates.

An answer is a list of groups, each a list of aliases. Every group is required; any of its aliases
suffices.
"""

from evalframe.rag.abilities import ability, accuracy_drop, published_table
from evalframe.rag.answers import (
    aliases,
    aliases_from_json,
    answer_groups,
    answers_from_json,
    answers_from_text,
)
from evalframe.rag.contract import instances_contract, responses_contract
from evalframe.rag.documents import (
    document_counts,
    prompts,
    read_responses,
    select_documents,
    write_prompts,
)
from evalframe.rag.joining import attach_answers, union_labels
from evalframe.rag.labels import label
from evalframe.rag.languages import Language
from evalframe.rag.rates import rates

__all__ = [
    "Language",
    "ability",
    "accuracy_drop",
    "aliases",
    "aliases_from_json",
    "answer_groups",
    "answers_from_json",
    "answers_from_text",
    "attach_answers",
    "document_counts",
    "instances_contract",
    "label",
    "prompts",
    "published_table",
    "rates",
    "read_responses",
    "responses_contract",
    "select_documents",
    "union_labels",
    "write_prompts",
]
