"""Rooflines: the figures, and the picture as XML."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import gingham
from gingham.runtime.profiling.roofline import MemoryLevel, Roofline
from gingham.runtime.profiling.roofline_plot import Dot, Subplot, plot, plot_kernels
from gingham.targets.hardware import load_hardware

SIMPLE = Roofline(
    1e12,
    (MemoryLevel("L1", 1e6, 1e12), MemoryLevel("memory", float("inf"), 1e11)),
)
SVG = "{http://www.w3.org/2000/svg}"


def test_levels_by_the_hardware() -> None:
    hardware = load_hardware("cpu-avx512:cores=4,caches=1,clock_gigahertz=2")
    roofline = Roofline.of(hardware)
    cache = hardware.caches[0]
    assert roofline.flops_per_second == 2 * hardware.multiply_adds_per_second
    assert roofline.levels == (
        MemoryLevel("L1", 4 * cache.size_bytes, cache.bytes_per_cycle * 8e9),
        MemoryLevel("memory", float("inf"), hardware.memory_gigabytes_per_second * 1e9),
    )


def test_shared_caches_count_once() -> None:
    hardware = load_hardware("cpu-avx512:cores=4")
    shared = [cache.is_shared for cache in hardware.caches]
    assert shared[-1]
    sizes = [level.size_in_bytes for level in Roofline.of(hardware).levels]
    assert sizes[len(shared) - 1] == hardware.caches[-1].size_bytes


def test_the_least_time() -> None:
    assert SIMPLE.seconds(1e12, 1) == 1
    assert SIMPLE.seconds(0, 1e6) == 1e-6
    assert SIMPLE.seconds(0, 1e11) == 1
    assert SIMPLE.share(0, 1e11, 2) == 0.5
    assert SIMPLE.share(1e12, 1e6, 4) == 0.25
    assert SIMPLE.share(0, 0, 1) is None


def test_thirty_kernels_can_be_told_apart() -> None:
    generator = random.Random(7)
    dots: list[Dot] = []
    for number in range(30):
        intensity = 10 ** generator.uniform(-1, 2)
        rate = 10 ** generator.uniform(9, 12)
        dots.append(Dot(f"kernel_{number}", intensity, rate, 1 / 30, "50 GFLOP/s, 5 %"))
    root = ElementTree.fromstring(plot([Subplot("device d.0", SIMPLE, dots)]))
    circles = root.findall(f".//{SVG}circle")
    assert len(circles) == 30
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    numbers: dict[str, tuple[float, float]] = {}
    for text in root.iter(f"{SVG}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        assert 0 <= x <= width
        assert 0 <= y <= height
        words = text.text or ""
        if text.attrib["class"] == "ink" and words.isdecimal() and x < 610:
            numbers[words] = x, y
    assert len(numbers) == 30
    places = [*numbers.values()]
    for count, (x, y) in enumerate(places):
        for a, b in places[:count]:
            assert abs(x - a) > 15 or abs(y - b) > 11


def test_dots_stand_where_their_figures_say() -> None:
    dots = [Dot("a", 1, 1e11, 0.5, ""), Dot("b", 10, 1e12, 0.5, "")]
    root = ElementTree.fromstring(plot([Subplot("d", SIMPLE, dots)]))
    first, second = (
        (float(c.attrib["cx"]), float(c.attrib["cy"]))
        for c in root.iter(f"{SVG}circle")
    )
    slope = next(
        line
        for line in root.iter(f"{SVG}line")
        if line.attrib["class"] == "roof"
        and line.attrib["stroke-width"] == "1.4"
        and float(line.attrib["x2"]) == pytest.approx(second[0], abs=0.2)
    )
    # With memory at 100 GB/s and 1 TFLOP/s both dots are on its slope.
    assert float(slope.attrib["y2"]) == pytest.approx(second[1], abs=0.2)
    ends = [float(slope.attrib[name]) for name in ("x1", "y1", "x2", "y2")]
    part = (first[0] - ends[0]) / (ends[2] - ends[0])
    assert first[1] == pytest.approx(ends[1] + part * (ends[3] - ends[1]), abs=0.5)


def test_names_are_text_and_nothing_from_outside_is_needed() -> None:
    dots = [Dot("<b>&", 1, 1e10, 1, "x < y")]
    text = plot([Subplot("a & b", SIMPLE, dots, ["copy: 3 <GB/s"])])
    root = ElementTree.fromstring(text)
    assert "<b>&" in [element.text for element in root.iter(f"{SVG}text")]
    assert not re.search(r"href|<script|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text


def test_extreme_figures() -> None:
    dots = [Dot("slow", 1e-9, 1e-3, 1e-9, ""), Dot("fast", 1e9, 1e15, 1, "")]
    ElementTree.fromstring(plot([Subplot("d", SIMPLE, dots)]))


def test_measured_kernels() -> None:
    copy = gingham.compile("function (A[N]) -> (B) { B = A; }", profile=True)
    total = gingham.compile("function (A[N]) -> (S) { S[] = +(A[i]); }")
    value = np.ones(100_000, np.float32)
    with gingham.profile() as measured:
        copy(value)
        total(value)
    root = ElementTree.fromstring(measured.roofline())
    words = [element.text or "" for element in root.iter(f"{SVG}text")]
    # What computes nothing has no place in the picture, but in the list.
    assert any("B/s" in word and ": " in word for word in words)
    assert "S, line 1" in words
    with pytest.raises(gingham.GinghamError, match="no kernel was measured"):
        plot_kernels([])
