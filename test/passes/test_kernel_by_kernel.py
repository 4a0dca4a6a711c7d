"""Kernels that are ready one by one are those of passes over the whole module."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.bench.growing import FAMILIES
from gingham.dialects import make_context
from gingham.dialects.opencl.kernel import KernelOp
from gingham.passes import kernel_by_kernel
from gingham.passes.kernel_pass import KernelPass, LaunchPass
from gingham.passes.pipelines import PIPELINES, TargetOptions, run_stages, stage_steps
from gingham.targets.hardware import load_hardware
from gingham.targets.opencl.printer import print_opencl, print_opencl_kernel

STAGES = ("tile", "stripe", "opencl")
LANES = TargetOptions(hardware=load_hardware("nvidia-h200"))
VECTORS = PIPELINES["opencl-cpu-avx512"]
FUNCTIONS = TargetOptions(hardware=VECTORS.hardware, functions=("exp", "tanh"))
# Its result is larger than the caches: that nobody reads it is known in the end only.
STREAM = (
    "function (A[N, K], B[K]) -> (C) { T = A + B; C = T * T; }",
    [(9000, 9000), (9000,)],
)


def specialized(program: tuple[str, list[tuple[int, ...]]]) -> ModuleOp:
    text, shapes = program
    arrays = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    return gingham.compile(text, tuned=False).specialized(*arrays)


PROGRAMS = {
    "joined": FAMILIES["different layers, gradients"](20),
    "staged": FAMILIES["different layers"](20),
    "shared": FAMILIES["convolutions"](12),
    "tree": FAMILIES["tree"](9),
    "functions": FAMILIES["recurrence"](14),
    "streamed": STREAM,
}


@pytest.mark.parametrize("options", [VECTORS, FUNCTIONS, LANES])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_orders_give_the_same(name: str, options: TargetOptions) -> None:
    module = specialized(PROGRAMS[name])
    early = module.clone()
    run_stages(module, make_context(), options, STAGES)
    told: list[KernelOp] = []
    texts: list[str] = []

    def ready(module: ModuleOp, kernel: KernelOp) -> None:
        told.append(kernel)
        texts.append(print_opencl_kernel(module, kernel)[1].definition)

    run_stages(early, make_context(), options, STAGES, expect=lambda module: ready)
    early.verify()
    assert str(early) == str(module)
    source = print_opencl(module)
    kernels = [op for op in early.ops if isinstance(op, KernelOp)]
    assert kernels
    for kernel in kernels:
        assert kernel in told
        # What is told of a kernel first may have changed; the last word holds.
        assert texts[len(told) - 1 - told[::-1].index(kernel)] in source


def test_who_expects_nothing_is_told_of_nothing() -> None:
    module = specialized(PROGRAMS["tree"])
    asked: list[ModuleOp] = []
    run_stages(module, make_context(), VECTORS, STAGES, expect=asked.append)
    assert asked == [module]
    assert any(isinstance(op, KernelOp) for op in module.ops)


@pytest.mark.parametrize("options", [VECTORS, LANES])
def test_every_pass_behind_the_lowering_is_known(options: TargetOptions) -> None:
    _, *steps = stage_steps(options)["opencl"]
    for step in steps:
        assert isinstance(step.module_pass(), KernelPass | LaunchPass), step.name


def test_kernels_wait_for_passes_that_are_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = specialized(PROGRAMS["staged"])
    # Nothing but a `LaunchPass` is known behind the lowering.
    monkeypatch.setattr(kernel_by_kernel, "KernelPass", LaunchPass)
    early = module.clone()
    run_stages(module, make_context(), VECTORS, STAGES)
    told: list[KernelOp] = []

    def ready(module: ModuleOp, kernel: KernelOp) -> None:
        told.append(kernel)

    run_stages(early, make_context(), VECTORS, STAGES, expect=lambda module: ready)
    assert str(early) == str(module)
    assert told == [op for op in early.ops if isinstance(op, KernelOp)]
