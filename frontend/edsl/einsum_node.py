"""The node of an `einsum`, and its chain of contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.element_types import promote
from ...errors import GinghamError
from ..einsum import build_einsum
from ..einsum_call import einsum_arguments, einsum_path
from ..einsum_equation import Label, Product
from ..einsum_path import Path
from ..index_space import Size
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
        labels = {label for axes in product.operands for label in axes if label}
        self._symbols = {label: SizeSymbol(_size_name(label)) for label in labels}

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
        sizes: dict[Label, Size] = {}
        tensors: list[SSAValue] = []
        for operand, axes in zip(self.operands, self._product.operands, strict=True):
            tensor = to.builder.tensor(to.value(operand), self.location)
            tensors.append(tensor)
            if axes:
                sizes |= self._named_sizes(to, tensor, axes)
        return build_einsum(
            to.builder,
            self._product,
            self._path,
            tensors,
            sizes,
            self.location,
            element=self._element,
        )

    def _named_sizes(
        self, to: Emitting, tensor: SSAValue, axes: Sequence[Label | None]
    ) -> dict[Label, Size]:
        """The sizes of a tensor by the labels of its axes; one label is one size."""
        symbols = [
            SizeSymbol("One") if label is None else self._symbols[label]
            for label in axes
        ]
        names = [to.size_name(symbol) for symbol in symbols]
        sizes = to.builder.name_sizes(tensor, names, self.location)
        return {label: s for label, s in zip(axes, sizes, strict=True) if label}


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
