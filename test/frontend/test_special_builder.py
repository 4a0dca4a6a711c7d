"""Special operations through the builder, with what is known of types and shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f16, f32, i1
from xdsl.ir import Attribute, SSAValue

from gingham.dialects.eltwise.element_types import si8, si32, ui32
from gingham.dialects.tile.argsort import ArgsortOp, ArgsortOptions
from gingham.dialects.tile.gather import GatherOp, GatherOptions, Interpolation
from gingham.dialects.tile.scatter import ScatterOp, ScatterOptions
from gingham.dialects.tile.special import ReshapeOp, SimpleReduceOp
from gingham.dialects.tile.special_shapes import GatherMode, ScatterMode
from gingham.errors import GinghamError, SourceLocation
from gingham.frontend.builder import ProgramBuilder
from gingham.frontend.composite_builder import CompositeBuilder
from gingham.frontend.index_space import Size
from gingham.frontend.special_builder import SpecialBuilder

HERE = SourceLocation("program.py", 12, 3)


class Example:
    """A builder with inputs of known types."""

    def __init__(self) -> None:
        self.builder = ProgramBuilder()
        self.special = SpecialBuilder(self.builder)
        self.composite = CompositeBuilder(self.builder)

    def input(self, element: Attribute, *sizes: int) -> SSAValue:
        return self.builder.add_input(
            f"X{len(self.builder.sizes)}", None, HERE, TensorType(element, sizes)
        )

    def gather(self, values: SSAValue, indices: SSAValue, **options: Any) -> SSAValue:
        given = GatherOptions(**options)
        return self.special.apply(GatherOp, [values, indices], given, HERE)

    def scatter(
        self, updates: SSAValue, indices: SSAValue, base: SSAValue, **options: Any
    ) -> SSAValue:
        given = ScatterOptions(**options)
        return self.special.apply(ScatterOp, [updates, indices, base], given, HERE)

    def argsort(self, values: SSAValue, axis: int) -> SSAValue:
        return self.special.apply(ArgsortOp, [values], ArgsortOptions(axis), HERE)

    def text(self, value: SSAValue) -> str:
        """The program that returns a value."""
        module = self.builder.finish([("R", value)], HERE)
        module.verify()
        return str(module)


def test_types_that_are_known_are_those_of_results() -> None:
    x = Example()
    values, index = x.input(f16, 4, 5), x.input(si8, 3)
    assert x.special.sized(ReshapeOp, values, [2, 10], HERE).type == TensorType(
        f16, [2, 10]
    )
    assert x.special.shape(values, HERE).type == TensorType(si32, [2])
    assert x.special.index(values, -1, HERE).type == TensorType(si32, [4, 5])
    assert x.special.index_of_sizes([2, 3], 1, HERE).type == TensorType(si32, [2, 3])
    chosen = x.gather(values, index, axis=1)
    assert chosen.type == TensorType(f16, [4, 3])
    total = x.scatter(chosen, index, values, axis=1)
    assert total.type == TensorType(f16, [4, 5])
    assert x.argsort(values, 0).type == TensorType(si32, [4, 5])
    numbers, state = x.special.prng(x.input(ui32, 3, 8), [7], HERE)
    assert (numbers.type, state.type) == (
        TensorType(f32, [7]),
        TensorType(ui32, [3, 8]),
    )
    assert x.composite.as_bool(values, HERE).type == TensorType(i1, [4, 5])


def test_sizes_may_be_numbers_or_values() -> None:
    x = Example()
    a = x.builder.add_input("A", ["M", "N"], HERE)
    sizes = [x.builder.sizes["N"], 1, x.builder.sizes["M"], Size(1)]
    result = x.special.sized(ReshapeOp, a, sizes, HERE)
    assert isinstance(result.type, TensorType)
    assert result.type.get_shape() == (DYNAMIC_INDEX, 1, DYNAMIC_INDEX, 1)
    assert "tile.reshape %A -> [%N, 1, %M, 1]" in x.text(result)


def test_casts_where_types_are_known() -> None:
    x = Example()
    integers, halves = x.input(si32, 4), x.input(f16, 3)
    between = x.gather(integers, halves, interpolation=Interpolation.LINEAR)
    assert between.type == TensorType(f32, [3])
    plain = x.gather(halves, integers, interpolation=Interpolation.CUBIC)
    updated = x.scatter(
        halves, x.input(si32, 3), integers, mode=ScatterMode.UPDATE_SLICE
    )
    assert updated.type == TensorType(f16, [4])
    counted = x.scatter(x.input(i1, 3), x.input(si32, 3), integers)
    assert counted.type == TensorType(si32, [4])
    text = x.text(plain)
    assert "interpolation linear" in text
    assert "interpolation cubic" not in text


MISTAKES: list[tuple[str, Callable[[Example], object]]] = [
    ("'reshape': 4x5 has 20 elements and 3x7 has 21 elements",
     lambda x: x.special.sized(ReshapeOp, x.input(f32, 4, 5), [3, 7], HERE)),
    ("the size of the output is negative: -1",
     lambda x: x.special.sized(ReshapeOp, x.input(f32, 4), [-1], HERE)),
    ("'simple_reduce': 3 does not broadcast to 4x5",
     lambda x: x.special.sized(SimpleReduceOp, x.input(f32, 4, 5), [3], HERE)),
    ("'index': the tensor has 1 axis, so there is no axis 1",
     lambda x: x.special.index(x.input(f32, 4), 1, HERE)),
    ("'index': the tensor has 0 axes, so there is no axis 0",
     lambda x: x.special.index_of_sizes([], 0, HERE)),
    ("'argsort': the tensor has 1 axis, so there is no axis -2",
     lambda x: x.argsort(x.input(f32, 4), -2)),
    ("'gather': expected integers as indices, got i1",
     lambda x: x.gather(x.input(f32, 4), x.input(i1, 4))),
    ("'gather': the last axis of the indices has 2 coordinates, but the values have 1 "
     "axis behind the batch",
     lambda x: x.gather(
         x.input(f32, 4), x.input(si32, 2), mode=GatherMode.ND)),
    ("'scatter': expected integers as indices, got f32",
     lambda x: x.scatter(x.input(f32, 4), x.input(f32, 4), x.input(f32, 4))),
    ("'scatter': expected updates of shape 4, got 5",
     lambda x: x.scatter(x.input(f32, 5), x.input(si32, 4), x.input(f32, 9))),
    ("'prng': expected a state of type ui32, got f32",
     lambda x: x.special.prng(x.input(f32, 3, 4), [2], HERE)),
    ("'prng': expected a state of shape 3xL (for L lanes) or 1x3, got 4x3",
     lambda x: x.special.prng(x.input(ui32, 4, 3), [2], HERE)),
    ("assertion failure: even", lambda x: x.special.check(Size(0), "even", HERE)),
    ("expected the condition of 'even' to be an integer expression of dimensions, got "
     "a float", lambda x: x.special.check(0.5, "even", HERE)),
    ("assertion failure: match", lambda x: x.special.match(Size(2), Size(3), HERE)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "build"), MISTAKES, ids=[m for m, _ in MISTAKES])
def test_mistakes(message: str, build: Callable[[Example], object]) -> None:
    with pytest.raises(GinghamError) as caught:
        build(Example())
    assert caught.value.message == message
    assert caught.value.location == HERE


def test_conditions_on_numbers_leave_nothing_behind() -> None:
    x = Example()
    a = x.input(f32, 4)
    assert x.special.match(Size(3), Size(3), HERE) == Size(3)
    assert x.special.broadcast([Size(3), Size(1)], HERE) == Size(3)
    assert x.special.broadcast([Size(1), Size(3)], HERE) == Size(3)
    assert x.special.check(Size(2), "some", HERE) == Size(2)
    assert "tile.assert" not in x.text(a)
