"""RGB: prediction, score and data files, the documents it shows, and its rate of corrections."""

from evalframe.compat.rgb.documents import select_documents
from evalframe.compat.rgb.reading import read, read_instances, read_scores
from evalframe.compat.rgb.tables import correct_rate, rates
from evalframe.compat.rgb.writing import score_object, write

__all__ = [
    "correct_rate",
    "rates",
    "read",
    "read_instances",
    "read_scores",
    "score_object",
    "select_documents",
    "write",
]


def __dir__() -> list[str]:
    return __all__
