"""Whose an exception is said to be: the plug-in's, xDSL's, or that of what is missing.

`test_opt_errors.py` has those of the compiler itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.tools.optimizer.driver import run

PROGRAM = "func.func @main(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"
PLUGIN = """\
from dataclasses import dataclass
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import *

class Rename(RewritePattern):
    def match_and_rewrite(self, op, rewriter):
        if isinstance(op, ReturnOp):
            "ä" if op.attributes["name"] else None

@dataclass(frozen=True)
class Mine(ModulePass):
    name = "mine"
    how: str = "pattern"

    def __post_init__(self):
        {"pattern": 1, "inside": 2}[self.how]

    def apply(self, ctx, op):
        if self.how == "inside":
            op.detach()
        PatternRewriteWalker(Rename()).rewrite_module(op)
"""


Failing = Callable[..., list[str]]


@pytest.fixture
def failing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Failing:
    """Runs `tile-opt main.mlir ...`, which has to fail; gives the lines it prints."""
    monkeypatch.chdir(tmp_path)
    Path("main.mlir").write_text(PROGRAM)

    def run_it(*arguments: str) -> list[str]:
        assert run(["main.mlir", *arguments]) == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert "Traceback" not in err
        return err.splitlines()

    return run_it


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    """The option that loads the plug-in."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    return "--load-pass-plugin=mine.py"


def test_pattern_of_a_plugin(failing: Failing, plugin: str) -> None:
    """Code of xDSL has called it, and the line below it is what failed."""
    assert failing(plugin, "-p", "mine") == [
        "mine.py:9:20: error: KeyError: 'name'",
        '            "ä" if op.attributes["name"] else None',
        "                   ^~~~~~~~~~~~~~~~~~~~~",
        "note: the pass 'mine' failed in its plug-in (--debug shows the traceback)",
    ]


def test_library_called_by_a_plugin(failing: Failing, plugin: str) -> None:
    lines = failing(plugin, "-p", "mine{how=inside}")
    assert lines[0].startswith("mine.py:21:13: error: ValueError: ")
    assert lines[1:3] == ["            op.detach()", "            ^~~~~~~~~~~"]
    assert re.search(r"xdsl/ir/core.py:\d+:\d+: note: it was raised here", lines[3])
    assert lines[-1].startswith("note: the pass 'mine{how=inside}' failed in its ")


def test_plugin_that_makes_no_pass(failing: Failing, plugin: str) -> None:
    lines = failing(plugin, "-p", "mine{how=other}")
    assert lines[0] == "mine.py:17:9: error: KeyError: 'other'"
    assert lines[-1] == "note: a plug-in failed (--debug shows the traceback)"


@pytest.mark.parametrize(
    ("text", "first", "caret"),
    [
        ("x = 1\ny = = 2\n", "mine.py:2:5: error: {}SyntaxError: invalid", "    ^"),
        ("def f(:\n", "mine.py:1:7: error: {}SyntaxError: invalid", "      ^"),
        ("\nimport absent_\n", "mine.py:2:1: error: {}ModuleNotFoundErr", "^~~"),
        ("def f():\n  1 / 0\nf()\n", "mine.py:2:3: error: {}ZeroDiv", "  ^~~~~"),
    ],
)
def test_plugin_that_cannot_be_loaded(
    text: str, first: str, caret: str, failing: Failing, plugin: str
) -> None:
    Path("mine.py").write_text(text)
    lines = failing(plugin, "-p", "mine")
    assert lines[0].startswith(first.format("cannot load 'mine.py': "))
    assert lines[2].startswith(caret)


def test_missing_package(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.delitem(sys.modules, "xdsl.backend.llvm.convert", raising=False)
    (line,) = failing("-t", "llvm")
    assert line == (
        "error: the target 'llvm' needs the Python package 'llvmlite', which is not "
        "installed"
    )


def test_missing_program(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("mlir-opt", "apply-eqsat-pdl"):
        assert failing("-p", name) == [
            f"error: the pass '{name}' needs the program 'mlir-opt', which is not "
            "installed",
            "hint: it is a part of MLIR; it must be on the PATH",
        ]


def test_what_xdsl_does_not_do(failing: Failing) -> None:
    (line,) = failing("-t", "mps")
    assert line.startswith("error: the target 'mps' of xDSL failed: ")


def test_defect_of_xdsl(
    failing: Failing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (line,) = failing("-p", "apply-pdl-interp")
    assert line.startswith("error: internal error in the pass 'apply-pdl-interp' (Asse")
    assert "; this is a defect of xDSL: please report it with the reproducer '" in line
