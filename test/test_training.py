"""Random programs are right: a minute of `python -m test.training`, others each day.

The command runs thousands of them: see `training.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import kernel_checks
import numpy as np
import pytest
import training
from training_steps import training_step

import gingham
from gingham.targets.opencl import compiled
from gingham.targets.opencl.checking.builds import UNOPTIMISED
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.program import DeviceProgram, build_program

SECONDS = 60


@pytest.fixture(autouse=True)
def needs_kernels() -> None:
    if not isinstance(gingham.default_device(), OpenCLDevice):
        pytest.skip("nothing is compiled for the interpreter")


def test_steps_of_the_day(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--programs", "100000", "--seconds", str(SECONDS)]
    assert training.main(arguments) == 0, capsys.readouterr().out


def test_kernels_of_every_family(capsys: pytest.CaptureFixture[str]) -> None:
    """The same programs each time, for all GPUs; the command runs thousands."""
    arguments = ["--of", "kernels", "--hardware", "gpus", "--seed", "1"]
    found = training.main([*arguments, "--programs", "40"])
    assert found == 0, capsys.readouterr().out


def test_a_wrong_kernel_is_found() -> None:
    wanted, tolerance = np.ones((3, 4), np.float32), 1e-4
    near, wrong = wanted + np.float32(1e-5), wanted.copy()
    wrong[1, 2] = np.nan
    assert kernel_checks.difference(wanted, wanted, tolerance) is None
    assert kernel_checks.difference(near, wanted, tolerance) is None
    assert kernel_checks.difference(near, wanted, 1e-6) is not None
    shown = kernel_checks.difference(wrong, wanted, tolerance)
    assert shown == "[1, 2] is nan in place of 1.0, 1 cells"
    whole = wanted.astype(np.int32)
    assert kernel_checks.difference(whole, wanted, tolerance) is not None
    assert kernel_checks.difference(whole + 1, whole, 10.0) is not None


def test_a_wrong_compiler_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(
        device: OpenCLDevice,
        source: str,
        options: Sequence[str] | None = None,
        begun: object = None,
    ) -> DeviceProgram:
        if UNOPTIMISED not in (options or ()):
            source = source.replace("sqrt(", "1.1f * sqrt(")
        return build_program(device, source, options)

    number = next(n for n in range(1000) if "sqrt" in training_step(f"1/{n}").text)
    arguments = ["--seed", "1", "--first", str(number), "--programs", "1"]
    assert training.main(arguments) == 0
    monkeypatch.setattr(compiled, "build_program", build)
    assert training.main(arguments) == 1
    shown = capsys.readouterr().out
    assert "by the definition: " in shown
    assert "by no optimisation: " in shown
    assert f"--seed 1 --first {number} --programs 1" in shown


def test_both_ways_of_writing_a_program_are_one() -> None:
    """A step in Python has the results of its text."""
    steps = [training_step(f"ways/{number}") for number in range(30)]
    in_python = [step for step in steps if step.is_in_python][:3]
    for step in in_python:
        arrays = [*step.inputs.values()]
        function = step.function()
        assert function.output_names == gingham.compile(step.text).output_names
        ours = function.ir(*arrays)
        text = gingham.compile(step.text).ir(*arrays)
        assert ours.count("tile.contract") == text.count("tile.contract")
