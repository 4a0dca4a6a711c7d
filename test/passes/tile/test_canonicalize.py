"""What `tile-canonicalize` computes is what the program would have computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from gingham.dialects.eltwise.element_types import (
    ELEMENT_TYPES,
    Kind,
    f32,
    fits,
    i1,
    kind,
)
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.ops import FUNCTION_OPS, CastOp, ConstantOp
from gingham.dialects.eltwise.table import FUNCTIONS, Function
from gingham.passes.constant_folding import is_exact_cast
from gingham.passes.tile.canonicalize import TileCanonicalizePass
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 300.7, -70000.0, 1e30, float("inf"), float("nan")]
INTEGERS = [0, 1, -1, 2, 3, 7, 8, 100, 127, -128, 255, 70000, 16777217, -(2**31)]
NAMES = ["i1", "si8", "ui8", "si32", "ui32", "f16", "bf16", "f32", "f64"]


def values_of(element: Attribute) -> list[int | float]:
    if element == i1:
        return [0, 1]
    if kind(element) is Kind.FLOAT:
        return list(FLOATS)
    return [number for number in INTEGERS if fits(number, element)]


def returning(block: Block, values: Sequence[SSAValue]) -> ModuleOp:
    block.add_op(ReturnOp(*values))
    inputs = [argument.type for argument in block.args]
    outputs = [value.type for value in values]
    module = ModuleOp([FuncOp("main", (inputs, outputs), Region(block))])
    module.verify()
    return module


def canonicalized(module: ModuleOp) -> ModuleOp:
    copy = module.clone()
    TileCanonicalizePass().apply(Context(), copy)
    copy.verify()
    return copy


def same_bits(left: Array, right: Array) -> bool:
    """Equal values, signs of zeros included; any NaN equals any other."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    left, right = left.astype(np.float64), right.astype(np.float64)
    both_nan = np.isnan(left) & np.isnan(right)
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return bool(np.all(equal | both_nan))


def constant(block: Block, number: int | float, element: Attribute) -> SSAValue:
    op = ConstantOp(number, TensorType(element, []))
    block.add_op(op)
    return op.result


def check_folded(module: ModuleOp, must_fold: bool = True) -> None:
    with np.errstate(all="ignore"):
        before = interpret(module, [])
    after = canonicalized(module)
    for old, new in zip(before, interpret(after, []), strict=True):
        assert same_bits(old, new), (old, new)
    if must_fold:
        rest = {type(op) for op in after.walk()}
        assert rest <= {ModuleOp, FuncOp, ReturnOp, ConstantOp}


def accepts(function: Function, element: Attribute) -> bool:
    try:
        function.signature([element] * function.arity)
    except TypeError:
        return False
    return True


FUNCTION_CASES = [
    pytest.param(function, ELEMENT_TYPES[name], id=f"{function.name} {name}")
    for function in FUNCTIONS.values()
    for name in NAMES
    if accepts(function, ELEMENT_TYPES[name])
]


@pytest.mark.parametrize(("function", "element"), FUNCTION_CASES)
def test_functions_of_constants(function: Function, element: Attribute) -> None:
    casts, result = function.signature([element] * function.arity)
    block = Block()
    results: list[SSAValue] = []
    others = values_of(casts[-1])
    for place, first in enumerate(values_of(casts[0])):
        for other in others[place % 3 :: 3] if function.arity == 2 else others[:1]:
            numbers = [first, other, others[1]][: function.arity]
            operands = [
                constant(block, n, e) for n, e in zip(numbers, casts, strict=True)
            ]
            op = FUNCTION_OPS[function.name].build_typed(
                operands, TensorType(result, [])
            )
            block.add_op(op)
            results.append(op.result)
    check_folded(returning(block, results))


@pytest.mark.parametrize("source", ELEMENT_TYPES)
def test_casts_of_constants(source: str) -> None:
    block = Block()
    results: list[SSAValue] = []
    for number in values_of(ELEMENT_TYPES[source]):
        operand = constant(block, number, ELEMENT_TYPES[source])
        for target in ELEMENT_TYPES.values():
            op = CastOp(operand, TensorType(target, []))
            block.add_op(op)
            results.append(op.result)
    # Floats beyond an integer type are left to the device.
    check_folded(returning(block, results), must_fold=False)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("middle", NAMES)
def test_casts_of_casts(source: str, middle: str) -> None:
    element = ELEMENT_TYPES[source]
    numbers = values_of(element)
    values = np.array(numbers)
    with np.errstate(all="ignore"):
        given = values.astype(numpy_dtype(element))
    block = Block(arg_types=[TensorType(element, [len(numbers)])])
    first = CastOp(block.args[0], TensorType(ELEMENT_TYPES[middle], [len(numbers)]))
    block.add_op(first)
    results: list[SSAValue] = []
    for target in ELEMENT_TYPES.values():
        second = CastOp(first.result, TensorType(target, [len(numbers)]))
        block.add_op(second)
        results.append(second.result)
    module = returning(block, results)
    after = canonicalized(module)
    for old, new in zip(
        interpret(module, [given]), interpret(after, [given]), strict=True
    ):
        assert same_bits(old, new), (old, new)
    count = sum(isinstance(op, CastOp) for op in after.walk())
    if is_exact_cast(element, ELEMENT_TYPES[middle]) and source != middle:
        assert count < len(ELEMENT_TYPES) + 1


@pytest.mark.parametrize("function", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, -1.0, 2.0])
@pytest.mark.parametrize("constant_first", [False, True])
def test_neutral_operands_of_floats(
    function: str, number: float, constant_first: bool
) -> None:
    given = np.array([v for v in FLOATS if abs(v) < 1e20 or v != v], np.float32)
    vector = TensorType(f32, [len(given)])
    block = Block(arg_types=[vector])
    operands = [block.args[0], constant(block, number, f32)]
    if constant_first:
        operands.reverse()
    op = FUNCTION_OPS[function].build_typed(operands, vector)
    block.add_op(op)
    module = returning(block, [op.result])
    (old,) = interpret(module, [given])
    (new,) = interpret(canonicalized(module), [given])
    assert same_bits(old, new)
