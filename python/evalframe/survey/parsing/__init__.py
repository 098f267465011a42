"""Responses in free text as distributions."""
