"""The builder of `tile` programs that all frontends share.

A `ProgramBuilder` makes the module of one program, op by op: inputs with named sizes,
element-wise calls, contractions, outputs. Every op gets the source location that it is
built with, and every mistake is a `GinghamError` at that location, so that a frontend
only has to say where things stand in its input.

Values are of three sorts: tensors (SSA values), sizes (`Size` or int: integers that are
known before anything runs) and float literals. Each is converted as its use needs:
`N / 2` of a size is a size, `X / N` of a tensor a tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FileLineColLoc,
    IndexType,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    i1,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..affine.polynomial import Polynomial
from ..dialects.aggregation import Aggregation, Combination
from ..dialects.eltwise.element_types import Kind, kind, name_of
from ..dialects.eltwise.ops import (
    ANY_ELEMENT,
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    broadcast_type,
    element_of,
    with_element,
)
from ..dialects.eltwise.table import FUNCTIONS, Function, TypeRule
from ..dialects.tile import ContractOp, FromIndexOp, SizesOp
from ..dialects.tile.attributes import Constraint
from ..dialects.tile.contract import contraction_signature
from ..dialects.tile.gradient import GradientOp
from ..errors import GinghamError, SourceLocation
from ..limits import (
    LARGEST_INTEGER,
    MOST_ARGUMENTS,
    MOST_AXES,
    MOST_CONSTRAINTS,
    MOST_OPERATIONS,
)
from .index_space import IndexSpace, Size, valid_name
from .known_integers import KnownIntegers

INPUTS = "tile.inputs"
"""The attribute of `@main` with the names of its arguments, an array of strings."""

OUTPUTS = "tile.outputs"
"""The attribute of `@main` with the names of its results, an array of strings."""

Value: TypeAlias = SSAValue | Size | int | float
"""What an expression may stand for: a tensor, a size, or a literal."""

_Op = TypeVar("_Op", bound=Operation)


@dataclass(frozen=True)
class Operand:
    """A tensor of a contraction, how it is accessed, and what the user calls it.

    `origin` says where the tensor comes from, for when the access does not fit it.
    """

    tensor: Value
    access: tuple[Polynomial, ...]
    name: str
    location: SourceLocation
    origin: str | None = None


def ir_location(location: SourceLocation) -> FileLineColLoc:
    """The location attribute of an op that stands at this place."""
    return FileLineColLoc(
        StringAttr(location.file), IntAttr(location.line), IntAttr(location.column)
    )


class ProgramBuilder:
    """Builds the `func.func @main` of one program over unspecialized tensors."""

    def __init__(self) -> None:
        self._block = Block()
        self._operations = 0
        self._inputs: list[str] = []
        self._integers = KnownIntegers(self)
        self.sizes: dict[str, Size] = {}
        """The sizes that inputs have named so far."""

    # Inputs

    def add_input(
        self,
        name: str,
        sizes: Sequence[str] | None,
        location: SourceLocation,
        type: TensorType[Attribute] | UnrankedTensorType[Attribute] | None = None,
    ) -> SSAValue:
        """A further input with a named size for each axis; None names no sizes.

        A size name that occurs again stands for the same number. `type` is what is
        known of the input; without it, an input without named sizes has any rank.
        """
        if type is None:
            type = (
                UnrankedTensorType(ANY_ELEMENT)
                if sizes is None
                else TensorType(ANY_ELEMENT, [DYNAMIC_INDEX] * len(sizes))
            )
        if len(self._inputs) == MOST_ARGUMENTS:
            raise GinghamError(f"expected at most {MOST_ARGUMENTS} inputs", location)
        _check_axes(type, location)
        argument = self._block.insert_arg(type, len(self._block.args))
        argument.name_hint = valid_name(name)
        argument.location = ir_location(location)
        self._inputs.append(name)
        if sizes:
            self.name_sizes(argument, sizes, location)
        return argument

    def name_sizes(
        self, tensor: SSAValue, names: Sequence[str], location: SourceLocation
    ) -> list[Size]:
        """Names for the sizes of a tensor, one for each axis.

        A name that occurs again, here or at another tensor, stands for the same number.
        """
        rank = _rank(tensor)
        if rank != len(names):
            raise GinghamError(
                f"expected {_count(len(names), 'axis', 'axes')} "
                f"({', '.join(names) or 'none'}), got "
                f"{'a tensor of any rank' if rank is None else rank}",
                location,
            )
        op = self.add(SizesOp(tensor, names), location)
        for name, value in zip(names, op.sizes, strict=True):
            self.sizes.setdefault(name, Size(value))
        return [self.sizes[name] for name in names]

    def number(self, value: object, location: SourceLocation) -> Size | None:
        """The size that a value is or stands for; None where it is no known integer.

        An integer input without axes, and what is computed of such and of sizes, are
        known integers: the input must be bound to an integer, for which the program is
        compiled.
        """
        if isinstance(value, Size):
            return value
        if not isinstance(value, SSAValue):
            return None
        return self._integers.size(value, location)

    # Element-wise functions

    def apply(
        self, function: Function, operands: Sequence[Value], location: SourceLocation
    ) -> Value:
        """An element-wise function of values.

        Of sizes it is a size, where sizes have such a function; otherwise a tensor.
        Raises GinghamError for a wrong number of operands, types that the function does
        not take, and shapes that do not broadcast.
        """
        if len(operands) != function.arity:
            raise GinghamError(
                f"'{function.name}' takes {_count(function.arity, 'argument')}, got "
                f"{len(operands)}",
                location,
                f"{function.name}: {function.summary}",
            )
        # A literal integer is a size like others.
        operands = [Size(o) if isinstance(o, int) else o for o in operands]
        sizes = [operand for operand in operands if isinstance(operand, Size)]
        if function.fold is not None and len(sizes) == len(operands):
            return self._apply_to_sizes(function, sizes, location)
        if function.name == "neg" and isinstance(operands[0], float):
            return -operands[0]
        tensors = [self.tensor(operand, location) for operand in operands]
        return self._apply_to_tensors(function, tensors, location)

    def _apply_to_sizes(
        self, function: Function, sizes: Sequence[Size], location: SourceLocation
    ) -> Size:
        branches = sizes[1:] if function.rule is TypeRule.SELECT else ()
        is_condition = function.rule is TypeRule.COMPARE or (
            bool(branches) and all(branch.is_condition for branch in branches)
        )
        numbers = [size.value for size in sizes if isinstance(size.value, int)]
        if function.fold is not None and len(numbers) == len(sizes):
            result = function.fold(*numbers)
            if not -LARGEST_INTEGER - 1 <= result <= LARGEST_INTEGER:
                raise GinghamError(
                    f"the integer {result} does not fit 64 bits", location
                )
            return Size(result, is_condition)
        operands = [self.index(size, location) for size in sizes]
        op = FUNCTION_OPS[function.name].build_typed(operands, IndexType())
        return Size(self.add(op, location).result, is_condition)

    def _apply_to_tensors(
        self, function: Function, tensors: Sequence[SSAValue], location: SourceLocation
    ) -> SSAValue:
        elements = [element_of(tensor.type) for tensor in tensors]
        result: Attribute = ANY_ELEMENT
        operands = list(tensors)
        try:
            if ANY_ELEMENT not in elements:
                casts, result = function.signature(elements)
                operands = [
                    self.cast(tensor, element, location)
                    for tensor, element in zip(tensors, casts, strict=True)
                ]
            type = broadcast_type([operand.type for operand in operands], result)
        except TypeError as error:
            raise GinghamError(str(error), location) from None
        except ValueError as error:
            raise GinghamError(
                f"the operands of '{function.name}' do not broadcast: {error}",
                location,
                "sizes of one axis, counted from the last, are equal or 1",
            ) from None
        op = FUNCTION_OPS[function.name].build_typed(operands, type)
        return self.add(op, location).result

    def copy(self, value: Value, location: SourceLocation) -> Value:
        """The same value again: a new tensor; sizes and literals are themselves."""
        if not isinstance(value, SSAValue):
            return value
        return self.apply(FUNCTIONS["ident"], [value], location)

    def cast(
        self, value: Value, element: Attribute, location: SourceLocation
    ) -> SSAValue:
        """A tensor with its elements converted to this type; itself if it has it."""
        tensor = self.tensor(value, location)
        if element_of(tensor.type) == element:
            return tensor
        op = CastOp(tensor, with_element(tensor.type, element))
        return self.add(op, location).result

    # Conversions

    def tensor(self, value: Value, location: SourceLocation) -> SSAValue:
        """A value as a tensor; sizes and literals become weakly typed, of rank 0."""
        if isinstance(value, SSAValue):
            return value
        if isinstance(value, Size) and value.is_condition:
            index = self.index(value, location)
            return self.add(CastOp(index, TensorType(i1, [])), location).result
        scalar = TensorType(ANY_ELEMENT, [])
        number = value.value if isinstance(value, Size) else value
        if isinstance(number, SSAValue):
            return self.add(FromIndexOp(number, scalar), location).result
        return self.add(ConstantOp(number, scalar), location).result

    def index(self, size: Size, location: SourceLocation) -> SSAValue:
        """A size as a value of type index."""
        if isinstance(size.value, SSAValue):
            return size.value
        return self.add(ConstantOp(size.value, IndexType()), location).result

    # Contractions

    def contract(
        self,
        aggregation: Aggregation,
        combination: Combination,
        space: IndexSpace,
        output: Sequence[Polynomial],
        sizes: Sequence[Size],
        operands: Sequence[Operand],
        location: SourceLocation,
        *,
        constraints: Sequence[Constraint] = (),
        default: Operand | None = None,
        no_defract: bool = False,
    ) -> SSAValue:
        """A contraction over `space`; all polynomials are over its indices and sizes.

        `sizes` has one entry for each entry of `output`. The access of `default` is not
        used. Raises GinghamError for a wrong number of index expressions, a negative
        size and an index that nothing bounds.
        """
        if len(sizes) != len(output):
            raise GinghamError(
                f"expected {_count(len(output), 'size')}, one for each index of the "
                f"output, got {len(sizes)}",
                location,
            )
        if len(constraints) > MOST_CONSTRAINTS:
            raise GinghamError(
                f"expected at most {MOST_CONSTRAINTS} constraints, got "
                f"{len(constraints)}",
                location,
            )
        tensors = [
            self.tensor(operand.tensor, operand.location) for operand in operands
        ]
        for operand, tensor in zip(operands, tensors, strict=True):
            _check_access(operand, tensor)
        space.check_bounded(
            [*output, *(p for operand in operands for p in operand.access)], constraints
        )
        elements = [element_of(tensor.type) for tensor in tensors]
        result: Attribute = ANY_ELEMENT
        if ANY_ELEMENT not in elements:
            casts, result = contraction_signature(aggregation, combination, elements)
            tensors = [
                self.cast(tensor, element, operand.location)
                for tensor, element, operand in zip(
                    tensors, casts, operands, strict=True
                )
            ]
        type = TensorType(result, [static_size(size, location) for size in sizes])
        op = ContractOp(
            aggregation,
            combination,
            tensors,
            space.ir_names(),
            output,
            [operand.access for operand in operands],
            type,
            sizes=[s.value for s in sizes if isinstance(s.value, SSAValue)],
            symbols=space.symbols,
            constraints=constraints,
            default=None if default is None else self._default(default, type),
            no_defract=no_defract,
        )
        return self.add(op, location).result

    def _default(self, default: Operand, type: TensorType[Attribute]) -> SSAValue:
        tensor = self.tensor(default.tensor, default.location)
        rank = type.get_num_dims()
        if (_rank(tensor) or 0) > rank:
            raise GinghamError(
                f"expected the default '{default.name}' to have at most "
                f"{_count(rank, 'axis', 'axes')} as the output has, got "
                f"{_rank(tensor)}",
                default.location,
                default.origin,
            )
        known = ANY_ELEMENT not in (type.element_type, element_of(tensor.type))
        return (
            self.cast(tensor, type.element_type, default.location) if known else tensor
        )

    # Gradients

    def gradient(
        self, loss: Value, wrt: Sequence[Value], location: SourceLocation
    ) -> list[SSAValue]:
        """The gradient of a loss by each of some tensors: one tensor for each.

        Of a loss that is not 0-D it is the gradient of the sum of its elements. Raises
        GinghamError for sizes and literals, which nothing can change, and for tensors
        of integers.
        """
        if not wrt:
            raise GinghamError("expected a tensor to differentiate by", location)
        tensors = [_float_tensor(loss, "the loss", location)]
        for value in wrt:
            what = "what to differentiate by"
            tensors.append(_float_tensor(value, what, location))
        op = GradientOp(tensors[0], tensors[1:])
        return list(self.add(op, location).gradients)

    # The whole

    def name(
        self,
        value: Value,
        name: str,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        """Call the op that computes a value by a name of the program.

        `attributes` are added to the op. A value that has a name keeps it.
        """
        result = value.value if isinstance(value, Size) else value
        if not isinstance(result, SSAValue) or not isinstance(result.owner, Operation):
            return
        if result.name_hint is not None:
            return
        result.name_hint = valid_name(name)
        result.owner.attributes |= dict(attributes or {})

    def finish(
        self, outputs: Sequence[tuple[str, Value]], location: SourceLocation
    ) -> ModuleOp:
        """The module of the program, which returns these values."""
        if len(outputs) > MOST_ARGUMENTS:
            raise GinghamError(f"expected at most {MOST_ARGUMENTS} outputs", location)
        tensors = [self.tensor(value, location) for _, value in outputs]
        self.add(ReturnOp(*tensors), location)
        types = [argument.type for argument in self._block.args]
        function = FuncOp(
            "main", (types, [tensor.type for tensor in tensors]), Region(self._block)
        )
        names = [name for name, _ in outputs]
        function.attributes[INPUTS] = ArrayAttr([StringAttr(n) for n in self._inputs])
        function.attributes[OUTPUTS] = ArrayAttr([StringAttr(name) for name in names])
        module = ModuleOp([function])
        function.location = module.location = ir_location(location)
        return module

    def add(self, op: _Op, location: SourceLocation) -> _Op:
        """Append an op that comes from this place.

        Raises GinghamError for one too many, and for a result of too many axes.
        """
        if self._operations == MOST_OPERATIONS:
            raise GinghamError(
                f"expected at most {MOST_OPERATIONS} operations in a program",
                location,
                "make it several programs, one of which takes what another computes",
            )
        self._operations += 1
        for result in op.results:
            _check_axes(result.type, location)
        op.location = ir_location(location)
        self._block.add_op(op)
        return op


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def static_size(size: Size, location: SourceLocation) -> int:
    """The extent of an axis in a tensor type."""
    if isinstance(size.value, SSAValue):
        return DYNAMIC_INDEX
    if size.value < 0:
        raise GinghamError(
            f"the size of the output is negative: {size.value}", location
        )
    return size.value


def _float_tensor(value: Value, what: str, location: SourceLocation) -> SSAValue:
    """A value that has a gradient, as far as its type is known."""
    if not isinstance(value, SSAValue):
        given = "a size" if isinstance(value, Size) else "a literal"
        raise GinghamError(f"expected {what} to be a tensor, got {given}", location)
    element = element_of(value.type)
    if element != ANY_ELEMENT and kind(element) is not Kind.FLOAT:
        raise GinghamError(
            f"expected {value.name_hint or what} to be a tensor of floats, got "
            f"elements of type {name_of(element)}",
            location,
            "a tensor of integers has no gradient",
        )
    return value


def _check_axes(type: Attribute, location: SourceLocation) -> None:
    """Raise GinghamError for a tensor with more axes than there can be."""
    if isinstance(type, TensorType) and len(type.shape) > MOST_AXES:
        raise GinghamError(
            f"expected a tensor of at most {MOST_AXES} axes, got {len(type.shape)}",
            location,
        )


def _rank(tensor: SSAValue) -> int | None:
    """The number of axes; None when it is not known."""
    type = tensor.type
    return type.get_num_dims() if isinstance(type, TensorType) else None


def _check_access(operand: Operand, tensor: SSAValue) -> None:
    rank, count = _rank(tensor), len(operand.access)
    if rank is None or rank == count:
        return
    raise GinghamError(
        f"'{operand.name}' has {_count(rank, 'axis', 'axes')}, got "
        f"{_count(count, 'index', 'indices')}",
        operand.location,
        operand.origin,
    )
