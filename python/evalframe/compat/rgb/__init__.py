"""RGB 65ec39e: prediction, score and data files, documents, and its rate of corrections."""

from evalframe.compat.adaptors import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
