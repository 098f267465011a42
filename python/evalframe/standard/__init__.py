"""Summaries of any number, and rates of tries: what metrics of metrics are made of."""
