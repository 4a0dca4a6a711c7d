"""The block that an instruction computes, read from the text of a description.

```mlir
func.func @dot(%A : !stripe.view<4xf32>, %B : !stripe.view<4xf32>)
    -> !stripe.view<1xf32> {
  %C = stripe.alloc : !stripe.view<1xf32>
  stripe.block [%k : 4]
      in %a = %A[%k] : 1
      in %b = %B[%k] : 1
      out %c = %C[0] : 1 add {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<1xf32>
}
```

Operands are the function's arguments, and last what it returns. Each is a scalar, or a
vector of OpenCL with as many lanes as it has elements, in the order of its axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

from ...affine.form import LinearForm
from ...dialects import make_context
from ...dialects.aggregation import Aggregation
from ...dialects.bounded_parser import BoundedParser
from ...dialects.eltwise.element_types import vector_of
from ...dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ...dialects.stripe.attributes import Direction, view_type
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from .instruction import Instruction

_LANES = (1, 2, 4, 8, 16)
_MOST_POINTS = 256
"""Each is a few operations of what says the meaning."""
_MOST_INDICES = 5
"""With more than one value: a block has them in any order."""
_MOST_STATEMENTS = 64
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class BlockError(ValueError):
    """What is wrong with the block of an instruction, or with its spelling."""

    def __init__(
        self, message: str, field: str = "block", line: int = 0, column: int = 0
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.line = line
        """In the text, from 1; 0 is all of it."""
        self.column = column


@dataclass(frozen=True)
class Operand:
    """What an instruction reads or writes: a scalar, or lanes of a vector."""

    name: str
    """As the text and the spelling call it."""
    view: int
    """The number of the block's window through which it is accessed."""
    element: Attribute
    places: tuple[int, ...]
    """The lane that each point of the block accesses, in their order."""
    lanes: int

    @property
    def type(self) -> Attribute:
        """Of the value: a scalar's, or a vector's."""
        return vector_of(self.element, self.lanes) if self.lanes > 1 else self.element


@dataclass(frozen=True)
class InstructionBlock:
    """A leaf block, and the operands of the instruction that computes it."""

    block: BlockOp
    inputs: tuple[Operand, ...]
    output: Operand
    native: str
    """The spelling, with the numbers of operands in place of their names."""

    @property
    def aggregation(self) -> Aggregation:
        """How what it computes becomes part of the output."""
        return self.block.refinement(self.output.view).aggregation


@lru_cache(maxsize=64)
def block_of(instruction: Instruction) -> InstructionBlock:
    """The block that an instruction computes. Raises BlockError where it is none."""
    function = _function(instruction.block)
    block, output = _statements(function)
    _check_points(block)
    windows = [_window(block, number, output) for number in range(len(block.buffers))]
    inputs = [each for each in windows if block.buffer(each.view) is not output]
    arguments = [name_of(argument) for argument in function.body.block.args]
    if [each.name for each in inputs] != arguments:
        raise BlockError(
            "expected an input for each argument of the function, in their order: "
            f"{', '.join(arguments)}; got {', '.join(each.name for each in inputs)}"
        )
    (result,) = (each for each in windows if block.buffer(each.view) is output)
    is_shared = len({*result.places}) < len(result.places)
    if is_shared and block.refinement(result.view).aggregation is Aggregation.ASSIGN:
        raise BlockError(f"several points assign one element of %{result.name}")
    names = [each.name for each in (*inputs, result)]
    return InstructionBlock(
        block, tuple(inputs), result, _native(instruction.spelling, names)
    )


def points_of(
    ranges: Sequence[int], conditions: Sequence[LinearForm]
) -> Iterator[tuple[int, ...]]:
    """The points of a block whose constraints are over its own indices only."""
    for point in product(*map(range, ranges)):
        if all(form.evaluate(point) >= 0 for form in conditions):
            yield point


def name_of(value: SSAValue) -> str:
    """What a text calls a value."""
    return value.name_hint or f"{value}"


def _function(text: str) -> FuncOp:
    """The one function of a text. Raises BlockError."""
    if not text.strip():
        raise BlockError("it has no block that it computes")
    try:
        module = BoundedParser(make_context(), text).parse_module()
        module.verify()
    except ParseError as error:
        line, column = _place(error, text)
        raise BlockError(error.msg, line=line, column=column) from error
    except VerifyException as error:
        raise BlockError(str(error)) from error
    return _only(module)


