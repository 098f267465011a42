"""Jobs of the family of retrieval-augmented generation."""
