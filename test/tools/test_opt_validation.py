"""Tests that `--validate-each` finds passes that are wrong, and accepts right ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gingham.passes.pipelines import PIPELINES
from gingham.tools.optimizer.driver import run
from gingham.tools.optimizer.samples import find_difference

PLUGIN = f"--load-pass-plugin={Path(__file__).with_name('wrong_passes.py')}"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

MATRIX_PRODUCT = """\
func.func @main(%A : !stripe.view<3x4xf32>, %B : !stripe.view<4x5xf32>)
    -> !stripe.view<3x5xf32> {
  %C = stripe.alloc : !stripe.view<3x5xf32>
  stripe.block "C" [%i : 3, %j : 5, %k : 4]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0 {
      %x = stripe.load %a : !stripe.view<1x1xf32>
      %y = stripe.load %b : !stripe.view<1x1xf32>
      %z = eltwise.sub %x, %y : f32
      stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<3x5xf32>
}
"""

TILE_PRODUCT = """\
function (A[M, K], B[K, N]) -> (C) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the programs, where reproducers are written too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Path("product.mlir").write_text(MATRIX_PRODUCT)
    Path("product.tile").write_text(TILE_PRODUCT)
    return tmp_path


def validate(
    capfd: pytest.CaptureFixture[str], *arguments: str, status: int = 0
) -> str:
    """What a validated run of this status writes to stderr."""
    assert run(["--validate-each", PLUGIN, *arguments]) == status
    return capfd.readouterr().err


def test_right_passes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert validate(capfd, "product.mlir", "--cse", "--stripe-tile", "--dce") == ""


def test_commutative_operands(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is not wrong is accepted: a product may be turned around."""
    text = MATRIX_PRODUCT.replace("eltwise.sub", "eltwise.mul")
    Path("product.mlir").write_text(text)
    swap = "--test-swap-operands=operation=eltwise.mul"
    assert validate(capfd, "product.mlir", swap) == ""


def test_changed_results(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    passes = ["--cse", "--test-swap-operands", "--dce"]
    message = validate(capfd, "product.mlir", *passes, status=1)
    lines = message.splitlines()
    start = "product.mlir:1:1: error: the pass 'test-swap-operands' changes what @main"
    assert lines[0].startswith(start + " computes: result #0[0, 0] was ")
    assert "elements of 3x5xfloat32 differ)" in lines[0]
    assert "note: inputs: 3x4xfloat32 \n[[" in message
    assert "note: result before: \n[[" in message
    assert "note: result after: \n[[" in message


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_reproducer(seed: int, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It has the program before the pass, and only that pass, and fails the same."""
    passes = ["--cse", "--test-swap-operands", "--dce"]
    seeded = f"--validate-seed={seed}"
    first = validate(capfd, "product.mlir", *passes, seeded, status=1)
    (path,) = folder.glob("tile-opt-*.mlir")
    assert f"note: the reproducer is in '{path}'" in first
    configuration, text = path.read_text().split("\n", 1)
    assert configuration == (
        "// configuration: --pass-pipeline='builtin.module(test-swap-operands)' "
        f"--validate-each --validate-entry=main {seeded}"
    )
    assert "eltwise.sub %x, %y" in text
    assert run(["--run-reproducer", str(path), PLUGIN]) == 1
    again = capfd.readouterr().err
    differs = first.splitlines()[0].partition("error: ")[2]
    assert again.splitlines()[0] == f"{path}:3:3: error: {differs}"


def test_reproducer_where_it_is_asked_for(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    option = "--mlir-pass-pipeline-crash-reproducer=wrong.mlir"
    passes = ["--cse", "--test-swap-operands"]
    message = validate(capfd, "product.mlir", *passes, option, status=1)
    assert message.count("the reproducer is in 'wrong.mlir'") == 1
    assert "builtin.module(test-swap-operands)" in Path("wrong.mlir").read_text()


def test_no_output_of_a_wrong_pipeline(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["product.mlir", "--test-swap-operands", "-o", "out.mlir"]
    validate(capfd, *arguments, status=1)
    assert not Path("out.mlir").exists()


@pytest.mark.parametrize(
    ("amount", "reason"),
    [(1, "'stripe.load' accesses [3, 0] of %A"), (-1, "was never written")],
)
def test_program_that_does_not_run(
    amount: int, reason: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = f"--test-add-to-ranges=amount={amount}"
    message = validate(capfd, "product.mlir", "--cse", wrong, "--dce", status=1)
    culprit = "the pass 'test-add-to-ranges" + ("{amount=-1}'" if amount < 0 else "'")
    assert f"error: {culprit} makes a program that does not run: " in message
    assert reason in message
    assert len(list(folder.glob("tile-opt-*.mlir"))) == 1


def test_changed_shape(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = validate(capfd, "product.mlir", "--test-return-input", status=1)
    assert "result #0 was 3x5xfloat32 and now is 3x4xfloat32\n" in message


def test_stage_that_cannot_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One warning, and the next program that runs is compared."""
    passes = ["--test-insert-unknown", "--cse", "--dce"]
    message = validate(capfd, "product.mlir", *passes)
    assert message.count("warning: after the pass") == 1
    assert (
        "warning: after the pass 'test-insert-unknown' the program cannot be run to "
        "validate it: the reference interpreter does not know 'arith.constant'"
    ) in message
    passes = ["--test-insert-unknown", "--test-swap-operands", "--dce"]
    message = validate(capfd, "product.mlir", *passes, status=1)
    assert (
        "error: one of the passes 'test-insert-unknown,test-swap-operands,dce' changes "
        "what @main computes: result #0[0, 0] was "
    ) in message


def test_result_that_cannot_run(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was not validated is not passed off as validated."""
    message = validate(capfd, "product.mlir", "--test-insert-unknown", status=1)
    assert "error: the pipeline's result was not validated: the reference" in message


def test_entry(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = MATRIX_PRODUCT.replace("@main", "@product")
    Path("product.mlir").write_text(text)
    message = validate(capfd, "product.mlir", "--cse", status=1)
    assert "error: there is no function @main to run" in message
    assert "hint: --validate-entry=product runs another one" in message
    named = "--validate-entry=product"
    assert validate(capfd, "product.mlir", "--cse", named) == ""
    swapped = validate(capfd, "product.mlir", "--test-swap-operands", named, status=1)
    assert "changes what @product computes" in swapped


def test_entry_that_goes_away(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = validate(capfd, "product.mlir", "--test-rename-entry", status=1)
    assert "the pass 'test-rename-entry' makes a program that does not run" in message


def test_input_that_cannot_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("scf.mlir").write_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %b = arith.addf %a, %a : tensor<2xf32>\n"
        "  func.return %b : tensor<2xf32>\n"
        "}\n"
    )
    message = validate(capfd, "scf.mlir", "--cse", status=1)
    start = "scf.mlir:2:3: error: --validate-each cannot run the program: the reference"
    assert message.startswith(start)


@pytest.mark.parametrize("type", ["i32", "tensor<2xi32>", "memref<2x?xi32>"])
def test_arguments_without_random_values(
    type: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Signless integers are no element type of ours."""
    Path("signless.mlir").write_text(
        f"func.func @main(%a: {type}) -> {type} {{\n  func.return %a : {type}\n}}\n"
    )
    message = validate(capfd, "signless.mlir", "--cse", status=1)
    assert ": error: " in f": {message}"
    assert "internal error" not in message


def test_open_sizes_from_a_later_pass(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program as parsed is run with the shapes that the pipeline gives it."""
    specialize = "--tile-specialize=arguments=4x5xf32,5x6xf32"
    passes = ["--cse", specialize, "--tile-canonicalize"]
    assert validate(capfd, "product.tile", *passes) == ""
    swap = "--test-swap-operands=operation=tile.contract"
    message = validate(capfd, "product.tile", swap, specialize, status=1)
    assert "the pass 'test-swap-operands{operation=tile.contract}'" in message


def test_open_sizes_that_no_pass_gives(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert validate(capfd, "product.tile", "--cse", "--tile-canonicalize") == ""
    wrong = "--test-return-input"
    message = validate(capfd, "product.tile", wrong, status=1)
    assert "the pass 'test-return-input' changes what @main computes" in message
    (path,) = folder.glob("tile-opt-*.mlir")
    assert "--validate-arguments=" in path.read_text()
    assert run(["--run-reproducer", str(path), PLUGIN]) == 1
    assert "changes what @main computes" in capfd.readouterr().err


def test_open_ranks(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An input of any rank has that of the pipeline, or one that all of them have."""
    Path("sum.tile").write_text("function (A, B) -> (C) { C = A - 2 * B; }")
    specialize = "--tile-specialize=arguments=4x5xf32,f32"
    for passes in ([specialize], ["--tile-canonicalize"]):
        assert validate(capfd, "sum.tile", *passes) == ""
        wrong = ["--test-swap-operands=operation=eltwise.sub", *passes]
        message = validate(capfd, "sum.tile", *wrong, status=1)
        assert "changes what @main computes" in message


def test_given_sizes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = "--validate-arguments=2x3xf64,3x7xf64"
    message = validate(capfd, "product.tile", "--test-return-input", given, status=1)
    assert "result #0 was 2x7xfloat64 and now is 2x3xfloat64\n" in message


BAD_ARGUMENTS = {
    "form": ("4y5", "error: expected a type such as 4x5xf32, got '4y5'"),
    "sizes": (
        "2x3xf32,4x5xf32",
        "product.tile:1:20: error: --validate-each cannot run the program: size K is 3",
    ),
    "count": ("2x3xf32", "product.tile:1:1: error: --validate-each cannot run the"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, expected = BAD_ARGUMENTS[name]
    option = f"--validate-arguments={text}"
    message = validate(capfd, "product.tile", "--cse", option, status=1)
    assert message.startswith(expected)


def test_other_sizes_than_the_pipeline_gives(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = "--validate-arguments=2x3xf32,3x7xf32"
    specialize = "--tile-specialize=arguments=4x5xf32,5x6xf32"
    message = validate(capfd, "product.tile", given, specialize, status=1)
    assert (
        "@main takes 4x5xf32,5x6xf32 here, and is validated with 2x3xf32,3x7xf32"
    ) in message


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.tile")))
def test_open_examples(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Sizes are found for every example, so that it runs as parsed."""
    assert run([str(EXAMPLES / name), "--validate-each", "--cse"]) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_whole_pipeline(
    pipeline: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """From Tile to kernels, each pass gives the same results."""
    specialize = "--tile-specialize=arguments=7x33xf32,33x18xf32"
    options = [specialize, f"--pipeline={pipeline}"]
    assert validate(capfd, "product.tile", *options) == ""


F32 = np.float32


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (np.array([1, 2], F32), np.array([1, 2.00001], F32)),
        (np.array([np.nan, np.inf], F32), np.array([np.nan, np.inf], F32)),
        (np.array([1e8, 1e-3], F32), np.array([1e8, 2e-3], F32)),
        (np.array([3, 4]), np.array([3, 4])),
        (np.zeros((0, 2), F32), np.zeros((0, 2), F32)),
        (np.array(True), np.array(True)),
    ],
)
def test_equal_results(old: np.ndarray, new: np.ndarray) -> None:
    assert find_difference([old], [new]) is None


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        (np.array([1, 2], F32), np.array([1, 2.001], F32), "#0[1] was 2.0 and now is"),
        (np.array([1.0]), np.array([1.0 + 1e-9]), "#0[0] was 1.0 and now is 1.000"),
        (np.array([1, np.nan]), np.array([1, 2.0]), "#0[1] was nan and now is 2.0"),
        (np.array([np.inf]), np.array([-np.inf]), "#0[0] was inf and now is -inf"),
        (np.array([3, 4]), np.array([3, 5]), "#0[1] was 4 and now is 5"),
        (np.array(True), np.array(False), "#0 was True and now is False"),
        (np.array([1]), np.array([1.0]), "was 1xint64 and now is 1xfloat64"),
        (np.zeros((0, 2)), np.zeros((2, 0)), "was 0x2xfloat64 and now is 2x0x"),
    ],
)
def test_different_results(old: np.ndarray, new: np.ndarray, summary: str) -> None:
    difference = find_difference([old], [new])
    assert difference is not None
    assert summary in difference.summary


def test_different_number_of_results() -> None:
    difference = find_difference([np.zeros(2)], [])
    assert difference is not None
    assert difference.summary == "there were 1 results, and now there are 0"


def test_what_takes_too_much_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is no success; a larger limit makes it one."""
    path = tmp_path / "product.tile"
    path.write_text(TILE_PRODUCT)
    passes = (
        'tile-specialize{arguments="64x64xf32","64x64xf32"},tile-canonicalize,'
        "tile-flatten,lower-tile-to-stripe,stripe-fuse"
    )
    arguments = [str(path), "--validate-each", f"--pass-pipeline={passes}"]
    assert run([*arguments, "--validate-points=2_000_000".replace("_", "")]) == 1
    error = capfd.readouterr().err
    # The tile level is validated; nothing is said again of the passes behind.
    assert error.count("cannot be run to validate it, nor after the passes behind") == 1
    assert "after the pass 'lower-tile-to-stripe'" in error
    assert "the pipeline's result was not validated" in error
    assert "--validate-points=N" in error
    assert run([*arguments, "--validate-points=100000000"]) == 0


def test_inputs_that_take_too_much_are_not_made(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.mlir"
    size = 2**40
    path.write_text(
        f"func.func @main(%a : tensor<{size}xf32>) -> tensor<{size}xf32> {{\n"
        f"  func.return %a : tensor<{size}xf32>\n}}\n"
    )
    assert run([str(path), "--validate-each"]) == 1
    error = capfd.readouterr().err
    assert "--validate-each cannot run the program: 'func.func' takes 17,592," in error
