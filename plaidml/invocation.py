"""`Invoker` binds tensors to a function; what it invokes runs on its own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dialects.numpy_names import dtype_of_name
from ..errors import GinghamError
from ..runtime.arguments import AnyArray
from ..runtime.arrays.host_values import as_array
from ..runtime.claims import WouldDeadlock
from ..runtime.runs import Run
from .composition import check_tensor
from .context import Context
from .devices import Device
from .errors import check_name
from .functions import Function
from .process import floatx
from .shapes import Shape
from .tensors import Tensor, held_here
from .variables import Integer, Real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..placement.explanation import PlacementExplanation

_NOTHING: Mapping[str, Any] = {}


class Invocation:
    """A run that was started. Views of its outputs wait for it."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._run.is_done

    def wait(self) -> None:
        """Block until it has ended. Raises the GinghamError that it failed with."""
        self._run.wait()


class Invoker:
    """A function with its inputs and outputs, to be run any number of times.

    Inputs are tensors, numbers, or arrays, which are copied; outputs are tensors.
    """

    def __init__(
        self,
        ctx: Context,
        f: Function,
        inputs: Mapping[str, Any] = _NOTHING,
        outputs: Mapping[str, Tensor] = _NOTHING,
    ) -> None:
        ctx.check()
        self._ctx = ctx
        self._function = f
        self._inputs: dict[str, Tensor | NDArray[Any]] = {}
        self._outputs: dict[str, Tensor] = {}
        self.set_inputs(inputs)
        self.set_outputs(outputs)

    def set_input(self, name: str, value: Any) -> None:
        """Bind an input to a tensor, a number or an array."""
        check_name("input", name, self._function.input_names)
        if isinstance(value, Tensor):
            self._inputs[name] = value
            return
        given = value.value if isinstance(value, Integer | Real) else value
        if isinstance(given, float):
            import numpy as np

            given = np.asarray(given, dtype_of_name(floatx().value))
        self._inputs[name] = as_array(name, given).copy()

    def set_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Bind several inputs by their names."""
        for name, value in inputs.items():
            self.set_input(name, value)

    def set_const(self, name: str | None = None, value: Any = None) -> None:
        """Bind an input to a number, which may be a size.

        Without a name: say that all inputs stay, which changes nothing.
        """
        if isinstance(value, Tensor):
            raise GinghamError(f"input '{name}' is a tensor and no constant")
        if name is not None:
            self.set_input(name, value)

    def set_output(self, name: str, value: Any) -> None:
        """Bind an output to the tensor that it is written to."""
        check_name("output", name, self._function.output_names)
        if not isinstance(value, Tensor):
            raise GinghamError(
                f"output '{name}': expected a tensor, got {type(value).__name__}"
            )
        self._outputs[name] = value

    def set_outputs(self, outputs: Mapping[str, Tensor]) -> None:
        """Bind several outputs by their names."""
        for name, value in outputs.items():
            self.set_output(name, value)

    def get_output_shape(self, name: str) -> Shape:
        """The shape of an output for the inputs that are bound."""
        check_name("output", name, self._function.output_names)
        inputs = self._all_inputs()
        tensors = [each for each in inputs if isinstance(each, Tensor)]
        device = self._device(tensors)
        shapes = self._shapes(device, inputs)
        return shapes[self._function.output_names.index(name)]

    def save(self, filename: str) -> None:
        """Write its function to a file, for `load_function`."""
        self._function.save(filename)

    def invoke(self) -> Invocation:
        """Start a run, which waits for the views and runs that are there already.

        Raises GinghamError for names that are not bound, shapes and types that do not
        fit, tensors of two devices or of a closed one, a program that cannot be
        compiled, and a tensor that the running thread has a view of. What goes wrong
        later is raised by the next use of the outputs.
        """
        self._ctx.check()
        began = time.perf_counter()
        inputs, outputs = self._all_inputs(), self._all_outputs()
        tensors = [each for each in inputs if isinstance(each, Tensor)] + outputs
        device = self._device(tensors)
        shapes = self._shapes(device, inputs)
        self._check_outputs(shapes, outputs)
        compiled = self._function.compiled(device)
        compiled.prepare(_arrays(inputs))
        sources = [each.buffer if isinstance(each, Tensor) else each for each in inputs]
        targets = [tensor.buffer for tensor in outputs]
        sizes = [shape.sizes for shape in shapes]
        name = self._function.name
        run = Run(device.worker, name, compiled, sources, targets, sizes)
        try:
            device.worker.start(run)
        except WouldDeadlock as error:
            raise held_here(error, f"the run of {self._function.name}") from None
        self._ctx.log(
            function=self._function.name,
            device=device.id,
            inputs=[str(each.shape) for each in inputs],
            seconds=time.perf_counter() - began,
        )
        return Invocation(run)

    def explain_placement(self) -> PlacementExplanation:
        """Why what runs where, for the inputs that are bound: a table when printed.

        Raises GinghamError where a single device is open.
        """
        from ..runtime.placement.function import PlacedFunction

        inputs = self._all_inputs()
        tensors = [each for each in inputs if isinstance(each, Tensor)]
        compiled = self._function.compiled(self._device(tensors))
        if not isinstance(compiled, PlacedFunction):
            raise GinghamError(
                f"everything runs on {compiled.device.name}",
                hint="a device that is opened by several names places programs",
            )
        return compiled.explain_placement(*_arrays(inputs))

    def _all_inputs(self) -> list[Tensor | NDArray[Any]]:
        """What all inputs of the program are bound to, also those nobody names."""
        names = self._function.input_names
        missing = [name for name in names if name not in self._inputs]
        if missing:
            raise GinghamError(f"input {', '.join(missing)} is not bound")
        return [*(self._inputs[name] for name in names), *self._function.bound]

    def _all_outputs(self) -> list[Tensor]:
        names = self._function.output_names
        missing = [name for name in names if name not in self._outputs]
        if missing:
            raise GinghamError(f"output {', '.join(missing)} is not bound")
        tensors = [self._outputs[name] for name in names]
        tensors += [check_tensor(tensor) for tensor in self._function.updated]
        if len(set(map(id, tensors))) != len(tensors):
            raise GinghamError("a tensor is bound to two outputs")
        return tensors

    def _device(self, tensors: list[Tensor]) -> Device:
        """The device of all tensors of a run; without any, that of the function."""
        if not tensors and self._function.device is not None:
            self._function.device.check()
            return self._function.device
        return _common_device(tensors)

    def _shapes(
        self, device: Device, inputs: list[Tensor | NDArray[Any]]
    ) -> list[Shape]:
        names = self._function.input_names
        for position in sorted(self._function.sizes):
            if isinstance(inputs[position], Tensor):
                is_named = position < len(names)
                what = f"input '{names[position]}'" if is_named else "a tensor in it"
                raise GinghamError(
                    f"{what} is a size, and bound to a tensor",
                    hint="a size is known before the run: bind it to an integer",
                )
        return self._function.output_shapes(self._ctx, device, _arrays(inputs))

    def _check_outputs(self, shapes: list[Shape], outputs: list[Tensor]) -> None:
        names = self._function.output_names
        for number, (shape, tensor) in enumerate(zip(shapes, outputs, strict=True)):
            given = tensor.shape
            is_same = given.sizes == shape.sizes
            # Elements of other axes, such as of [1, 4] in [4], keep their order.
            if given.ndims != shape.ndims:
                is_same = given.count == shape.count
            if given.dtype != shape.dtype or not is_same:
                what = f"output '{names[number]}'" if number < len(names) else "update"
                raise GinghamError(f"{what} has shape {shape}, its tensor {given}")


def run(
    ctx: Context,
    f: Function,
    inputs: Mapping[str, Any] = _NOTHING,
    outputs: Mapping[str, Tensor] = _NOTHING,
) -> Invocation:
    """Start a run of a function with these tensors: see `Invoker.invoke`."""
    return Invoker(ctx, f, inputs, outputs).invoke()


def _arrays(inputs: list[Tensor | NDArray[Any]]) -> list[AnyArray]:
    return [each.buffer.array if isinstance(each, Tensor) else each for each in inputs]


def _common_device(tensors: list[Tensor]) -> Device:
    """The device of all tensors of a run."""
    if not tensors:
        raise GinghamError("the function has neither an input nor an output tensor")
    first = tensors[0].device
    for tensor in tensors:
        tensor.check()
        if tensor.device is not first:
            raise GinghamError(
                f"tensors of two devices in one run: {first.id} and {tensor.device.id}",
                hint="all tensors of a run are made for the same open device",
            )
    return first
