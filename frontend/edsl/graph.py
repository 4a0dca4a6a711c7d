"""The graph that Python code builds: every tensor and size is a node of it.

Nodes are made in the order in which the code runs and refer only to older ones. What a
program needs of the graph becomes `tile` IR in that order, so that the ops stand as the
statements do (`emission.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import f32, i1, si32
from ...dialects.eltwise.ops import broadcast_shape
from ...dialects.eltwise.table import Function
from ...errors import SourceLocation
from ...limits import LARGEST_INTEGER
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..tuples import AnyValue
from .locations import error, here

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result: TypeAlias = AnyValue | Sequence[AnyValue]
"""What a node is in the IR: a value, or those of an op with several results."""

_serials = itertools.count()

_NO_LAYER: Mapping[str, Attribute] = {}

current_layer: ContextVar[Mapping[str, Attribute]] = ContextVar(
    "current_layer", default=_NO_LAYER
)
"""The attributes of all ops that are made now: see `annotations.layer`."""


class LayerScope:
    """What the function of a layer may use: its operands, and what it makes itself."""

    def __init__(self, name: str, operands: Sequence[Node]) -> None:
        self._name = name
        self._operands = {*operands}
        self._first = next(_serials)

    def check(self, node: Node, location: SourceLocation) -> None:
        """Raise GinghamError for a tensor from outside that is no operand."""
        is_constant = isinstance(node, Input) and node.constant is not None
        is_tensor = not (node.is_size or is_constant or isinstance(node, Literal))
        if is_tensor and node.serial < self._first and node not in self._operands:
            raise error(
                f"{node.describe()} is no operand of the layer '{self._name}', which "
                "uses it",
                f"it is made at {node.location}; add it to the operands",
                location,
            )


current_layer_scope: ContextVar[LayerScope | None] = ContextVar(
    "current_layer_scope", default=None
)
"""The innermost layer whose function is being run: see `annotations.layer`."""


class Trace:
    """One call of a function that is being turned into a program.

    `sizes_of` and `element_of` tell the shape and element type of a tensor for the
    arguments of this call, `number_of` the value of an integer among them.
    `looked_at_sizes` says that the function asked for sizes or numbers, so that the
    program is for these only.
    """

    def __init__(
        self,
        name: str,
        sizes_of: Callable[[Node], tuple[int, ...]],
        element_of: Callable[[Node], Attribute],
        number_of: Callable[[Node], int],
    ) -> None:
        self.name = name
        self.sizes_of = sizes_of
        self.element_of = element_of
        self.number_of = number_of
        self.looked_at_sizes = False
        self.is_finished = False

    def input(self, name: str, rank: int, location: SourceLocation) -> Input:
        """A further argument of the call."""
        node = Input([None] * rank, None, name, location=location)
        node.trace = self
        return node


class Emitting(Protocol):
    """What nodes need while they become IR."""

    builder: ProgramBuilder

    def value(self, node: Node) -> Value:
        """The value of a node that has become IR already."""
        ...

    def any_value(self, node: Node) -> AnyValue:
        """As `value`, for a tuple too."""
        ...

    def size_name(self, symbol: SizeSymbol) -> str:
        """The name of a size, different from those of all others."""
        ...


class Node:
    """A value of the program; `rank` is None when it is not known.

    `checks` are nodes that hold wherever this one is used: names of its sizes, and
    conditions on them.
    """

    def __init__(
        self,
        operands: Sequence[Node] = (),
        rank: int | None = 0,
        name: str | None = None,
        location: SourceLocation | None = None,
    ) -> None:
        self.location = location or here()
        self.operands = tuple(operands)
        self.rank = rank
        self.name = name
        self.trace = _common_trace(self.operands, self.location)
        self.known_element: Attribute | None = None
        """The element type, where it is known already; of a weak node by default."""
        self.attributes = dict(current_layer.get())
        self.checks: list[Node] = []
        self.is_used = False
        layer = current_layer_scope.get()
        for operand in self.operands:
            operand.is_used = True
            if layer is not None:
                layer.check(operand, self.location)
        self.serial = next(_serials)

    @property
    def is_size(self) -> bool:
        """Whether it is an integer that is known before the program runs."""
        return False

    @property
    def is_weak(self) -> bool:
        """Whether it takes the type of what it meets: numbers, sizes, and of those."""
        return self.is_size

    @property
    def known_number(self) -> int | None:
        """The integer that a size is, where that is known already."""
        return None

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of its axes, None for those that are not known yet."""
        return None if self.rank is None else (None,) * self.rank

    def check_tensor(self) -> None:
        """Raise GinghamError where it is no tensor, size or number, but a tuple."""

    def fold(self, *sizes: int) -> int:
        """The value of a function of sizes for such operands."""
        raise NotImplementedError

    def emit(self, to: Emitting) -> Result:
        """The node as IR, given that of its operands."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the user calls it."""
        return f"'{self.name}'" if self.name else "the tensor"


