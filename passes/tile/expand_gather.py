"""`tile-expand-gather`: gathers that interpolate become gathers of single cells.

```mlir
%R = tile.gather %V, %X interpolation linear
    : (tensor<9xf32>, tensor<5xf32>) -> tensor<5xf32>
```

becomes

```mlir
%0 = eltwise.floor %X : tensor<5xf32>
%1 = eltwise.sub %X, %0 : tensor<5xf32>
%2 = eltwise.constant 1.0 : tensor<f32>
%3 = eltwise.sub %2, %1 : (tensor<f32>, tensor<5xf32>) -> tensor<5xf32>
%4 = eltwise.cast %0 : tensor<5xf32> to tensor<5xsi32>
%5 = tile.gather %V, %4 : (tensor<9xf32>, tensor<5xsi32>) -> tensor<5xf32>
%6 = eltwise.mul %5, %3 : tensor<5xf32>
%7 = eltwise.add %0, %2 : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
%8 = eltwise.cast %7 : tensor<5xf32> to tensor<5xsi32>
%9 = tile.gather %V, %8 : (tensor<9xf32>, tensor<5xsi32>) -> tensor<5xf32>
%10 = eltwise.mul %9, %1 : tensor<5xf32>
%R = eltwise.add %6, %10 : tensor<5xf32>
```

So there is one gather for `nearest`, two for `linear` and four for `cubic`; what an
index out of bounds means is decided by each of them. Where the values have axes behind
the one that is gathered, the weights get axes of size 1 there. Gathers with integers as
indices are left alone, and so are those of tensors that are not specialized yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.element_types import (
    Kind,
    computation_type,
    is_element_type,
    kind,
    promote,
    si32,
)
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    broadcast_type,
    element_of,
    with_element,
)
from ...dialects.tile.gather import GatherOp, Interpolation, NearestMode
from ...dialects.tile.special import ReshapeOp
from ..locations import located


@dataclass(frozen=True)
class TileExpandGatherPass(ModulePass):
    """Replace gathers that interpolate by integer gathers and element-wise ops."""

    name = "tile-expand-gather"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for gather in [g for g in op.walk() if isinstance(g, GatherOp)]:
            if _interpolates(gather):
                _Expansion(gather).expand()


def _interpolates(op: GatherOp) -> bool:
    """Whether a gather of known types and shapes has indices between cells."""
    types = [value.type for value in (*op.operands, op.result)]
    if not all(isinstance(t, TensorType) and t.has_static_shape() for t in types):
        return False
    elements = [element_of(type) for type in types]
    return (
        op.interpolation.data is not Interpolation.NONE
        and all(map(is_element_type, elements))
        and kind(elements[1]) is Kind.FLOAT
    )


class _Expansion:
    """Replaces one gather; all new ops stand before it and have its location."""

    def __init__(self, op: GatherOp) -> None:
        self._op = op
        elements = [element_of(value.type) for value in op.operands]
        floats = [element for element in elements if kind(element) is Kind.FLOAT]
        # 16 bits are not enough to count the cells of an axis, nor for sums.
        self._element = computation_type(promote(floats))

    def expand(self) -> None:
        op = self._op
        position = self._cast(op.indices, self._element)
        if op.interpolation.data is Interpolation.NEAREST:
            result = self._cells(self._nearest(position))
        else:
            result = self._weighted(position)
        result = self._cast(result, element_of(op.result.type))
        result.name_hint = op.result.name_hint
        if isinstance(result.owner, Operation):
            result.owner.attributes |= op.attributes
        op.result.replace_all_uses_with(result)
        Rewriter.erase_op(op)

    def _nearest(self, x: SSAValue) -> SSAValue:
        """The integer that the nearest mode chooses, as a float."""
        match self._op.nearest_mode.data:
            case NearestMode.FLOOR:
                return self._apply("floor", x)
            case NearestMode.CEIL:
                return self._apply("ceil", x)
            case NearestMode.SIMPLE:
                # The conversion to an integer drops the fraction.
                return x
            case NearestMode.ROUND_PREFER_FLOOR:
                return self._away_from_even(x, "sub")
            case NearestMode.ROUND_PREFER_CEIL:
                return self._away_from_even(x, "add")

    def _away_from_even(self, x: SSAValue, step: str) -> SSAValue:
        """The nearest integer; of two, the one in the direction of the step.

        `round` gives the even one. That it is half away is exact.
        """
        even = self._apply("round", x)
        gap = [even, x] if step == "sub" else [x, even]
        half = self._number(0.5)
        is_wrong = self._apply("cmp_eq", self._apply("sub", *gap), half, element=i1)
        other = self._apply(step, even, self._number(1.0))
        return self._apply("cond", is_wrong, other, even)

    def _weighted(self, x: SSAValue) -> SSAValue:
        """The sum of the cells around each index by their weights."""
        floor = self._apply("floor", x)
        fraction = self._apply("sub", x, floor)
        is_linear = self._op.interpolation.data is Interpolation.LINEAR
        weights = self._linear if is_linear else self._cubic
        total: SSAValue | None = None
        for offset, weight in weights(fraction):
            place = floor
            if offset:
                place = self._apply("add", floor, self._number(float(offset)))
            cells = self._cast(self._cells(place), self._element)
            self._named(weight, "weight")
            term = self._apply("mul", cells, self._along_result(weight))
            total = term if total is None else self._apply("add", total, term)
        if total is None:
            raise ValueError("expected some weights")
        return total

    def _linear(self, t: SSAValue) -> Iterator[tuple[int, SSAValue]]:
        yield 0, self._apply("sub", self._number(1.0), t)
        yield 1, t

    def _cubic(self, t: SSAValue) -> Iterator[tuple[int, SSAValue]]:
        """By the distances of the cells; at 1 both polynomials agree."""
        yield -1, self._cubic_far(self._apply("add", t, self._number(1.0)))
        yield 0, self._cubic_near(t)
        yield 1, self._cubic_near(self._apply("sub", self._number(1.0), t))
        yield 2, self._cubic_far(self._apply("sub", self._number(2.0), t))

    def _cubic_near(self, s: SSAValue) -> SSAValue:
        """`(a + 2) s^3 - (a + 3) s^2 + 1`."""
        a = self._op.cube_coefficient.value.data
        value = self._apply("mul", s, self._number(a + 2))
        value = self._apply("sub", value, self._number(a + 3))
        value = self._apply("mul", value, self._apply("mul", s, s))
        return self._apply("add", value, self._number(1.0))

    def _cubic_far(self, s: SSAValue) -> SSAValue:
        """`a s^3 - 5 a s^2 + 8 a s - 4 a`."""
        a = self._op.cube_coefficient.value.data
        value = self._apply("sub", s, self._number(5.0))
        value = self._apply("add", self._apply("mul", value, s), self._number(8.0))
        value = self._apply("sub", self._apply("mul", value, s), self._number(4.0))
        return self._apply("mul", value, self._number(a))

    def _cells(self, place: SSAValue) -> SSAValue:
        """The cells at integers, which are floats still.

        What is too large for the integer type becomes its limit, out of bounds as well.
        """
        op = self._op
        index = self._named(self._cast(place, si32), "place")
        gather = GatherOp(
            op.values,
            index,
            op.result.type,
            axis=op.axis.value.data,
            batch_dims=op.batch_dims.value.data,
            out_of_bounds=op.out_of_bounds.data,
        )
        return self._insert(gather)

    def _along_result(self, weight: SSAValue) -> SSAValue:
        """One number for each index, with axes to broadcast over the result."""
        op = self._op
        type, values = weight.type, op.values.type
        if not isinstance(type, TensorType) or not isinstance(values, TensorType):
            raise ValueError("expected tensors")
        axis, batch = op.axis.value.data, op.batch_dims.value.data
        shape = type.get_shape()
        before = (1,) * (axis - batch)
        behind = (1,) * (values.get_num_dims() - axis - 1)
        target = (*shape[:batch], *before, *shape[batch:], *behind)
        if len(target) == len(shape):
            return weight
        return self._insert(ReshapeOp(weight, TensorType(self._element, target)))

    def _named(self, value: SSAValue, suffix: str) -> SSAValue:
        """The value, called after the result unless it has a name."""
        if value.name_hint is None:
            result = self._op.result.name_hint
            value.name_hint = suffix if result is None else f"{result}_{suffix}"
        return value

    def _number(self, number: float) -> SSAValue:
        return self._insert(ConstantOp(number, TensorType(self._element, [])))

    def _cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        if element_of(value.type) == element:
            return value
        return self._insert(CastOp(value, with_element(value.type, element)))

    def _apply(
        self, function: str, *operands: SSAValue, element: Attribute | None = None
    ) -> SSAValue:
        types = [operand.type for operand in operands]
        type = broadcast_type(types, element or self._element)
        return self._insert(FUNCTION_OPS[function].build_typed(operands, type))

    def _insert(self, op: Operation) -> SSAValue:
        located(op, self._op)
        Rewriter.insert_op(op, InsertPoint.before(self._op))
        return op.results[0]
