"""Public names of `evalframe.compat.rgb`, each with its module."""

from evalframe.compat.rgb.documents import select_documents as select_documents
from evalframe.compat.rgb.reading import (
    read as read,
    read_instances as read_instances,
    read_scores as read_scores,
)
from evalframe.compat.rgb.tables import (
    correct_rate as correct_rate,
    rates as rates,
)
from evalframe.compat.rgb.writing import (
    score_object as score_object,
    write as write,
)

__all__: list[str]
