"""Random contractions mean the same as text, as a box and as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import event, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, TensorType
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.parser import Parser

from gingham.affine.form import LinearForm, Rational
from gingham.affine.polynomial import Polynomial
from gingham.dialects.aggregation import Aggregation, Combination
from gingham.dialects.eltwise import Eltwise
from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, si32
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.ops import CastOp
from gingham.dialects.tile import ContractOp, Tile
from gingham.dialects.tile.attributes import Constraint
from gingham.dialects.tile.contract import contraction_signature
from gingham.errors import GinghamError
from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

ELEMENTS = [ELEMENT_TYPES[name] for name in ("f32", "si32", "ui8", "f16", "i1")]
COEFFICIENTS: list[Rational] = [0, 0, 0, 1, 1, 1, 2, -1, 3, Fraction(1, 2)]


@st.composite
def forms(draw: st.DrawFn, rank: int) -> Polynomial:
    coefficients = [draw(st.sampled_from(COEFFICIENTS)) for _ in range(rank)]
    constant = draw(st.sampled_from([0, 0, 0, 1, -1, 2, Fraction(1, 2)]))
    return Polynomial.from_form(LinearForm.of(coefficients, constant))


@st.composite
def constraints(draw: st.DrawFn, rank: int) -> Constraint:
    expression = draw(forms(rank))
    bound = draw(st.sampled_from([None, 1, 2, 3, 4, 4]))
    return Constraint(expression, None if bound is None else Polynomial.constant(bound))


@st.composite
def contractions(draw: st.DrawFn) -> str:
    """A function of one contraction, its operands cast as the types ask for."""
    rank = draw(st.integers(1, 3))
    aggregation = draw(st.sampled_from(list(Aggregation)))
    combination = draw(st.sampled_from(list(Combination)))

    def shape() -> list[int]:
        return draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 5]), max_size=2))

    shapes = [shape() for _ in range(combination.arity)]
    elements = [draw(st.sampled_from(ELEMENTS)) for _ in shapes]
    casts, element = contraction_signature(aggregation, combination, elements)
    result = TensorType(element, shape())
    types = [TensorType(e, s) for e, s in zip(elements, shapes, strict=True)]
    has_default = draw(st.booleans())
    block = Block(arg_types=[*types, *([result] if has_default else [])])
    operands = [
        block.args[number]
        if type.element_type == cast
        else _add(block, CastOp(block.args[number], TensorType(cast, type.get_shape())))
        for number, (type, cast) in enumerate(zip(types, casts, strict=True))
    ]
    op = ContractOp(
        aggregation,
        combination,
        operands,
        ["i", "j", "k"][:rank],
        [draw(forms(rank)) for _ in result.get_shape()],
        [[draw(forms(rank)) for _ in type.get_shape()] for type in types],
        result,
        constraints=draw(st.lists(constraints(rank), max_size=2)),
        default=block.args[-1] if has_default else None,
    )
    block.add_op(op)
    block.add_op(ReturnOp(op.result))
    inputs = [argument.type for argument in block.args]
    return str(ModuleOp([FuncOp("main", (inputs, [result]), Region(block))]))


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Eltwise, Tile):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def contractions_of(module: ModuleOp) -> list[ContractOp]:
    return [op for op in module.walk() if isinstance(op, ContractOp)]


def _add(block: Block, op: CastOp) -> Any:
    block.add_op(op)
    return op.result


def random_inputs(module: ModuleOp, seed: int) -> list[Array]:
    """Values from few, so that many are equal and products stay exact."""
    random = np.random.default_rng(seed)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    inputs: list[Array] = []
    for argument in function.body.block.args:
        assert isinstance(argument.type, TensorType)
        dtype = numpy_dtype(argument.type.element_type)
        low, high = (-2, 3) if dtype.kind in "if" else (0, 2)
        values = random.integers(low, high, argument.type.get_shape())
        inputs.append(values.astype(dtype))
    return inputs


def run(module: ModuleOp, inputs: Sequence[Array]) -> Array:
    module.verify()
    (result,) = interpret(module, inputs)
    return result


@settings(max_examples=200)
@given(contractions(), st.integers(0, 2**32))
def test_flattening_and_lowering_keep_the_meaning(text: str, seed: int) -> None:
    module = parse(text)
    inputs = random_inputs(module, seed)
    expected: Array | None = None
    with suppress(GinghamError):
        expected = run(module, inputs)
    event("has a meaning" if expected is not None else "has no meaning")
    if expected is None:
        # Unbounded, or a cell is assigned twice: that is told without running it, but
        # an unbounded index does not matter where nothing makes an access an integer.
        with suppress(GinghamError):
            TileFlattenPass().apply(Context(), module)
            assert all(0 in flat.flat_ranges for flat in contractions_of(module))
        return
    TileFlattenPass().apply(Context(), module)
    flat = run(module, inputs)
    np.testing.assert_array_equal(flat, expected, strict=True)
    LowerTileToStripePass().apply(Context(), module)
    np.testing.assert_array_equal(run(module, inputs), expected, strict=True)


def test_the_identity_does_not_leak() -> None:
    """Cells 0 and 2 have points, 1 and 3 are between, 4 is behind all points."""
    for aggregation in (Aggregation.MAX, Aggregation.MIN, Aggregation.MUL):
        vector, longer = TensorType(si32, [3]), TensorType(si32, [5])
        block = Block(arg_types=[vector])
        i = Polynomial.index(0)
        op = ContractOp(
            aggregation,
            Combination.NONE,
            [block.args[0]],
            ["i"],
            [i * Polynomial.constant(2)],
            [[i]],
            longer,
            constraints=[Constraint(i, Polynomial.constant(2))],
        )
        block.add_op(op)
        block.add_op(ReturnOp(op.result))
        module = ModuleOp([FuncOp("main", ([vector], [longer]), Region(block))])
        for flat_pass in (TileFlattenPass(), LowerTileToStripePass()):
            flat_pass.apply(Context(), module)
            result = run(module, [np.array([-7, -9, -11], np.int32)])
            assert result.tolist() == [-7, 0, -9, 0, 0]
