"""ai-psychiatrist (36e9fba): run documents, evaluation artifacts, calibrators, intervals."""

from evalframe.compat.ai_psychiatrist.resampling import compare, evaluate

__all__ = ["compare", "evaluate"]
