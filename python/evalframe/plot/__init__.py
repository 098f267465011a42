"""Charts of result tables, as altair charts: `ef.plot.forest(result)`.

| chart | draws the result of | shows |
|---|---|---|
| `forest` | `ef.evaluate`, `ef.compare`, `ef.rank`, leaderboards | estimates, intervals |
| `pairs` | `ef.compare` | differences of all pairs, coloured where they are told apart |
| `ranks` | `ef.rank`, leaderboards, model scores | ranks that the data allow |
| `risk_coverage` | `ef.selective.rc_curve` | risk at every coverage, with bands |
| `reliability` | `ef.selective.reliability_table` | share correct by stated confidence |
| `noise` | `ef.rag.rates` | answers as unhelpful documents grow in number |
| `segments` | `ef.survey.segment_scores` | whom models know best |
| `distribution` | `ef.survey.parse` of one question | answers and predictions |
| `effects` | `ef.replication.with_evidence` | effects in agents and in humans |
| `studies` | `ef.replication.study_scores` | agreement by study |
| `coverage_simulation` | a simulation of yours | how often intervals held the true value |

`pip install 'evalframe[plot]'` brings altair and what saves pictures without a browser. A subtitle
says what is drawn, what intervals are, and what is left out; colours are told apart by the
colour-blind, and models differ in shape, too. A chart is altair's own: `.save("chart.svg")` (or
`png`, `pdf`, `html`), `.properties(...)`, `.to_dict()`. In a notebook it is a picture, unless
another of altair's renderers was chosen.

Examples:
    >>> import polars as pl, evalframe as ef
    >>> items = pl.DataFrame({"model": ["a", "a", "b"], "loss": [0.0, 0.5, 1.0]})
    >>> chart = ef.plot.forest(ef.evaluate(items, ef.selective_risk(), by="model"))
    >>> chart.title.text
    ['selective_risk by model']
"""

from evalframe.core.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
