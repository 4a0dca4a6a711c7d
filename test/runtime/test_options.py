"""Tests of the options of compiling: how functions take them, and that all arrive."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import gingham
from gingham.runtime.compilation import compile_source
from gingham.runtime.function import Function
from gingham.runtime.options import CompileOptions

DOUBLE = "function (A[N]) -> (B) { B = 2 * A; }"
OPTIONS = {each.name: each.default for each in fields(CompileOptions)}
PLACED = {"place", "measure"}


@pytest.mark.parametrize(
    ("function", "lacks"),
    [
        (gingham.compile, set[str]()),
        (gingham.compile_file, set[str]()),
        (compile_source, PLACED),
        (gingham.Program.compile, PLACED),
        (gingham.jit, PLACED | {"hardware", "tuned"}),
    ],
)
def test_functions_name_the_options(
    function: Callable[..., Any], lacks: set[str]
) -> None:
    parameters = inspect.signature(function).parameters
    named = {name: each.default for name, each in parameters.items() if name in OPTIONS}
    assert named == {n: default for n, default in OPTIONS.items() if n not in lacks}
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters.values())
    for name in [*lacks, "fastmath"]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            function(**{name: None})


def test_a_function_keeps_its_options() -> None:
    """All of them come to what compiles, and through a pickle."""
    function = gingham.compile(
        DOUBLE,
        device="reference",
        hardware="cpu-avx2",
        constants=["A"],
        tuned=False,
        fast_math=True,
        check=True,
        profile=True,
    )
    again: Function = pickle.loads(pickle.dumps(function))
    for each in (function, again):
        assert each.device.name == "reference"
        assert each.hardware is not None
        assert each.hardware.name == "cpu-avx2"
        options: CompileOptions = vars(each)["_options"]
        assert not options.tuned
        assert options.fast_math
        assert options.check
        assert each.profile.commands == []
        assert "constant" in each.ir(np.ones(3, np.float32))
