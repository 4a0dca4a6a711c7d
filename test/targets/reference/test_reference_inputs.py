"""What `interpret` takes: inputs that fit, a module that is specialized."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.reference import UnknownOperationError, interpret

Run = Callable[..., list[np.ndarray[Any, Any]]]
Parsed = Callable[[str], ModuleOp]

IDENTITY = {
    "tile": "tensor<2x3xf32>",
    "stripe": "!stripe.view<2x3xf32>",
    "opencl": "!opencl.buffer<2x3xf32>",
}


def identity(type: str) -> str:
    return f"""
    func.func @main(%A : {type}) -> {type} {{
      func.return %A : {type}
    }}"""


@pytest.mark.parametrize("level", IDENTITY)
def test_results_share_no_memory_with_inputs(run: Run, level: str) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    (got,) = run(identity(IDENTITY[level]), a)
    np.testing.assert_array_equal(got, a)
    assert not np.shares_memory(got, a)
    got[:] = 0
    assert a[1, 2] == 5


@pytest.mark.parametrize("level", IDENTITY)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 4), np.float32), r"expected shape \(2, 3\), got \(2, 4\)"),
        (np.zeros(6, np.float32), r"expected shape \(2, 3\), got \(6,\)"),
        (np.zeros((2, 3)), "expected dtype float32, got float64"),
        (np.zeros((2, 3), np.int32), "expected dtype float32, got int32"),
        ([[1.0, 2.0, 3.0]] * 2, "expected a NumPy array, got list"),
    ],
)
def test_inputs_that_do_not_fit(run: Run, level: str, value: Any, message: str) -> None:
    with pytest.raises(GinghamError, match=rf"input 0 \(%A\): {message}"):
        run(identity(IDENTITY[level]), value)


@pytest.mark.parametrize("level", IDENTITY)
def test_wrong_number_of_inputs(run: Run, level: str) -> None:
    with pytest.raises(GinghamError, match=r"@main takes 1 input\(s\), got 0"):
        run(identity(IDENTITY[level]))


def test_inputs_in_any_layout(run: Run) -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4).T[::2]
    for type in IDENTITY.values():
        (got,) = run(identity(type), a)
        np.testing.assert_array_equal(got, a)


@pytest.mark.parametrize(
    "type", ["tensor<?x3xf32>", "tensor<2x!eltwise.any>", "tensor<*xf32>"]
)
def test_symbolic_module(run: Run, type: str) -> None:
    with pytest.raises(GinghamError, match="not known") as error:
        run(identity(type), np.zeros((2, 3), np.float32))
    assert "tile-specialize" in str(error.value.hint)


def test_entry(parsed: Parsed) -> None:
    module = parsed("func.func @other() { func.return }")
    assert interpret(module, [], "other") == []
    with pytest.raises(GinghamError, match="no function @main"):
        interpret(module, [])
    with pytest.raises(GinghamError, match="@main has no body"):
        interpret(parsed("func.func private @main() -> ()"), [])


def test_operation_that_is_not_known(parsed: Parsed) -> None:
    module = parsed("func.func @main() { func.return }")
    block = next(iter(module.ops)).regions[0].block
    assert block.last_op is not None
    block.insert_op_before(test_dialect.TestOp(), block.last_op)
    with pytest.raises(UnknownOperationError, match=r"does not know 'test.op'"):
        interpret(module, [])


def test_more_memory_than_there_may_be(run: Run) -> None:
    text = """
    func.func @main() -> !stripe.view<1000000x1000000x1000000xf32> {
      %C = stripe.alloc : !stripe.view<1000000x1000000x1000000xf32>
      func.return %C : !stripe.view<1000000x1000000x1000000xf32>
    }"""
    with pytest.raises(GinghamError, match="more than the"):
        run(text)


def test_importing_the_package_does_not_import_numpy() -> None:
    code = "import sys, gingham.targets.reference; print('numpy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"
