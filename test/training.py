"""Random programs, on the default device against what they should be.

    python -m test.training --programs 1000 --seed 1
    python -m test.training --programs 1000 --seed 1 --of kernels --hardware gpus

Programs are steps of training, or of the families that have kernels of their own on
GPUs. A step of `training_steps` is compiled for the default device and run on fresh
data. Its results are compared in a sample of cells with the definition, and as a whole
with the same kernels built without optimisation; of every tenth, where they are there,
with those that PoCL and the system's C compiler build, and of small programs with the
reference interpreter.

Programs of `kernel_programs` are compared with the definition, too, and interpreted as
far as that takes seconds, and so are their kernels, which have to keep to the limits of
the hardware that they are for. `--hardware gpus` draws a GPU that is described, often
with other figures, for each of them.

What differs is printed with the program and kept in a file of its own. Program `n` of
a seed is always the same: `--first n` goes on where a run has ended.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradients import Array
from kernel_checks import limits_passed, wrong_cells
from kernel_programs import drawn_gpu, kernel_program
from training_steps import Step, training_step
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.passes.pipelines import run_stages
from gingham.runtime.backends import backend_of
from gingham.runtime.device import Device
from gingham.runtime.devices import devices
from gingham.runtime.hardware import target_options
from gingham.targets.c.device import DEVICE as C
from gingham.targets.hardware import Hardware, load_hardware
from gingham.targets.opencl.checking.builds import unoptimised
from gingham.targets.opencl.checking.expectation import Mismatch, expectation
from gingham.targets.opencl.checking.opinion import Opinion
from gingham.targets.opencl.compiled import CompiledCode, compile_module
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

_FEW_ELEMENTS = 1 << 12
"""The elements of inputs and results of programs that the interpreter runs as well."""
_RARELY = 10
"""One of so many programs is built by other compilers, which takes longest."""
_DAYS_SEED = datetime.date.today().toordinal()
"""The seed where none is given: another one each day."""


@dataclass(frozen=True)
class Ran:
    """A program, its kernels for the default device, and what these gave."""

    names: Sequence[str]
    """Of the results."""
    arrays: Sequence[Array]
    flattened: ModuleOp
    kernels: ModuleOp
    code: CompiledCode
    results: Sequence[Array]
    device: OpenCLDevice
    hardware: Hardware
    """What the kernels are for."""


def ran(step: Step, hardware: Hardware | None) -> Ran:
    """Run a program, in kernels for a description of hardware or the device itself."""
    function = step.function()
    arrays, device = [*step.inputs.values()], function.device
    if not isinstance(device, OpenCLDevice):
        raise GinghamError(f"{device.name} has no kernels to compare")
    module, options = function.specialized(*arrays), target_options(device, hardware)
    run_stages(module, make_context(), options, ["tile"])
    flattened = module.clone()
    run_stages(module, make_context(), options, ["stripe", "opencl"])
    code = compile_module(module, device)
    results = OpenCLExecutable(code, device)(*arrays)
    names, own = function.output_names, options.hardware
    return Ran(names, arrays, flattened, module, code, results, device, own)


def of_training(own: Ran, other_compilers: Sequence[Device]) -> Iterator[str]:
    """What is wrong with the results of a step of training."""
    names, arrays, results, device = own.names, own.arrays, own.results, own.device
    wanted = expectation(own.flattened, arrays, fast_math=False)
    yield from _shown("the definition", names, wanted.mismatch(results))
    opinion = Opinion(OpenCLExecutable(unoptimised(own.code, device), device), arrays)
    everything = [*range(len(results))]
    yield from _shown(
        "no optimisation", names, opinion.disagreement(results, everything)
    )
    for other in other_compilers:
        theirs = backend_of(other).executable(own.kernels)(*arrays)
        found = opinion.disagreement(theirs, everything)
        yield from _shown(f"no optimisation, on {other.name}", names, found)
    if sum(array.size for array in (*arrays, *results)) <= _FEW_ELEMENTS:
        found = wanted.mismatch(interpret(own.flattened, arrays))
        yield from _shown("the definition, by the interpreter", names, found)


def of_kernels(own: Ran, other_compilers: Sequence[Device]) -> Iterator[str]:
    """What is wrong with a program of a family of kernels."""
    wanted = expectation(own.flattened, own.arrays, fast_math=False)
    found = wanted.mismatch(own.results)
    yield from _shown("the definition", own.names, found)
    yield from wrong_cells(own.flattened, own.kernels, own.arrays, own.results)
    yield from limits_passed(own.kernels, own.hardware)


@dataclass(frozen=True)
class Kind:
    """Which programs are drawn, and what is asked of each."""

    drawn: Callable[[str], Step]
    problems: Callable[[Ran, Sequence[Device]], Iterator[str]]


KINDS = {
    "training": Kind(training_step, of_training),
    "kernels": Kind(kernel_program, of_kernels),
}
_ANY_GPU = "gpus"


def hardware_for(name: str | None, text: str) -> str | None:
    """The description that a program is compiled for; a drawn one for `gpus`."""
    return drawn_gpu(text) if name == _ANY_GPU else name


def _shown(by: str, names: Sequence[str], found: Mismatch | None) -> Iterator[str]:
    if found is not None:
        yield (
            f"by {by}: {names[found.output]}{list(found.cell)} is {found.got}, and "
            f"{found.wanted} is right, up to {found.tolerance:.1e}"
        )


def seed_of(seed: int, number: int) -> str:
    """What program `number` of a seed is drawn by."""
    return f"{seed}/{number}"


def check(
    text: str,
    other_compilers: Sequence[Device],
    hardware: str | None = None,
    kind: str = "training",
) -> list[str]:
    """What is wrong with the program that is drawn by a text."""
    step = KINDS[kind].drawn(text)
    try:
        figures = None if hardware is None else load_hardware(hardware)
        return list(KINDS[kind].problems(ran(step, figures), other_compilers))
    except (GinghamError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def report(
    text: str,
    problems: Sequence[str],
    hardware: str | None = None,
    kind: str = "training",
) -> str:
    """What is printed of a program that is wrong."""
    step = KINDS[kind].drawn(text)
    inputs = [f"{n}: {a.dtype}{list(a.shape)}" for n, a in step.inputs.items()]
    seed, number = text.split("/")
    command = f"python -m test.training --seed {seed} --first {number} --programs 1"
    if kind != "training":
        command += f" --of {kind}"
    if hardware is not None:
        command += f" --hardware {hardware}"
    return "\n".join([*problems, command, *inputs, step.text])


def compilers() -> list[Device]:
    """The devices of other compilers that are installed."""
    pocl = [each for each in devices() if each.name.startswith("pocl")]
    return [*pocl, *([C] if C.failure() is None else [])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 where a program was wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m test.training",
        description="Run random programs, and compare their results.",
    )
    parser.add_argument("--programs", type=int, default=100, help="at most so many")
    parser.add_argument(
        "--seed", type=int, default=_DAYS_SEED, help="what they are drawn by"
    )
    parser.add_argument("--first", type=int, default=0, help="the first program")
    parser.add_argument("--step", type=int, default=1, help="every so many of them")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin none after that"
    )
    parser.add_argument("--keep", type=Path, help="a folder for what is wrong")
    parser.add_argument(
        "--of", choices=[*KINDS], default="training", help="which programs"
    )
    parser.add_argument(
        "--hardware", help="compile for what this device is like; any of `gpus`"
    )
    options = parser.parse_args(arguments)
    others, start, wrong, done = compilers(), time.monotonic(), 0, 0
    for number in range(options.first, options.first + options.programs, options.step):
        if time.monotonic() - start > options.seconds:
            break
        text = seed_of(options.seed, number)
        hardware = hardware_for(options.hardware, text)
        others_now = () if number % _RARELY else others
        problems = check(text, others_now, hardware, options.of)
        done += 1
        if problems:
            wrong += 1
            shown = report(text, problems, hardware, options.of)
            print(shown, flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{number}.txt").write_text(shown)
        elif done % 20 == 0:
            seconds = time.monotonic() - start
            print(
                f"{done} programs in {seconds:.0f} s, next is {number + options.step}",
                flush=True,
            )
    print(f"{done} programs of seed {options.seed}, {wrong} of them wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
