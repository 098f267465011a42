"""dtef-app: surveys, run results, and its numbers where they differ."""
