"""Tests that `tile-opt` starts without the libraries that are slow to import.

What is imported is checked, and not the time that it takes, as a machine may be busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"islpy", "lark", "ml_dtypes", "numpy", "pyopencl", "rich"}

# Something of each dialect, as a dialect is imported where its name is met.
PROGRAM = """\
func.func @main(%x: tensor<4xf32>, %v: !stripe.view<4xf32>, %b: !opencl.buffer<4xf32>)
    -> tensor<4xf32> {
  %n = tile.sizes %x ["N"] : tensor<4xf32>
  %y = eltwise.add %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def imported_by_tile_opt(*arguments: str) -> set[str]:
    """The top-level modules that a successful run of the command imports."""
    result = subprocess.run(
        [Path(sys.executable).with_name("tile-opt"), *arguments],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    # `import time:  self [us] | cumulative | imported package`
    modules = [
        line.rpartition("|")[2].strip()
        for line in result.stderr.splitlines()
        if line.startswith("import time:")
    ]
    return {module.partition(".")[0] for module in modules}


@pytest.fixture
def small_file(tmp_path: Path) -> str:
    """The path of a program in all dialects."""
    path = tmp_path / "small.mlir"
    path.write_text(PROGRAM)
    return str(path)


def test_imports_are_seen(small_file: str) -> None:
    """Were they not, the tests below could not fail."""
    assert {"gingham", "xdsl"} <= imported_by_tile_opt(small_file)


def imported_by_python(code: str) -> set[str]:
    """The modules that a program imports."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {module.removeprefix("gingham.") for module in result.stdout.split()}


def test_the_package_imports_nothing_of_its_own() -> None:
    imported = imported_by_python("import gingham")
    assert not imported & {"edsl", "frontend", "runtime", "xdsl", *HEAVY}


def test_python_programs_are_made_without_heavy_imports() -> None:
    program = """if True:
        from gingham.edsl import *
        A = Placeholder("float32", "M N")
        M, N = A.shape
        m, n = TensorIndexes(2)
        O = TensorOutput(M)
        O[m] += A[m, n]
        str(Program("sums", [A], [exp(O)]))
    """
    imported = imported_by_python(program)
    assert "edsl" in imported
    assert not imported & HEAVY


def test_help_imports_nothing_heavy() -> None:
    assert not imported_by_tile_opt("--help") & HEAVY


@pytest.mark.parametrize("options", [(), ("--pass-pipeline=builtin.module(cse)",)])
def test_small_file_imports_nothing_heavy(
    options: tuple[str, ...], small_file: str
) -> None:
    assert not imported_by_tile_opt(*options, small_file) & HEAVY


def test_nobody_looks_for_garbage_when_tile_opt_ends(small_file: str) -> None:
    program = f"""if True:
        import atexit, gc, sys
        from gingham.tools.opt import main
        atexit.register(lambda: print(gc.get_freeze_count() > len(gc.get_objects())))
        sys.argv[1:] = [{small_file!r}]
        main()
    """
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "True"
