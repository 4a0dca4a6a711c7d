"""The walk of `tile-specialize` over a function: every op rebuilt with static types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...affine.polynomial import Polynomial
from ...dialects.eltwise.element_types import (
    Kind,
    bit_width,
    fits,
    integer_limits,
    kind,
    name_of,
    si64,
)
from ...dialects.eltwise.ops import (
    ANY_ELEMENT,
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    broadcast_shape,
    broadcast_type,
    element_of,
    with_element,
)
from ...dialects.tile import ContractOp, FromIndexOp, SizesOp
from ...dialects.tile.attributes import Constraint
from ...dialects.tile.gradient import GradientOp
from ...dialects.tile.ops import ToIndexOp
from ...limits import LARGEST_INTEGER
from ..locations import error_at, located
from .argument_numbers import checked_number
from .argument_types import format_argument_type, format_shape
from .contraction_types import infer_contraction
from .declared_arguments import argument_name, check_argument, count_of
from .default_tensor import spread_default
from .sizes import Size, apply, explain
from .special_operations import specialize_operation
from .tensor_limits import check_size
from .weak_numbers import Number, as_constant, default_element, evaluate, format_number

Tensor = SSAValue[TensorType[Attribute]]


class FunctionSpecializer:
    """Rebuilds one function for given argument types.

    Every value of the function is, in program order, found to be one of three: a size
    with its value, a weak number, or a tensor, whose op is built anew.
    """

    def __init__(
        self,
        function: FuncOp,
        argument_types: Sequence[TensorType[Attribute]],
        numbers: Mapping[int, int] | None = None,
    ) -> None:
        """`numbers` are the values of arguments, by position, that are sizes."""
        self._function = function
        self._bound = numbers or {}
        self._types = argument_types
        self._block = Block(arg_types=argument_types)
        self._tensors: dict[SSAValue, SSAValue] = {}
        self._numbers: dict[SSAValue, Number] = {}
        self._sizes: dict[SSAValue, Size] = {}
        self._named: dict[str, tuple[int, str]] = {}
        self._constants: dict[tuple[SSAValue, Attribute], SSAValue] = {}

    def run(self) -> FuncOp:
        """The static function; raises GinghamError when there is none."""
        old = self._function
        self._bind_arguments()
        for op in old.body.block.ops:
            self._visit(op)
        for op in self._block.ops:
            for result in op.results:
                check_size(result)
        terminator = self._block.last_op
        outputs = terminator.operand_types if terminator is not None else ()
        new = FuncOp(
            old.sym_name.data,
            (self._types, outputs),
            Region(self._block),
            old.sym_visibility,
            arg_attrs=old.arg_attrs,
            res_attrs=old.res_attrs,
        )
        new.attributes |= old.attributes
        return located(new, old)

    def _bind_arguments(self) -> None:
        arguments = self._function.body.block.args
        if len(arguments) != len(self._types):
            names = ", ".join(argument_name(a) for a in arguments)
            raise error_at(
                self._function,
                f"expected {count_of(len(arguments), 'argument type')} ({names}), got "
                f"{len(self._types)}",
            )
        for old, new, type in zip(
            arguments, self._block.args, self._types, strict=True
        ):
            check_argument(old, type)
            new.name_hint, new.location = old.name_hint, old.location
            check_size(new)
            self._tensors[old] = new

    def _visit(self, op: Operation) -> None:
        match op:
            case SizesOp():
                self._bind_sizes(op)
            case ToIndexOp():
                self._bind_number(op)
            case FromIndexOp():
                self._numbers[op.result] = self._sizes[op.size].value
            case ConstantOp():
                self._constant(op)
            case CastOp():
                self._cast(op)
            case ElementwiseOp():
                self._elementwise(op)
            case ContractOp():
                self._contract(op)
            case GradientOp():
                self._gradient(op)
            case ReturnOp():
                values = [self.tensor(v, op) for v in op.arguments]
                self._add(ReturnOp(*values), op)
            case _:
                self._special(op)

    def _special(self, op: Operation) -> None:
        new = specialize_operation(op, self)
        if new is None:
            return
        new.attributes |= op.attributes
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self._tensors[old] = result
        self._add(new, op)

    # Sizes

    def _bind_sizes(self, op: SizesOp) -> None:
        tensor = self.tensor(op.tensor, op)
        argument = op.tensor
        owner = (
            argument_name(argument)
            if isinstance(argument, BlockArgument)
            else argument.name_hint or "a value"
        )
        names = [name.data for name in op.names]
        shape = tensor.type.get_shape()
        for name, value, size in zip(names, shape, op.sizes, strict=True):
            first, where = self._named.setdefault(name, (value, owner))
            if first != value:
                raise error_at(
                    op,
                    f"size {name} is {first} and {value} in {owner}"
                    if where == owner
                    else f"size {name} is {first} in {where} but {value} in {owner}",
                )
            self._sizes[size] = Size(value, name)

    def _bind_number(self, op: ToIndexOp) -> None:
        argument = op.tensor
        position = argument.index if isinstance(argument, BlockArgument) else -1
        name = op.size.name_hint or "an input"
        type = self.tensor(argument, op).type
        value = checked_number(op, name, type, self._bound.get(position))
        if isinstance(argument, BlockArgument):
            name = argument_name(argument)
        self._named.setdefault(name, (value, name))
        self._sizes[op.size] = Size(value, name)

    @property
    def named_sizes(self) -> dict[str, int]:
        """The values of the sizes that have names."""
        return {name: value for name, (value, _) in self._named.items()}

    def size(self, value: SSAValue) -> Size:
        """What a value of type index stands for."""
        return self._sizes[value]

    def explain(self, size: Size) -> str:
        """A size for a message."""
        return explain(size, self.named_sizes)

    # Element-wise ops

    def _constant(self, op: ConstantOp) -> None:
        type = op.result.type
        if isinstance(type, IndexType):
            self._sizes[op.result] = Size.literal(int(op.number))
        elif element_of(type) == ANY_ELEMENT:
            if isinstance(op.number, int) and not fits(op.number, si64):
                raise error_at(op, f"the literal {op.number} does not fit 64 bits")
            self._numbers[op.result] = op.number
        else:
            self._keep(op, ConstantOp(op.number, type))

    def _cast(self, op: CastOp) -> None:
        element = element_of(op.result.type)
        source = op.argument
        number = self._number(source)
        if number is not None and fits(number, element):
            constant = ConstantOp(as_constant(number, element), TensorType(element, []))
            self._keep(op, constant)
            return
        tensor = self.tensor(source, op)
        self._keep(op, CastOp(tensor, with_element(tensor.type, element)))

    def _number(self, value: SSAValue) -> Number | None:
        size = self._sizes.get(value)
        return self._numbers.get(value) if size is None else size.value

    def _elementwise(self, op: ElementwiseOp) -> None:
        arguments = list(op.arguments)
        try:
            if isinstance(op.result.type, IndexType):
                self._sizes[op.result] = self._computed_size(op)
            elif all(argument in self._numbers for argument in arguments):
                numbers = [self._numbers[argument] for argument in arguments]
                self._numbers[op.result] = evaluate(op.function, numbers)
            else:
                self._keep(op, self._typed_elementwise(op))
        except TypeError as error:
            raise error_at(op, str(error)) from None

    def _computed_size(self, op: ElementwiseOp) -> Size:
        size = apply(op.function, [self._sizes[each] for each in op.arguments])
        if not fits(size.value, si64):
            raise error_at(op, f"the size {self.explain(size)} does not fit 64 bits")
        return size

    def _typed_elementwise(self, op: ElementwiseOp) -> ElementwiseOp:
        arguments = list(op.arguments)
        weak = [argument in self._numbers for argument in arguments]
        elements = [self.element(argument) for argument in arguments]
        casts, result = op.function.signature(elements, weak)
        operands = [
            self.tensor(argument, op, cast)
            for argument, cast in zip(arguments, casts, strict=True)
        ]
        shapes = [operand.type.get_shape() for operand in operands]
        try:
            broadcast_shape(shapes)
        except ValueError as error:
            named = [
                f"{old.name_hint or 'a value'} of shape {format_shape(shape)}"
                for old, shape in zip(arguments, shapes, strict=True)
            ]
            raise error_at(
                op,
                f"'{op.function.name}' can not broadcast "
                f"{', '.join(named[:-1])} and {named[-1]}: {error}",
                "sizes of one axis, counted from the last, are equal or 1",
            ) from None
        type = broadcast_type([operand.type for operand in operands], result)
        return FUNCTION_OPS[op.function.name].build_typed(operands, type)

    def is_weak(self, value: SSAValue) -> bool:
        """Whether a value is a weak number."""
        return value in self._numbers

    def element(self, value: SSAValue) -> Attribute:
        """The element type of a value; of a weak number the one it has by itself."""
        number = self._numbers.get(value)
        if number is not None:
            return default_element(number)
        return element_of(self._tensors[value].type)

    # Contractions

    def _contract(self, op: ContractOp) -> None:
        arguments = list(op.inputs)
        weak = [argument in self._numbers for argument in arguments]
        elements = [self.element(argument) for argument in arguments]
        casts, result = infer_contraction(
            op.aggregation.data, op.combination.data, elements, weak
        )
        operands = [
            self.tensor(argument, op, cast)
            for argument, cast in zip(arguments, casts, strict=True)
        ]
        for argument, operand, access in zip(
            arguments, operands, op.accesses[1:], strict=True
        ):
            if len(access) != operand.type.get_num_dims():
                raise error_at(
                    op,
                    f"{argument.name_hint or 'the operand'} has "
                    f"{count_of(operand.type.get_num_dims(), 'axis', 'axes')} "
                    f"({format_shape(operand.type.get_shape())}), got "
                    f"{count_of(len(access), 'index', 'indices')}",
                )
        type = TensorType(result, self._result_shape(op))
        default = None
        if op.default is not None:
            default = self.tensor(op.default, op, result)
            spread = spread_default(op, default, type)
            if spread is not None:
                self._add(spread, op)
                default = spread.result
        output_access, *input_accesses = (
            [self._bind(p, op) for p in access] for access in op.accesses
        )
        new = ContractOp(
            op.aggregation.data,
            op.combination.data,
            operands,
            op.index_names,
            output_access,
            input_accesses,
            type,
            constraints=[self._bind_constraint(c, op) for c in op.conditions],
            default=default,
            ranges=op.flat_ranges if op.is_flat else None,
            output_rank=op.flat_output_rank if op.is_flat else None,
            no_defract=op.no_defract is not None,
        )
        self._keep(op, new)

    def _result_shape(self, op: ContractOp) -> list[int]:
        sizes = iter(op.sizes)
        shape: list[int] = []
        for axis, extent in enumerate(op.result.type.get_shape()):
            if extent != DYNAMIC_INDEX:
                shape.append(extent)
                continue
            size = self._sizes[next(sizes)]
            if size.value < 0:
                raise error_at(
                    op,
                    f"the size of axis {axis} of {op.result.name_hint or 'the result'} "
                    f"is negative: {self.explain(size)}",
                )
            shape.append(size.value)
        return shape

    def _bind_constraint(self, constraint: Constraint, op: ContractOp) -> Constraint:
        bound = constraint.bound
        return Constraint(
            self._bind(constraint.expression, op),
            None if bound is None else self._bind(bound, op),
        )

    def _bind(self, polynomial: Polynomial, op: ContractOp) -> Polynomial:
        sizes = [self._sizes[symbol] for symbol in op.symbols]
        try:
            form = polynomial.bind([s.value for s in sizes], len(op.indices))
        except ZeroDivisionError:
            zeros = [s for s in sizes if s.value == 0]
            text = polynomial.format(
                lambda index: op.index_names[index],
                lambda symbol: sizes[symbol].operand or str(sizes[symbol].value),
            )
            raise error_at(
                op,
                f"the index expression {text} divides by "
                f"{' or '.join(self.explain(size) for size in zeros)}",
            ) from None
        numbers = (*form.coefficients, form.constant)
        if any(max(abs(n.numerator), n.denominator) > LARGEST_INTEGER for n in numbers):
            raise error_at(op, "a number of an index expression does not fit 64 bits")
        return Polynomial.from_form(form)

    # Gradients

    def _gradient(self, op: GradientOp) -> None:
        loss, *wrt = [self._float_tensor(operand, op) for operand in op.operands]
        new = GradientOp(loss, wrt)
        new.attributes |= op.attributes
        for old, gradient in zip(op.gradients, new.gradients, strict=True):
            gradient.name_hint = old.name_hint
            self._tensors[old] = gradient
        self._add(new, op)

    def _float_tensor(self, value: SSAValue, op: GradientOp) -> Tensor:
        """The loss or a tensor to differentiate by, which are of floats."""
        what = value.name_hint or (
            "the loss" if value is op.loss else "the tensor to differentiate by"
        )
        number = self._number(value)
        if number is not None:
            raise error_at(
                op,
                f"expected {what} to be a tensor of floats, got the number "
                f"{format_number(number)}",
                "a literal or a size has no gradient: give the program an input for it",
            )
        tensor = self.tensor(value, op)
        if kind(tensor.type.element_type) is not Kind.FLOAT:
            raise error_at(
                op,
                f"expected {what} to be a tensor of floats, got "
                f"{format_argument_type(tensor.type)}",
                "a tensor of integers has no gradient",
            )
        return tensor

    # Values

    def tensor(
        self, value: SSAValue, user: Operation, element: Attribute | None = None
    ) -> Tensor:
        """The tensor that a value has become, as one of this element type."""
        number = self._number(value)
        if number is not None:
            constant = self._weak_constant(value, number, element, user)
            return SSAValue.get(constant, type=TensorType)
        tensor = SSAValue.get(self._tensors[value], type=TensorType)
        if element is None or tensor.type.element_type == element:
            return tensor
        cast = CastOp(tensor, with_element(tensor.type, element))
        self._add(cast, user)
        return SSAValue.get(cast.result, type=TensorType)

    def _weak_constant(
        self, value: SSAValue, number: Number, element: Attribute | None, op: Operation
    ) -> SSAValue:
        target = default_element(number) if element is None else element
        known = self._constants.get((value, target))
        if known is not None:
            return known
        if not fits(number, target):
            low, high = integer_limits(target)
            raise error_at(
                op,
                f"{format_number(number)} does not fit the type {name_of(target)} "
                f"({low} to {high}) of what it is combined with",
                "convert that to a wider type, for example with "
                f"as_int(X, {bit_width(default_element(number))})",
            )
        constant = ConstantOp(as_constant(number, target), TensorType(target, []))
        constant.result.name_hint = value.name_hint
        owner = value.owner
        self._add(constant, owner if isinstance(owner, Operation) else op)
        self._constants[value, target] = constant.result
        return constant.result

    def _keep(self, old: Operation, new: Operation) -> None:
        """Add the static form of an op that has one result."""
        new.attributes |= old.attributes
        new.results[0].name_hint = old.results[0].name_hint
        self._tensors[old.results[0]] = new.results[0]
        self._add(new, old)

    def _add(self, op: Operation, origin: Operation) -> None:
        self._block.add_op(located(op, origin))
