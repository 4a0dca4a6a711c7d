"""Where ops come from in Python, and what the user calls things."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from xdsl.dialects.builtin import FileLineColLoc

from gingham.edsl import (
    Contraction,
    Placeholder,
    Program,
    TensorDim,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorOutput,
    cast,
    exp,
)
from gingham.errors import GinghamError
from gingham.frontend.edsl.locations import here


def test_names_are_those_of_variables() -> None:
    M, N = TensorDims(2)
    K = TensorDim()
    i, j, _ = TensorIndexes(3)
    k = TensorIndex()
    X = Placeholder("float32", [M, N])
    Y = exp(X)
    Z = cast(Y, "int32")
    O = TensorOutput(M)
    O[i] += X[i, j]
    C = Contraction().outShape(M).outAccess(i).sum(X[i, j]).build()
    P = M + 1
    named = [M, N, K, i, j, k, X, Y, Z, O, C, P]
    assert [value.name for value in named] == [*"MNKijkXYZOCP"]


def test_what_is_not_assigned_has_no_name() -> None:
    inside = [TensorDim() for _ in range(2)]
    place = SimpleNamespace(dim=TensorDim())
    assert [dim.name for dim in (*inside, place.dim, [TensorIndex()][0])] == [None] * 4
    X = Placeholder("float32", [2]) + 1
    assert X.node.operands[0].name is None


def test_several_in_one_variable_are_numbered() -> None:
    X = TensorDims(2)
    k = TensorIndexes(3)
    assert [dim.name for dim in X] == ["X0", "X1"]
    assert [index.name for index in k] == ["k0", "k1", "k2"]


def test_names_may_be_given() -> None:
    a, b = TensorDims("M N")
    c, d, e = TensorIndexes("i, j k")
    given = [a, b, c, d, e, TensorDim("D"), TensorIndex("z")]
    assert [value.name for value in given] == [*"MNijkDz"]


def test_sizes_are_named_where_they_are_unpacked() -> None:
    A = Placeholder("float32", [None, None])
    H, W = A.shape
    assert (H.name, W.name) == ("H", "W")
    P, Q = A.shape
    assert (P.name, Q.name) == ("H", "W")


def test_ops_have_the_place_of_their_expression() -> None:
    A = Placeholder("float32", [3])
    B = exp(A) + A
    line = here().line - 1
    module = Program("places", [A], [B]).module
    places: dict[str, tuple[int, int]] = {}
    for op in module.walk():
        if op.name.startswith("eltwise") and isinstance(op.location, FileLineColLoc):
            assert op.location.filename.data == __file__
            places[op.name] = op.location.line.data, op.location.column.data
    assert places == {"eltwise.exp": (line, 9), "eltwise.add": (line, 9)}


def test_names_that_the_ir_has_not_are_changed() -> None:
    größe = TensorDim()
    ι = TensorIndex()
    Ä = Placeholder("float32", [größe])
    O = TensorOutput(größe)
    O[ι] += Ä[ι]
    program = Program("unicode", [Ä], [O])
    assert program.compile("reference").input_names == ["Ä"]
    program.module.verify()
    assert "%O = tile.contract add over [_] %_[_] -> [_ : %gr__e]" in str(program)


def test_columns_count_characters() -> None:
    ä, x = Placeholder("float32", [3]), "ß"
    with pytest.raises(GinghamError) as caught:
        print("ßß", bool(ä))
    assert caught.value.location is not None
    assert caught.value.location.column == 21
    assert x == "ß"


PROGRAM = """\
from gingham.edsl import *

A = Placeholder("float32", [2, 3], name="A")
i, j = TensorIndexes(2)
O = TensorOutput(2)
O[i] += exp(A[i, j])
"""


def test_a_script_shows_its_line(tmp_path: Path) -> None:
    script = tmp_path / "sums.py"
    script.write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.endswith(
        f"""\
{script}:6:9: error: an access such as A[i, j] is part of a contraction and no tensor
O[i] += exp(A[i, j])
        ^~~~~~~~~~~~
hint: compute with the whole tensor A, or write O[i, j] = A[i, j] to an output
"""
    )


def test_code_without_a_file_has_places_without_text() -> None:
    names: dict[str, object] = {}
    code = "from gingham.edsl import *\nA = Placeholder('f32', [2])\nif A: pass\n"
    with pytest.raises(GinghamError) as caught:
        exec(compile(code, "<generated>", "exec"), names)
    assert str(caught.value.location) == "<generated>:3:1"
    assert caught.value.render().startswith("<generated>:3:1: error: a tensor has no")
