"""Documents that a model is shown: which of an instance's passages, and in which order."""

from evalframe.rag.documents.counts import document_counts
from evalframe.rag.documents.prompting import prompts, write_prompts
from evalframe.rag.documents.responses import read_responses
from evalframe.rag.documents.selecting import select_documents

__all__ = ["document_counts", "prompts", "read_responses", "select_documents", "write_prompts"]
