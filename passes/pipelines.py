"""Named pipelines: the order of passes from Tile to kernels, as text.

A pipeline is the text that `tile-opt --pass-pipeline=` accepts, so that it can be
printed, edited and run again. It is made of stages, one per level of the IR;
`run_stages` runs them one by one for a caller that wants to see the IR in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from ..targets.hardware import Hardware, hardware_text, load_hardware
from . import get_all_passes

_LANE_BITS = 32
_LANE_REGISTERS = 32


@dataclass(frozen=True)
class TargetOptions:
    """What the passes want to know of a device."""

    vector_bits: int = 0
    """The width of the vectors that a work-item computes with, in bits; 0 is as the
    hardware says. On a GPU a work-item is a lane and has no vectors: 32."""
    vector_registers: int = 0
    """How many of them a work-item may use; 0 is as the hardware says."""
    unsupported: tuple[str, ...] = ()
    """The element types that it does not compute with, such as "f64"."""
    functions: tuple[str, ...] = ()
    """The functions of f32 that its runtime computes slowly or badly, such as "exp"."""
    device: str = ""
    """What errors call it."""
    hardware: Hardware = field(default_factory=lambda: load_hardware("cpu-avx512"))
    """Its figures. Those of a CPU have the width and the number of vectors above."""
    recall: str = ""
    """The options of `stripe-recall`; without any there are no measured decisions."""

    def __post_init__(self) -> None:
        hardware = self.hardware
        is_cpu = hardware.kind == "cpu"
        bits = self.vector_bits or (hardware.vector_bits if is_cpu else _LANE_BITS)
        registers = self.vector_registers or (
            hardware.vector_registers if is_cpu else _LANE_REGISTERS
        )
        if is_cpu:
            hardware = replace(hardware, vector_bits=bits, vector_registers=registers)
        object.__setattr__(self, "vector_bits", bits)
        object.__setattr__(self, "vector_registers", registers)
        object.__setattr__(self, "hardware", hardware)

    @property
    def hardware_text(self) -> str:
        """What the option `hardware` of passes takes: a name or path, and changes."""
        return hardware_text(self.hardware)

    def with_hardware(self, hardware: Hardware) -> TargetOptions:
        """The same for a device with other figures, those of its vectors too."""
        return replace(self, hardware=hardware, vector_bits=0, vector_registers=0)


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
            "stripe-fuse,"
            "stripe-localize,"
            "stripe-scalarize,"
            "stripe-dead-code-elimination,"
            "stripe-inline,"
            "stripe-dead-code-elimination,"
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
            "stripe-tile,"
            "stripe-stage,"
            "stripe-accumulate,"
            "stripe-share-kernels,"
            f"stripe-overcompute{{bits={bits}}},"
            "stripe-reduce-constraints,"
            f"stripe-separate{{bits={bits}}},"
            f"stripe-vectorize{{bits={bits}}},"
            "stripe-dead-code-elimination,"
            "stripe-unroll,"
            "stripe-map"
        ),
        "opencl": (
            "lower-stripe-to-opencl,"
            f'opencl-stream-stores{{hardware="{options.hardware_text}"}},'
            f"opencl-emulate-types{_own_functions(options)},"
            "opencl-merge-kernels,"
            "opencl-run-once,"
            "opencl-place-memory"
        ),
    }


def _own_functions(options: TargetOptions) -> str:
    """The pass that expands the functions which the runtime lacks, if there are any."""
    if not options.functions:
        return ""
    names = ",".join(f'"{name}"' for name in options.functions)
    return f",opencl-expand-functions{{functions={names}}}"


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
    """Run the named stages on `module`, in place, verifying it after each stage.

    `tile-opt` verifies after each pass; here that would be half of the time. `before`
    is called with each pass that is about to run.
    """
    passes = stage_passes(options)
    registry = get_all_passes()
    for stage in stages:
        pipeline = PassPipeline.parse_spec(registry, passes[stage])
        for module_pass in pipeline.passes:
            if before is not None:
                before(module_pass, module)
            module_pass.apply(context, module)
        module.verify()
