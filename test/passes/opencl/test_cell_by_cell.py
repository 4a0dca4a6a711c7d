"""Sums that are no numbers, computed again cell by cell, are what they were."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import specialized
from scheduled_products import run_on_devices
from stripe_programs import run

from gingham.dialects.opencl.control_flow import ForOp
from gingham.dialects.opencl.data_ops import WhenOp
from gingham.passes.pipelines import PIPELINES, stage_steps
from gingham.passes.steps import text_of
from gingham.targets.reference import interpret

PADDED = """function (I[N, H, W, C], K[S, T, C, D]) -> (O) {{
  O[n, y, x, d : N, H / {step}, W / {step}, D] =
      +(I[n, {step} * y + s - {border}, {step} * x + t - {border}, c] * K[s, t, c, d]);
}}"""


@pytest.mark.parametrize(
    ("size", "step", "border", "image", "channels"),
    [
        (3, 1, 1, (1, 64, 64, 8), 32),
        (3, 2, 1, (2, 64, 64, 8), 64),
        (5, 1, 2, (2, 64, 64, 3), 37),
        (7, 2, 3, (2, 130, 130, 3), 64),
    ],
)
def test_sums_of_borders(
    size: int, step: int, border: int, image: tuple[int, ...], channels: int
) -> None:
    text = PADDED.format(step=step, border=border)
    random = np.random.default_rng([size, channels])
    shapes = image, (size, size, image[-1], channels)
    inputs = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    inputs[1][0, 0, 0, ::3] = np.inf
    inputs[1][-1, -1, -1, 1::3] = np.nan
    module = specialized(text, inputs)
    (want,) = interpret(module, inputs)
    steps = [*map(text_of, ([each] for stage in _STAGES for each in stage))]
    place = steps.index("opencl-cell-by-cell")
    run(module, ",".join(steps[:place]))
    run(module, "opencl-cell-by-cell")
    module.verify()
    assert any(
        isinstance(op, ForOp) and op.index.name_hint == "cell"
        for when in module.walk()
        if isinstance(when, WhenOp)
        for op in when.walk()
    )
    run(module, ",".join(steps[place + 1 :]))
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)


_STAGES = stage_steps(PIPELINES["opencl-gpu"]).values()
