"""Jobs of the family of replicated human studies."""
