"""Uncertainty of scores: bootstraps of studies, findings and participants; differences.

`model_scores`, `domain_scores` and `ecs` have intervals of PAS and ECS by a bootstrap of studies,
or of findings within studies: their argument `resample`.
"""
