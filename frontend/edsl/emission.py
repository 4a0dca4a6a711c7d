"""From the graph to `tile` IR: what the outputs of a program need, in order."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.eltwise.ops import ANY_ELEMENT
from ...errors import GinghamError, SourceLocation
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..tuples import AnyValue, Tuple, first_value, parts_of
from .contraction import UniqueNames
from .graph import Input, Node, NodeResult, Result, SizeSymbol
from .locations import error, with_text
from .size_nodes import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class BuiltProgram:
    """A program as IR, with the constants that its last inputs stand for."""

    module: ModuleOp
    constants: Mapping[str, NDArray[Any]]


def build_program(
    inputs: Sequence[Node],
    outputs: Sequence[tuple[str | None, Node]],
    location: SourceLocation,
    *,
    checked: bool = True,
    given: Sequence[Node] = (),
) -> BuiltProgram:
    """The program that computes the outputs from the inputs.

    An output without a name is called as its tensor is, or O. `checked` is whether
    conditions on sizes are part of it. Nodes that are `given` are arguments behind the
    inputs, and what they are computed from is no part of it. Raises GinghamError, in
    the user's Python code, for what is no program.
    """
    for node in inputs:
        if not isinstance(node, Input) or node.constant is not None:
            raise error(
                f"{node.describe()} is computed and no input", None, node.location
            )
    try:
        return _Emitter(inputs, outputs, location, checked, given).run()
    except GinghamError as mistake:
        if mistake.location is not None:
            mistake.location = with_text(mistake.location)
        raise


def placeholders(outputs: Sequence[Node], given: Container[Node] = ()) -> list[Node]:
    """The inputs that some nodes need, in the order in which they were made.

    Nodes that are `given` need none.
    """
    inputs = [
        node
        for node in reached(outputs, given)
        if isinstance(node, Input) and node.constant is None
    ]
    return sorted(inputs, key=lambda node: node.serial)


def reached(roots: Sequence[Node], given: Container[Node] = ()) -> set[Node]:
    """These nodes, and all that they are computed from, but for what is given."""
    found = set(roots)
    pending = list(found)
    while pending:
        node = pending.pop()
        for operand in () if node in given else node.operands:
            if operand not in found:
                found.add(operand)
                pending.append(operand)
    return found


class _Emitter:
    """Turns the nodes of one program into ops."""

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[tuple[str | None, Node]],
        location: SourceLocation,
        checked: bool,
        given: Sequence[Node],
    ) -> None:
        self.builder = ProgramBuilder()
        self._inputs = [node for node in inputs if isinstance(node, Input)]
        self._given = given
        self._outputs = outputs
        self._location = location
        self._checked = checked
        self._results: dict[Node, Result] = {}
        self._size_names: dict[SizeSymbol, str] = {}
        self._taken_sizes = UniqueNames()

    def run(self) -> BuiltProgram:
        nodes = self._needed()
        taken = UniqueNames()
        for node in [*self._inputs, *self._given]:
            self._add_input(node, taken.take(node.name or "I"))
        constants = [
            n
            for n in nodes
            if isinstance(n, Input)
            and n.constant is not None
            and n not in self._results
        ]
        names = [taken.take(node.name or "C") for node in constants]
        for node, name in zip(constants, names, strict=True):
            self._add_input(node, name)
        for node in nodes:
            if node not in self._results:
                self._add(node)
        outputs = self._named_outputs()
        module = self.builder.finish(outputs, self._location)
        arrays = {
            name: node.constant
            for name, node in zip(names, constants, strict=True)
            if node.constant is not None
        }
        return BuiltProgram(module, arrays)

    # What nodes ask for

    def value(self, node: Node) -> Value:
        """The value of a node that has one."""
        value = self.any_value(node)
        if isinstance(value, Tuple):
            raise error(
                f"expected a tensor, got {value.description}",
                value.hint,
                self._location,
            )
        return value

    def any_value(self, node: Node) -> AnyValue:
        """The value of a node that has one, or the tuple that it is."""
        result = self._results[node]
        if isinstance(result, Sequence):
            raise error(
                f"{node.describe()} has several results",
                "take one of them with element(0)",
                self._location,
            )
        return result

    def size_name(self, symbol: SizeSymbol) -> str:
        """The name of a size, different from those of all others."""
        if symbol not in self._size_names:
            wish = symbol.name or f"D{len(self._size_names)}"
            self._size_names[symbol] = self._taken_sizes.take(wish)
        return self._size_names[symbol]

    # The nodes of the program

    def _needed(self) -> list[Node]:
        """The nodes that the program needs, in the order in which they were made."""
        needed = reached([node for _, node in self._outputs], {*self._given})
        if self._checked:
            needed |= self._checks([*needed, *self._inputs])
        ordered = sorted(needed, key=lambda node: node.serial)
        for node in ordered:
            if (
                isinstance(node, Input)
                and node.constant is None
                and node not in self._inputs
            ):
                users = (user for user in ordered if node in user.operands)
                user = next(users, None)
                raise error(
                    f"{node.describe()} is used, but no input of the program",
                    f"it is made at {node.location}; add it to the inputs",
                    self._location if user is None else user.location,
                )
        return ordered

    def _checks(self, nodes: Sequence[Node]) -> set[Node]:
        """The conditions on these nodes, as far as they are about this program.

        A tensor may be part of many programs, and what one compares it with may not be
        part of another.
        """
        given, found = set(self._inputs), set[Node]()
        pending = list(nodes)
        while pending:
            for check in pending.pop().checks:
                further = reached([check]) - found
                inputs = {n for n in further if isinstance(n, Input)}
                if all(n in given or n.constant is not None for n in inputs):
                    found |= further
                    pending += further - set(nodes)
        return found

    # Ops

    def _add_input(self, node: Node, name: str) -> None:
        value = self.builder.add_input(name, None, node.location, _input_type(node))
        self._results[node] = value
        naming = next((c for c in node.checks if isinstance(c, Sizes)), None)
        if naming is not None and naming.symbols:
            self._results[naming] = naming.emit(self)

    def _add(self, node: Node) -> None:
        if isinstance(node, NodeResult):
            whole = self._results[node.operands[0]]
            parts = whole if isinstance(whole, Sequence) else [whole]
            result: Result = parts[node.number]
        else:
            result = node.emit(self)
        self._results[node] = result
        several = isinstance(result, Sequence)
        for value in result if several else [result]:
            for part in parts_of(value):
                _annotate(part, node.attributes)
        if node.name and not several:
            self.builder.name(first_value(result), node.name)

    def _named_outputs(self) -> list[tuple[str, Value]]:
        several = len(self._outputs) > 1
        named, taken = list[tuple[str, Value]](), UniqueNames()
        for number, (given, node) in enumerate(self._outputs):
            value = self.value(node)
            default = f"O{number}" if several else "O"
            name = taken.take(given or node.name or default)
            self.builder.name(value, name)
            named.append((name, value))
        return named


def _input_type(
    node: Node,
) -> TensorType[Attribute] | UnrankedTensorType[Attribute]:
    element = node.element if isinstance(node, Input) else None
    sizes = node.known_sizes
    if sizes is None:
        return UnrankedTensorType(element or ANY_ELEMENT)
    shape = [DYNAMIC_INDEX if size is None else size for size in sizes]
    return TensorType(element or ANY_ELEMENT, shape)


def _annotate(value: Value, attributes: Mapping[str, Attribute]) -> None:
    """Put attributes on the op that computes a value."""
    result = value.value if isinstance(value, Size) else value
    if isinstance(result, SSAValue) and isinstance(result.owner, Operation):
        result.owner.attributes |= attributes