def _place(error: ParseError, text: str) -> tuple[int, int]:
    before = text[: error.span.start]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _only(module: ModuleOp) -> FuncOp:
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1 or len([*module.ops]) != 1:
        raise BlockError(f"expected one func.func, got {len([*module.ops])} op(s)")
    return functions[0]


def _statements(function: FuncOp) -> tuple[BlockOp, SSAValue]:
    """The block of a function, and the buffer that it writes and returns."""
    statements = [*function.body.block.ops] if function.body.blocks else []
    match statements:
        case [AllocOp() as alloc, BlockOp() as block, ReturnOp() as last]:
            if [*last.arguments] == [alloc.view]:
                return block, alloc.view
        case _:
            pass
    raise BlockError(
        "expected a function of three statements: a stripe.alloc, a stripe.block that "
        "writes it, and a func.return of it"
    )


def _check_points(block: BlockOp) -> None:
    """Refuse what is no small, plain leaf."""
    if block.is_serial:
        raise BlockError("expected points in any order, got a serial block")
    if prod(block.index_ranges) > _MOST_POINTS:
        raise BlockError(
            f"expected at most {_MOST_POINTS} points, got {prod(block.index_ranges)}"
        )
    if sum(extent > 1 for extent in block.index_ranges) > _MOST_INDICES:
        raise BlockError(f"expected at most {_MOST_INDICES} indices")
    if len([*block.body.ops]) > _MOST_STATEMENTS:
        raise BlockError(f"expected at most {_MOST_STATEMENTS} statements")
    stores = 0
    for op in block.body.ops:
        is_plain = isinstance(op, ElementwiseOp | ConstantOp | CastOp)
        if isinstance(op, LoadOp | StoreOp):
            is_plain = op.subscripts is None
            is_plain &= not isinstance(op, StoreOp) or op.condition is None
            stores += isinstance(op, StoreOp)
        if not is_plain:
            raise BlockError(
                "expected loads and stores without subscripts and element-wise "
                f"functions, got {op.name}"
            )
    if stores != 1:
        raise BlockError(f"expected one stripe.store, got {stores}")


def _window(block: BlockOp, number: int, output: SSAValue) -> Operand:
    """The operand that a window shows one element of. Raises BlockError."""
    buffer, refinement = block.buffer(number), block.refinement(number)
    name = name_of(buffer)
    type = block.view_type(number)
    is_output = buffer is output
    if refinement.direction is not (Direction.OUT if is_output else Direction.IN):
        wanted = "out" if is_output else "in"
        raise BlockError(f"expected %{name} to be '{wanted}', once")
    if type.sizes != (1,) * type.rank or refinement.init is not None:
        raise BlockError(f"expected one element of %{name}, without 'init'")
    sizes = view_type(buffer).sizes
    lanes = prod(sizes)
    if lanes not in _LANES:
        raise BlockError(
            f"expected %{name} to have {', '.join(map(str, _LANES[:-1]))} or "
            f"{_LANES[-1]} elements, got {lanes}"
        )
    places = tuple(
        _lane([int(form.evaluate(point)) for form in refinement.access], sizes, name)
        for point in points_of(block.index_ranges, block.conditions)
    )
    unused = {*range(lanes)} - {*places}
    if unused:
        raise BlockError(f"element {min(unused)} of %{name} is never used")
    return Operand(name, number, type.element_type, places, lanes)


def _lane(place: Sequence[int], sizes: Sequence[int], name: str) -> int:
    lane = 0
    for position, size in zip(place, sizes, strict=True):
        if not 0 <= position < size:
            raise BlockError(f"%{name} has no element {[*place]}")
        lane = lane * size + position
    return lane


def _native(spelling: str, names: Sequence[str]) -> str:
    """The spelling with numbers in place of the operands' names."""

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise BlockError(
                f"there is no operand '{found[1]}', only {', '.join(names)}", "spelling"
            )
        return f"{{{names.index(found[1])}}}"

    return _PLACEHOLDER.sub(number, spelling)
