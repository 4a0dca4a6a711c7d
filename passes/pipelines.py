"""Named pipelines: the order of passes from Tile to kernels.

A pipeline is made of steps, and these of stages, one per level of the IR; `run_stages`
runs them one by one for a caller that wants to see the IR in between. Each has a text,
which `tile-opt --pass-pipeline=` accepts, so that it can be printed, edited and run
again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .. import observation, progress
from ..targets.hardware import Hardware, load_hardware
from .steps import Step, step, text_of
from .target_options import TargetOptions

if TYPE_CHECKING:
    from .kernel_by_kernel import Expect

_TO_KERNELS = ("stripe", "opencl")
"""The stages that `run_kernel_by_kernel` takes."""


def stage_steps(options: TargetOptions) -> dict[str, list[Step]]:
    """The passes of each stage, from a specialized `tile` module on.

    The stages end at the level they are named after: `tile` is flattened, `stripe` is
    mapped to the device, `opencl` is ready to be printed.
    """
    hardware = options.hardware
    to_kernels = _for_vectors if hardware.has_vectors else _for_lanes
    return {
        "tile": [
            step("tile-expand-gather"),
            step("tile-differentiate"),
            step("tile-flatten"),
            step("tile-canonicalize"),
            *_type_check(options),
        ],
        "stripe": to_kernels(options),
        "opencl": [
            step("lower-stripe-to-opencl"),
            step("opencl-stream-stores", hardware=hardware),
            step("opencl-emulate-types"),
            *_own_functions(options),
            *_divisions(options),
            step("opencl-run-once"),
            step("opencl-plan-joins", hardware=hardware),
            step("opencl-join-launches"),
            step("opencl-place-memory"),
            *_marked_loops(options),
            *_prefetch(options),
            *_of_lanes(options),
        ],
    }


def _for_vectors(options: TargetOptions) -> list[Step]:
    """From flattened `tile` to kernels whose work-items have vectors, one a group."""
    hardware = options.hardware
    bits = options.vector_bits
    lanes = _chains(hardware) * bits // 32
    groups = hardware.overheads.groups_per_core * hardware.cores
    return [
        step("lower-tile-to-stripe"),
        # Each chunk of a running sum adds work: half as many of them.
        step("stripe-scan", lanes=lanes, parallelism=groups // 2),
        step(
            "stripe-assign-layouts",
            hardware=hardware,
            bits=bits,
            parallelism=groups,
        ),
        step("stripe-permute-axes"),
        step(
            "stripe-plan-layout",
            hardware=hardware,
            bits=bits,
            parallelism=groups,
        ),
        step("stripe-transpose-outputs"),
        step("stripe-fuse"),
        step("stripe-plan-fusion", hardware=hardware),
        step("stripe-fuse-nests"),
        step("stripe-localize", hardware=hardware),
        step("stripe-scalarize"),
        step("stripe-reuse-scratch"),
        step("stripe-merge-indices"),
        step("stripe-split-axes"),
        step(
            "stripe-split-reduction",
            hardware=hardware,
            lanes=lanes,
            parallelism=groups,
        ),
        *_recall(options),
        step("stripe-autotile", hardware=hardware, bits=bits),
        step("stripe-pad"),
        step("stripe-partition-edges", bits=bits),
        step("stripe-count-work"),
        step("stripe-tile"),
        step("stripe-stage", hardware=hardware),
        step("stripe-count-work"),
        step("stripe-instruct", hardware=hardware),
        step("stripe-accumulate"),
        step("stripe-fuse-epilogues", inside=True),
        step("stripe-share-kernels"),
        step("stripe-shift-inwards", bits=bits),
        step("stripe-round-up", bits=bits),
        step("stripe-separate", hardware=hardware, bits=bits),
        step("stripe-plan-vectors", bits=bits),
        step("stripe-vectorize", bits=bits),
        step("stripe-dead-code-elimination"),
        step("stripe-unroll", hardware=hardware),
        step("stripe-map"),
    ]


def _for_lanes(options: TargetOptions) -> list[Step]:
    """From flattened `tile` to kernels of which lanes share the work of a group.

    What a lane has is decided with the tiles, which say where vectors are: those that a
    lane loads and stores at once. Conditions that keep from these are split off; others
    cost a lane next to nothing.
    """
    hardware = options.hardware
    bits, access_bits = options.vector_bits, hardware.access_bits
    lanes = _chains(hardware) * bits // 32
    groups = hardware.overheads.groups_per_core * hardware.cores
    return [
        # A lane sorts and merges a few keys.
        step(
            "lower-tile-to-stripe",
            run=_SORTED,
            chunk=_SORTED,
            chains=1,
            owners=_OWNERS,
            items=hardware.work_group_size,
        ),
        # Each lane walks over a part of its own.
        step(
            "stripe-scan",
            chains=1,
            lanes=1,
            parallelism=groups * hardware.work_group_size // 2,
            shortest=_WALKED,
            longest=_PIECES,
            items=hardware.work_group_size,
            steps=hardware.lanes.walked_values,
            line=hardware.lanes.banks,
            memory=hardware.local_memory_bytes,
        ),
        step("stripe-transpose-outputs"),
        step("stripe-fuse"),
        step("stripe-write-once"),
        step("stripe-plan-walks", hardware=hardware),
        step("stripe-plan-fusion", hardware=hardware),
        step("stripe-fuse-nests", overhangs=True),
        step("stripe-walk"),
        step("stripe-localize", hardware=hardware),
        step("stripe-scalarize"),
        step("stripe-reuse-scratch"),
        step("stripe-merge-indices", streams=True),
        step("stripe-split-axes"),
        step("stripe-share-reductions", hardware=hardware),
        step(
            "stripe-split-reduction",
            hardware=hardware,
            lanes=lanes,
            parallelism=groups,
        ),
        *_recall(options),
        step("stripe-autotile", hardware=hardware, bits=bits),
        step("stripe-pad"),
        step("stripe-partition-edges"),
        step("stripe-count-work"),
        step("stripe-tile"),
        step("stripe-stage", hardware=hardware, fills=True),
        # What a group stages, collects and computes is spread over its work-items.
        step("stripe-collect-outputs"),
        step("stripe-drop-constraints"),
        step("stripe-fuse-epilogues"),
        step("stripe-distribute", items=hardware.work_group_size, bits=access_bits),
        step("stripe-tile"),
        step("stripe-count-work"),
        step("stripe-instruct", hardware=hardware),
        step("stripe-accumulate"),
        step("stripe-share-kernels"),
        step(
            "stripe-separate",
            hardware=hardware,
            bits=access_bits,
            grain=1,
            tile_grain=1,
        ),
        step("stripe-vectorize", bits=access_bits),
        step("stripe-dead-code-elimination"),
        step("stripe-unroll", hardware=hardware),
        step("stripe-map"),
    ]


_WALKED = 64
"""Values of a running aggregation that a lane walks over, one by one."""
_SORTED = 16
"""Keys of a run that is sorted by counting, and of a lane's part of a merge."""
_OWNERS = 1 << 15
"""Lanes that go through all updates of a scatter, each for cells of its own."""
_PIECES = 2048
"""Pieces of one of which each group adds up those before its own."""


