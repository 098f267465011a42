"""ai-psychiatrist: run documents, evaluation artifacts, and its numbers where they differ."""
