"""A flat contraction as forms over its box, and which cells its points reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from ...affine.form import LinearForm
from ...affine.lattice import identity_forms
from ...affine.polyhedron import Polyhedron
from ...dialects.tile import ContractOp
from ..locations import error_at


@dataclass(frozen=True)
class ContractionBox:
    """What a flat `tile.contract` says, in integer forms over its indices."""

    ranges: tuple[int, ...]
    names: tuple[str, ...]
    output_rank: int
    output: tuple[LinearForm, ...]
    inputs: tuple[tuple[LinearForm, ...], ...]
    constraints: tuple[LinearForm, ...]
    shape: tuple[int, ...]
    """The sizes of the result."""

    @staticmethod
    def of(op: ContractOp) -> ContractionBox:
        """Read an op; GinghamError when it is not flat yet."""
        if not op.is_flat or op.symbols or op.sizes:
            raise error_at(
                op,
                "expected a contraction over a box of index ranges",
                "run tile-specialize and tile-flatten first",
            )
        output, *inputs = op.linear_accesses()
        rank = len(op.indices)
        constraints: list[LinearForm] = []
        for condition in op.conditions:
            form = condition.expression.form(rank)
            constraints.append(form)
            if condition.bound is not None:
                constraints.append(-form + condition.bound.form(rank) - 1)
        forms = [*output, *(f for access in inputs for f in access), *constraints]
        if not all(form.is_integral for form in forms):
            raise error_at(
                op,
                "expected integer coefficients in a flat contraction",
                "run tile-flatten on the contraction before it has ranges",
            )
        return ContractionBox(
            op.flat_ranges,
            op.index_names,
            op.flat_output_rank,
            output,
            tuple(inputs),
            tuple(constraints),
            op.result.type.get_shape(),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no point, or no cell."""
        return 0 in self.ranges or 0 in self.shape

    def over_whole_axes(self) -> ContractionBox:
        """The same points in a box that reaches all cells along each axis.

        An index that steps through some cells of an axis one by one runs over all of
        them, and constraints leave out the others: blocks that fill or use the whole
        result then have the same indices. The box stays as it is where other forms of
        indices choose cells, or choose some outside of the result.
        """
        ranges, limits = [*self.ranges], [*self.constraints]
        indices = identity_forms(len(ranges))
        moved = [*indices]
        for form, size in zip(self.output, self.shape, strict=True):
            start = int(form.constant)
            index = (form - start).single_dimension
            extent = 1 if index is None else self.ranges[index]
            if (index is None and form.support) or not 0 <= start <= size - extent:
                return self
            if index is None:
                continue
            if moved[index] != indices[index] or ranges[index] != extent:
                return self
            moved[index], ranges[index] = indices[index] - start, size
            limits += [indices[index]] if start else []
            rest = size - start - extent
            limits += [-indices[index] + (extent - 1)] if rest else []

        def over(forms: Sequence[LinearForm]) -> tuple[LinearForm, ...]:
            return tuple([form.substitute(moved) for form in forms])

        return replace(
            self,
            ranges=tuple(ranges),
            output=over(self.output),
            inputs=tuple(map(over, self.inputs)),
            constraints=over(limits),
        )

    @cached_property
    def reaches_every_cell(self) -> bool:
        """Whether the box, constraints aside, accesses every cell of the result."""
        box = self.ranges[: self.output_rank]
        identity = tuple(
            LinearForm.dimension(axis, len(self.ranges)) for axis in range(len(box))
        )
        if self.output == identity and box == self.shape:
            return True
        # Different values of the output indices access different cells, so inside of
        # the result it is enough to count.
        limits = [form.bounds(self.ranges) for form in self.output]
        if all(
            low >= 0 and high < size
            for (low, high), size in zip(limits, self.shape, strict=True)
        ):
            return prod(box) == prod(self.shape)
        return Polyhedron.box(self.ranges).image_covers_box(self.output, self.shape)

    @cached_property
    def every_reached_cell_has_a_point(self) -> bool:
        """Whether the constraints leave points to all values of the output indices.

        Those count whose cell lies within the result.
        """
        if not self.constraints:
            return True
        points = Polyhedron.box(self.ranges, self.constraints)
        inside: list[LinearForm] = []
        for form, size in zip(self.output, self.shape, strict=True):
            low, high = form.bounds(self.ranges)
            inside += [form] if low < 0 else []
            inside += [-form + (size - 1)] if high >= size else []
        outputs = range(self.output_rank)
        return points.reaches_every(outputs, self.ranges[: self.output_rank], inside)
