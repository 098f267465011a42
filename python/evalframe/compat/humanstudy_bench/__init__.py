"""HumanStudy-Bench: its files, its legacy measures, and its numbers where they differ."""
