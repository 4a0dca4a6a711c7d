"""Random programs of every family that has kernels of its own on lanes.

Products, convolutions, pools, functions of elements, aggregations, rows, attention,
running aggregations, transpositions and special operations, each with any number and
order of axes, of any type, and the gradients of some. Sizes are large enough that
blocks are tiled, staged and cut, and small enough for interpreters.

Numbers are small integers where that makes results exact; some are infinite or NaN.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from contraction_families import (
    draw_attention,
    draw_convolution,
    draw_pool,
    draw_product,
)
from drawn_programs import ProgramDrawing
from element_families import (
    draw_aggregation,
    draw_elements,
    draw_rows,
    draw_scan,
    draw_special,
    draw_turned,
)
from training_steps import Step

import gingham
from gingham.targets.hardware import HARDWARE_NAMES, load_hardware

_FAMILIES: dict[str, Callable[[ProgramDrawing], list[str]]] = {
    "product": draw_product,
    "convolution": draw_convolution,
    "pool": draw_pool,
    "elements": draw_elements,
    "aggregation": draw_aggregation,
    "rows": draw_rows,
    "attention": draw_attention,
    "scan": draw_scan,
    "turned": draw_turned,
    "special": draw_special,
}
FAMILIES = (*_FAMILIES,)
_DIFFERENTIABLE = ("product", "convolution", "rows", "attention", "scan", "turned")
_GRADIENTS = 0.12


def kernel_program(seed: str) -> Step:
    """The program of a seed: the same for the same text."""
    chooser = random.Random(f"{seed} family")
    family = chooser.choice(FAMILIES)
    draw = ProgramDrawing(seed)
    outputs = _FAMILIES[family](draw)
    types = {array.dtype for array in draw.inputs.values()}
    is_differentiable = family in _DIFFERENTIABLE and types == {np.dtype("float32")}
    if is_differentiable and chooser.random() < _GRADIENTS:
        outputs = draw.differentiated(outputs)
    text = draw.text(list(dict.fromkeys(outputs)))
    return Step(draw.inputs, text, lambda: gingham.compile(text))


GPUS = tuple(name for name in HARDWARE_NAMES if not load_hardware(name).has_vectors)
"""The descriptions of devices with lanes."""

_FIGURES: Sequence[tuple[str, Sequence[Any]]] = (
    ("parallel.group.count", (2, 8, 64)),
    ("parallel.group.memory_bytes", (1024, 4096, 16384)),
    ("parallel.group.item_limit", (32, 64, 96, 128)),
    ("parallel.subgroup.count", (1, 2, 4)),
    ("parallel.lane.count", (4, 8, 16, 64)),
    ("parallel.lane.registers", (16, 32, 64)),
    ("parallel.lane.access_bits", (32, 64)),
    ("launch_microseconds", (0.1,)),
    ("lanes.array_memory_bytes", (1,)),
    ("lanes.core_memory_bytes", (8192,)),
    ("memory_gigabytes_per_second", (10, 100)),
    ("lanes.barrier_cycles", (1, 300)),
)


def drawn_gpu(seed: str) -> str:
    """A description of a GPU, often with other figures, which make rare ways likely."""
    chooser = random.Random(f"{seed} hardware")
    name = chooser.choice(GPUS)
    if chooser.random() < 0.4:
        return name
    figures = chooser.sample(_FIGURES, chooser.randint(1, 4))
    changes = [f"{figure}={chooser.choice(values)}" for figure, values in figures]
    return f"{name}:{','.join(changes)}"