def _chains(hardware: Hardware) -> int:
    """Vectors of 32-bit numbers that take turns where values are aggregated.

    Each waits for its last value: as many as cycles of an addition, a power of two.
    """
    return 1 << (ceil(hardware.multiply_add_latency_cycles) - 1).bit_length()


def stage_passes(options: TargetOptions) -> dict[str, str]:
    """`stage_steps` as text."""
    return {stage: text_of(steps) for stage, steps in stage_steps(options).items()}


def _own_functions(options: TargetOptions) -> list[Step]:
    """The pass that expands the functions which the runtime lacks, if there are any."""
    if not options.functions:
        return []
    return [step("opencl-expand-functions", functions=options.functions)]


def _divisions(options: TargetOptions) -> list[Step]:
    """The pass that divides vectors by scalars, where there are vectors."""
    if not options.hardware.has_vectors:
        return []
    return [step("opencl-divide-by-scalars")]


def _marked_loops(options: TargetOptions) -> list[Step]:
    """The passes that say what compilers may make of loops, or keep them from faults.

    That is for vectors, and for compilers that make vectors of loops. Of lanes the
    loads of several steps are to be on their way at once.
    """
    if not options.hardware.has_vectors and not options.vectorizes_loops:
        return []
    return [
        step("opencl-limit-unrolling", hardware=options.hardware),
        step("opencl-hide-conditions"),
        step("opencl-hide-complements"),
    ]


