"""The function that validation runs: what it takes, with sizes for open ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.element_types import is_element_type, si32, ui32
from ...dialects.opencl.attributes import BufferType
from ...dialects.stripe.attributes import ViewType
from ...dialects.tile.ops import SizesOp
from ...errors import GinghamError

Signature = tuple[TensorType[Attribute], ...]
"""The types of the arguments as tensors, whatever the program holds them in."""

CHOSEN_SIZES = range(2, 7)
"""The sizes that are given to an axis of unknown size."""

_CHOSEN_RANKS = (1, 2, 0)


def find_entry(module: ModuleOp, name: str) -> FuncOp:
    """The function of this name; raises GinghamError when there is none."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == name and not function.is_declaration:
            return function
    names = [function.sym_name.data for function in functions]
    others = [other for other in names if other != name]
    hint = f"--validate-entry={others[0]} runs another one" if others else None
    raise GinghamError(f"there is no function @{name} to run", hint=hint)


def static_signature(function: FuncOp) -> Signature | None:
    """What a function takes; None when ranks, sizes or element types are still open.

    Raises GinghamError for an argument that is no array or number.
    """
    inputs = function.function_type.inputs.data
    if any(isinstance(type, UnrankedTensorType) for type in inputs):
        return None
    types = [_as_tensor(type) for type in inputs]
    signature = tuple(type for type in types if _is_static(type))
    return signature if len(signature) == len(types) else None


def parse_signature(text: str) -> Signature:
    """The types in `4x5xf32,f32`; raises GinghamError for a text of another form."""
    from ...passes.tile.argument_types import parse_argument_type

    return tuple(parse_argument_type(part) for part in text.split(",") if part.strip())


def format_signature(signature: Signature) -> str:
    """A signature as `parse_signature` reads it."""
    return ",".join(
        "x".join([*map(str, type.get_shape()), str(type.element_type)])
        for type in signature
    )


def choose_signature(function: FuncOp, random: Random) -> Signature:
    """Random small sizes for the open ones, and f32 for open element types.

    Sizes of one name, as `tile.sizes` gives them, are one number, and all arguments of
    any rank have one shape. Indices are si32, and the state of random numbers is ui32
    with three rows.
    """
    named: dict[str, int] = {}
    of_any_rank = random.choices(CHOSEN_SIZES, k=random.choice(_CHOSEN_RANKS))
    types: list[TensorType[Attribute]] = []
    for argument in function.args:
        if isinstance(argument.type, UnrankedTensorType):
            types.append(TensorType(_wanted_element(argument), of_any_rank))
            continue
        type = _as_tensor(argument.type)
        names = _names_of_sizes(argument)
        wanted = _wanted_element(argument)
        if wanted == ui32 and names:
            named[names[0]] = 3
        sizes: list[int] = []
        for axis, size in enumerate(type.get_shape()):
            chosen = random.choice(CHOSEN_SIZES)
            if axis < len(names):
                chosen = named.setdefault(names[axis], chosen)
            sizes.append(chosen if size < 0 else size)
        element = type.element_type
        types.append(TensorType(element if _is_number(element) else wanted, sizes))
    return tuple(types)


def _wanted_element(argument: SSAValue) -> Attribute:
    """The element type that the use of an argument asks for, else f32."""
    from ...dialects.tile.gather import GatherOp, Interpolation
    from ...dialects.tile.scatter import ScatterOp
    from ...dialects.tile.special import PrngOp

    for use in argument.uses:
        match use.operation:
            case GatherOp(options=options) if use.index == 1:
                if options.interpolation is Interpolation.NONE:
                    return si32
            case ScatterOp() if use.index == 1:
                return si32
            case PrngOp():
                return ui32
            case _:
                pass
    return f32


def is_open(function: FuncOp) -> bool:
    """Whether some ranks, sizes or element types in a function are not known yet."""
    return any(
        isinstance(value.type, UnrankedTensorType)
        or (isinstance(value.type, TensorType) and not _is_static(value.type))
        for op in function.walk()
        for value in (*op.results, *(function.args if op is function else ()))
    )


def _as_tensor(type: Attribute) -> TensorType[Attribute]:
    if isinstance(type, TensorType):
        return type
    if isinstance(type, ViewType | BufferType):
        return TensorType(type.element_type, type.sizes)
    if isinstance(type, MemRefType):
        return TensorType(type.element_type, type.get_shape())
    if _is_number(type):
        return TensorType(type, [])
    raise GinghamError(f"an argument of type {type} cannot be given a random value")


def _is_number(type: Attribute) -> bool:
    return isinstance(type, IndexType) or is_element_type(type)


def _is_static(type: TensorType[Attribute]) -> bool:
    return type.has_static_shape() and _is_number(type.element_type)


def _names_of_sizes(argument: SSAValue) -> Sequence[str]:
    """The names of the sizes of an argument, or none when they have no names."""
    for use in argument.uses:
        if isinstance(use.operation, SizesOp):
            return [name.data for name in use.operation.names]
    return ()
