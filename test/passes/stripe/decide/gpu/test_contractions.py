"""Contractions on GPUs: what is decided for them, and that it computes what they mean.

The kernels run on the devices that are here, with groups of many work-items, and the
small ones on the interpreter, which finds work-items in each other's way.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from gradients import specialized
from numpy.typing import NDArray
from scheduled_products import run_on_devices
from stripe_programs import CONTEXT
from xdsl.dialects.builtin import ModuleOp, VectorType

from gingham.dialects.eltwise.ops import FUNCTION_OPS
from gingham.dialects.opencl.control_flow import IfOp
from gingham.dialects.opencl.data_ops import WhenOp
from gingham.dialects.opencl.kernel import KernelOp
from gingham.dialects.opencl.memory import LoadOp, StoreOp
from gingham.passes.opencl.loops import ancestors
from gingham.passes.pipelines import PIPELINES, run_stages
from gingham.targets.reference import interpret

Array = NDArray[Any]

PRODUCT = (
    "function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }"
)
TURNED = "function (A[K, I], B[J, K]) -> (C) { C[i, j : I, J] = +(A[k, i] * B[j, k]); }"
BATCHED = """function (A[N, I, K], B[N, K, J]) -> (C) {
  C[n, i, j : N, I, J] = +(A[n, i, k] * B[n, k, j]);
}"""
LARGEST = (
    "function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = >(A[i, k] + B[k, j]); }"
)
CHANNELS_LAST = """function (I[N, H, W, C], K[S, T, C, D]) -> (O) {
  O[n, y, x, d : N, H / 2, W / 2, D] =
      +(I[n, 2 * y + s - 1, 2 * x + t - 1, c] * K[s, t, c, d]);
}"""
CHANNELS_FIRST = """function (I[N, C, H, W], K[D, C, S, T]) -> (O) {
  O[n, d, y, x : N, D, H, W] = +(I[n, c, y + s - 1, x + t - 1] * K[d, c, s, t]);
}"""
PADDED = """function (I[N, X, Y, C], K[S, T, C, D]) -> (O) {
  O[n, x, y, d : N, X, Y, D] = +(I[n, x + s - 1, y + t - 1, c] * K[s, t, c, d]);
}"""
PROGRAMS = {
    "even": (PRODUCT, (64, 32), (32, 128)),
    "odd": (PRODUCT, (67, 45), (45, 131)),
    "few rows": (PRODUCT, (3, 50), (50, 260)),
    "few columns": (PRODUCT, (130, 33), (33, 5)),
    "deep": (PRODUCT, (40, 300), (300, 24)),
    "three columns": (PRODUCT, (4095, 127), (127, 3)),
    "one column": (PRODUCT, (60, 300), (300, 1)),
    "parts of sums": (PRODUCT, (20, 3000), (3000, 30)),
    "parts of odd rows": (PRODUCT, (20, 3000), (3000, 29)),
    "many groups": (PRODUCT, (256, 70), (70, 250)),
    "one step": (PRODUCT, (67, 13), (13, 131)),
    "turned": (TURNED, (50, 36), (44, 50)),
    "batched": (BATCHED, (3, 20, 40), (3, 40, 36)),
    "largest": (LARGEST, (40, 24), (24, 37)),
    "channels last": (CHANNELS_LAST, (2, 12, 14, 8), (3, 3, 8, 20)),
    "conditions around steps": (PADDED, (1, 5, 2, 11), (3, 3, 11, 32)),
    "channels first": (CHANNELS_FIRST, (2, 8, 9, 11), (20, 8, 3, 3)),
}


EPILOGUES = {
    "bias": (
        "function (A[I, K], B[K, J], D[J]) -> (R) {"
        " C[i, j : I, J] = +(A[i, k] * B[k, j]); T = C + D; R = T * T; }",
        ((67, 45), (45, 131), (131,)),
    ),
    "residual of a convolution": (
        "function (I[N, H, W, C], K[S, T, C, D], X[N, H, W, D]) -> (R) {"
        " O[n, y, x, d : N, H, W, D] ="
        " +(I[n, y + s - 1, x + t - 1, c] * K[s, t, c, d]); R = 2 * (O + X); }",
        ((2, 9, 11, 6), (3, 3, 6, 20), (2, 9, 11, 20)),
    ),
    "one step, batched": (
        "function (A[N, I, K], B[N, K, J], D[N, Y, X]) -> (R) {"
        " C[n, i, j : N, I, J] = +(A[n, i, k] * B[n, k, j]); R = C - D; }",
        ((2, 12, 11), (2, 11, 68), (2, 1, 1)),
    ),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_what_is_done_with_sums_is_done_in_registers(name: str) -> None:
    text, shapes = EPILOGUES[name]
    random = np.random.default_rng(len(name))
    inputs = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    (want,) = interpret(specialized(text, inputs), inputs)
    module = compiled(text, inputs)
    (kernel,) = (op for op in module.ops if isinstance(op, KernelOp))
    assert len(kernel.body.block.args) == len(inputs) + 1
    for got in (*interpret(module, inputs), *run_on_devices(module, inputs)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_compute_what_a_contraction_means(name: str) -> None:
    text, *shapes = PROGRAMS[name]
    random = np.random.default_rng(len(name))
    inputs = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    (want,) = interpret(specialized(text, inputs), inputs)
    module = compiled(text, inputs)
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    assert max(prod(kernel.group_size) for kernel in kernels) >= 32
    assert any("local" in str(op) for op in kernels)
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)


def test_stores_of_many_odd_rows_need_no_barrier() -> None:
    # Whether they meet takes the library of integer points long to tell.
    shapes = (8191, 33), (33, 127)
    inputs = [np.zeros(shape, np.float32) for shape in shapes]
    (kernel,) = (op for op in compiled(PRODUCT, inputs).ops if isinstance(op, KernelOp))
    assert "barrier global" not in str(kernel)


def test_parts_of_odd_rows_are_stored_by_vectors() -> None:
    _, *shapes = PROGRAMS["parts of odd rows"]
    inputs = [np.zeros(shape, np.float32) for shape in shapes]
    kernels = [op for op in compiled(PRODUCT, inputs).ops if isinstance(op, KernelOp)]
    parts = kernels[0].body.block.args[-1]
    stores = [u.operation for u in parts.uses if isinstance(u.operation, StoreOp)]
    assert stores
    assert all(isinstance(store.value.type, VectorType) for store in stores)


@pytest.mark.parametrize("shape", [(64, 8, 256), (67, 5, 131)])
def test_sums_of_one_step_stay_in_registers(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    inputs = [
        np.zeros((rows, depth), np.float32),
        np.zeros((depth, columns), np.float32),
    ]
    (kernel,) = (op for op in compiled(PRODUCT, inputs).ops if isinstance(op, KernelOp))
    output = kernel.body.block.args[-1]
    assert not any(isinstance(use.operation, LoadOp) for use in output.uses)


@pytest.mark.parametrize(
    "name", ["odd", "turned", "channels last", "channels first", "parts of odd rows"]
)
def test_what_lies_beyond_the_end_meets_no_infinity(name: str) -> None:
    text, *shapes = PROGRAMS[name]
    random = np.random.default_rng(7)
    inputs = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    for array in inputs:
        flat = array.reshape(-1)
        flat[[0, 5, flat.size - 1]] = np.inf, np.nan, -np.inf
    (want,) = interpret(specialized(text, inputs), inputs)
    module = compiled(text, inputs)
    for got in (*interpret(module, inputs), *run_on_devices(module, inputs)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (CHANNELS_LAST, [(2, 32, 32, 8), (3, 3, 8, 20)]),
        (CHANNELS_FIRST, [(2, 8, 16, 16), (20, 8, 3, 3)]),
    ],
)
def test_borders_are_tested_where_a_sum_is_no_number_alone(
    text: str, shapes: list[tuple[int, ...]]
) -> None:
    inputs = [np.zeros(shape, np.float32) for shape in shapes]
    module = compiled(text, inputs)
    (again,) = (op for op in module.walk() if isinstance(op, WhenOp))
    tests = [op for op in module.walk() if isinstance(op, IfOp)]
    adding = [
        op for op in tests if any(isinstance(o, FUNCTION_OPS["add"]) for o in op.walk())
    ]
    assert adding
    assert all(again in ancestors(op) for op in adding)


@pytest.mark.parametrize("shape", [(9, 12, 7), (16, 33, 20)])
def test_work_items_do_not_get_into_each_others_way(
    shape: tuple[int, int, int],
) -> None:
    rows, depth, columns = shape
    random = np.random.default_rng(rows)
    inputs = [
        random.integers(-4, 5, shape).astype(np.float32)
        for shape in ((rows, depth), (depth, columns))
    ]
    got, *_ = interpret(compiled(PRODUCT, inputs), inputs)
    np.testing.assert_array_equal(got, inputs[0] @ inputs[1])


def compiled(text: str, inputs: list[Array]) -> ModuleOp:
    """The kernels of a program for GPUs."""
    module = specialized(text, inputs)
    run_stages(module, CONTEXT, PIPELINES["opencl-gpu"], ("tile", "stripe", "opencl"))
    return module
