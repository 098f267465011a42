"""Public names of `evalframe.plot`, each with its module."""

from evalframe.plot.boards import ranks as ranks
from evalframe.plot.curves import reliability as reliability, risk_coverage as risk_coverage
from evalframe.plot.estimates import coverage_simulation as coverage_simulation, forest as forest
from evalframe.plot.matrices import pairs as pairs
from evalframe.plot.responses import noise as noise

from evalframe.plot.surveys import distribution as distribution, segments as segments

from evalframe.plot.replications import effects as effects, studies as studies

__all__: list[str]
