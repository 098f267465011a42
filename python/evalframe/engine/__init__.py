"""Where shards are computed: this machine's processes, Dask, Ray or any Executor.

An engine runs a function over items, and repeats what a dead worker has not finished. Everything
else is ours and the same for all: what a task is, what it returns, and how parts are added up.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
