"""The node of an `einsum`, and its chain of contractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.element_types import promote
from ...dialects.eltwise.table import FUNCTIONS
from ...errors import GinghamError
from ..einsum import Axis, Repeated, build_einsum
from ..einsum_call import einsum_arguments, einsum_path
from ..einsum_equation import Label, Product, is_from_ellipsis
from ..einsum_path import Path
from ..index_space import Size
from ..special_builder import SpecialBuilder
from .axes import known_rank
from .dtypes import element_type
from .graph import Emitting, Node, Result, SizeSymbol
from .known_types import element_of
from .lens import TensorLens
from .locations import assigned_name, error
from .operands import TensorHandle, tensor_node


def einsum_node(
    operands: Sequence[Any],
    optimize: bool | str | Sequence[Any] = True,
    dtype: Any = None,
) -> Node:
    """The sum over products of tensors that an equation describes: see `einsum`."""
    try:
        equation, values = einsum_arguments(operands)
        tensors = [
            value if isinstance(value, TensorHandle) else _Plain(tensor_node(value))
            for value in values
        ]
        product, sizes = equation.product([_known_sizes(tensor) for tensor in tensors])
        path = einsum_path(optimize, product, sizes)
    except GinghamError as mistake:
        # In the user's Python code, whatever place of the equation it is about.
        raise error(mistake.message, mistake.hint) from None
    element = _element(tensors) if dtype is None else element_type(dtype)
    return Einsum(product, path, tensors, element)


class _Plain(TensorHandle):
    """A node whose axes are seen as they are in memory."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def node(self) -> Node:
        return self._node

    @property
    def lens(self) -> TensorLens | None:
        return None


class Einsum(Node):
    """The product of tensors, summed over the labels that its result does not have."""

    def __init__(
        self,
        product: Product,
        path: Path,
        tensors: Sequence[TensorHandle],
        element: Attribute | None,
    ) -> None:
        super().__init__(
            [tensor.node for tensor in tensors], len(product.output), assigned_name()
        )
        self._product = Product(
            tuple(
                axes if tensor.lens is None else tuple(tensor.lens.apply(axes))
                for tensor, axes in zip(tensors, product.operands, strict=True)
            ),
            product.output,
        )
        self._path = path
        self._element = self.known_element = element
        counts = Counter(
            label for axes in product.operands for label in {*axes} if label
        )
        self._symbols = {label: SizeSymbol(_size_name(label)) for label in counts}
        self._shared = {
            label
            for label, count in counts.items()
            if count > 1 and is_from_ellipsis(label)
        }
        """The axes of an ellipsis that broadcast: of what size they are, or of 1."""

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of the labels that the result has, as far as they are known."""
        found: dict[Label, int | None] = {}
        for operand, axes in zip(self.operands, self._product.operands, strict=True):
            for label, size in zip(axes, operand.known_sizes or (), strict=False):
                # A size of 1 broadcasts.
                if label is not None and found.get(label) in (None, 1):
                    found[label] = size
        return tuple(found.get(label) for label in self._product.output)

    def emit(self, to: Emitting) -> Result:
        """Contractions in the order of the path, mostly of two operands at a time."""
        sizes: dict[Label, list[Size]] = {}
        tensors: list[SSAValue] = []
        several: list[list[Axis]] = []
        for operand, labels in zip(self.operands, self._product.operands, strict=True):
            tensor = to.builder.tensor(to.value(operand), self.location)
            tensors.append(tensor)
            several.append(self._axes(to, operand, tensor, labels, sizes))
        special = SpecialBuilder(to.builder)
        return build_einsum(
            to.builder,
            self._product,
            self._path,
            tensors,
            {
                label: special.broadcast(several, self.location)
                for label, several in sizes.items()
            },
            self.location,
            axes=several,
            element=self._element,
        )

    def _axes(
        self,
        to: Emitting,
        operand: Node,
        tensor: SSAValue,
        labels: Sequence[Label | None],
        sizes: dict[Label, list[Size]],
    ) -> list[Axis]:
        """What is read along the axes of an operand; notes what sizes labels have."""
        if not labels:
            return []
        known = operand.known_sizes or (None,) * len(labels)
        may_be_one = [
            size is None and label in self._shared
            for label, size in zip(labels, known, strict=True)
        ]
        names = [
            to.size_name(self._symbol(label, is_own))
            for label, is_own in zip(labels, may_be_one, strict=True)
        ]
        own = to.builder.name_sizes(tensor, names, self.location)
        axes: list[Axis] = []
        for label, size, is_own in zip(labels, own, may_be_one, strict=True):
            if label is None:
                axes.append(None)
                continue
            noted = sizes.setdefault(label, [])
            if size not in noted:
                noted.append(size)
            axes.append(Repeated(label, self._step(to, size)) if is_own else label)
        return axes

    def _symbol(self, label: Label | None, is_own: bool) -> SizeSymbol:
        if label is None:
            return SizeSymbol("One")
        return SizeSymbol(None) if is_own else self._symbols[label]

    def _step(self, to: Emitting, size: Size) -> Size:
        """How far an index moves along an axis: not at all where it has size 1."""
        subtract, least = FUNCTIONS["sub"], FUNCTIONS["min"]
        rest = to.builder.apply(subtract, [size, Size(1)], self.location)
        step = to.builder.apply(least, [rest, Size(1)], self.location)
        if not isinstance(step, Size):
            raise ValueError("arithmetic of sizes gave no size")
        return step


def _size_name(label: Label) -> str | None:
    """The name of a label's size, like those that sizes have in programs."""
    return label.upper() if label.isascii() and label.isalpha() else None


def _known_sizes(tensor: TensorHandle) -> list[int | None]:
    """The sizes of a tensor as far as they are known."""
    node = tensor.node
    known = node.known_sizes
    sizes = list(known or (None,) * known_rank(node))
    return sizes if tensor.lens is None else tensor.lens.undo(sizes)


def _element(tensors: Sequence[TensorHandle]) -> Attribute | None:
    """The highest element type, where all are known."""
    try:
        return promote(element_of(tensor.node) for tensor in tensors)
    except GinghamError:
        return None
