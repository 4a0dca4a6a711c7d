"""Whoever decides asks one clock: a weight of the table changes what all see."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

from gingham.dialects import make_context
from gingham.dialects.eltwise.ops import ElementwiseOp
from gingham.dialects.eltwise.table import FUNCTIONS
from gingham.dialects.opencl.kernel import KernelOp, LaunchOp
from gingham.dialects.opencl.prefetch import PrefetchOp
from gingham.dialects.stripe.block import BlockOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.clock import Clock
from gingham.passes.opencl.kernel_cost import KernelCosts
from gingham.passes.pipelines import run_stages
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.stripe.analysis.shared_indices import Member
from gingham.passes.stripe.decide.fusion.cost import FusionCost
from gingham.passes.stripe.decide.search import best, problem_of
from gingham.passes.target_options import TargetOptions
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.placement.prediction import predicted_module
from gingham.targets.hardware import load_hardware

HARDWARE = load_hardware("cpu-avx512:cores=2")
CLOCK = Clock(HARDWARE)
SUM = "function (A[M, N]) -> (O) { E = exp(A); O[i : M] = +(E[i, j]); }"
SUMS = (
    "function (A[M, N]) -> (O, P) {"
    " E = exp(A); O[i : M] = +(E[i, j]); P[j : N] = >(E[i, j]); }"
)
TYPE = "512x4096xf32"


def lowered(text: str, *stages: str) -> ModuleOp:
    """A program of one matrix behind some stages of its pipeline."""
    module = specialize(parse_tile(text), [parse_argument_type(TYPE)])
    run_stages(module, make_context(), TargetOptions(hardware=HARDWARE), stages)
    return module


def in_blocks(text: str) -> ModuleOp:
    """The same in blocks that compute elements where they read them, if that pays."""
    module = lowered(text, "tile")
    passes = "lower-tile-to-stripe,stripe-fuse"
    for each in PassPipeline.parse_spec(get_all_passes(), passes).passes:
        each.apply(make_context(), module)
    return module


def sum_of_exponentials() -> BlockOp:
    (block,) = top_level_blocks(in_blocks(SUM))
    return block


def tiles() -> float:
    return best(problem_of(sum_of_exponentials(), 512), HARDWARE).seconds


def layout() -> float:
    return CLOCK.operations(problem_of(sum_of_exponentials(), 512).vector_operations)


def fusion() -> float:
    found = FusionCost(HARDWARE).of([Member.of(sum_of_exponentials(), [0])])
    assert found is not None
    return found.seconds


def inlining() -> float:
    """How often the exponentials are computed: once if each takes long."""
    operations = (op for op in in_blocks(SUMS).walk() if isinstance(op, ElementwiseOp))
    return sum(op.function.name == "exp" for op in operations)


def joins() -> float:
    module = lowered(SUM, "tile", "stripe", "opencl")
    kernels = {k.sym_name.data: k for k in module.ops if isinstance(k, KernelOp)}
    costs = KernelCosts(kernels, {}, HARDWARE)
    launches = (op for op in module.walk() if isinstance(op, LaunchOp))
    return sum(costs.of(launch).group_seconds for launch in launches)


def prefetches() -> float:
    module = lowered(SUM, "tile", "stripe", "opencl")
    return sum(isinstance(op, PrefetchOp) for op in module.walk())


def placement() -> float:
    return predicted_module(lowered(SUM, "tile"), HARDWARE).seconds


@contextmanager
def weight_of(name: str, weight: float) -> Generator[None]:
    """Another weight in a row of the table."""
    row = FUNCTIONS[name]
    before = row.weight
    object.__setattr__(row, "weight", weight)
    try:
        yield
    finally:
        object.__setattr__(row, "weight", before)


@pytest.mark.parametrize(
    "decider", [tiles, layout, fusion, inlining, joins, prefetches, placement]
)
def test_a_weight_of_the_table_changes_what_all_see(
    decider: Callable[[], float],
) -> None:
    with weight_of("exp", 0.01):
        light = decider()
    assert light != decider()


@given(
    parts=st.lists(st.floats(0, 1), min_size=2, max_size=2), groups=st.integers(1, 99)
)
def test_a_kernel_takes_as_long_as_each_part_and_no_longer_than_all(
    parts: list[float], groups: int
) -> None:
    seconds = CLOCK.kernel(parts[0], parts[1], groups)
    rounds = -(-groups // HARDWARE.cores) * HARDWARE.cores / groups
    beside = CLOCK.launch + CLOCK.starts(groups)
    assert beside + max(parts) * rounds <= seconds * (1 + 1e-9)
    assert seconds <= (beside + sum(parts) * rounds) * (1 + 1e-9)


def test_data_come_from_the_nearest_memory_that_holds_them() -> None:
    near, middle, last = HARDWARE.caches
    sizes = [near.size_bytes // 2, middle.size_bytes // 2, last.size_bytes // 2]
    rates = [size / CLOCK.again(size, size) for size in (*sizes, last.size_bytes)]
    cycles = HARDWARE.clock_gigahertz * 1e9
    assert rates[:3] == pytest.approx(
        [level.bytes_per_cycle * cycles for level in HARDWARE.caches]
    )
    assert rates[3] == pytest.approx(
        HARDWARE.memory_gigabytes_per_second * 1e9 / HARDWARE.cores
    )
    stays, leaves = last.size_bytes // 2, last.size_bytes
    assert CLOCK.handed_on(stays) < CLOCK.memory(stays)
    assert CLOCK.handed_on(leaves) == CLOCK.memory(leaves)
