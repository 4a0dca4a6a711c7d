"""Schedules that bind loops by hand compute what blocks mean, here and on devices."""

from __future__ import annotations

import numpy as np
import pytest
from scheduled_products import operands, product, run_on_devices
from stripe_programs import run

from gingham.targets.reference import interpret

SHAPE = 12, 16, 10
"""Rows, columns, and what is summed up."""


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
    "lanes of points": f"{GRID}, points order [1, 2, 0] bind [lane, vector, loop]",
    "lanes of sub-groups": f"""{GRID}, tile [6, 4, 0] bind [subgroup, subgroup, _],
        points bind [lane, lane, loop], stage input 0 at 1 of 2 order [0, 1] local""",
    "parts of a sum": f"{GRID}, tile [12, 8, 5], points bind [lane, lane, loop]",
    "uneven": """tile [5, 7, 0] bind [grid, grid, _],
        tile [5, 1, 0] bind [_, lane, _]""",
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("distribution", ["stripe-distribute,stripe-tile", ""])
def test_bound_by_hand(name: str, distribution: str) -> None:
    module, inputs = product(*SHAPE, SCHEDULES[name]), operands(*SHAPE)
    want = inputs[0] @ inputs[1]
    for passes in (
        "stripe-partition-edges,stripe-tile",
        "stripe-stage,stripe-accumulate",
        distribution,
        "stripe-separate,stripe-plan-vectors,stripe-vectorize",
        "stripe-unroll,stripe-map",
        "lower-stripe-to-opencl,opencl-emulate-types",
    ):
        run(module, passes)
        module.verify()
        np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)
