"""Operations of other dialects: the hint names the dialect and those that are lowered.

`math` stands for them, with an operation of tensors and one of numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.tools import run
from gingham.tools.optimizer.driver import run as tile_opt

TENSORS = """\
func.func @main(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.atan %A : tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
"""
MATMUL = TENSORS.replace(
    "math.atan %A : tensor<4x4xf32>",
    "linalg.matmul ins(%A, %A : tensor<4x4xf32>, tensor<4x4xf32>) "
    "outs(%A : tensor<4x4xf32>) -> tensor<4x4xf32>",
)
UNKNOWN = TENSORS.replace(
    "math.atan %A : tensor<4x4xf32>",
    '"other.op"(%A) : (tensor<4x4xf32>) -> tensor<4x4xf32>',
)
BLOCK = """\
func.func @main(%A: !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %C = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = math.atan %0 : f32
    stripe.store %1, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<4xf32>
}
"""
HOST = """\
func.func @main(%A: !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %0 = arith.constant 1 : i32
  func.return %A : !stripe.view<4xf32>
}
"""
SIZES = """\
func.func @main(%A: tensor<4xf32>) -> tensor<4xf32> {
  %M = tile.sizes %A ["M"] : tensor<4xf32>
  func.return %A : tensor<4xf32>
}
"""
TILE = "and only eltwise and tile are lowered here"
STRIPE = "and only eltwise and stripe are lowered here"


@pytest.mark.parametrize(
    ("text", "name", "passes", "hint"),
    [
        (TENSORS, "math.atan", "lower-tile-to-stripe", f"dialect math, {TILE}"),
        (MATMUL, "linalg.matmul", "lower-tile-to-stripe", f"dialect linalg, {TILE}"),
        (UNKNOWN, "other.op", "lower-tile-to-stripe", f"dialect other, {TILE}"),
        (TENSORS, "math.atan", "tile-specialize", f"dialect math, {TILE}"),
        (BLOCK, "math.atan", "lower-stripe-to-opencl", f"dialect math, {STRIPE}"),
        (HOST, "arith.constant", "lower-stripe-to-opencl", f"dialect arith, {STRIPE}"),
        (SIZES, "tile.sizes", "lower-tile-to-stripe", "run tile-specialize first"),
    ],
)
def test_hint(
    text: str,
    name: str,
    passes: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.mlir").write_text(text)
    if passes == "tile-specialize":
        passes = 'tile-specialize{arguments="4x4xf32"}'
    arguments = ["main.mlir", "-p", passes, "--allow-unregistered-dialect"]
    assert tile_opt(arguments) == 1
    lines = capfd.readouterr().err.splitlines()
    assert f"error: '{name}' " in lines[0]
    assert lines[3].startswith("hint: ")
    assert lines[3].endswith(hint)


def test_hint_where_few_dialects_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "main.mlir"
    path.write_text(MATMUL)
    assert run.main([str(path), "--device=reference"]) == 1
    assert capsys.readouterr().err.endswith(
        "hint: no dialect is named 'linalg'; there are builtin, eltwise, func, opencl, "
        "stripe, tile\n"
    )
