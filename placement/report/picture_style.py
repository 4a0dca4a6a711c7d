"""Colours and elements that the pictures of a placement share, for light and dark."""

from __future__ import annotations

from html import escape

_LIGHT = ("#0072b2", "#d55e00", "#008561", "#a8427f", "#8a6d00", "#3b6fa0")
_DARK = ("#5db3f0", "#ff9a5c", "#3fd1a6", "#f09acb", "#e0c040", "#a9c4e8")
"""Hues that people who confuse colours tell apart: M. Okabe and K. Ito, Color Universal
Design, 2008; the later ones repeat."""
COLOURS = len(_LIGHT)


def style(root: str) -> str:
    """The rules of all pictures, below the element that a selector names."""
    names = ("ink", "soft", "line", "paper", "card")
    light = dict(
        zip(names, ("#1c2b3a", "#5d6b7a", "#c3cdd8", "#ffffff", "#f4f7fb"), strict=True)
    )
    dark = dict(
        zip(names, ("#e8edf3", "#9fb0c0", "#43515f", "#12181f", "#1b232c"), strict=True)
    )
    light |= {f"d{number}": colour for number, colour in enumerate(_LIGHT)}
    dark |= {f"d{number}": colour for number, colour in enumerate(_DARK)}
    rules = [
        f"{root}{{{_variables(light)}}}",
        f"@media (prefers-color-scheme:dark){{{root}{{{_variables(dark)}}}}}",
        "svg text{fill:var(--ink);font:12px ui-sans-serif,system-ui,sans-serif}",
        "svg .soft{fill:var(--soft)}",
        "svg .strong{font-weight:600}",
        "svg .end{text-anchor:end}",
        "svg .mid{text-anchor:middle}",
        "svg .edge{fill:none;stroke:var(--line);stroke-width:1.6}",
        "svg .cut{fill:none;stroke:var(--soft);stroke-width:2.4;stroke-dasharray:7 4}",
        "svg .pill{fill:var(--card);stroke:var(--line)}",
        "svg .tag{fill:var(--paper);opacity:.9}",
        "svg .grid{stroke:var(--line);stroke-width:1;opacity:.6}",
        "svg g:hover>.box{stroke-width:3}",
    ]
    for number in range(COLOURS):
        own = f"var(--d{number})"
        rules.append(f"svg .d{number}{{fill:{own};fill-opacity:.16;stroke:{own}}}")
        rules.append(f"svg .bar{number}{{fill:{own}}}")
    rules.append("svg .box{stroke-width:1.5}")
    rules.append("svg .copy{fill:var(--soft);fill-opacity:.35;stroke:var(--soft)}")
    return "\n".join(rules)


def _variables(values: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in values.items())


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Words at a place."""
    own = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{own}>{safe(words)}</text>'


def rectangle(
    x: float, y: float, width: float, height: float, kind: str, radius: float = 0
) -> str:
    """A rectangle of a kind that the style knows."""
    round_ = f' rx="{radius:g}"' if radius else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
        f'height="{height:.1f}"{round_} class="{kind}"/>'
    )


def titled(words: str, *elements: str) -> str:
    """Elements with what is shown while the pointer is over them."""
    return f"<g><title>{safe(words)}</title>{''.join(elements)}</g>"


def safe(words: str) -> str:
    """Text as part of a page, whatever it is: no mark-up, no control characters."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in words)
    return escape(shown)


def shortened(words: str, length: int) -> str:
    """The beginning of a text that is too long."""
    return words if len(words) <= length else f"{words[: length - 1]}\u2026"
