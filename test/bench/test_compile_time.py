"""`python -m bench.compile_time`: families of the sizes asked for and their times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pytest

import gingham
from gingham.bench.growing import FAMILIES
from gingham.bench.measured import DRIVER
from gingham.bench.splits import Splits
from gingham.bench.training import resnet50_training
from gingham.dialects import make_context
from gingham.passes.pipelines import PIPELINES, run_stages
from gingham.passes.stripe.apply.vectorize import StripeVectorizePass

ROOT = Path(__file__).parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.compile_time", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(
    gingham.default_device().is_reference, reason="nothing is compiled for it"
)
def test_a_family_at_two_sizes(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    result = bench("element-wise, gradients", "--sizes=6,18", f"--json={path}")
    assert result.returncode == 0, result.stderr
    assert "lower-tile-to-stripe" in result.stdout
    small, large = json.loads(path.read_text())
    assert (small["statements"], large["statements"]) == (6, 18)
    assert 2 < small["operations"] < large["operations"]
    assert large["total"] == pytest.approx(sum(large["seconds"].values()))
    assert {"parse", "tile-differentiate", "verify", "driver"} <= {*large["seconds"]}
    assert 0 < large["driver_wall"] < large["wall"]


def burn(seconds: float) -> None:
    end = process_time() + seconds
    while process_time() < end:
        pass


def test_what_a_part_asks_of_another_counts_for_that_one() -> None:
    splits = Splits()
    with splits.within("outer"):
        burn(0.02)
        with splits.within(DRIVER):
            burn(0.05)
    assert 0.02 <= splits.seconds["outer"] < 0.05 <= splits.seconds[DRIVER]
    assert splits.driver_wall >= 0.05


def test_parts_are_watched_in_the_order_that_users_get() -> None:
    text, shapes = FAMILIES["different layers"](2)
    module = gingham.compile(text, tuned=False).specialized(
        *(np.zeros(shape, np.float32) for shape in shapes)
    )
    splits, own = Splits(), StripeVectorizePass.apply
    with splits.watching():
        run_stages(
            module,
            make_context(),
            PIPELINES["opencl-cpu-avx512"],
            ("tile", "stripe", "opencl"),
            expect=lambda module: lambda module, kernel: burn(0.03),
        )
    assert StripeVectorizePass.apply is own
    # The kernel was ready within its lowering.
    assert splits.seconds["lower-stripe-to-opencl"] >= 0.03
    assert {"search", "stripe-vectorize", "verify"} <= {*splits.seconds}


def test_the_training_step_is_a_program_for_its_shapes() -> None:
    text, shapes = resnet50_training(batch=2, size=32, channels=2)
    function = gingham.compile(text)
    module = function.specialized(*(np.zeros(shape, np.float32) for shape in shapes))
    weights = str(module).count("tile.gradient")
    assert len(function.input_names) == len(shapes)
    # The loss, three results for each weight, two averages for each normalization.
    assert len(function.output_names) == 1 + 3 * weights + 2 * 53


def test_wrong_arguments() -> None:
    unknown = bench("knitting")
    assert unknown.returncode == 2
    assert "no family 'knitting'; there are products" in unknown.stderr
    sizes = bench("products", "--sizes=0")
    assert sizes.returncode == 2
    assert "--sizes" in sizes.stderr
