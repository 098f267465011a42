"""Public names of `evalframe.plot`, each with its module."""

from evalframe.plot.boards import ranks as ranks
from evalframe.plot.estimates import forest as forest
from evalframe.plot.matrices import pairs as pairs

__all__: list[str]
