"""Lenient labels: spelling, word order and wording matter less; every decision names its rule."""
