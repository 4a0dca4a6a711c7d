"""Named pipelines: the order of passes from Tile to kernels, as text.

A pipeline is the text that `tile-opt --pass-pipeline=` accepts, so that it can be
printed, edited and run again. It is made of stages, one per level of the IR;
`run_stages` runs them one by one for a caller that wants to see the IR in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from .. import observation, progress
from ..targets.hardware import load_hardware
from . import get_all_passes
from .target_options import TargetOptions


def stage_passes(options: TargetOptions) -> dict[str, str]:
    """The passes of each stage, from a specialized `tile` module on.

    The stages end at the level they are named after: `tile` is flattened, `stripe` is
    mapped to the device, `opencl` is ready to be printed.
    """
    bits = options.vector_bits
    registers = options.vector_registers
    cores = options.hardware.cores
    return {
        "tile": (
            "tile-expand-gather,"
            "tile-differentiate,"
            "tile-canonicalize,"
            "tile-flatten,"
            f"tile-canonicalize{_type_check(options)}"
        ),
        "stripe": (
            "lower-tile-to-stripe,"
            "stripe-reduce-constraints,"
            f"stripe-scan{{lanes={bits // 8} parallelism={8 * cores}}},"
            f'stripe-plan-layout{{hardware="{options.hardware_text}" bits={bits}'
            f" registers={registers} parallelism={16 * cores}}},"
            "stripe-transpose-outputs,"
            "stripe-fuse,"
            "stripe-localize,"
            "stripe-scalarize,"
            "stripe-dead-code-elimination,"
            "stripe-inline,"
            "stripe-dead-code-elimination,"
            "stripe-align,"
            f'stripe-plan-fusion{{hardware="{options.hardware_text}"}},'
            "stripe-fuse-nests,"
            "stripe-localize,"
            "stripe-scalarize,"
            "stripe-dead-code-elimination,"
            "stripe-reuse-scratch,"
            "stripe-merge-indices,"
            "stripe-split-axes,"
            f"stripe-split-reduction{{lanes={bits // 8} parallelism={16 * cores}}},"
            f"{_recall(options)}"
            f'stripe-autotile{{hardware="{options.hardware_text}" bits={bits}'
            f" registers={registers}}},"
            "stripe-pad,"
            "stripe-partition-edges,"
            "stripe-count-work,"
            "stripe-tile,"
            "stripe-stage,"
            "stripe-count-work,"
            "stripe-accumulate,"
            "stripe-share-kernels,"
            f"stripe-round-up{{bits={bits}}},"
            "stripe-reduce-constraints,"
            f"stripe-separate{{bits={bits}}},"
            f"stripe-vectorize{{bits={bits}}},"
            "stripe-dead-code-elimination,"
            f"stripe-unroll{{registers={registers}}},"
            "stripe-map"
        ),
        "opencl": (
            "lower-stripe-to-opencl,"
            f'opencl-stream-stores{{hardware="{options.hardware_text}"}},'
            f"opencl-emulate-types{_own_functions(options)},{_divisions(options)}"
            "opencl-merge-kernels,"
            "opencl-run-once,"
            f'opencl-plan-joins{{hardware="{options.hardware_text}"}},'
            f"opencl-join-launches,{_marked_loops(options)}{_prefetches(options)}"
            "opencl-place-memory"
        ),
    }


def _own_functions(options: TargetOptions) -> str:
    """The pass that expands the functions which the runtime lacks, if there are any."""
    if not options.functions:
        return ""
    names = ",".join(f'"{name}"' for name in options.functions)
    return f",opencl-expand-functions{{functions={names}}}"


def _divisions(options: TargetOptions) -> str:
    """The pass that divides vectors by scalars; on a GPU there are no vectors."""
    return "" if options.hardware.kind == "gpu" else "opencl-divide-by-scalars,"


def _marked_loops(options: TargetOptions) -> str:
    """The passes that say what compilers may make of loops, or keep them from faults.

    That is for processors, and for what has a processor's compiler.

    On a GPU the loads of several steps are to be on their way at once.
    """
    if options.hardware.kind != "cpu" and not options.vectorizes_loops:
        return ""
    return (
        f"opencl-limit-unrolling{{registers={options.vector_registers}}},"
        "opencl-hide-conditions,"
        "opencl-hide-complements,"
    )


def _prefetches(options: TargetOptions) -> str:
    """The passes that fetch data ahead; a GPU has other groups to run meanwhile."""
    if options.hardware.kind != "cpu":
        return ""
    return (
        f'opencl-prefetch-panels{{hardware="{options.hardware_text}"}},'
        f'opencl-prefetch-streams{{hardware="{options.hardware_text}"}},'
    )


def _recall(options: TargetOptions) -> str:
    """The pass that takes decisions from measurements, if there are any."""
    return f"stripe-recall{{{options.recall}}}," if options.recall else ""


def _type_check(options: TargetOptions) -> str:
    """The pass that refuses what the device lacks, if it lacks anything."""
    if not options.unsupported:
        return ""
    names = ",".join(f'"{name}"' for name in options.unsupported)
    return f',tile-check-types{{unsupported={names} device="{options.device}"}}'


PIPELINES: dict[str, TargetOptions] = {
    f"opencl-{name}": TargetOptions(hardware=load_hardware(name))
    for name in ("cpu-avx512", "cpu-avx2", "cpu-neon")
}
"""The named pipelines, each for devices like the hardware that it is named after."""


def pipeline_text(options: TargetOptions) -> str:
    """The whole pipeline from specialized `tile` to `opencl`."""
    return f"builtin.module({','.join(stage_passes(options).values())})"


def get_pipeline(name: str) -> str:
    """The text of a named pipeline; raises KeyError when there is none of that name."""
    return pipeline_text(PIPELINES[name])


def run_stages(
    module: ModuleOp,
    context: Context,
    options: TargetOptions,
    stages: Sequence[str],
    before: Callable[[ModulePass, ModuleOp], None] | None = None,
) -> None:
    """Run the named stages on `module`, in place, and verify what comes out.

    `tile-opt` verifies after each pass; here that would be half of the time. Before
    it is lowered to stripe a module is still small, and is verified, too. `before` is
    called with each pass that is about to run.
    """
    passes = stage_passes(options)
    registry = get_all_passes()
    if (observer := observation.observer) is not None:
        observer.stage("specialized", module)
    for stage in stages:
        pipeline = PassPipeline.parse_spec(registry, passes[stage])
        for module_pass in pipeline.passes:
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
