"""Public names of `evalframe.rag`, each with its module."""

from evalframe.rag.abilities import (
    ability as ability,
    accuracy_drop as accuracy_drop,
    published_table as published_table,
)
from evalframe.rag.answers import (
    aliases as aliases,
    aliases_from_json as aliases_from_json,
    answer_groups as answer_groups,
    answers_from_json as answers_from_json,
    answers_from_text as answers_from_text,
)
from evalframe.rag.contract import (
    instances_contract as instances_contract,
    responses_contract as responses_contract,
)
from evalframe.rag.counting import rates as rates
from evalframe.rag.documents.counts import document_counts as document_counts
from evalframe.rag.documents.prompting import (
    prompts as prompts,
    read_responses as read_responses,
    write_prompts as write_prompts,
)
from evalframe.rag.documents.selecting import select_documents as select_documents
from evalframe.rag.joining import (
    attach_answers as attach_answers,
    union_labels as union_labels,
)
from evalframe.rag.labels import label as label
from evalframe.rag.languages import Language as Language

__all__: list[str]
