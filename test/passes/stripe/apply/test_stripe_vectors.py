"""Vectors that are collected, transposed, of truth values: on all levels and devices.

The programs are the functions of `vectors.mlir`.
"""

from __future__ import annotations

import numpy as np
import pytest
from stripe_programs import Array, random_input, run, written_in
from xdsl.dialects.builtin import ModuleOp, StringAttr, VectorType
from xdsl.dialects.func import FuncOp

import gingham
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

PROGRAMS = written_in("vectors.mlir")
LOWERING = "stripe-dead-code-elimination,stripe-map,lower-stripe-to-opencl"


def inputs_of(module: ModuleOp, seed: int) -> list[Array]:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    random = np.random.default_rng(seed)
    return [random_input(type, random) for type in function.function_type.inputs]


def vectorized(name: str, bits: int) -> ModuleOp:
    module = PROGRAMS[name].clone()
    run(module, f"stripe-plan-vectors{{bits={bits}}},stripe-vectorize{{bits={bits}}}")
    module.verify()
    return module


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("name", PROGRAMS)
def test_vectors_compute_the_same(name: str, bits: int) -> None:
    module = vectorized(name, bits)
    types = {result.type for op in module.walk() for result in op.results}
    assert any(isinstance(type, VectorType) for type in types)
    inputs = inputs_of(module, bits)
    before = interpret(PROGRAMS[name], inputs, name)
    after = interpret(module, inputs, name)
    for expected, result in zip(before, after, strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("name", PROGRAMS)
def test_vectors_on_the_device(
    name: str, bits: int, opencl_device: OpenCLDevice
) -> None:
    module = vectorized(name, bits)
    inputs = inputs_of(module, bits + 1)
    before = interpret(PROGRAMS[name], inputs, name)
    run(module, LOWERING)
    for op in module.ops:
        if isinstance(op, FuncOp):
            op.properties["sym_name"] = StringAttr("main")
    results = OpenCLExecutable(module, opencl_device)(*inputs)
    for expected, result in zip(before, results, strict=True):
        np.testing.assert_array_equal(result, expected)


def test_the_place_of_the_largest() -> None:
    function = gingham.compile(
        "function (X[M, N]) -> (A) {"
        " Top[m, 0 : M, 1] = >(X[m, n]);"
        " At = (X == Top ? index(X, 1) : N);"
        " A[m : M] = <(At[m, n]); }"
    )
    values = np.random.default_rng(3).integers(0, 50, (37, 333)).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(function(values)), values.argmax(axis=1))