def _common_trace(operands: Sequence[Node], location: SourceLocation) -> Trace | None:
    """The call that the operands belong to; they may not belong to two."""
    found: Node | None = None
    for operand in operands:
        trace = operand.trace
        if trace is None:
            continue
        if trace.is_finished:
            raise error(
                f"{operand.describe()} belongs to a call of '{trace.name}' that is "
                "over",
                "return it from the function, and use what the call returns",
                location,
            )
        if found is not None and found.trace is not trace:
            other = found.trace.name if found.trace is not None else ""
            raise error(
                f"{found.describe()} belongs to a call of '{other}', and "
                f"{operand.describe()} to another, of '{trace.name}'",
                "pass what a function uses to it as an argument",
                location,
            )
        found = operand
    return None if found is None else found.trace


class Input(Node):
    """A tensor that is given when the program runs, or a constant that is known.

    `shape` has None for a size that is not known, and is None itself for any rank.
    """

    def __init__(
        self,
        shape: Sequence[int | None] | None,
        element: Attribute | None,
        name: str | None,
        constant: NDArray[Any] | None = None,
        location: SourceLocation | None = None,
    ) -> None:
        super().__init__(
            rank=None if shape is None else len(shape), name=name, location=location
        )
        self.shape = None if shape is None else tuple(shape)
        self.element = self.known_element = element
        self.constant = constant

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The shape that it was given; None for any rank."""
        return self.shape

    def emit(self, to: Emitting) -> Result:
        """Not to be called: arguments of the function stand for inputs."""
        raise ValueError("inputs are emitted before all other nodes")


class Literal(Node):
    """A number of the Python code."""

    def __init__(self, number: bool | int | float) -> None:
        super().__init__()
        self.number = number
        is_float = isinstance(number, float)
        self.known_element = (
            f32 if is_float else i1 if isinstance(number, bool) else si32
        )

    @property
    def is_size(self) -> bool:
        """Whether the number is an integer."""
        return isinstance(self.number, int)

    @property
    def is_weak(self) -> bool:
        """True."""
        return True

    @property
    def known_number(self) -> int | None:
        """The integer; None for a float."""
        return int(self.number) if isinstance(self.number, int) else None

    def emit(self, to: Emitting) -> Result:
        """The float, or the integer as a size, which is made a constant at its use."""
        if isinstance(self.number, float):
            return self.number
        return Size(int(self.number), isinstance(self.number, bool))


class SizeSymbol:
    """A named size, which is the same number wherever it occurs."""

    def __init__(self, name: str | None) -> None:
        self.name = name


class Apply(Node):
    """An element-wise function; of sizes it is a size, where sizes have it."""

    def __init__(
        self, function: Function, operands: Sequence[Node], name: str | None
    ) -> None:
        ranks = [operand.rank for operand in operands]
        known = [rank for rank in ranks if rank is not None]
        rank = max(known) if len(known) == len(ranks) else None
        super().__init__(operands, rank, name)
        self.function = function
        self._known_sizes = self._broadcast()
        # Found out once: whoever asks again and again would go down a deep program.
        are_sizes = all(operand.is_size for operand in self.operands)
        self._is_size = function.fold is not None and are_sizes
        self._is_weak = all(operand.is_weak for operand in self.operands)
        self.known_element = self._element()
        self._known_number = self._folded() if self._is_size else None

    def _element(self) -> Attribute | None:
        """The element type, where those of the operands are known and fit."""
        elements = [
            operand.known_element or (si32 if operand.is_size else None)
            for operand in self.operands
        ]
        known = [element for element in elements if element is not None]
        if len(known) < len(elements):
            return None
        try:
            weak = [operand.is_weak for operand in self.operands]
            return self.function.signature(known, weak)[1]
        except TypeError:
            return None

    def _folded(self) -> int | None:
        """The number that it is, where it is known and one of 64 bits."""
        numbers = [operand.known_number for operand in self.operands]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return None
        number = self.fold(*known)
        return number if abs(number) <= LARGEST_INTEGER else None

    def _broadcast(self) -> tuple[int | None, ...] | None:
        """The sizes as far as they are known; GinghamError where they do not match."""
        shapes: list[tuple[int, ...]] = []
        for operand in self.operands:
            sizes = operand.known_sizes
            if sizes is None:
                return None
            shapes.append(tuple(DYNAMIC_INDEX if n is None else n for n in sizes))
        try:
            result = broadcast_shape(shapes)
        except ValueError as reason:
            raise error(
                f"the operands of '{self.function.name}' do not broadcast: {reason}",
                "sizes of one axis, counted from the last, are equal or 1",
                self.location,
            ) from None
        return tuple(None if n == DYNAMIC_INDEX else n for n in result)

    @property
    def is_size(self) -> bool:
        """Whether it is a function of sizes alone that sizes have."""
        return self._is_size

    @property
    def is_weak(self) -> bool:
        """Whether it is a function of numbers and sizes alone."""
        return self._is_weak

    @property
    def known_number(self) -> int | None:
        """The result, where all operands are known integers."""
        return self._known_number

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes that the operands broadcast to, None for unknown ones."""
        return self._known_sizes

    def fold(self, *sizes: int) -> int:
        """The result for integers.

        Raises ValueError for a function that sizes do not have.
        """
        if self.function.fold is None:
            raise ValueError(f"sizes have no function '{self.function.name}'")
        return int(self.function.fold(*sizes))

    def emit(self, to: Emitting) -> Result:
        """The element-wise operation, with operands cast as its type rule says."""
        operands = [to.value(operand) for operand in self.operands]
        return to.builder.apply(self.function, operands, self.location)


