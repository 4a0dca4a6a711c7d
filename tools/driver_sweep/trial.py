"""One batch of kernels: drawn, interpreted, run on the device, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp, f32

from ...errors import GinghamError
from .kernels import CELLS, INPUTS, POSITIONS, Drawn, Loops, draw_kernel, module_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...targets.opencl.devices.device import OpenCLDevice

    Array = NDArray[Any]

Verdict: TypeAlias = Literal["right", "wrong", "endless", "crash", "ours", "error"]

UNOPTIMIZED = "-cl-opt-disable"
_TOLERANCE = 1e-5
"""Of the largest magnitude that a result can have."""


@dataclass(frozen=True)
class Batch:
    """Some kernels of a sweep, one after the other."""

    device: str
    seed: int
    first: int
    count: int
    loops: Loops
    fast_math: bool = False

    def part(self, start: int, count: int) -> Batch:
        """So many of its kernels, from one on."""
        return Batch(
            self.device,
            self.seed,
            self.first + start,
            count,
            self.loops,
            self.fast_math,
        )

    def drawn(self) -> list[Drawn]:
        """Its kernels, named by their numbers."""
        return [
            draw_kernel(f"kernel_{n}", Random(f"{self.seed} {n}"), self.loops)
            for n in range(self.first, self.first + self.count)
        ]


@dataclass(frozen=True)
class Finding:
    """A kernel that is not right."""

    number: int
    verdict: Verdict
    message: str = ""


def try_batch(batch: Batch) -> list[Finding]:
    """The kernels of a batch that the device does not compute as they are defined."""
    from ...targets.reference import interpret

    drawn = batch.drawn()
    module = module_of(drawn)
    module.verify()
    inputs = make_inputs()
    wanted = interpret(emulated(module), inputs)
    device = device_named(batch.device)
    results = run(module, device, inputs, batch.fast_math)
    wrong = [
        number
        for number, (got, want, each) in enumerate(
            zip(results, wanted, drawn, strict=True)
        )
        if not is_right(got, want, each)
    ]
    return [_blamed(batch, number, wanted[number], device) for number in wrong]


def _blamed(batch: Batch, number: int, want: Array, device: OpenCLDevice) -> Finding:
    """Who is wrong about a kernel of a batch: the optimizer, or Gingham."""
    (drawn,) = batch.part(number, 1).drawn()
    inputs = make_inputs()
    module = module_of([drawn])
    (alone,) = run(module.clone(), device, inputs, batch.fast_math)
    (plain,) = run(module, device, inputs, batch.fast_math, (UNOPTIMIZED,))
    if not is_right(plain, want, drawn):
        said = "without optimisation it is not what the interpreter says, either"
        return Finding(batch.first + number, "ours", said)
    company = "" if not is_right(alone, want, drawn) else ", among others only"
    return Finding(batch.first + number, "wrong", f"{difference(alone, want)}{company}")


def run(
    module: ModuleOp,
    device: OpenCLDevice,
    inputs: Sequence[Array],
    fast_math: bool,
    more: Sequence[str] = (),
) -> list[Array]:
    """The results of a module on a device."""
    from ...targets.opencl.executor import OpenCLExecutable
    from ...targets.opencl.program import build_options

    options = (*build_options(device, fast_math=fast_math), *more)
    module = printable(module, device, fast_math)
    return OpenCLExecutable(module, device, options)(*inputs)


def printable(module: ModuleOp, device: OpenCLDevice, fast_math: bool) -> ModuleOp:
    """The module as it is printed for a device, some of whose functions are ours."""
    from ...dialects import make_context
    from ...passes.opencl.expand_functions import OpenCLExpandFunctionsPass
    from ...targets.opencl.devices.own_functions import own_functions

    module = emulated(module)
    if not fast_math:
        functions = own_functions(device)
        OpenCLExpandFunctionsPass(functions).apply(make_context(), module)
    return module


def emulated(module: ModuleOp) -> ModuleOp:
    """The module with f16 and bf16 as types of memory only."""
    from ...dialects import make_context
    from ...passes.opencl.emulate_types import OpenCLEmulateTypesPass

    OpenCLEmulateTypesPass().apply(make_context(), module)
    return module


def is_right(got: Array, want: Array, drawn: Drawn) -> bool:
    """Whether a result is equal, or close where functions round."""
    import numpy as np

    if drawn.is_exact:
        return bool(np.array_equal(got, want, equal_nan=want.dtype.kind == "f"))
    left, right = got.astype(np.float64), want.astype(np.float64)
    limit = _TOLERANCE if drawn.element == f32 or want.dtype.itemsize > 2 else 2.0**-6
    return bool(np.allclose(left, right, rtol=0, atol=limit * drawn.size))


def difference(got: Array, want: Array) -> str:
    """How many elements are wrong, and the first of them."""
    import numpy as np

    wrong = np.flatnonzero(got != want)
    if not wrong.size:
        return "right alone"
    first = int(wrong[0])
    return (
        f"{wrong.size} of {got.size} elements are wrong: element {first} is "
        f"{got[first]}, expected {want[first]}"
    )


@cache
def make_inputs() -> list[Array]:
    """The inputs of all kernels: small integers."""
    import numpy as np

    from ...dialects.eltwise.numpy_types import numpy_dtype

    random = np.random.default_rng(7)
    arrays: list[Array] = []
    for name, (element, size) in INPUTS.items():
        dtype = numpy_dtype(element)
        least = 0 if dtype.kind in "bu" or size == POSITIONS else -int(size)
        numbers = random.integers(least, int(size) + (size != POSITIONS), CELLS)
        if name == "S":
            numbers = random.choice([-1, 1], CELLS)
        arrays.append(numbers.astype(dtype))
    return arrays


def device_named(name: str) -> OpenCLDevice:
    """The OpenCL device of that name."""
    from ...runtime.devices import device
    from ...targets.opencl.devices.device import OpenCLDevice

    found = device(name)
    if not isinstance(found, OpenCLDevice):
        raise GinghamError(
            f"device '{name}' has no compiler",
            hint="`tile-devices` lists those of OpenCL",
        )
    return found


def print_kernel(batch: Batch) -> str:
    """A batch as OpenCL C."""
    from ...targets.opencl.printer import print_opencl

    module, device = module_of(batch.drawn()), device_named(batch.device)
    return print_opencl(printable(module, device, batch.fast_math))
