"""Prompts about surveys: which questions, with which context, in which words."""
