"""The reference interpreter as a backend: it runs programs as they are."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..observation import note, now
from ..targets.backend import Idle, Needs, Stage
from ..targets.hardware import Calibration, Hardware, load_hardware
from ..targets.host_program import LaunchTiming
from .expected_type import check_type

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..targets.backend import ArrayType, FixedInputs

    Array = NDArray[Any]

_ENTRY = "main"


class InterpretedRunner:
    """A module on the reference interpreter."""

    startable = None
    output_types = None
    printed = None
    idle_bytes = 0
    launch_count = 1

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self.last_used = 0.0

    @property
    def input_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each input, which the module names."""
        from xdsl.dialects.builtin import TensorType

        from ..dialects.eltwise.numpy_types import numpy_dtype
        from ..targets.reference.interpreter import entry_function

        return [
            (tuple(type.get_shape()), numpy_dtype(type.element_type))
            for type in entry_function(self._module).function_type.inputs
            if isinstance(type, TensorType)
        ]

    def __call__(self, *inputs: Array) -> list[Array]:
        """See `Executable`."""
        return self.run(inputs)

    def run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None = None,
        fixed: FixedInputs | None = None,
    ) -> list[Array]:
        """See `Executable`."""
        del fixed
        import numpy as np

        from ..targets.reference import interpret

        start = now()
        self.last_used = monotonic()
        # What the interpreter gives may be an input, or another result.
        results = [*map(np.array, interpret(self._module, inputs, _ENTRY))]
        note("step", "interpret", start)
        for number, target in enumerate(outputs or ()):
            if target is not None:
                result = results[number]
                check_type(f"output {number}", target, (result.shape, result.dtype))
        for number, target in enumerate(outputs or ()):
            if target is not None:
                target[...] = results[number]
                results[number] = target
        return results

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """See `Executable`; all of the program is one launch."""
        start = perf_counter()
        results = self.run(inputs)
        return results, [LaunchTiming("interpret", (1,), perf_counter() - start)]

    def refresh(self) -> None:
        """Do nothing: it keeps nothing."""

    def give_up(self, what: Idle) -> None:
        """Do nothing: it keeps nothing."""


class ReferenceBackend:
    """What the reference interpreter offers."""

    stage: Stage = "specialized"
    kernels = None
    memory = None

    def hardware(self) -> Hardware:
        """See `Backend`: that of a processor of today, to look at what is made for."""
        return load_hardware("cpu-avx512")

    def needs(self, *, fast_math: bool) -> Needs:
        """See `Backend`."""
        return Needs()

    def measured(self, described: Hardware) -> Calibration:
        """Raises GinghamError: it has no figures."""
        raise GinghamError(
            "device 'reference' cannot be measured",
            hint="`tile-devices` lists those of OpenCL",
        )

    def busy_work(self) -> None:
        """See `Backend`."""

    def executable(self, module: ModuleOp) -> InterpretedRunner:
        """See `Backend`."""
        return InterpretedRunner(module)
