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

So there is one gather for `nearest`, two for `linear` and four for `cubic`. In mode
`nd` the coordinates are taken apart and the cells numbered in row-major order, so that
these are gathers along one axis too: one for each combination of cells. The gathers of
`linear` and `cubic` clamp; with `out_of_bounds zero` a choice behind them puts 0 where
the index itself is out of bounds. Where the values have axes behind those that are
gathered, the weights get axes of size 1 there. Gathers with integers as indices are
left alone, and so are those of tensors that are not specialized yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation, Combination
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
from ...dialects.tile.contract import ContractOp
from ...dialects.tile.gather import GatherOp, GatherOptions, Interpolation, NearestMode
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.special import ReshapeOp
from ...dialects.tile.special_shapes import GatherMode
from ..locations import located


@dataclass(frozen=True)
class TileExpandGatherPass(ModulePass):
    """Replace gathers that interpolate by integer gathers and element-wise ops."""

    name = "tile-expand-gather"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace every gather that interpolates; others stay."""
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
        op.options.interpolation is not Interpolation.NONE
        and all(map(is_element_type, elements))
        and kind(elements[1]) is Kind.FLOAT
    )


@dataclass(frozen=True)
class _Neighbour:
    """A cell along one axis, as an integer that is a float still, and its weight."""

    place: SSAValue
    weight: SSAValue


class _Expansion:
    """Replaces one gather; all new ops stand before it and have its location."""

    def __init__(self, op: GatherOp) -> None:
        self._op = op
        elements = [element_of(value.type) for value in op.operands]
        floats = [element for element in elements if kind(element) is Kind.FLOAT]
        # 16 bits are not enough to count the cells of an axis, nor for sums.
        self._element = computation_type(promote(floats))
        self._shape = _shape_of(op.values)
        self._is_nd = op.options.mode is GatherMode.ND
        self._axis = op.options.axis
        depth = 1
        if self._is_nd:
            self._axis = op.options.batch_dims
            depth = _shape_of(op.indices)[-1]
        self._sizes = self._shape[self._axis : self._axis + depth]
        """Those of the axes that the indices choose from."""
        self._values = self._numbered() if self._is_nd else op.values

    def expand(self) -> None:
        op = self._op
        is_zero = op.options.out_of_bounds is OutOfBounds.ZERO
        positions = [self._cast(x, self._element) for x in self._coordinates()]
        if op.options.interpolation is Interpolation.NEAREST:
            # What is too large for the integer type becomes its limit, out of bounds.
            positions = [self._cast(self._nearest(x), si32) for x in positions]
            result = self._cells(positions)
        else:
            result = self._weighted(positions)
        # A gather along one axis knows by itself whether a cell is outside.
        if is_zero and (self._is_nd or op.options.interpolation.cells > 1):
            result = self._zero_outside(result, positions)
        result = self._cast(result, element_of(op.result.type))
        result.name_hint = op.result.name_hint
        if isinstance(result.owner, Operation):
            result.owner.attributes |= op.attributes
        op.result.replace_all_uses_with(result)
        Rewriter.erase_op(op)

    def _coordinates(self) -> list[SSAValue]:
        """The positions along each of the axes, a tensor for each."""
        if not self._is_nd:
            return [self._op.indices]
        *shape, depth = _shape_of(self._op.indices)
        places = [Polynomial.index(axis) for axis in range(len(shape))]
        element = element_of(self._op.indices.type)
        return [
            self._insert(
                ContractOp(
                    Aggregation.ASSIGN,
                    Combination.NONE,
                    [self._op.indices],
                    [f"i{axis}" for axis in range(len(shape))],
                    places,
                    [[*places, Polynomial.constant(number)]],
                    TensorType(element, shape),
                )
            )
            for number in range(depth)
        ]

    def _numbered(self) -> SSAValue:
        """The values with one axis for all those that the indices choose from."""
        first, behind = self._axis, self._axis + len(self._sizes)
        shape = (*self._shape[:first], prod(self._sizes), *self._shape[behind:])
        type = TensorType(element_of(self._op.values.type), shape)
        return self._insert(ReshapeOp(self._op.values, type))

    def _nearest(self, x: SSAValue) -> SSAValue:
        """The integer that the nearest mode chooses, as a float."""
        match self._op.options.nearest_mode:
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

    def _weighted(self, positions: Sequence[SSAValue]) -> SSAValue:
        """The sum of the cells around each index by their weights."""
        total: SSAValue | None = None
        for chosen in product(*map(self._neighbours, positions)):
            cells = self._cells([neighbour.place for neighbour in chosen])
            term = self._cast(cells, self._element)
            weights = [neighbour.weight for neighbour in chosen]
            if weights:
                weight = reduce(lambda a, b: self._apply("mul", a, b), weights)
                self._named(weight, "weight")
                term = self._apply("mul", term, self._along_result(weight))
            total = term if total is None else self._apply("add", total, term)
        if total is None:
            raise ValueError("expected some cells")
        return total

    def _neighbours(self, x: SSAValue) -> list[_Neighbour]:
        """The cells around a position along one axis, from the lowest on."""
        floor = self._apply("floor", x)
        t = self._apply("sub", x, floor)
        is_linear = self._op.options.interpolation is Interpolation.LINEAR
        weights = self._linear(t) if is_linear else self._cubic(t)
        return [
            _Neighbour(
                self._apply("add", floor, self._number(float(offset)))
                if offset
                else floor,
                weight,
            )
            for offset, weight in weights
        ]

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
        a = self._op.options.cube_coefficient
        value = self._apply("mul", s, self._number(a + 2))
        value = self._apply("sub", value, self._number(a + 3))
        value = self._apply("mul", value, self._apply("mul", s, s))
        return self._apply("add", value, self._number(1.0))

    def _cubic_far(self, s: SSAValue) -> SSAValue:
        """`a s^3 - 5 a s^2 + 8 a s - 4 a`."""
        a = self._op.options.cube_coefficient
        value = self._apply("sub", s, self._number(5.0))
        value = self._apply("add", self._apply("mul", value, s), self._number(8.0))
        value = self._apply("sub", self._apply("mul", value, s), self._number(4.0))
        return self._apply("mul", value, self._number(a))

    def _cells(self, places: Sequence[SSAValue]) -> SSAValue:
        """The cells at integers along each axis, which may be floats still."""
        op = self._op
        integers = [self._cast(place, si32) for place in places]
        index = self._number_of_cell(integers) if self._is_nd else integers[0]
        self._named(index, "place")
        is_one = not self._is_nd and op.options.interpolation is Interpolation.NEAREST
        bounds = op.options.out_of_bounds if is_one or 0 in self._sizes else _CLAMP
        options = GatherOptions(
            self._axis, batch_dims=op.options.batch_dims, out_of_bounds=bounds
        )
        gather = GatherOp([self._values, index], options, op.result.type)
        return self._insert(gather)

    def _number_of_cell(self, places: Sequence[SSAValue]) -> SSAValue:
        """The row-major number of the cell at these coordinates, each clamped."""
        number = self._insert(
            ConstantOp(0, TensorType(si32, _shape_of(self._op.indices)[:-1]))
        )
        for place, size in zip(places, self._sizes, strict=True):
            last = self._integer(max(size - 1, 0))
            clamped = self._apply("min", place, last, element=si32)
            clamped = self._apply("max", clamped, self._integer(0), element=si32)
            number = self._apply("mul", number, self._integer(size), element=si32)
            number = self._apply("add", number, clamped, element=si32)
        return number

    def _zero_outside(
        self, result: SSAValue, positions: Sequence[SSAValue]
    ) -> SSAValue:
        """The result, and 0 where a position is beyond its axis; NaN is not."""
        tests: list[SSAValue] = []
        for x, size in zip(positions, self._sizes, strict=True):
            scalar = TensorType(element_of(x.type), [])
            for comparison, bound in (("cmp_lt", 0), ("cmp_gt", size - 1)):
                limit = self._insert(ConstantOp(bound, scalar))
                tests.append(self._apply(comparison, x, limit, element=i1))
        if not tests:
            return result
        outside = reduce(
            lambda a, b: self._apply("logical_or", a, b, element=i1), tests
        )
        element = element_of(result.type)
        zero = self._insert(ConstantOp(0, TensorType(element, [])))
        outside = self._along_result(outside)
        return self._apply("cond", outside, zero, result, element=element)

    def _along_result(self, tensor: SSAValue) -> SSAValue:
        """One element for each index, with axes to broadcast over the result."""
        shape, batch = _shape_of(tensor), self._op.options.batch_dims
        before = (1,) * (self._axis - batch)
        behind = (1,) * (len(self._shape) - self._axis - len(self._sizes))
        target = (*shape[:batch], *before, *shape[batch:], *behind)
        if len(target) == len(shape):
            return tensor
        type = TensorType(element_of(tensor.type), target)
        return self._insert(ReshapeOp(tensor, type))

    def _named(self, value: SSAValue, suffix: str) -> SSAValue:
        """The value, called after the result unless it has a name."""
        if value.name_hint is None:
            result = self._op.result.name_hint
            value.name_hint = suffix if result is None else f"{result}_{suffix}"
        return value

    def _number(self, number: float) -> SSAValue:
        return self._insert(ConstantOp(number, TensorType(self._element, [])))

    def _integer(self, number: int) -> SSAValue:
        return self._insert(ConstantOp(number, TensorType(si32, [])))

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


_CLAMP = OutOfBounds.CLAMP


def _shape_of(value: SSAValue) -> tuple[int, ...]:
    if not isinstance(value.type, TensorType):
        raise ValueError("expected a tensor of known shape")
    return value.type.get_shape()
