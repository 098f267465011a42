"""Reader of HELM: the stats of each instance as items, and the published aggregates."""
