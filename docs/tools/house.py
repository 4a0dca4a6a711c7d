"""The picture of the house: the folders, floor by floor, and the way of a program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from drawing import FAINT, GREY, LIGHT, PALE, WINDOW, Drawing

_LEFT, _RIGHT = 24, 876
"""Where the floors begin and end."""
_GAP = 10
_HEIGHT = 52
_ABOVE, _BELOW = 32, 24
"""What the name of a folder takes above the rooms in it, and words below them."""
_BETWEEN = 74
"""Between rooms that a program goes through, for what takes it there."""


@dataclass(frozen=True)
class Room:
    """A folder or file, what it is for in a few words, and the rooms in it."""

    path: str
    words: str = ""
    share: float = 1
    """Of the width, beside the other rooms of the floor."""
    rooms: tuple[Room, ...] = ()
    between: str = ""
    """What a program goes through from one room in it to the next."""


HOUSE: tuple[tuple[Room, ...], ...] = (
    (
        Room("bench/", "measures"),
        Room("examples/", "programs"),
        Room("test/", "tests, as the tree"),
        Room("docs/", "pages, checked by tests"),
    ),
    (
        Room("tools/", "the commands"),
        Room("plaidml/", "PlaidML's API"),
        Room("edsl.py", "what gingham.edsl exports"),
        Room("universe.py", "where xdsl-opt finds us"),
    ),
    (
        Room(
            "runtime/",
            "the public interface: compile, call, arrays, devices, cache, profiling, "
            "tuning",
        ),
    ),
    (Room("placement/", "which device runs what, and pages that explain it"),),
    (
        Room(
            "frontend/",
            "text to IR",
            1.1,
            (Room("frontend/edsl/", "Python"),),
        ),
        Room(
            "passes/",
            "IR to IR",
            3.1,
            (
                Room("passes/tile/", "tensors"),
                Room("passes/stripe/", "blocks"),
                Room("passes/opencl/", "kernels"),
            ),
            "convert/",
        ),
        Room(
            "targets/",
            "IR to results; reference/ runs every level on NumPy",
            2.6,
            (
                Room("targets/printer/", "source"),
                Room("targets/opencl/", "devices"),
                Room("targets/hardware/", "figures"),
            ),
        ),
    ),
    (
        Room("dialects/tile/", "tensors, contractions"),
        Room("dialects/eltwise/", "functions of elements"),
        Room("dialects/stripe/", "blocks over buffers"),
        Room("dialects/opencl/", "kernels, launches"),
    ),
    (Room("affine/", "exact algebra of index spaces: forms, lattices, polyhedra"),),
    (
        Room("settings/", "what a user has chosen"),
        Room("errors.py", "what a user is told"),
        Room("limits.py", "how large a program may be"),
        Room("observation.py", "who watches what happens"),
    ),
)
"""From the roof to the ground: a floor imports from those below it."""

STRIPE = (
    Room("passes/stripe/decide/", "writes on a block what is to be done, and why"),
    Room("passes/stripe/apply/", "passes that do what is written"),
    Room("passes/stripe/edit/", "rewrites, which decide nothing"),
    Room("passes/stripe/analysis/", "questions, which change nothing"),
)
"""What is in `passes/stripe/`: the picture below the house."""

_FILLS = (PALE, FAINT, LIGHT, LIGHT, PALE, LIGHT, FAINT, PALE)


def house() -> str:
    """The picture as a file."""
    drawing = Drawing(1000, 806)
    top = 24.0
    for floor, fill in zip(HOUSE, _FILLS, strict=True):
        top += _floor(drawing, floor, top, fill) + _GAP
    _law(drawing, 24, top - _GAP)
    _stripe(drawing, top + 34)
    return drawing.svg()


def _floor(drawing: Drawing, rooms: tuple[Room, ...], top: float, fill: str) -> float:
    """Draw rooms beside each other; how high they are."""
    is_divided = any(room.rooms for room in rooms)
    height = _HEIGHT + (_ABOVE + _BELOW if is_divided else 0)
    beside = _side_by_side(rooms, _LEFT, _RIGHT - _LEFT, _GAP)
    for room, left, width in beside:
        if room.rooms:
            _divided(drawing, room, (left, top, width, height), fill)
        else:
            _room(drawing, room, (left, top, width, height), fill)
    if is_divided:
        for (_, left, width), (_, following, _) in pairwise(beside):
            y = top + _ABOVE + _HEIGHT / 2
            drawing.line((left + width - 9, y), (following + 9, y), has_arrow=True)
    return height


def _divided(
    drawing: Drawing, room: Room, box: tuple[float, float, float, float], fill: str
) -> None:
    """A room with the rooms that are in it, and a program's way through them."""
    left, top, width, height = box
    drawing.rectangle(*box, fill=fill)
    middle = left + width / 2
    drawing.text(middle, top + 21, room.path, is_code=True, is_bold=True)
    drawing.text(middle, top + height - 8, room.words, size=12)
    gap = _BETWEEN if room.between else _GAP
    inside = _side_by_side(room.rooms, left + _GAP, width - 2 * _GAP, gap)
    for inner, x, own in inside:
        _room(drawing, inner, (x, top + _ABOVE, own, _HEIGHT), WINDOW, room.path)
    if room.between:
        y = top + _ABOVE + _HEIGHT / 2
        for (_, x, own), (_, following, _) in pairwise(inside):
            drawing.line((x + own + 2, y), (following - 2, y), has_arrow=True)
            place = (x + own + following) / 2
            drawing.text(place, y - 8, room.between, is_code=True, size=12)


def _side_by_side(
    rooms: tuple[Room, ...], left: float, width: float, gap: float
) -> list[tuple[Room, float, float]]:
    """Each room with where it begins and how wide it is."""
    free = width - gap * (len(rooms) - 1)
    total = sum(room.share for room in rooms)
    found: list[tuple[Room, float, float]] = []
    for room in rooms:
        own = free * room.share / total
        found.append((room, left, own))
        left += own + gap
    return found


def _room(
    drawing: Drawing,
    room: Room,
    box: tuple[float, float, float, float],
    fill: str,
    around: str = "",
) -> None:
    left, top, width, height = box
    drawing.rectangle(*box, fill=fill)
    middle, center = left + width / 2, top + height / 2
    name = room.path.removeprefix(around)
    drawing.text(middle, center - 5, name, is_code=True, is_bold=True)
    drawing.text(middle, center + 14, room.words, size=12)


def _law(drawing: Drawing, top: float, bottom: float) -> None:
    """The law of the floors, at their right."""
    x = _RIGHT + 24
    drawing.line((x, top), (x, bottom), has_arrow=True)
    for number, word in enumerate(("imports", "go down", "only")):
        y = (top + bottom) / 2 + 18 * number
        drawing.text(x + 12, y, word, anchor="start", color=GREY)


def _stripe(drawing: Drawing, top: float) -> None:
    """The rooms for passes over blocks, which have floors of their own."""
    drawing.text(
        _LEFT, top, "in passes/stripe/", anchor="start", is_code=True, is_bold=True
    )
    top += 14
    for floor, fill in ((STRIPE[:2], WINDOW), (STRIPE[2:3], LIGHT), (STRIPE[3:], PALE)):
        for room, left, own in _side_by_side(floor, _LEFT, _RIGHT - _LEFT, _GAP):
            _room(drawing, room, (left, top, own, _HEIGHT), fill, "passes/stripe/")
        top += _HEIGHT + _GAP
