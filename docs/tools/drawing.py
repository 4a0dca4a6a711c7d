"""Shapes and words of an SVG picture, in the colours that all pictures share."""

from __future__ import annotations

from html import escape

INK, GREY, LINE = "#1c2b3a", "#8a97a5", "#2f6db5"
PALE, FAINT, LIGHT, WINDOW = "#f4f7fb", "#e3ebf4", "#dfeaf7", "#b0ccec"
ACCENT = "#c2570c"

_DARK = {
    INK: "#e6edf3",
    GREY: "#8d99a6",
    LINE: "#6ea8e6",
    PALE: "#161c24",
    FAINT: "#1d2733",
    LIGHT: "#1f3047",
    WINDOW: "#2b4a70",
    ACCENT: "#ff9d5c",
    "white": "#0d1117",
}
"""What the colours become for readers who prefer dark pages."""

_FONT = "ui-sans-serif, system-ui, sans-serif"
_CODE = "ui-monospace, monospace"


class Drawing:
    """A picture of a size in pixels, with a background of its own, light or dark."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._elements: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str = LINE,
        line: float = 1.2,
    ) -> None:
        """A rectangle with its upper left corner at (x, y)."""
        self._elements.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="{line:g}"/>'
        )

    def dot(self, x: float, y: float, *, is_full: bool, radius: float = 6) -> None:
        """A point: full, or an empty circle in grey."""
        style = f'fill="{LINE}"' if is_full else f'fill="white" stroke="{GREY}"'
        self._elements.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" {style}/>')

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        stroke: str = GREY,
        is_dashed: bool = False,
        has_arrow: bool = False,
    ) -> None:
        """A straight line, perhaps with an arrow at its end."""
        extra = ' stroke-dasharray="5 4"' if is_dashed else ""
        extra += ' marker-end="url(#arrow)"' if has_arrow else ""
        self._elements.append(
            f'<line x1="{start[0]:g}" y1="{start[1]:g}" '
            f'x2="{end[0]:g}" y2="{end[1]:g}" stroke="{stroke}" '
            f'stroke-width="1.5"{extra}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "middle",
        color: str = INK,
        size: int = 13,
        is_code: bool = False,
        is_bold: bool = False,
    ) -> None:
        """Words on a line; `anchor` says what of them is at x: start, middle or end."""
        extra = f' font-family="{_CODE}"' if is_code else ""
        extra += ' font-weight="600"' if is_bold else ""
        self._elements.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}" '
            f'font-size="{size}"{extra}>{escape(words, quote=False)}</text>'
        )

    def svg(self) -> str:
        """The picture as a file."""
        width, height = self._size
        arrow = (
            f'<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" '
            f'markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 L10 5 L0 10 z" fill="{GREY}"/></marker></defs>'
        )
        dark = "".join(
            f"[{name}='{color}']{{{name}:{other}}}"
            for color, other in _DARK.items()
            for name in ("fill", "stroke")
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'viewBox="0 0 {width} {height}" font-family="{_FONT}">',
                f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>",
                arrow,
                f'<rect width="{width}" height="{height}" fill="white"/>',
                *self._elements,
                "</svg>\n",
            ]
        )