Build: TypeAlias = Callable[[ProgramBuilder, list[Value], SourceLocation], Result]
"""Makes the op of a node from the values of its operands."""


class Call(Node):
    """Any other function of tensors and sizes, by what it asks of the builder."""

    def __init__(
        self,
        build: Build,
        operands: Sequence[Node],
        rank: int | None,
        name: str | None = None,
        *,
        sizes: Sequence[int | None] | None = None,
        element: Attribute | None = None,
    ) -> None:
        """`sizes` and `element` are what is known of the result, if it is one."""
        super().__init__(operands, rank, name)
        self._build = build
        self._sizes = None if sizes is None else tuple(sizes)
        self.known_element = element

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes that its maker knew."""
        return super().known_sizes if self._sizes is None else self._sizes

    def emit(self, to: Emitting) -> Result:
        """What the function builds of the operands' values."""
        operands = [to.value(operand) for operand in self.operands]
        return self._build(to.builder, operands, self.location)


class NodeResult(Node):
    """One of the results of a node that has several."""

    def __init__(
        self,
        whole: Node,
        number: int,
        rank: int | None,
        name: str | None = None,
        like: Node | None = None,
    ) -> None:
        """`like` is a node of the same type and sizes, where there is one."""
        super().__init__([whole], rank, name, whole.location)
        self._number = number
        self._like = like
        if like is not None and not like.is_weak:
            self.known_element = like.known_element

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of the node that it is like."""
        return super().known_sizes if self._like is None else self._like.known_sizes

    def emit(self, to: Emitting) -> Result:
        """Not to be called: a node emits all of its results."""
        raise ValueError("results are emitted with their node")

    @property
    def number(self) -> int:
        """Which of the results it is, from 0."""
        return self._number
