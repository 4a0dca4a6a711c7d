"""The ops of the `eltwise` dialect: one per row of the table, constants and casts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ..building import INDEX, DialectOperation, operation_definition
from .element_types import Kind, bit_width, is_element_type, kind
from .table import FUNCTIONS, Function


@irdl_attr_definition
class AnyElementType(ParametrizedAttribute, TypeAttribute):
    """`!eltwise.any`: an element type that is not known before specialization."""

    name = "eltwise.any"


ANY_ELEMENT = AnyElementType()


def element_of(type: Attribute) -> Attribute:
    """The element type of a tensor or vector, a scalar type itself."""
    if isinstance(type, TensorType | UnrankedTensorType | VectorType):
        return type.element_type
    return type


def lane_count(type: Attribute) -> int:
    """How many numbers a value of a type has: the lanes of a vector, or one."""
    return prod(type.get_shape()) if isinstance(type, VectorType) else 1


def value_bytes(type: Attribute) -> int:
    """The bytes of a number, or of all lanes of a vector; a truth value takes one."""
    return lane_count(type) * bit_width(element_of(type)) // 8


@lru_cache(maxsize=1024)
def with_element(type: Attribute, element: Attribute) -> Attribute:
    """The tensor, vector or scalar type of the same shape with another element type."""
    if isinstance(type, TensorType):
        return TensorType(element, type.get_shape())
    if isinstance(type, UnrankedTensorType):
        return UnrankedTensorType(element)
    if isinstance(type, VectorType):
        return VectorType(element, type.get_shape())
    return element


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that NumPy's rule gives; DYNAMIC_INDEX is a size that is not known.

    Raises ValueError naming the two sizes that do not match.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[int] = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        known = sorted(sizes - {DYNAMIC_INDEX})
        if len(known) > 1:
            raise ValueError(
                f"sizes {known[0]} and {known[1]} of axis {axis} do not match"
            )
        result.append(known[0] if known else DYNAMIC_INDEX if sizes else 1)
    return tuple(result)


def broadcast_type(types: Sequence[Attribute], element: Attribute) -> Attribute:
    """The type of an element-wise result over operands of these types.

    Tensors broadcast by NumPy's rule; with an unranked operand the result is unranked;
    vectors and scalars must agree. Raises ValueError when they do not.
    """
    if any(isinstance(t, UnrankedTensorType) for t in types):
        return UnrankedTensorType(element)
    tensors = [t for t in types if isinstance(t, TensorType)]
    if tensors:
        if len(tensors) != len(types):
            raise ValueError("a tensor and a scalar do not mix")
        return TensorType(element, broadcast_shape([t.get_shape() for t in tensors]))
    shapes = {t.get_shape() if isinstance(t, VectorType) else None for t in types}
    if len(shapes) > 1:
        raise ValueError("operands must all be scalars or vectors of one length")
    return with_element(types[0], element) if types else element


@operation_definition
class ElementwiseOp(DialectOperation):
    """A function of the table applied to every element of its operands.

    Operands are tensors (broadcast by NumPy's rule), scalars, or vectors of one length;
    sizes (`index`) are allowed for functions that fold. All have the operand type that
    the function's type rule asks for: frontends and `tile-specialize` insert casts.

    `%2 = eltwise.add %0, %1 : tensor<4x5xf32>` when all types are equal, else
    `%2 = eltwise.cmp_lt %0, %1 : (f32, f32) -> i1`.
    """

    name = "eltwise.function"
    arguments = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    FUNCTION: ClassVar[Function]

    @property
    def function(self) -> Function:
        """The row of the table."""
        return self.FUNCTION

    @classmethod
    def build_typed(
        cls, arguments: Sequence[SSAValue], result_type: Attribute
    ) -> ElementwiseOp:
        """The operation with a result type that the rule is known to give."""
        return cls.create(operands=list(arguments), result_types=[result_type])

    @classmethod
    def parse(cls, parser: Parser) -> ElementwiseOp:
        """Read `%0, %1 : <type>`, or `: (<types>) -> <type>` where they differ."""
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        function_type = parser.parse_optional_function_type()
        if function_type is not None:
            operand_types = list(function_type.inputs)
            result_types = list(function_type.outputs)
        else:
            type = parser.parse_type()
            operand_types = [type] * len(unresolved or ())
            result_types = [type]
        operands = parser.resolve_operands(unresolved or (), operand_types, start)
        return cls.create(
            operands=operands, result_types=result_types, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Print one type where operands and result share it, else all of them."""
        printer.print_string(" ")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [argument.type for argument in self.arguments]
        if all(type == self.result.type for type in types):
            printer.print_attribute(self.result.type)
        else:
            printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Raise VerifyException unless the types follow the function's rule."""
        self.verify_types()

    def verify_types(self) -> None:
        """Raises VerifyException for types that the function does not have."""
        types = tuple([operand.type for operand in self.operands])
        problem = _problem(self.function, types, self.results[0].type)
        if problem is not None:
            raise VerifyException(problem)


@lru_cache(maxsize=4096)
def _problem(
    function: Function, operands: tuple[Attribute, ...], result: Attribute
) -> str | None:
    """What is wrong with these types for a function, None if nothing is."""
    if len(operands) != function.arity:
        return f"expected {function.arity} operand(s), got {len(operands)}"
    try:
        expected = broadcast_type(operands, element_of(result))
    except ValueError as error:
        return str(error)
    if expected != result:
        return f"expected a result of type {expected}, got {result}"
    return _element_problem(function, [*map(element_of, operands)], element_of(result))


def _element_problem(
    function: Function, elements: Sequence[Attribute], result: Attribute
) -> str | None:
    if ANY_ELEMENT in elements or result == ANY_ELEMENT:
        return None
    if any(isinstance(e, IndexType) for e in (*elements, result)):
        if {*elements, result} == {IndexType()} and function.fold is not None:
            return None
        return (
            "expected all operands and the result to be sizes (index) of a function "
            "that sizes have"
        )
    for number, element in enumerate((*elements, result)):
        if not is_element_type(element):
            where = "result" if number == len(elements) else f"operand {number}"
            return (
                f"expected {where} to have an element type such as f32 or si32, got "
                f"{element}"
            )
    try:
        casts, inferred = function.signature(elements)
    except TypeError as error:
        return str(error)
    for number, (got, want) in enumerate(zip(elements, casts, strict=True)):
        if got != want:
            return f"expected operand {number} to have element type {want}, got {got}"
    if result != inferred:
        return f"expected the result to have element type {inferred}, got {result}"
    return None


def _op_class(function: Function) -> type[ElementwiseOp]:
    # A plain subclass shares the base's IRDL definition: defining eighty ops with IRDL
    # would take longer than all the rest of a tool's start-up.
    members = {
        "name": f"eltwise.{function.name}",
        "FUNCTION": function,
        "__doc__": f"`{function.name}`: {function.summary}",
        "__module__": __name__,
    }
    class_name = "".join(part.capitalize() for part in function.name.split("_"))
    return type(f"{class_name}Op", (ElementwiseOp,), members)


FUNCTION_OPS: dict[str, type[ElementwiseOp]] = {
    name: _op_class(function) for name, function in FUNCTIONS.items()
}
"""The op class of every function of the table, by the function's name."""


@operation_definition
class ConstantOp(DialectOperation):
    """A number: of a 0-D tensor, a scalar, a vector (all lanes equal) or a size.

    `%0 = eltwise.constant 2.5 : f32`. The value is written without its own type;
    integers are exact, floats are kept in double precision and rounded to the type when
    used. With element type `!eltwise.any` it is a weak literal.
    """

    name = "eltwise.constant"
    value = prop_def(Attribute)
    result = result_def()
    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: int | float, type: Attribute) -> None:
        super().__init__(
            properties={"value": literal_attribute(value)}, result_types=[type]
        )

    @property
    def number(self) -> int | float:
        """The value as a Python number."""
        return literal_number(self.value)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Read `2.5 : <type>`."""
        number = parse_number(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(number, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the number such that all of its bits are read again, and the type."""
        printer.print_string(f" {format_number(self.number)}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Raise VerifyException for a value that is no number of the element type."""
        value, element = self.value, element_of(self.result.type)
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise VerifyException(f"expected a number as value, got {value}")
        is_float = isinstance(value, FloatAttr)
        if is_float and isinstance(element, IntegerType | IndexType):
            raise VerifyException(f"expected an integer for {element}, got {value}")
        if not is_element_type(element) and element not in (ANY_ELEMENT, INDEX):
            raise VerifyException(
                f"expected an element type such as f32 or si32, got {element}"
            )


def literal_attribute(value: int | float) -> Attribute:
    """The attribute that keeps a Python number exactly."""
    if isinstance(value, int):
        # A comparison of sizes is a Python bool.
        return IntegerAttr(int(value), IndexType())
    return FloatAttr(value, 64)


def literal_number(value: Attribute) -> int | float:
    """The Python number that a value attribute holds."""
    if isinstance(value, IntegerAttr):
        return value.value.data
    if isinstance(value, FloatAttr):
        return value.value.data
    raise ValueError(f"{value} is not a number")


def parse_number(parser: Parser) -> int | float:
    """Parse a number, `inf` and `nan` included."""
    negative = parser.parse_optional_punctuation("-") is not None
    for name, special in (("inf", float("inf")), ("nan", float("nan"))):
        if parser.parse_optional_keyword(name) is not None:
            return -special if negative else special
    number = parser.parse_number(allow_boolean=False)
    return -number if negative else number


def format_number(number: int | float) -> str:
    """The number as `parse_number` reads it."""
    # MLIR's lexer wants digits on both sides of the point, also before an exponent.
    text = repr(number)
    if isinstance(number, float) and "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


@operation_definition
class CastOp(DialectOperation):
    """Conversion to another element type, shape unchanged: C's rules.

    Float to integer truncates toward zero; anything to i1 tests against zero; a size
    (`index`) becomes a 0-D tensor. `%1 = eltwise.cast %0 : tensor<4xsi32> to
    tensor<4xf32>`.
    """

    name = "eltwise.cast"
    argument = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$argument attr-dict `:` type($argument) `to` type($result)"

    def __init__(self, argument: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[argument], result_types=[type])

    def verify_(self) -> None:
        """Raise VerifyException unless element types are known and the shape stays."""
        source, target = self.argument.type, self.result.type
        if isinstance(source, IndexType):
            if isinstance(target, TensorType) and target.get_num_dims() == 0:
                return
            if is_element_type(target):
                return
            raise VerifyException(f"expected a size to become 0-D, got {target}")
        for type in (source, target):
            element = element_of(type)
            if element != ANY_ELEMENT and not is_element_type(element):
                raise VerifyException(
                    f"expected an element type such as f32 or si32, got {element}"
                )
        if with_element(source, element_of(target)) != target:
            raise VerifyException(f"expected the shape of {source}, got {target}")


@operation_definition
class BroadcastOp(DialectOperation):
    """A vector with a scalar in every lane.

    `%1 = eltwise.broadcast %0 : f32 to vector<8xf32>`.
    Tensors need no such op: element-wise ops broadcast them.
    """

    name = "eltwise.broadcast"
    argument = operand_def()
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$argument attr-dict `:` type($argument) `to` type($result)"

    def __init__(self, argument: SSAValue, type: VectorType) -> None:
        super().__init__(operands=[argument], result_types=[type])

    def verify_(self) -> None:
        """Raise VerifyException unless the lanes have the scalar's type."""
        if element_of(self.result.type) != self.argument.type:
            raise VerifyException(
                f"expected a vector of {self.argument.type}, got {self.result.type}"
            )


@operation_definition
class BitcastOp(DialectOperation):
    """The same bits as another element type of the same width, shape unchanged.

    `%1 = eltwise.bitcast %0 : vector<8xf32> to vector<8xui32>`. Truth values have no
    bits.
    """

    name = "eltwise.bitcast"
    argument = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$argument attr-dict `:` type($argument) `to` type($result)"

    def __init__(self, argument: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[argument], result_types=[type])

    def verify_(self) -> None:
        """Raise VerifyException unless both are numbers of one width and one shape."""
        source, target = self.argument.type, self.result.type
        for type in (source, target):
            element = element_of(type)
            if not is_element_type(element) or kind(element) is Kind.BOOLEAN:
                raise VerifyException(
                    f"expected a number such as f32 or ui32, got {element}"
                )
        if with_element(source, element_of(target)) != target:
            raise VerifyException(f"expected the shape of {source}, got {target}")
        if bit_width(element_of(source)) != bit_width(element_of(target)):
            raise VerifyException(f"expected a type as wide as {source}, got {target}")
