"""How well models predict the answer distributions of demographic segments.

From a survey to its distributions (`read_survey`, `as_distributions`), from these to prompts, from
responses to distributions (`parse`), to scores (`score`), leaderboards, baselines and tests. The
result is a LazyFrame if the table is one, and otherwise a DataFrame.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
