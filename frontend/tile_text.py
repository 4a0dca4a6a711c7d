"""Tile text to `tile` IR.

```
function (A[M, K], B[K, N]) -> (C) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
}
```
becomes

```mlir
func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>)
    -> tensor<?x?x!eltwise.any>
    attributes {tile.inputs = ["A", "B"], tile.outputs = ["C"]} {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>
  %C = tile.contract add over [i, j, k] %A[i, k] * %B[k, j] -> [i : %M, j : %N] : (...)
  func.return %C : tensor<?x?x!eltwise.any>
}
```

Every op has the line and column of what it comes from, results have the names of the
text, and `tile.inputs` and `tile.outputs` keep the names exactly. Attributes of a
statement, `[[pid(x)]]`, become attributes of its last op, `{tile.pid = "x"}`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute

from ..affine.polynomial import Polynomial
from ..dialects import aggregation as ir
from ..dialects.tile.attributes import Constraint
from ..errors import GinghamError
from ..suggestions import did_you_mean
from .builder import Operand, ProgramBuilder
from .expressions import ExpressionBuilder
from .index_space import IndexSpace, Size, valid_name
from .parser import parse_source
from .scope import Role, Scope
from .source import Source, read
from .special_calls import SPECIAL_CALLS, TextFunction
from .syntax import (
    Aggregation,
    Assignment,
    Combination,
    Contraction,
    Expression,
    Fragment,
    Function,
    Input,
    Name,
    Reference,
    Span,
    Statement,
    TensorAccess,
)
from .tuples import AnyValue, Tuple, TupleExpected, first_value

_AGGREGATIONS = {
    Aggregation.SUM: ir.Aggregation.ADD,
    Aggregation.PRODUCT: ir.Aggregation.MUL,
    Aggregation.MAX: ir.Aggregation.MAX,
    Aggregation.MIN: ir.Aggregation.MIN,
    Aggregation.ASSIGN: ir.Aggregation.ASSIGN,
}
_COMBINATIONS = {
    Combination.NONE: ir.Combination.NONE,
    Combination.ADD: ir.Combination.ADD,
    Combination.MULTIPLY: ir.Combination.MUL,
    Combination.EQUAL: ir.Combination.EQ,
    Combination.CONDITION: ir.Combination.COND,
}


def parse_tile(source: str, file: str = "<string>") -> ModuleOp:
    """The `tile` module of a Tile function, for tensors of any sizes and types.

    `file` is the name that locations and errors show. Raises GinghamError at the first
    mistake.
    """
    return TileFunction(source, file).module


def _parse_function(text: Source) -> Function:
    program = parse_source(text)
    if isinstance(program, Fragment):
        article = "an" if program.keyword == "expression" else "a"
        raise text.error(
            f"expected a function, got {article} {program.keyword} that stands alone",
            program.span,
            "a program is 'function (inputs) -> (outputs) { statements }'",
        )
    return program


class TileFunction:
    """A Tile function that can become a part of programs, any number of times.

    `special_calls` are its functions beside those of the element-wise table. Raises
    GinghamError for text that is no function.
    """

    def __init__(
        self,
        source: str,
        file: str = "<string>",
        special_calls: Mapping[str, TextFunction] = SPECIAL_CALLS,
    ) -> None:
        self.source = Source.of(source, file)
        self._special_calls = special_calls
        self._function = _parse_function(self.source)
        self._translator = _FunctionTranslator(
            self.source, self._function, special_calls
        )
        self._outputs: list[AnyValue] = []
        self._takes_tuple: TupleExpected | None = None
        try:
            self._outputs = self._translator.outputs()
        except TupleExpected as error:
            # What it does with the tuple is known when it is applied to one.
            self._takes_tuple = error
        self.input_names = [each.name.text for each in self._function.inputs]
        self.output_names = [name.text for name in self._function.outputs]

    @cached_property
    def module(self) -> ModuleOp:
        """The function alone, as of `parse_tile`.

        Raises GinghamError where an input or an output is a tuple, which is nothing but
        an input of further functions.
        """
        if self._takes_tuple is not None:
            raise self._takes_tuple
        return self._translator.module(self._outputs)

    def apply(
        self,
        builder: ProgramBuilder,
        inputs: Sequence[AnyValue],
        size_name: Callable[[str], str],
    ) -> list[AnyValue]:
        """Add its statements to a program, for these inputs: the outputs.

        `size_name` gives each dimension a name that is free in the program. Raises
        GinghamError, in the text of the function, for inputs that do not fit it.
        """
        translator = _FunctionTranslator(
            self.source, self._function, self._special_calls, builder, size_name
        )
        return translator.apply(inputs)


def load(path: str | os.PathLike[str]) -> ModuleOp:
    """The `tile` module of a Tile file; see `parse_tile`."""
    return parse_tile(read(path), os.fspath(path))


class _FunctionTranslator:
    """Builds the IR of one function, statement by statement."""

    def __init__(
        self,
        source: Source,
        function: Function,
        special_calls: Mapping[str, TextFunction],
        builder: ProgramBuilder | None = None,
        size_name: Callable[[str], str] = str,
    ) -> None:
        self._source = source
        self._function = function
        self._builder = builder or ProgramBuilder()
        self._size_name = size_name
        self._assigned = _first_assignments(function.statements)
        self._scope = Scope(source, self._assigned)
        self._expressions = ExpressionBuilder(self._builder, self._scope, special_calls)

    def outputs(self) -> list[AnyValue]:
        """The outputs for inputs of a program of their own."""
        self._declare_inputs()
        return self._outputs()

    def module(self, outputs: Sequence[AnyValue]) -> ModuleOp:
        """The program of these outputs."""
        values = [
            (name.text, self._scope.no_tuple(value, name.span))
            for name, value in zip(self._function.outputs, outputs, strict=True)
        ]
        return self._builder.finish(values, self._source.location(self._function.span))

    def apply(self, inputs: Sequence[AnyValue]) -> list[AnyValue]:
        """The outputs for inputs that are values of the program."""
        for parameter, value in zip(self._function.inputs, inputs, strict=True):
            self._check_new(parameter.name)
            if parameter.sizes is not None:
                location = self._source.location(parameter.span)
                given = self._scope.no_tuple(value, parameter.span)
                value = self._builder.tensor(given, location)
                names = [self._size_name(size.text) for size in parameter.sizes]
                self._builder.name_sizes(value, names, location)
            self._scope.define(parameter.name, value, Role.INPUT)
            self._define_sizes(parameter)
        return self._outputs()

    def _outputs(self) -> list[AnyValue]:
        self._check_outputs()
        for statement in self._function.statements:
            self._scope.check_free(_target(statement))
            if isinstance(statement, Contraction):
                self._contract(statement)
            else:
                self._assign(statement)
        return [
            self._scope.find(name.text, name.span) for name in self._function.outputs
        ]

    # The head of the function

    def _declare_inputs(self) -> None:
        for parameter in self._function.inputs:
            self._check_new(parameter.name)
            sizes = parameter.sizes
            value = self._builder.add_input(
                parameter.name.text,
                None if sizes is None else [size.text for size in sizes],
                self._source.location(parameter.span),
            )
            self._scope.define(parameter.name, value, Role.INPUT)
            self._define_sizes(parameter)

    def _define_sizes(self, parameter: Input) -> None:
        for size in parameter.sizes or ():
            known = self._scope.defined(size.text)
            if known is None:
                value = self._builder.sizes[self._size_name(size.text)]
                self._scope.define(size, value, Role.DIMENSION)
            elif known.role is not Role.DIMENSION:
                raise self._two_roles(size, known.span)

    def _check_new(self, name: Name) -> None:
        known = self._scope.defined(name.text)
        if known is None:
            return
        if known.role is Role.DIMENSION:
            raise self._two_roles(name, known.span)
        raise self._source.error(
            f"two inputs have the name '{name.text}'",
            name.span,
            f"the other is at {known.span.line}:{known.span.column}",
        )

    def _two_roles(self, name: Name, other: Span) -> GinghamError:
        return self._source.error(
            f"'{name.text}' is both an input and a dimension",
            name.span,
            f"the other use is at {other.line}:{other.column}",
        )

    def _check_outputs(self) -> None:
        """Outputs have different names and are assigned somewhere."""
        seen: dict[str, Span] = {}
        for name in self._function.outputs:
            if name.text in seen:
                place = seen[name.text]
                raise self._source.error(
                    f"two outputs have the name '{name.text}'",
                    name.span,
                    f"the other is at {place.line}:{place.column}",
                )
            seen[name.text] = name.span
            if (
                name.text not in self._assigned
                and self._scope.defined(name.text) is None
            ):
                raise self._source.error(
                    f"the output '{name.text}' is never assigned",
                    name.span,
                    did_you_mean(name.text, self._assigned),
                )

    # Statements

    def _assign(self, statement: Assignment) -> None:
        value = self._expressions.value(statement.value)
        if isinstance(statement.value, Reference) and not isinstance(value, Tuple):
            value = self._builder.copy(value, self._source.location(statement.span))
        named = first_value(value)
        self._builder.name(named, statement.target.text, _attributes(statement))
        self._scope.define(statement.target, value, Role.ASSIGNED)

    def _contract(self, statement: Contraction) -> None:
        space = IndexSpace()
        output = self._access(statement.output, space)
        sizes = self._sizes(statement)
        operands = [self._operand(access, space) for access in statement.operands]
        value = self._builder.contract(
            _AGGREGATIONS[statement.aggregation],
            _COMBINATIONS[statement.combination],
            space,
            output,
            sizes,
            operands,
            self._source.location(statement.span),
            constraints=self._constraints(statement, space),
            default=self._default(statement),
            no_defract=statement.no_defract,
        )
        target = statement.output.tensor
        self._builder.name(value, target.text, _attributes(statement))
        self._scope.define(target, value, Role.ASSIGNED)

    def _access(
        self, access: TensorAccess, space: IndexSpace
    ) -> tuple[Polynomial, ...]:
        return tuple(
            self._expressions.polynomial(index, space) for index in access.indices
        )

    def _operand(self, access: TensorAccess, space: IndexSpace) -> Operand:
        tensor = access.tensor
        return Operand(
            self._scope.find_value(tensor),
            self._access(access, space),
            tensor.text,
            self._source.location(access.span),
            self._origin(tensor),
        )

    def _origin(self, name: Name) -> str | None:
        definition = self._scope.defined(name.text)
        return None if definition is None else definition.origin

    def _sizes(self, statement: Contraction) -> list[Size]:
        output = statement.output
        if statement.sizes is None:
            if not output.indices:
                return []
            indices = self._text(output.indices[0].span.to(output.indices[-1].span))
            names = ", ".join("?" for _ in output.indices)
            raise self._source.error(
                f"the sizes of '{output.tensor.text}' are missing",
                output.span,
                f"write one for each index behind a ':', as in "
                f"{output.tensor.text}[{indices} : {names}]",
            )
        if len(statement.sizes) != len(output.indices):
            span = output.span
            if statement.sizes:
                span = statement.sizes[0].span.to(statement.sizes[-1].span)
            raise self._source.error(
                f"expected as many sizes as indices of '{output.tensor.text}', got "
                f"{len(statement.sizes)} for {len(output.indices)}",
                span,
            )
        return [self._size(size, output.tensor) for size in statement.sizes]

    def _size(self, expression: Expression, output: Name) -> Size:
        size = self._expressions.size(expression, f"the size of '{output.text}'")
        if isinstance(size.value, int) and size.value < 0:
            raise self._source.error(
                f"the size of '{output.text}' is negative: {size.value}",
                expression.span,
            )
        return size

    def _constraints(
        self, statement: Contraction, space: IndexSpace
    ) -> list[Constraint]:
        constraints: list[Constraint] = []
        for constraint in statement.constraints:
            expression = self._expressions.polynomial(constraint.polynomial, space)
            bound = self._expressions.size(constraint.bound, "the bound")
            constraints.append(Constraint(expression, space.size(bound)))
        return constraints

    def _default(self, statement: Contraction) -> Operand | None:
        if not statement.defaults:
            return None
        name = statement.defaults[0]
        for other in statement.defaults[1:]:
            if other.text != name.text:
                raise self._source.error(
                    f"a second default, '{other.text}'",
                    other.span,
                    f"the contraction has the default '{name.text}' already",
                )
        value = self._scope.find_value(name)
        location = self._source.location(name.span)
        return Operand(value, (), name.text, location, self._origin(name))

    def _text(self, span: Span) -> str:
        """A stretch of the source, on one line."""
        return " ".join(self._source.text[span.start : span.end].split())


def _target(statement: Statement) -> Name:
    """The name that a statement assigns."""
    if isinstance(statement, Contraction):
        return statement.output.tensor
    return statement.target


def _first_assignments(statements: Sequence[Statement]) -> dict[str, Span]:
    """Where each name is assigned first."""
    return {_target(s).text: _target(s).span for s in reversed(statements)}


def _attributes(statement: Statement) -> dict[str, Attribute]:
    """The attributes of a statement for its op: none, one or several parameters."""
    attributes: dict[str, Attribute] = {}
    for attribute in statement.attributes:
        parameters = [StringAttr(p.text) for p in attribute.parameters]
        match parameters:
            case []:
                value: Attribute = UnitAttr()
            case [only]:
                value = only
            case _:
                value = ArrayAttr(parameters)
        attributes[f"tile.{valid_name(attribute.name.text)}"] = value
    return attributes
