"""Surveys as tidy tables, from tables of any usual shape in memory or in files."""
