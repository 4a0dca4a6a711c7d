"""Functions of values that kernels call, printed once however often they are used."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..aggregation import Aggregation, AggregationAttr
from ..building import DialectOperation, operation_definition
from ..syntax import parse_arguments

ARGUMENT = re.compile(r"\{(\d+)\}")
"""An argument in a native text."""
_MACRO = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@operation_definition
class FunctionOp(DialectOperation):
    """A function of scalars or vectors, without access to memory.

    ```mlir
    opencl.function @square(%x : vector<16xf32>) -> vector<16xf32> {
      %y = eltwise.mul %x, %x : vector<16xf32>
      opencl.return %y : vector<16xf32>
    }
    ```

    With `native` it is an instruction of a device. The body says what it computes; in
    OpenCL C that text stands in place of the body, `{0}` being the first argument. With
    `needs` it does so only where that macro is defined, as those of extensions are.

    One that `accumulates` aggregates into its last argument: `f(x, c)` is what `f(x,
    identity)` and `c` give together.

    ```mlir
    opencl.function @double(%x : f32, %c : f32) -> f32 accumulates add
        native "return fma({0}, 2.0f, {1});" needs "FP_FAST_FMAF" {
      %y = eltwise.add %x, %x : f32
      %z = eltwise.add %c, %y : f32
      opencl.return %z : f32
    }
    ```
    """

    name = "opencl.function"
    sym_name = prop_def(StringAttr)
    accumulates = opt_prop_def(AggregationAttr)
    native = opt_prop_def(StringAttr)
    needs = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])

    @staticmethod
    def empty_body(arguments: Sequence[tuple[Attribute, str]]) -> Region:
        """A region whose block has arguments of these types, with these name hints."""
        block = Block(arg_types=[type for type, _ in arguments])
        for argument, (_, hint) in zip(block.args, arguments, strict=True):
            argument.name_hint = hint
        return Region(block)

    @property
    def returned(self) -> SSAValue:
        """What the function gives."""
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise ValueError(f"function {self.sym_name} does not end in opencl.return")
        return last.value

    @classmethod
    def parse(cls, parser: Parser) -> FunctionOp:
        """Read `@name(%x : <type>) -> <type> { ... }`.

        Raises ParseError where the body returns another type than the one named.
        """
        name = parser.parse_symbol_name().data
        arguments = parse_arguments(parser)
        parser.parse_punctuation("->")
        start = parser.pos
        type = parser.parse_type()
        properties = _parse_properties(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, parser.parse_region(arguments))
        op.properties |= properties
        if attributes is not None:
            op.attributes |= attributes.data
        if isinstance(op.body.block.last_op, ReturnOp) and op.returned.type != type:
            parser.raise_error(
                f"the function returns {op.returned.type}", start, parser.pos
            )
        return op

    def print(self, printer: Printer) -> None:
        """Print name, arguments, result type and body."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" -> ")
        printer.print_attribute(self.returned.type)
        if self.accumulates is not None:
            printer.print_string(f" accumulates {self.accumulates.data.value}")
        for keyword, text in (("native", self.native), ("needs", self.needs)):
            if text is not None:
                printer.print_string(f" {keyword} ")
                printer.print_string_literal(text.data)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )

    def verify_(self) -> None:
        """Raise VerifyException unless the body ends in `opencl.return`.

        The native text must name arguments that there are, and what accumulates have
        one of its result's type.
        """
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("expected the body to end in 'opencl.return'")
        arguments = self.body.block.args
        native = "" if self.native is None else self.native.data
        for number in map(int, ARGUMENT.findall(native)):
            if number >= len(arguments):
                raise VerifyException(
                    f"expected the native text to name {len(arguments)} argument(s), "
                    f"from {{0}} on, got {{{number}}}"
                )
        is_last = arguments and arguments[-1].type == self.returned.type
        if self.accumulates is not None and not is_last:
            raise VerifyException(
                "expected a function that accumulates to have a last argument of type "
                f"{self.returned.type}"
            )
        if self.needs is not None and not _MACRO.fullmatch(self.needs.data):
            raise VerifyException(
                f"expected the name of a macro, got '{self.needs.data}'"
            )


def _parse_properties(parser: Parser) -> dict[str, Attribute]:
    """Read `accumulates add native "..." needs "..."`, each if it is there."""
    found: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("accumulates") is not None:
        found["accumulates"] = AggregationAttr(parser.parse_str_enum(Aggregation))
    for keyword in ("native", "needs"):
        if parser.parse_optional_keyword(keyword) is not None:
            found[keyword] = StringAttr(parser.parse_str_literal())
    return found


@operation_definition
class ReturnOp(DialectOperation):
    """What a function gives: `opencl.return %y : vector<16xf32>`."""

    name = "opencl.return"
    value = operand_def()
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value])


class CallOpSymbolUse(SymbolUserOpInterface):
    """A call names a function that takes its operands and gives its result."""

    def verify(self, op: Operation) -> None:
        """Raise VerifyException unless the module has a function of these types."""
        if not isinstance(op, CallOp):
            return
        function = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(function, FunctionOp):
            raise VerifyException(f"expected {op.callee} to be an opencl.function")
        want = [argument.type for argument in function.body.block.args]
        got = [argument.type for argument in op.arguments]
        if want != got:
            raise VerifyException(
                f"expected operands of types {_listed(want)} for {op.callee}, got "
                f"{_listed(got)}"
            )
        if function.returned.type != op.result.type:
            raise VerifyException(
                f"expected the result of {op.callee} to be {function.returned.type}, "
                f"got {op.result.type}"
            )


def _listed(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


@operation_definition
class CallOp(DialectOperation):
    """A call of a function: `%y = opencl.call @square(%x) : (f32) -> f32`."""

    name = "opencl.call"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    result = result_def()
    traits = traits_def(Pure(), CallOpSymbolUse())
    assembly_format = (
        "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $result)"
    )

    def __init__(self, name: str, arguments: Sequence[SSAValue], type: Attribute):
        super().__init__(
            operands=[arguments],
            properties={"callee": SymbolRefAttr(name)},
            result_types=[type],
        )