def _prefetch(options: TargetOptions) -> list[Step]:
    """The pass that fetches data ahead; of lanes, other sub-groups run meanwhile."""
    if not options.hardware.has_vectors:
        return []
    return [step("opencl-prefetch", hardware=options.hardware)]


def _of_lanes(options: TargetOptions) -> list[Step]:
    """The passes for groups that share local memory, and lanes with their registers."""
    hardware = options.hardware
    if hardware.has_vectors:
        return []
    return [
        step("opencl-cell-by-cell"),
        step("opencl-coalesce-loops"),
        step("opencl-double-buffer", hardware=hardware),
        step("opencl-align-vectors"),
        step("opencl-order-loops"),
        step("opencl-load-vectors"),
        step("opencl-zero-copies"),
        step("opencl-check-limits", hardware=hardware),
    ]


def _recall(options: TargetOptions) -> list[Step]:
    """The pass that takes decisions from measurements, if there are any."""
    return [step("stripe-recall", **dict(options.recall))] if options.recall else []


def _type_check(options: TargetOptions) -> list[Step]:
    """The pass that refuses what the device lacks, if it lacks anything."""
    if not options.unsupported:
        return []
    given, device = options.unsupported, options.device
    return [step("tile-check-types", unsupported=given, device=device)]


PIPELINES: dict[str, TargetOptions] = {
    f"opencl-{name}": TargetOptions(hardware=load_hardware(name))
    for name in ("cpu-avx512", "cpu-avx2", "cpu-neon")
} | {"opencl-gpu": TargetOptions(hardware=load_hardware("nvidia-h200"))}
"""The named pipelines, each for devices like the hardware that it is named after."""


def pipeline_text(options: TargetOptions) -> str:
    """The whole pipeline from specialized `tile` to `opencl`."""
    return f"builtin.module({','.join(stage_passes(options).values())})"


def run_stages(
    module: ModuleOp,
    context: Context,
    options: TargetOptions,
    stages: Sequence[str],
    before: Callable[[ModulePass, ModuleOp], None] | None = None,
    expect: Expect | None = None,
) -> None:
    """Run the named stages on `module`, in place, and verify what comes out.

    `tile-opt` verifies after each pass; here that would be half of the time. Before
    it is lowered to stripe a module is still small, and is verified, too. `before` is
    called with each pass that is about to run. `expect` is told of the module first,
    and what it gives of each kernel as early as can be, where nobody watches the
    passes: see `run_kernel_by_kernel`.
    """
    steps = stage_steps(options)
    ready = None if expect is None else expect(module)
    is_watched = before is not None or observation.observer is not None
    if ready is not None and not is_watched and (*stages[-2:],) == _TO_KERNELS:
        from .kernel_by_kernel import run_kernel_by_kernel

        run_stages(module, context, options, stages[:-2])
        passes = [each.module_pass() for name in _TO_KERNELS for each in steps[name]]
        run_kernel_by_kernel(module, context, passes, ready)
        return
    if (observer := observation.observer) is not None:
        observer.stage("specialized", module)
    for stage in stages:
        for module_pass in [each.module_pass() for each in steps[stage]]:
            if before is not None:
                before(module_pass, module)
            progress.step(module_pass.name)
            start = observation.now()
            module_pass.apply(context, module)
            if (observer := observation.observer) is not None:
                observer.after_pass(module_pass.name, start, module)
        if stage in ("tile", stages[-1]):
            module.verify()
        if (observer := observation.observer) is not None:
            observer.stage(stage, module)
