"""Gathers, scatters, serial blocks and reshaped buffers against NumPy, at every level.

The programs are those of `specials.mlir`. Each runs at the stripe level as it is
written, at the opencl level after all passes, and on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from stripe_programs import random_input, run, stripe_pipeline, written_in
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from gingham.passes.pipelines import TargetOptions
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret
from gingham.targets.reference import stripe as stripe_module

Array = npt.NDArray[Any]

PROGRAMS = written_in("specials.mlir")


def gather_rows(values: Array, places: Array) -> list[Array]:
    return [values[places.clip(0, 3)]]


def gather_columns(values: Array, places: Array) -> list[Array]:
    return [values[:, places.clip(0, 3)]]


def gather_in_a_chain(a: Array, places: Array) -> list[Array]:
    return [np.take_along_axis(a * a, places.clip(0, 3), 0) - a]


def scatter_then_gather(p: Array) -> list[Array]:
    return [np.array([30, 20, 10, 0], np.int32) + p]


def gather_and_add(values: Array, places: Array) -> list[Array]:
    return [values[places.clip(0, 3)].sum(0)]


def scatter_add(updates: Array, places: Array) -> list[Array]:
    result = np.zeros((4, updates.shape[1]), updates.dtype)
    np.add.at(result, places.clip(0, 3), updates)
    return [result]


def histogram(places: Array) -> list[Array]:
    inside = places[(places >= 0) & (places < 5)]
    return [np.bincount(inside, minlength=5).astype(np.int32)]


def conditional_store(a: Array, mask: Array) -> list[Array]:
    return [np.where(mask[:, None], a, np.float32(-1))]


def conditional_init(a: Array) -> list[Array]:
    return [np.maximum(a, 0)]


def argsort(a: Array) -> list[Array]:
    return [np.argsort(a, axis=1, kind="stable").astype(np.int32)]


def update_rows(base: Array, places: Array, updates: Array) -> list[Array]:
    result = base.copy()
    for place, update in zip(places.clip(0, 3), updates, strict=True):
        result[place] = update
    return [result]


def running_sum(a: Array) -> list[Array]:
    return [a.cumsum(1)]


def running_largest(a: Array) -> list[Array]:
    state = np.zeros_like(a[:, 0])
    for column in a.T[2:]:
        state = column * 2 - state
    return [state]


def checksum(a: Array) -> list[Array]:
    state = 1
    for number in a.reshape(-1):
        state = (3 * state + int(number)) % 2**32
    return [np.array(state, np.uint32).view(np.int32)]


def steps(m: Array, x: Array) -> list[Array]:
    for number in (1, 2, 3):
        x = m @ x + np.float32(number)
    return [x]


def reshaped(a: Array) -> list[Array]:
    flat = -a.reshape(-1)
    flat[1::2] *= -10
    return [(flat + 1).reshape(2, 24)]


def reshaped_chain(a: Array) -> list[Array]:
    doubled = 2 * a * a
    return [(doubled + doubled.sum(1, keepdims=True)).reshape(-1)]


def coordinates(a: Array) -> list[Array]:
    i, j = np.ogrid[:6, :40]
    first = a * i + 7 * i - 3 * j + 2
    return [first.astype(np.int32), (5 * j - 9 * i).astype(np.uint8)]


def private_table(places: Array) -> list[Array]:
    n, k = np.ogrid[:9, :11]
    chosen = np.arange(9) - 5 * places.clip(0, 3)
    weights = np.where((n + k >= 4) & (n + k <= 14), k + 1, 0).sum(1)
    return [chosen.astype(np.int32), (places * weights).astype(np.int32)]


def sliding_choice(a: Array, places: Array) -> list[Array]:
    columns = np.arange(32) + places.clip(0, 4)[:, None]
    return [np.take_along_axis(a, columns.astype(np.int64), 1)]


def gather_or_zero(values: Array, places: Array) -> list[Array]:
    inside = (places >= 0) & (places < 4)
    return [np.where(inside[:, None], values[places.clip(0, 3)], np.float32(0))]


ORACLES: dict[str, Callable[..., list[Array]]] = {
    oracle.__name__: oracle
    for oracle in (
        gather_rows,
        gather_columns,
        gather_in_a_chain,
        scatter_then_gather,
        gather_and_add,
        scatter_add,
        histogram,
        conditional_store,
        conditional_init,
        argsort,
        update_rows,
        running_sum,
        running_largest,
        checksum,
        steps,
        reshaped,
        reshaped_chain,
        coordinates,
        private_table,
        sliding_choice,
        gather_or_zero,
    )
}


def check(got: list[Array], wanted: list[Array]) -> None:
    assert len(got) == len(wanted)
    for result, expected in zip(got, wanted, strict=True):
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def fresh_inputs(module: ModuleOp) -> list[Array]:
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    random = np.random.default_rng()
    return [random_input(type, random) for type in function.function_type.inputs]


def lowered(module: ModuleOp, bits: int = 512) -> ModuleOp:
    """The kernels of a program after all passes."""
    module = module.clone()
    run(module, stripe_pipeline(TargetOptions().with_vectors(bits, 32)))
    run(module, "lower-stripe-to-opencl")
    module.verify()
    return module


def test_every_program_has_an_oracle() -> None:
    assert PROGRAMS.keys() == ORACLES.keys()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("part", [2**17, 5])
def test_stripe_level(name: str, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all points at once, and a few at a time."""
    monkeypatch.setattr(stripe_module, "PART", part)
    module = PROGRAMS[name]
    for _ in range(2):
        inputs = fresh_inputs(module)
        check(interpret(module, inputs, name), ORACLES[name](*inputs))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("bits", [128, 512])
def test_opencl_level(name: str, bits: int) -> None:
    kernels = lowered(PROGRAMS[name], bits)
    inputs = fresh_inputs(PROGRAMS[name])
    check(interpret(kernels, inputs, name), ORACLES[name](*inputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_at_once(name: str) -> None:
    """Without any pass before it the lowering gives the same."""
    module = PROGRAMS[name].clone()
    run(module, "lower-stripe-to-opencl")
    inputs = fresh_inputs(PROGRAMS[name])
    check(interpret(module, inputs, name), ORACLES[name](*inputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_device(name: str, opencl_device: OpenCLDevice) -> None:
    kernels = lowered(PROGRAMS[name])
    for op in kernels.ops:
        if isinstance(op, FuncOp):
            op.sym_name = StringAttr("main")
    executable = OpenCLExecutable(kernels, opencl_device)
    inputs = fresh_inputs(PROGRAMS[name])
    check(list(executable(*inputs)), ORACLES[name](*inputs))
