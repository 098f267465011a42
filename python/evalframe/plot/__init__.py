"""Charts of the package's result tables, as altair charts: `ef.plot.forest(result)`.

Each function takes the table that a function of evalframe returns, and says in its subtitle what is
drawn, what the intervals are, and what is left out. Charts are altair's own: `.save("chart.svg")`,
`.save("chart.png")`, `.properties(...)`. `pip install 'evalframe[plot]'` brings altair and what
saves pictures without a browser.
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
