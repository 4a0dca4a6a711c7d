"""`einsum` of tensors of a program: a chain of contractions, as for arrays."""

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
from .dtypes import element_type
from .graph import Emitting, Input, Node, Result, SizeSymbol
from .locations import assigned_name, error
from .tensors import Tensor, tensor_node


def einsum(
    *operands: Any, optimize: bool | str | Sequence[Any] = True, dtype: Any = None
) -> Tensor:
    """The sum over products of tensors that an equation describes.

    Called as `einsum("ij,jk->ik", A, B)` or `einsum(A, [0, 1], B, [1, 2])`, with all of
    NumPy's forms; `optimize` and `dtype` are as in `gingham.einsum`. Axes with one
    label have one size. Where the sizes of an input are known, one of size 1 is
    repeated; where they are not, that is an error once they are.

    Where the element types are not known, truth values are counted.
    """
    try:
        equation, values = einsum_arguments(operands)
        tensors = [
            value if isinstance(value, Tensor) else Tensor.of(tensor_node(value))
            for value in values
        ]
        product, sizes = equation.product([_known_sizes(tensor) for tensor in tensors])
        path = einsum_path(optimize, product, sizes)
    except GinghamError as mistake:
        # In the user's Python code, whatever place of the equation it is about.
        raise error(mistake.message, mistake.hint) from None
    element = _element(tensors) if dtype is None else element_type(dtype)
    return Tensor.of(Einsum(product, path, tensors, element))


class Einsum(Node):
    """The product of tensors, summed over the labels that its result does not have."""

    def __init__(
        self,
        product: Product,
        path: Path,
        tensors: Sequence[Tensor],
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
        self._element = element
        labels = {label for axes in product.operands for label in axes if label}
        self._symbols = {label: SizeSymbol(_size_name(label)) for label in labels}

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


def _known_sizes(tensor: Tensor) -> list[int | None]:
    """The sizes of a tensor as far as an input says them."""
    node = tensor.node
    if not isinstance(node, Input) or node.shape is None:
        return [None] * tensor.ndim
    sizes = list(node.shape)
    return sizes if tensor.lens is None else tensor.lens.undo(sizes)


def _element(tensors: Sequence[Tensor]) -> Attribute | None:
    """The highest element type, where all are known."""
    try:
        return promote(element_type(tensor.dtype) for tensor in tensors)
    except GinghamError:
        return None
