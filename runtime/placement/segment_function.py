"""A segment as a function: compiled by the road that every program takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...dialects.constants import constant_arguments
from ..arguments import Binding
from ..function import Function
from ..options import CompileOptions
from ..parsed import ModuleProgram

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute

    from ..starter import Starter

    ArrayType = tuple[tuple[int, ...], np.dtype[Any]]


class SegmentFunction(Function):
    """A specialized program for one device."""

    def __init__(
        self,
        program: ModuleProgram,
        options: CompileOptions,
    ) -> None:
        """`options` are those of the whole program, on the device of the segment."""
        self._function = entry_of(program.module)
        constants = sorted(constant_arguments(self._function))
        super().__init__(program, replace(options, constants=constants, profile=False))

    def starter(self) -> Starter:
        """What is compiled, for arrays of its device."""
        return self._calls.of(self._own_binding).starter

    def own_source(self) -> str:
        """The OpenCL C of its kernels."""
        return self._code(self._own_binding).source

    def kernel_seconds(self, inputs: list[NDArray[Any]], launch: float) -> float:
        """How long one run takes on data that is there, in seconds.

        The device's own times, and `launch` for each launch; a run of the interpreter
        is one.
        """
        _, timings = self._calls.of(self._own_binding).runner.profile(*inputs)
        return sum(each.seconds + launch for each in timings)

    @property
    def input_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each input."""
        return [_numpy_type(type) for type in self._function.function_type.inputs]

    @property
    def _own_binding(self) -> Binding:
        types = self.input_types
        return Binding(tuple((shape, dtype.name) for shape, dtype in types))


def output_types_of(module: ModuleOp) -> list[ArrayType]:
    """Shape and NumPy type of each result of a specialized module."""
    return [_numpy_type(type) for type in entry_of(module).function_type.outputs]


def entry_of(module: ModuleOp) -> FuncOp:
    """The function `@main`."""
    from xdsl.dialects.func import FuncOp

    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise ValueError("the module has no function @main")


def _numpy_type(type: Attribute) -> ArrayType:
    from xdsl.dialects.builtin import TensorType

    from ...dialects.eltwise.numpy_types import numpy_dtype

    if not isinstance(type, TensorType):
        raise ValueError(f"expected a tensor, got {type}")
    return tuple(type.get_shape()), numpy_dtype(type.element_type)
