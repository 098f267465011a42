"""How charts look: colours, shapes, fonts and titles, the same for all; and altair, loaded here.

Colours are those of Okabe and Ito (2008) that keep their contrast on white and on black, and never
stand alone: models differ in shape, too.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from evalframe.core.choices import check_level
from evalframe.core.errors import needing
from evalframe.reporting.names import visible

if TYPE_CHECKING:
    import altair as alt

Chart: TypeAlias = "alt.LayerChart | alt.ConcatChart | alt.VConcatChart"

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Of models, in the order of their names; more models than these are told apart by place."""

BEST, REST = "#0072B2", "#767676"
WORSE = "#D55E00"
REFERENCE, BAR, COUNT = "#767676", "#D1D5DB", "#9CA3AF"
UNTOLD, UNTOLD_TEXT = "#F0F0F0", "#6B6B6B"
_MIDDLE = "#F7F7F7"

TEXT = "#1F2328"
_MUTED, _GRID = "#595959", "#E5E5E5"
_FONT = "Arial, Helvetica, Liberation Sans, sans-serif"

_CONFIG: dict[str, Any] = {
    "font": _FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": TEXT,
        "titleColor": TEXT,
        "gridColor": _GRID,
        "domainColor": COUNT,
        "tickColor": COUNT,
        "labelLimit": 260,
        "labelFlush": False,
    },
    "title": {
        "fontSize": 14,
        "fontWeight": 600,
        "color": TEXT,
        "subtitleFontSize": 11.5,
        "subtitleColor": _MUTED,
        "subtitlePadding": 5,
        "anchor": "start",
        "frame": "bounds",
        "offset": 12,
    },
    "legend": {
        "orient": "top",
        "title": None,
        "labelFontSize": 11,
        "labelColor": TEXT,
        "labelLimit": 260,
        "symbolOpacity": 1,
    },
}


def library() -> Any:
    """Altair; in a notebook charts become pictures, which need no network, unless told otherwise.

    Raises:
        MissingExtraError: It is not installed.
    """
    with needing("plot", "ef.plot"):
        import altair as alt
        import vl_convert  # noqa: F401  (it saves pictures)
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() and alt.renderers.active == "default":
        alt.renderers.enable("svg")
    return alt


def side_by_side(panels: Sequence[Any], columns: int = 3) -> Any:
    """Several charts in rows; one alone as it is."""
    if len(panels) == 1:
        return panels[0]
    return library().concat(*panels, columns=columns, spacing=24)


def mixed(share: float) -> str:
    """The colour of a share from -1, worst, by 0 to 1, best.

    >>> mixed(-1.0), mixed(0.0), mixed(1.0)
    ('#d55e00', '#f7f7f7', '#0072b2')
    """
    end = BEST if share > 0 else WORSE
    parts = []
    for at in (1, 3, 5):
        middle, most = (int(colour[at : at + 2], 16) for colour in (_MIDDLE, end))
        parts.append(f"{round(middle + min(1.0, abs(share)) * (most - middle)):02x}")
    return "#" + "".join(parts)


def headed(panel: Any, name: str, note: str = "") -> Any:
    """A panel with its name, and perhaps a note, above it."""
    if not name:
        return panel
    title = library().TitleParams(
        text=name, subtitle=note, fontSize=12, subtitleFontSize=11, offset=6
    )
    return panel.properties(title=title)


def of_models(names: Sequence[str]) -> dict[str, Any]:
    """The colour and the shape of each model, by the order of names: the same in all charts."""
    alt = library()
    domain = list(names)
    return {
        "color": alt.Color("model:N", scale=alt.Scale(domain=domain, range=list(PALETTE))),
        "shape": alt.Shape("model:N", scale=alt.Scale(domain=domain, range=list(SHAPES))),
    }


def panel_width(width: int, panels: int) -> int:
    """The width of each of several panels."""
    return width if panels == 1 else round(0.6 * width)


def finished(chart: Any, title: str, subtitle: Sequence[str], width: float) -> Chart:
    """The chart in our look, with a title, lines about what is drawn, and both as description.

    Lines are broken at the width, in pixels.
    """
    alt = library()
    told = [part for line in subtitle for part in textwrap.wrap(line, _letters(width, 5.4))]
    whole = visible(title)
    heading = textwrap.wrap(whole, _letters(width, 7.5), max_lines=2, placeholder=" …") or [""]
    text = alt.TitleParams(text=heading, subtitle=told)
    described = ". ".join([whole, *subtitle])
    made: Chart = chart.properties(title=text, description=described).configure(**_CONFIG)
    return made


def _letters(width: float, each: float) -> int:
    return max(56, int(width / each))


def interval(level: float | None, what: str = "interval") -> str:
    """The name of an interval, or of another set, with its level if that is known."""
    if level is None:
        return what
    check_level(level)
    return f"{100 * level:g}% {what}"
