"""Surveys: tidy tables, and the files they come from and go to."""
