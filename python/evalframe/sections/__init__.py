"""Sections of a report from result tables: what each kind of result shows, and how it was made."""
