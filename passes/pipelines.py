"""Named pipelines: the order of passes from Tile to kernels, as text.

A pipeline is the text that `tile-opt --pass-pipeline=` accepts, so that it can be
printed, edited and run again. It is made of stages, one per level of the IR;
`run_stages` runs them one by one for a caller that wants to see the IR in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

from . import get_all_passes


@dataclass(frozen=True)
class TargetOptions:
    """What the passes want to know of a device."""

    vector_bits: int = 512
    """The width of its vectors in bits."""
    vector_registers: int = 32
    """How many of them a core has."""
    unsupported: tuple[str, ...] = ()
    """The element types that it does not compute with, such as "f64"."""
    device: str = ""
    """What errors call it."""


def stage_passes(options: TargetOptions) -> dict[str, str]:
    """The passes of each stage, from a specialized `tile` module on.

    The stages end at the level they are named after: `tile` is flattened, `stripe` is
    mapped to the device, `opencl` is ready to be printed.
    """
    bits = options.vector_bits
    registers = options.vector_registers
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
            "stripe-fuse,"
            "stripe-localize,"
            "stripe-scalarize,"
            "stripe-dead-code-elimination,"
            "stripe-merge-indices,"
            f"stripe-split-reduction{{lanes={bits // 8}}},"
            f"stripe-autotile{{bits={bits} registers={registers}}},"
            f"stripe-partition-edges{{bits={bits}}},"
            "stripe-tile,"
            "stripe-accumulate,"
            "stripe-reduce-constraints,"
            f"stripe-vectorize{{bits={bits}}},"
            "stripe-dead-code-elimination,"
            "stripe-unroll,"
            "stripe-map"
        ),
        "opencl": "lower-stripe-to-opencl,opencl-emulate-types",
    }


def _type_check(options: TargetOptions) -> str:
    """The pass that refuses what the device lacks, if it lacks anything."""
    if not options.unsupported:
        return ""
    names = ",".join(f'"{name}"' for name in options.unsupported)
    return f',tile-check-types{{unsupported={names} device="{options.device}"}}'


PIPELINES: dict[str, TargetOptions] = {
    "opencl-cpu-avx512": TargetOptions(512, 32),
    "opencl-cpu-avx2": TargetOptions(256, 16),
    "opencl-cpu-neon": TargetOptions(128, 32),
}
"""The named pipelines, each for devices with vectors like these."""


def pipeline_text(options: TargetOptions) -> str:
    """The whole pipeline from specialized `tile` to `opencl`."""
    return f"builtin.module({','.join(stage_passes(options).values())})"


def get_pipeline(name: str) -> str:
    """The text of a named pipeline; raises KeyError when there is none of that name."""
    return pipeline_text(PIPELINES[name])


def run_stages(
    module: ModuleOp, context: Context, options: TargetOptions, stages: Sequence[str]
) -> None:
    """Run the named stages on `module`, in place, verifying it after each stage.

    `tile-opt` verifies after each pass; here that would be half of the time.
    """
    passes = stage_passes(options)
    registry = get_all_passes()
    for stage in stages:
        pipeline = PassPipeline.parse_spec(registry, passes[stage])
        for module_pass in pipeline.passes:
            module_pass.apply(context, module)
        module.verify()
