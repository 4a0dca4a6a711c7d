"""The pictures of the pages, in `docs/images`; `generate.py` writes them.

The points of index spaces are found by the definition: every integer point is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from drawing import ACCENT, FAINT, GREY, LIGHT, LINE, PALE, WINDOW, Drawing
from house import house

_STEP = 34
"""Pixels between neighbouring points of an index space."""


def pictures() -> dict[str, str]:
    """Every picture that is drawn here, by the name of its file."""
    return {
        "index-space.svg": _index_space(),
        "flattening.svg": _flattening(),
        "house.svg": house(),
        "windows.svg": _windows(),
        "register-tile.svg": _register_tile(),
        "roofline.svg": _roofline(),
        "placement.svg": _placement(),
    }


class _Axes:
    """Two indices: the first to the right, the second upwards."""

    def __init__(self, drawing: Drawing, x: float, y: float) -> None:
        self._drawing = drawing
        self._origin = (x, y)

    def at(self, first: float, second: float) -> tuple[float, float]:
        """Where a point stands."""
        return (
            self._origin[0] + first * _STEP,
            self._origin[1] - second * _STEP,
        )

    def frame(self, firsts: int, seconds: int, names: tuple[str, str]) -> None:
        """The box of the ranges, and the names and values of the indices."""
        x, y = self.at(-0.5, seconds - 0.5)
        self._drawing.rectangle(
            x, y, firsts * _STEP, seconds * _STEP, fill=PALE, stroke=LIGHT, line=2
        )
        for value in range(firsts):
            x, y = self.at(value, -0.5)
            self._drawing.text(x, y + 18, str(value), color=GREY, size=11)
        for value in range(seconds):
            x, y = self.at(-0.5, value)
            self._drawing.text(x - 10, y + 4, str(value), color=GREY, size=11)
        x, y = self.at(firsts - 0.5, -0.5)
        self._drawing.text(x + 14, y + 19, names[0], is_code=True)
        x, y = self.at(-0.5, seconds - 0.5)
        self._drawing.text(x - 10, y - 8, names[1], is_code=True)

    def points(
        self,
        candidates: Iterable[tuple[int, int]],
        is_valid: Callable[[int, int], bool],
    ) -> None:
        """A full dot for each valid point, an empty one for each other."""
        for first, second in candidates:
            x, y = self.at(first, second)
            self._drawing.dot(x, y, is_full=is_valid(first, second))


def _box(firsts: int, seconds: int) -> list[tuple[int, int]]:
    return [(first, second) for first in range(firsts) for second in range(seconds)]


def _index_space() -> str:
    drawing = Drawing(640, 240)
    drawing.text(320, 30, "O[x : 6] = +(I[x + i - 1]), i < 3;", is_code=True, size=15)
    axes = _Axes(drawing, 235, 160)
    axes.frame(6, 3, ("x", "i"))
    axes.points(_box(6, 3), lambda x, i: 0 <= x + i - 1 < 6)
    # Each line is half a step outside the valid points; along it x + i is constant.
    for total, low, high in ((0.5, -0.45, 0.9), (6.5, 0.7, 2.45)):
        drawing.line(
            axes.at(total - high, high),
            axes.at(total - low, low),
            stroke=ACCENT,
            is_dashed=True,
        )
    x, y = axes.at(-1, 0.4)
    drawing.text(x, y, "0 ≤ x + i - 1", anchor="end", color=ACCENT)
    x, y = axes.at(6, 0.7)
    drawing.text(x, y + 6, "x + i - 1 ≤ 5", anchor="start", color=ACCENT)
    drawing.text(320, 222, "A column is a cell of O: the sum of its full points.")
    return drawing.svg()


def _flattening() -> str:
    drawing = Drawing(820, 290)
    drawing.text(410, 30, "O[x + i : 6] = +(I[x]), i < 3;", is_code=True, size=15)
    before = _Axes(drawing, 100, 200)
    before.frame(4, 3, ("x", "i"))
    before.points(_box(4, 3), lambda x, i: True)
    for x, i in _box(4, 3):
        right, up = before.at(x, i)
        drawing.text(
            right + 8, up - 6, str(x + i), anchor="start", color=ACCENT, size=10
        )
    drawing.text(151, 268, "A number is the cell of O.")
    drawing.line((285, 149), (395, 149), has_arrow=True)
    drawing.text(340, 138, "tile-flatten", is_code=True)
    after = _Axes(drawing, 470, 200)
    after.frame(6, 3, ("o0", "i"))
    after.points(_box(6, 3), lambda cell, i: 0 <= cell - i <= 3)
    drawing.text(555, 268, "A column is a cell of O.")
    return drawing.svg()


def _windows() -> str:
    drawing = Drawing(860, 400)
    drawing.text(205, 30, "the outer block", is_bold=True)
    drawing.text(205, 50, "each point has a window of each matrix")
    _matrix(drawing, "A", (40, 230, 140, 140), (40, 290, 140, 20), "%a: 4 x 512")
    _matrix(drawing, "B", (220, 70, 140, 140), (300, 70, 30, 140), "%b: 512 x 64")
    _matrix(drawing, "C", (220, 230, 140, 140), (300, 290, 30, 20), "%c: 4 x 64")
    drawing.line((395, 220), (455, 220), has_arrow=True)
    drawing.text(640, 30, "the inner block", is_bold=True)
    drawing.text(640, 50, "each point has a window of each of those windows")
    _matrix(drawing, "%a", (480, 250, 160, 70), (570, 275, 18, 18), "%a_1: 1 x 1")
    _matrix(drawing, "%b", (670, 70, 100, 160), (715, 160, 18, 18), "%b_1: 1 x 1")
    _matrix(drawing, "%c", (670, 250, 100, 70), (715, 275, 18, 18), "%c_1: 1 x 1")
    return drawing.svg()


_Box = tuple[float, float, float, float]


def _matrix(drawing: Drawing, name: str, box: _Box, window: _Box, sizes: str) -> None:
    """A buffer with one window of it, whose name and sizes stand below."""
    drawing.rectangle(*box, fill=PALE)
    drawing.rectangle(*window, fill=WINDOW)
    drawing.text(box[0] + 7, box[1] + 18, name, anchor="start", is_code=True)
    x, y = box[0] + box[2], box[1] + box[3] + 15
    drawing.text(x, y, sizes, anchor="end", color=LINE, size=11, is_code=True)


def _register_tile() -> str:
    drawing = Drawing(580, 330)
    left, top, width, height, gap = 200, 96, 80, 36, 6
    middle = left + 2 * width + 3 * gap / 2
    drawing.text(middle, 28, "b: a row of B, 4 vectors of 16 numbers")
    drawing.text(left - 80, top + 84, "a: a column of A,", anchor="end")
    drawing.text(left - 80, top + 102, "4 numbers", anchor="end")
    for column in range(4):
        x = left + column * (width + gap)
        _vector(drawing, x, 42, width, 30, is_chosen=column == 2)
    for row in range(4):
        y = top + row * (height + gap)
        fill = WINDOW if row == 1 else PALE
        drawing.rectangle(left - 62, y, height, height, fill=fill)
        for column in range(4):
            x = left + column * (width + gap)
            is_chosen = (row, column) == (1, 2)
            _vector(drawing, x, y, width, height, is_chosen=is_chosen)
    drawing.text(middle, 288, "c: 4 rows and 64 columns of C in 16 registers")
    drawing.text(middle, 312, "for each k:  c[1][2] += a[1] * b[2], ...", is_code=True)
    return drawing.svg()


def _vector(
    drawing: Drawing,
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    is_chosen: bool,
) -> None:
    """A vector register of 16 lanes."""
    drawing.rectangle(x, y, width, height, fill=WINDOW if is_chosen else PALE)
    for lane in range(1, 16):
        position = x + lane * width / 16
        drawing.line((position, y + 1), (position, y + height - 1), stroke=FAINT)


_KERNELS = (
    ("conv1", 44.0, 0.61, 0.14),
    ("res2_1x1", 18.0, 0.52, 0.09),
    ("res2_3x3", 62.0, 0.71, 0.17),
    ("res3_1x1", 31.0, 0.66, 0.1),
    ("res3_3x3", 105.0, 0.78, 0.15),
    ("res4_3x3", 160.0, 0.74, 0.13),
    ("res5_3x3", 88.0, 0.6, 0.11),
    ("shortcut_and_relu", 0.17, 0.83, 0.04),
    ("max_pool", 1.6, 0.34, 0.02),
    ("mean", 0.25, 0.69, 0.01),
    ("classify", 0.5, 0.9, 0.03),
    ("softmax", 0.4, 0.12, 0.01),
)
"""Made up: operations per byte, the part of the best, and the part of the time."""


def _roofline() -> str:
    """What `gingham.Profile.roofline` draws, of figures that no machine measured."""
    from gingham.runtime.profiling.roofline import Roofline
    from gingham.runtime.profiling.roofline_plot import Dot, Subplot, note, plot
    from gingham.targets.hardware import load_hardware

    roofline = Roofline.of(load_hardware("cpu-avx512:cores=8"))
    memory = roofline.levels[-1].bytes_per_second
    dots: list[Dot] = []
    for name, intensity, share, part in _KERNELS:
        rate = share * min(roofline.flops_per_second, intensity * memory)
        dots.append(Dot(name, intensity, rate, part, note(rate, "FLOP/s", share)))
    packing = f"pack: {note(52e9, 'B/s', 0.87)}"
    return plot([Subplot("device intel.0", roofline, dots, [packing])])


_TOWERS = ("256x512", "512x1024", "1024x128", "2048x1024", "1024x512", "512x128")


def _placement() -> str:
    """The two towers of the page on placement, on the machine of its example."""
    from gingham.dialects import make_context
    from gingham.frontend.tile_text import parse_tile, read
    from gingham.passes.pipelines import run_stages
    from gingham.passes.target_options import TargetOptions
    from gingham.passes.tile.argument_types import parse_argument_type
    from gingham.passes.tile.specialize import specialize
    from gingham.placement.decide import decide
    from gingham.targets.hardware.machine_file import load_machine

    examples = Path(__file__).resolve().parents[1] / "examples"
    program = parse_tile(read(examples / "towers.tile"), "towers.tile")
    types = [parse_argument_type(f"{shape}xf32") for shape in _TOWERS]
    module = specialize(program, types)
    run_stages(module, make_context(), TargetOptions(), ("tile",))
    return decide(module, load_machine(str(examples / "host.json"))).explain().svg()
