"""Replication of human studies: from test statistics to agreement of evidence and of effects.

Statistics or participants' responses become Bayes factors and posteriors, these the probability of
alignment (PAS) of tests, findings, studies and models; effects become their concordance (ECS).
`evalframe.compat.humanstudy_bench` has the files of HumanStudy-Bench and its legacy quantities.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
