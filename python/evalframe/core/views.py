"""Sums at ordered levels as a term sees them: own, up to and including, before, in all.

Levels are those of segments: groups, replicates of groups, or ranges of the levels of a group. A
range knows what lies before it and the totals of its group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.core.state import BEFORE, LEVEL, OWN, TOTAL

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_SPLIT = 2.0**27 + 1.0
"""Factor that splits a number x into its upper half, x * _SPLIT - (x * _SPLIT - x)."""


class Views:
    """The views of sums at levels (`at`, `before`, `own`, `total`), made when first asked for.

    Attributes:
        starts: The levels of each segment.
        sums: The names of the sums that they show.
    """

    def __init__(
        self,
        own: Mapping[str, Floats],
        starts: Ints,
        totals: Mapping[str, Floats],
        levels: Floats | None = None,
        earlier: Mapping[str, Floats] | None = None,
    ) -> None:
        # `earlier` are the sums of all levels before those of a segment that is a range of a group.
        self.starts = starts
        self.sums = [*own]
        self._totals = totals
        self._earlier = earlier
        self._made: dict[str, Floats] = {f"{name}{OWN}": values for name, values in own.items()}
        if levels is not None:
            self._made[LEVEL] = levels

    def __getitem__(self, name: str) -> Floats:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Floats:
        import numpy as np

        if name.endswith(BEFORE):
            name = name.removesuffix(BEFORE)
            first = 0.0 if self._earlier is None else self._earlier[name]
            return segments.before(self[name], self.starts, first)
        if name.endswith(TOTAL):
            total = self._totals[name.removesuffix(TOTAL)]
            return np.repeat(total, np.diff(self.starts))
        if name.endswith(OWN):  # only of thinned views: others have been given them
            name = name.removesuffix(OWN)
            return self[name] - self[name + BEFORE]
        running = segments.running(self[name + OWN], self.starts)
        if self._earlier is None:
            return running
        return running + np.repeat(self._earlier[name], np.diff(self.starts))

    def evaluate(self, exprs: Mapping[str, pl.Expr], rows: Ints | None = None) -> pl.DataFrame:
        """Elementwise expressions over the views, one row per level (or per level of `rows`)."""
        needed = {name for expr in exprs.values() for name in expr.meta.root_names()}
        seen = {name: self[name] for name in sorted(needed)}
        if rows is not None:
            seen = {name: values[rows] for name, values in seen.items()}
        frame = pl.DataFrame(seen)
        # Lazy, since only then are subexpressions that the terms share computed once.
        return frame.lazy().select(**exprs).collect(engine="in-memory")

    def centred(self, value: str, mass: str) -> Views:
        """The views with running sums of `value` taken about the mean of each segment."""
        # First about the mean in half its digits, which times a count is exact; then about the rest
        # of the mean, so that sums in another order are taken about the same value.
        import numpy as np

        shifted = self[value + OWN]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            mean = self._totals[value] / self._totals[mass]
            rounded = mean * _SPLIT - (mean * _SPLIT - mean)
            shifted = self._about(rounded, shifted, mass)
            if self._earlier is None:
                rest = segments.totals(shifted, self.starts) / self._totals[mass]
            else:
                rest = (self._totals[value] - rounded * self._totals[mass]) / self._totals[mass]
            shifted = self._about(rest, shifted, mass)
        own = {name: self[name + OWN] for name in self.sums} | {value: shifted}
        earlier = self._earlier
        if earlier is not None:
            rounded, rest = _finite(rounded), _finite(rest)
            about = (earlier[value] - rounded * earlier[mass]) - rest * earlier[mass]
            earlier = {**earlier, value: about}
        return Views(own, self.starts, self._totals, self._made.get(LEVEL), earlier)

    def _about(self, centre: Floats, values: Floats, mass: str) -> Floats:
        import numpy as np

        return values - self[mass + OWN] * np.repeat(_finite(centre), np.diff(self.starts))

    def regrouped(self, values: Floats) -> tuple[Views, Floats]:
        """The views with consecutive levels of equal value added up into the first of them."""
        import numpy as np

        first = segments.boundaries(values, self.starts)
        ends = np.append(first, len(values))
        own = {name: segments.totals(self[name + OWN], ends) for name in self.sums}
        levels = self._made.get(LEVEL)
        starts = np.searchsorted(first, self.starts)
        levels = None if levels is None else levels[first]
        return Views(own, starts, self._totals, levels, self._earlier), values[first]

    def hull(self, abscissa: pl.Expr, ordinate: pl.Expr) -> Views:
        """The views at the vertices of each segment's lower convex hull."""
        import numpy as np

        points = self.evaluate({"x": abscissa, "y": ordinate})
        x, y = points["x"].to_numpy(), points["y"].to_numpy()
        # A level without mass repeats the point before it.
        new = np.flatnonzero(x > segments.before(x, self.starts))
        vertices = new[segments.lower_hull(x[new], y[new], np.searchsorted(new, self.starts))]
        running = {name: self[name][vertices] for name in self.sums}
        levels = self._made.get(LEVEL)
        starts = np.searchsorted(vertices, self.starts)
        return Views.of_running(
            running, starts, self._totals, None if levels is None else levels[vertices]
        )

    @classmethod
    def of_running(
        cls,
        running: Mapping[str, Floats],
        starts: Ints,
        totals: Mapping[str, Floats],
        levels: Floats | None,
    ) -> Views:
        """The views of running sums at some of the levels."""
        views = cls({}, starts, totals, levels)
        views.sums = [*running]
        views._made |= running
        return views


def _finite(centre: Floats) -> Floats:
    import numpy as np

    return np.nan_to_num(centre, posinf=0.0, neginf=0.0)
