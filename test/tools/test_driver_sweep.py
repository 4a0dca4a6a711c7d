"""The sweep of a device's compiler: what it draws, what it finds, a sample of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.eltwise.ops import ElementwiseOp
from gingham.dialects.eltwise.table import FUNCTIONS, TypeRule
from gingham.dialects.opencl import OpenCL
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.reference import interpret
from gingham.tools.driver_sweep import trial
from gingham.tools.driver_sweep.__main__ import main
from gingham.tools.driver_sweep.kernels import draw_kernel, module_of
from gingham.tools.driver_sweep.trial import UNOPTIMIZED, Batch, make_inputs, try_batch
from gingham.tools.driver_sweep.workers import Worker


def test_every_operation_is_drawn() -> None:
    drawn = [draw_kernel(f"k{n}", Random(f"draws {n}"), "printed") for n in range(350)]
    module = module_of(drawn)
    module.verify()
    names = {op.name for op in module.walk()}
    assert {op.name for op in OpenCL.operations} <= names
    # Most functions of floats are calls of a library in C, of which some are enough.
    functions = {n for n, f in FUNCTIONS.items() if f.rule is not TypeRule.FLOAT}
    functions |= {"fma", "sqrt", "tanh"}
    missing = {f"eltwise.{name}" for name in functions} - names
    # Complements are computed in another way, as in all kernels.
    assert missing == {"eltwise.signbit", "eltwise.bit_not"}
    others = ("constant", "cast", "broadcast", "bitcast", "shuffle")
    assert {f"eltwise.{name}" for name in others} <= names
    # Sines and cosines of each other, on which a compiler crashed.
    sines, cosines = (
        {op.operands[0] for op in module.walk() if op.name == f"eltwise.{name}"}
        for name in ("sin", "cos")
    )
    both = sines & cosines
    inner = {v.owner.operands[0] for v in both if isinstance(v.owner, ElementwiseOp)}
    assert inner & both


def test_a_kernel_is_always_the_same() -> None:
    first, second = (Batch("intel.0", 5, 7, 3, "printed").drawn() for _ in "ab")
    assert [str(k.kernel) for k in first] == [str(k.kernel) for k in second]
    other = Batch("intel.0", 6, 7, 3, "printed").drawn()
    assert [str(k.kernel) for k in first] != [str(k.kernel) for k in other]


def test_sample(
    opencl_device: OpenCLDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the device's compiler makes of some kernels is right."""
    arguments = ["--device", opencl_device.name, "--seconds", "15", "--first", "100"]
    status = main(arguments)
    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("blamed", ["wrong", "ours"])
def test_who_is_wrong(
    blamed: str, opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that is wrong with optimisation only, or without it, too."""

    def run(
        module: ModuleOp,
        device: OpenCLDevice,
        inputs: Sequence[NDArray[Any]],
        fast_math: bool,
        more: Sequence[str] = (),
    ) -> list[NDArray[Any]]:
        results = interpret(trial.emulated(module), inputs)
        if UNOPTIMIZED not in more or blamed == "ours":
            results[-1] = np.flip(results[-1]) + 1
        return results

    monkeypatch.setattr(trial, "run", run)
    batch = Batch(opencl_device.name, 1, 0, 2, "printed")
    assert batch.drawn()[-1].is_exact
    (finding,) = try_batch(batch)
    assert finding.number == 1
    assert finding.verdict == blamed


def test_inputs_choose_positions_within_arrays() -> None:
    for array in make_inputs():
        assert np.isfinite(array.astype(np.float64)).all()


def test_what_goes_wrong_is_a_finding() -> None:
    """A device without a compiler; the worker goes on."""
    worker = Worker()
    try:
        found = [*worker.findings(Batch("reference", 1, 3, 2, "printed"))]
    finally:
        worker.close()
    assert [f.number for f in found] == [3, 4]
    assert all(f.verdict == "error" and "no compiler" in f.message for f in found)


def test_a_kernel_is_printed(
    opencl_device: OpenCLDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--device", opencl_device.name, "--kernel", "4"]) == 0
    assert "void kernel_4(" in capsys.readouterr().out
