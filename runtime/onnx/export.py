"""A model as the IR of one program, for sizes that are said, without running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...frontend.onnx.tensors import dtype_of
from ...frontend.onnx.values import HostValue, TensorValue, Value
from ..options import CompileOptions
from .graphs import source_of
from .parts import Part
from .planner import Planner
from .session import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ValueInfoProto

    from ...frontend.onnx.model import Model
    from ..parsed import ModuleProgram


def exported(model: Model, shapes: Mapping[str, Sequence[int]]) -> ModuleProgram:
    """The program that a model is; its last inputs are the weights.

    `shapes` has the sizes of inputs, where the model does not say them. Raises
    GinghamError where sizes are missing, and for a model that is more than one program.
    """
    arrays = [_stand_in(each, shapes.get(each.name)) for each in model.graph.input]
    session = Session(source_of(model), CompileOptions(device="reference"))
    planner = _Exporter(session, Part(), arrays)
    planner.run()
    if planner.program is None:
        raise GinghamError("the model computes nothing of its inputs")
    return planner.program


def _stand_in(declared: ValueInfoProto, shape: Sequence[int] | None) -> NDArray[Any]:
    """An array of the type of an input, all elements of which are the same memory."""
    import numpy as np

    if not declared.type.HasField("tensor_type"):
        raise GinghamError(f"input '{declared.name}' is no tensor")
    type = declared.type.tensor_type
    if shape is None:
        shape = declared_shape(declared)
    if shape is None:
        dims = [dim.dim_value or dim.dim_param or "?" for dim in type.shape.dim]
        raise GinghamError(
            f"the sizes of input '{declared.name}' are not known: {dims}",
            hint=f"say them: --shape {declared.name}=1x3x224x224",
        )
    return np.broadcast_to(np.zeros((), dtype_of(type.elem_type)), tuple(shape))


def declared_shape(declared: ValueInfoProto) -> list[int] | None:
    """The sizes that a model says of an input; None where it does not say all."""
    type = declared.type.tensor_type
    if not type.HasField("shape"):
        return None
    if not all(dim.HasField("dim_value") for dim in type.shape.dim):
        return None
    return [dim.dim_value for dim in type.shape.dim]


class _Exporter(Planner):
    """A walk that runs nothing: what values it would need is an error."""

    program: ModuleProgram | None = None

    def array(self, value: TensorValue) -> NDArray[Any]:
        """The elements of a constant. Raises GinghamError for others."""
        if value.array is None:
            raise GinghamError(
                f"the model is a program only for given values of '{value.name}'",
                hint="gingham.onnx.load compiles it when it is called",
            )
        return value.array

    def step(
        self,
        label: str,
        reason: str,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        inputs: Sequence[Value],
    ) -> list[Value]:
        """Not to be had in one program: GinghamError."""
        raise GinghamError(f"{label} runs on the host: {reason}")

    def run_program(
        self,
        program: ModuleProgram,
        constants: Sequence[NDArray[Any]],
        inputs: Sequence[int],
        wanted: Sequence[TensorValue],
    ) -> None:
        """Keep the program."""
        import numpy as np

        self.program = program
        for value in wanted:
            zeros = np.broadcast_to(np.zeros((), value.dtype), value.shape)
            placed = self.placed(value.name, zeros, self.parts[-1])
            value.slot = None if isinstance(placed, HostValue) else placed.slot
