"""Arguments as a function declares them: their names, what may be given for them."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, BlockArgument

from ...dialects.eltwise.element_types import name_of
from ...dialects.eltwise.ops import ANY_ELEMENT
from ..locations import error_at
from .argument_types import format_argument_type


def argument_name(argument: BlockArgument) -> str:
    """What the user calls an argument of a function.

    That is its name in `tile.inputs`, which frontends write, or in the IR.
    """
    function = argument.block.parent_op()
    names = None if function is None else function.attributes.get("tile.inputs")
    if isinstance(names, ArrayAttr) and argument.index < len(names):
        name = names.data[argument.index]
        if isinstance(name, StringAttr):
            return name.data
    return argument.name_hint or f"number {argument.index}"


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things, in words."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def check_argument(argument: BlockArgument, type: TensorType[Attribute]) -> None:
    """Compare a given type with what the function declares."""
    name, declared = argument_name(argument), argument.type
    given = format_argument_type(type)
    if not isinstance(declared, TensorType | UnrankedTensorType):
        raise error_at(argument, f"expected {name} to be a tensor, got {declared}")
    wanted = declared.element_type
    if wanted not in (ANY_ELEMENT, type.element_type):
        raise error_at(
            argument,
            f"expected elements of type {name_of(wanted)} for {name}, got {given}",
        )
    if isinstance(declared, UnrankedTensorType):
        return
    if declared.get_num_dims() != type.get_num_dims():
        raise error_at(
            argument,
            f"expected {count_of(declared.get_num_dims(), 'axis', 'axes')} for {name}, "
            f"got {type.get_num_dims()} ({given})",
        )
    pairs = zip(declared.get_shape(), type.get_shape(), strict=True)
    for axis, (want, got) in enumerate(pairs):
        if want not in (DYNAMIC_INDEX, got):
            raise error_at(
                argument, f"expected size {want} for axis {axis} of {name}, got {given}"
            )
