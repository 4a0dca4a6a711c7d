"""The benchmarks: their programs mean what the peers compute, and the command works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gingham
from gingham.bench.cases import Case
from gingham.bench.cases.case import of_halves
from gingham.bench.cases.convolutions import (
    channels_first,
    convolution,
    transposed_convolution,
)
from gingham.bench.cases.fused import (
    attention,
    bottleneck,
    chain,
    gelu,
    lstm_cell,
    negation,
)
from gingham.bench.cases.products import (
    batched_product,
    integer_product,
    matrix_vector,
    tensor_contraction,
    transposed_product,
)
from gingham.bench.cases.rows import (
    argmax,
    cumulative_rows,
    cumulative_sum,
    gather,
    layer_norm,
    max_pool,
    middle_total,
    softmax,
    total,
    transpose,
    turned,
)
from gingham.bench.contest import random_inputs
from gingham.bench.peers.prepared import arrays_of
from gingham.bench.peers.with_numpy import prepare
from gingham.bench.worker import Worker

ROOT = Path(__file__).parents[2]

SMALL = [
    transposed_product(5, 7, 3),
    integer_product(5, 7, 3),
    of_halves(transposed_product(5, 7, 3)),
    batched_product(2, 5, 7, 3),
    matrix_vector(9, 7),
    tensor_contraction(2, 3, 4, 5, 3, 2),
    convolution((4, 6), 7, 3),
    convolution((4, 6), 8, 3, batch=2, stride=2),
    convolution((4, 6), 9, 3, dilation=2),
    channels_first((4, 6), 7, 3, batch=2),
    channels_first((3, 8), 12, 7, stride=2),
    convolution((8, 8), 6, 3, groups=4),
    convolution((8, 8), 6, 3, groups=8),
    convolution((3, 8), 12, 7, stride=2),
    transposed_convolution((4, 3), 5, 4),
    softmax(5, 37),
    of_halves(softmax(5, 37)),
    softmax(5, 37, logarithm=True),
    layer_norm(5, 37),
    *(total(9, 33, axis) for axis in (0, 1, None)),
    argmax(6, 35),
    cumulative_sum(1000),
    transpose(37, 23),
    turned(3, 4, 5),
    middle_total(3, 4, 5),
    gather(7, 5, 9),
    cumulative_rows(3, 40),
    max_pool(2, 8, 5, 2),
    max_pool(2, 8, 5, 3),
    gelu(100),
    negation(10),
    chain(10, 1),
    attention(2, 9, 6),
    bottleneck(6, 8, 4),
    lstm_cell(3, 5, 4),
]


def by_name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", SMALL, ids=by_name)
def test_program_computes_what_the_peers_compute(case: Case) -> None:
    inputs = random_inputs(case)
    function = gingham.compile(case.program, device="reference")
    results = arrays_of(function(*inputs.values()))
    expected = prepare(case, inputs).results()
    for result, other, shape in zip(
        results, expected, case.results.values(), strict=True
    ):
        assert result.shape == shape
        bound = max(case.tolerance, 1e-4)
        np.testing.assert_allclose(result.ravel(), other.ravel(), bound, bound)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The row that the command writes of a benchmark, with peers that do not last."""
    folder = tmp_path_factory.mktemp("bench")
    found, dying = folder / "found.json", folder / "python"
    dying.write_text(
        "#!/bin/sh\nwhile read -r line; do\n  case $line in\n"
        "    *prepare*) echo '{\"first\": 0.1}' ;;\n    *) exit 1 ;;\n"
        "  esac\ndone\n"
    )
    dying.chmod(0o700)
    command = [sys.executable, "-m", "bench", "max-pool 2x2", f"--json={found}"]
    peers = ["--peers=numpy,plaidml,torch", f"--python=torch={dying}"]
    options = ["--device=reference", "--seconds=0.01", "--rounds=1"]
    subprocess.run(
        [*command, *peers, *options], cwd=ROOT, capture_output=True, check=True
    )
    (row,) = json.loads(found.read_text())["rows"]
    return row


def test_command_measures_and_writes_json(measured: dict[str, Any]) -> None:
    assert measured["correct"]
    assert len(measured["results"]["gingham"]["seconds"]) == 1
    assert measured["results"]["numpy"]["seconds"]
    assert measured["ratio"] > 0


def test_peer_that_is_not_installed_is_missing(measured: dict[str, Any]) -> None:
    missing = measured["results"]["plaidml"]["missing"]
    assert "No module named 'plaidml'" in missing


def test_a_peer_that_dies_in_the_midst_is_missing(measured: dict[str, Any]) -> None:
    assert "died" in measured["results"]["torch"]["missing"]


def test_a_worker_without_a_case_measures_nothing() -> None:
    assert "missing" in Worker("numpy").answer({"repeat": 1})
