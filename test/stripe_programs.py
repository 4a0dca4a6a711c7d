"""Programs at the stripe level for tests: parsing, random inputs, running passes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import PassPipeline

from gingham.dialects import make_context
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.stripe.attributes import ViewType
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.passes import get_all_passes
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Array = npt.NDArray[Any]

PASSES = (
    "stripe-fuse",
    "stripe-localize",
    "stripe-scalarize",
    "stripe-dead-code-elimination",
    'stripe-plan-fusion{hardware="cpu-avx512:launch_microseconds=9999"},stripe-fuse-nests',
    "stripe-reuse-scratch{least=1}",
    "stripe-fuse{operations=20}",
    "stripe-merge-indices",
    "stripe-split-axes",
    "stripe-split-reduction{lanes=2 rounds=1 longest=3}",
    'stripe-plan-layout{hardware="cpu-neon:launch_microseconds=0.01" bits=64 worth=1},'
    "stripe-transpose-outputs",
    'stripe-autotile{bits=256 hardware="cpu-avx512:parallel.vector.registers=6,'
    'overheads.group_elements=16,overheads.stream_pieces=2"}',
    "stripe-partition-edges",
    "stripe-tile",
    "stripe-accumulate",
    "stripe-fuse-epilogues{inside=true}",
    "stripe-shift-inwards{bits=256}",
    "stripe-round-up{bits=256}",
    "stripe-separate{bits=256 grain=3 limit=6}",
    "stripe-plan-vectors{bits=256},stripe-vectorize{bits=256}",
    "stripe-unroll",
    "stripe-map",
)
"""The stripe passes, with options that suit small programs, for random pipelines."""

HERE = Path(__file__).parent / "passes" / "stripe"


CONTEXT = make_context()


@cache
def written_in(file: str) -> dict[str, ModuleOp]:
    """A module for every function of a .mlir file, by the function's name."""
    modules: dict[str, ModuleOp] = {}
    whole = parse_mlir(CONTEXT, (HERE / file).read_text(), file, Sources())
    for function in list(whole.ops):
        if isinstance(function, FuncOp):
            function.detach()
            alone = ModuleOp([function])
            alone.location = function.location
            modules[function.sym_name.data] = alone
    return modules


def random_input(type: Attribute, random: np.random.Generator) -> Array:
    """Small integers of a view's type."""
    assert isinstance(type, ViewType)
    dtype = numpy_dtype(type.element_type)
    low, high = {"b": (0, 2), "u": (0, 5)}.get(dtype.kind, (-4, 5))
    return random.integers(low, high, type.sizes).astype(dtype)


def run(module: ModuleOp, pipeline: str) -> None:
    """Run passes on a module, in place."""
    for module_pass in PassPipeline.parse_spec(get_all_passes(), pipeline).passes:
        module_pass.apply(CONTEXT, module)


def stripe_pipeline(options: TargetOptions) -> str:
    """The passes of the pipeline from the stripe level on."""
    text = stage_passes(options)["stripe"]
    return text.removeprefix("lower-tile-to-stripe,")


def choose_tiles(module: ModuleOp, random: Random) -> None:
    """Random sizes for some of the blocks that are not serial."""
    for block in top_level_blocks(module):
        if random.random() < 0.5 and not block.is_serial:
            levels = [
                [random.randint(0, extent + 1) for extent in block.index_ranges]
                for _ in range(random.choice((1, 1, 2)))
            ]
            set_schedule(block, Schedule.of(levels))
