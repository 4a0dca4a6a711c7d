"""Einsum to `tile` IR: a chain of contractions of at most two operands.

`build_einsum` makes the ops on values of a `ProgramBuilder`, whichever frontend they
come from. `"ij,jk,kl->il"` of A, B and C becomes

```mlir
%0 = tile.contract add over [i, k, j] %A[i, j] * %B[j, k] -> [i : %i, k : %k] : (...)
%1 = tile.contract add over [i, l, k] %0[i, k] * %C[k, l] -> [i : %i, l : %l] : (...)
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ..affine.polynomial import Polynomial
from ..dialects.aggregation import Aggregation, Combination
from ..errors import SourceLocation
from .builder import Operand, ProgramBuilder
from .einsum_equation import Label, Product
from .einsum_path import Path, kept_labels
from .index_space import IndexSpace, Size


@dataclass(frozen=True)
class Repeated:
    """An axis of the size of its label, or of size 1, which is repeated."""

    label: Label
    step: Size
    """1, or where the axis has size 1, 0."""


Axis: TypeAlias = Label | Repeated | None
"""What is read along an axis: the index of its label, or index 0 where it is None."""


def build_einsum(
    builder: ProgramBuilder,
    product: Product,
    path: Path,
    tensors: Sequence[SSAValue],
    sizes: Mapping[Label, Size],
    location: SourceLocation,
    *,
    axes: Sequence[Sequence[Axis]] | None = None,
    element: Attribute | None = None,
) -> SSAValue:
    """The tensor of a product, contracted in the order of `path`.

    `sizes` has the size of each label of the product, `axes` its operands where that is
    not all that is said of them. Operands are converted to
    `element` where one is given. Of truth values the sum is whether any product is
    true, as in NumPy; for this `element` has to be i1.
    """
    if element is not None:
        tensors = [builder.cast(tensor, element, location) for tensor in tensors]
    chain = _Chain(builder, product.output, sizes, location, element == i1)
    left: list[_Entry] = [*zip(tensors, axes or product.operands, strict=True)]
    for step in path:
        operands = [left[position] for position in step]
        left = [entry for n, entry in enumerate(left) if n not in step]
        left.append(chain.contract_all(operands, left))
    if len(tensors) == 1:
        left = [chain.contract(left, product.output)]
    ((tensor, _),) = left
    return tensor


_Entry = tuple[SSAValue, Sequence[Axis]]
"""A tensor, and what is read along its axes."""


class _Chain:
    """Contracts operands of one einsum."""

    def __init__(
        self,
        builder: ProgramBuilder,
        output: tuple[Label, ...],
        sizes: Mapping[Label, Size],
        location: SourceLocation,
        is_logical: bool,
    ) -> None:
        self._builder = builder
        self._output = output
        self._sizes = sizes
        self._location = location
        self._is_logical = is_logical

    def contract_all(
        self, operands: Sequence[_Entry], others: Sequence[_Entry]
    ) -> _Entry:
        """The product of the operands of a step, from left to right."""
        result, *rest = operands
        while rest:
            following, *rest = rest
            needed = [_labels(entry) for entry in (*rest, *others)]
            pair = [result, following]
            result = self.contract(pair, self._order(pair, needed))
        return result

    def contract(self, operands: Sequence[_Entry], output: tuple[Label, ...]) -> _Entry:
        """The sum of the product of one or two operands over what `output` lacks."""
        space = IndexSpace()
        result = [self._index(space, label) for label in output]
        value = self._builder.contract(
            self._aggregation(operands, output),
            Combination.MUL if len(operands) == 2 else Combination.NONE,
            space,
            result,
            [self._sizes[label] for label in output],
            [self._operand(space, entry) for entry in operands],
            self._location,
        )
        if self._is_logical:
            value = self._builder.cast(value, i1, self._location)
        return value, output

    def _order(
        self, pair: Sequence[_Entry], needed: Sequence[frozenset[Label]]
    ) -> tuple[Label, ...]:
        """The labels of a product: those of the result in its order, then others."""
        kept = kept_labels([_labels(entry) for entry in pair], needed, self._output)
        first = [label for label in self._output if label in kept]
        # Each label once, where it occurs first.
        seen = dict.fromkeys(label for _, axes in pair for label in _labels_of(axes))
        return tuple(dict.fromkeys([*first, *(n for n in seen if n in kept)]))

    def _aggregation(
        self, operands: Sequence[_Entry], output: tuple[Label, ...]
    ) -> Aggregation:
        if self._is_logical:
            return Aggregation.MAX
        labels = {label for entry in operands for label in _labels(entry)}
        # A sum counts truth values, so a transposition should not be one.
        is_sum = len(operands) == 2 or labels > set(output)
        return Aggregation.ADD if is_sum else Aggregation.ASSIGN

    def _operand(self, space: IndexSpace, entry: _Entry) -> Operand:
        tensor, axes = entry
        access = tuple(self._place(space, axis) for axis in axes)
        return Operand(tensor, access, tensor.name_hint or "operand", self._location)

    def _place(self, space: IndexSpace, axis: Axis) -> Polynomial:
        if axis is None:
            return Polynomial.constant(0)
        if isinstance(axis, Repeated):
            return self._index(space, axis.label) * space.size(axis.step)
        return self._index(space, axis)

    def _index(self, space: IndexSpace, label: Label) -> Polynomial:
        name = label if label.isascii() and label.isalpha() else _index_name(label)
        return space.index(name, self._location)


def _labels(entry: _Entry) -> frozenset[Label]:
    return frozenset(_labels_of(entry[1]))


def _labels_of(axes: Sequence[Axis]) -> list[Label]:
    return [
        axis.label if isinstance(axis, Repeated) else axis
        for axis in axes
        if axis is not None
    ]


def _index_name(label: Label) -> str:
    """A name for a label that is not a letter of ASCII: different for each."""
    digits = label.strip(".")
    if digits.isdecimal():
        return f"e{digits}" if label.startswith(".") else f"i{digits}"
    return "u" + "_".join(str(ord(character)) for character in label)
