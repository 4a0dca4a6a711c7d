"""Runs a function of a module: checks its inputs, then executes its body."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument

from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import ANY_ELEMENT, element_of
from ...dialects.locations import error_at
from ...dialects.opencl.attributes import BufferType
from ...dialects.stripe.attributes import ViewType
from ...errors import GinghamError
from .budget import Budget
from .dispatch import cells_of, prepare
from .elements import Array
from .faults import display
from .frame import Frame
from .memory import Memory
from .opencl import Pointer
from .window import Window

# The levels register their handlers when they are imported.
_LEVELS = (
    "eltwise",
    "index_number",
    "tile",
    "special",
    "indexed",
    "stripe",
    "stripe_access",
    "opencl",
    "opencl_functions",
)
for _level in _LEVELS:
    import_module(f".{_level}", __package__)


def run(
    module: ModuleOp, inputs: Sequence[Array], entry: str, budget: Budget | None
) -> list[Array]:
    """See `gingham.targets.reference.interpret`."""
    function = entry_function(module, entry)
    _check_specialized(function)
    arguments = function.body.block.args
    if len(inputs) != len(arguments):
        raise error_at(
            function, f"@{entry} takes {len(arguments)} input(s), got {len(inputs)}"
        )
    frame = Frame(1, budget=budget)
    for argument, array in zip(arguments, inputs, strict=True):
        frame[argument] = _input(argument, array)
    for op in function.body.block.ops:
        try:
            if isinstance(op, ReturnOp):
                return [_output(op, frame[value]) for value in op.arguments]
            frame.budget.allocate(op, cells_of(op))
            prepare(op)(frame)
        except MemoryError as error:
            raise error_at(op, f"'{op.name}' needs too much memory: {error}") from None
    raise error_at(function, f"@{entry} does not end with func.return")


def entry_function(module: ModuleOp, entry: str = "main") -> FuncOp:
    """The function of that name; raises GinghamError for a module without one."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == entry:
            if op.is_declaration:
                raise error_at(op, f"the function @{entry} has no body")
            return op
    raise error_at(module, f"the module has no function @{entry}")


def _check_specialized(function: FuncOp) -> None:
    for op in function.walk():
        types = [value.type for value in op.results]
        if op is function:
            types = [argument.type for argument in function.body.block.args]
        for type in types:
            if _is_symbolic(type):
                raise error_at(
                    op,
                    f"sizes or element types are not known: {type}",
                    "run the pass tile-specialize first",
                )


def _is_symbolic(type: Attribute) -> bool:
    if isinstance(type, UnrankedTensorType) or element_of(type) == ANY_ELEMENT:
        return True
    return isinstance(type, TensorType) and DYNAMIC_INDEX in type.get_shape()


def _input(argument: BlockArgument, array: Array) -> Any:
    """What the body sees of an input."""
    declared = argument.type
    if isinstance(declared, TensorType):
        _check_input(argument, array, declared.get_shape(), declared.element_type)
        return array.copy()
    if not isinstance(declared, ViewType | BufferType):
        raise GinghamError(
            f"{display(argument)} is no input that has values: {declared}"
        )
    memory = Memory(display(argument), declared.sizes, declared.element_type)
    _check_input(argument, array, memory.array_shape, memory.element)
    memory.assign(slice(None), array.reshape(-1))
    is_view = isinstance(declared, ViewType)
    return Window.whole(memory) if is_view else Pointer(memory)


def _check_input(
    argument: BlockArgument, array: Any, shape: tuple[int, ...], element: Attribute
) -> None:
    dtype = numpy_dtype(element)
    if not isinstance(array, np.ndarray):
        problem = f"expected a NumPy array, got {type(array).__name__}"
    elif array.shape != shape:
        problem = f"expected shape {shape}, got {array.shape}"
    elif array.dtype != dtype:
        problem = f"expected dtype {dtype}, got {array.dtype}"
    else:
        return
    message = f"input {argument.index} ({display(argument)}): {problem}"
    function = argument.block.parent_op()
    raise GinghamError(message) if function is None else error_at(function, message)


def _output(op: ReturnOp, value: Any) -> Array:
    """A result as an array that nothing else refers to."""
    if isinstance(value, Window | Pointer):
        return value.memory.contents(op)
    return np.array(value)
