"""The operations and functions of a module, against xDSL's own walk."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.passes.walking import functions, operations
from gingham.runtime.lowering import STAGES

PROGRAM = (
    "function (A[M, K], B[K, N]) -> (C) { T[i, j : M, N] = +(A[i, k] * B[k, j]);"
    " C = relu(T) + 1.0; }"
)


@pytest.mark.parametrize("stage", STAGES)
def test_all_operations_are_found_in_order(stage: str) -> None:
    inputs = np.empty((19, 33), np.float32), np.empty((33, 45), np.float32)
    text = gingham.compile(PROGRAM).ir(*inputs, stage=stage)
    module = Parser(make_context(), text).parse_module()
    walked = list(module.walk())
    assert operations(module) == walked
    assert functions(module) == [op for op in walked if isinstance(op, FuncOp)]
