"""Schedules that bind loops by hand compute what blocks mean, here and on devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from stripe_programs import CONTEXT, run
from xdsl.dialects.builtin import ModuleOp

from gingham.runtime.devices import devices
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Array = NDArray[Any]
SHAPE = 12, 16, 10


def product(schedule: str) -> ModuleOp:
    """A matrix product of 12 by 16, with sums of 10."""
    m, n, k = SHAPE
    text = f"""
    func.func @main(%A : !stripe.view<{m}x{k}xf32>, %B : !stripe.view<{k}x{n}xf32>)
        -> !stripe.view<{m}x{n}xf32> {{
      %C = stripe.alloc : !stripe.view<{m}x{n}xf32>
      stripe.block "product" [%i : {m}, %j : {n}, %k : {k}]
          in %a = %A[%i, %k] : 1x1
          in %b = %B[%k, %j] : 1x1
          out %c = %C[%i, %j] : 1x1 add init 0
          attributes {{stripe.schedule = #stripe.schedule<{schedule}>}} {{
        %x = stripe.load %a : !stripe.view<1x1xf32>
        %y = stripe.load %b : !stripe.view<1x1xf32>
        %z = eltwise.mul %x, %y : f32
        stripe.store %z, %c : !stripe.view<1x1xf32>
      }}
      func.return %C : !stripe.view<{m}x{n}xf32>
    }}"""
    return parse_mlir(CONTEXT, text, "product.mlir", Sources())


GRID = "tile [12, 8, 0] bind [grid, grid, _]"
SCHEDULES = {
    "loops": """tile [4, 8, 0] order [1, 0] bind [loop, grid, _],
        points order [2, 0, 1] bind [unroll, vector, loop]""",
    "group": f"{GRID}, tile [2, 2, 0] bind [group, group, _]",
    "points": f"{GRID}, points bind [group, group, loop]",
    "both": f"""{GRID}, tile [4, 2, 0] bind [subgroup, lane, _],
        points bind [_, vector, _]""",
    "nested": f"""{GRID}, tile [6, 4, 0] bind [subgroup, subgroup, _],
        tile [2, 2, 0] bind [lane, lane, _]""",
    "loops between": f"""{GRID}, tile [6, 8, 0] bind [subgroup, _, _],
        tile [6, 4, 0], tile [2, 2, 0] bind [lane, lane, _],
        points bind [unroll, vector, _]""",
    "lanes": f"{GRID}, tile [1, 4, 0] bind [lane, lane, _]",
    "uneven": """tile [5, 7, 0] bind [grid, grid, _],
        tile [5, 1, 0] bind [_, lane, _]""",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_bound_by_hand(name: str) -> None:
    module = product(SCHEDULES[name])
    random = np.random.default_rng(0)
    m, n, k = SHAPE
    inputs: list[Array] = [
        random.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n))
    ]
    want = inputs[0] @ inputs[1]
    for passes in (
        "stripe-partition-edges,stripe-tile",
        "stripe-accumulate",
        "stripe-distribute,stripe-tile",
        "stripe-separate,stripe-plan-vectors,stripe-vectorize",
        "stripe-unroll,stripe-map",
        "lower-stripe-to-opencl,opencl-emulate-types",
    ):
        run(module, passes)
        module.verify()
        np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    for device in devices():
        if isinstance(device, OpenCLDevice) and device.failure() is None:
            (got,) = OpenCLExecutable(module, device)(*inputs)
            np.testing.assert_array_equal(got, want)
