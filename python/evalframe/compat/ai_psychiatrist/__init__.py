"""ai-psychiatrist (36e9fba): run documents, their evaluation, artifacts, calibrators.

The metrics, losses, signals, confidences and fits of `evalframe.selective` give the program's
values, except where this package has a function of the same name.
"""

from evalframe.compat.adaptors import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
