"""What would take the interpreter too long, or too much memory, is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.errors import GinghamError
from gingham.targets.reference import Budget, OverBudgetError, interpret

Parsed = Callable[[str], ModuleOp]

LARGE = 2**31

TENSOR = f"""
func.func @main() -> tensor<{LARGE}x1024xf32> {{
  %0 = eltwise.constant 1.0 : tensor<{LARGE}x1024xf32>
  func.return %0 : tensor<{LARGE}x1024xf32>
}}
"""


def block(ranges: str, where: str = "", inner: str = "") -> str:
    return f"""
    func.func @main() -> !stripe.view<1xf32> {{
      %S = stripe.alloc : !stripe.view<1xf32>
      stripe.block "S" [{ranges}]
          out %s = %S[0] : 1 add init 0 {where} {{
        %x = eltwise.constant 1.0 : f32
        {inner}
        stripe.store %x, %s : !stripe.view<1xf32>
      }}
      func.return %S : !stripe.view<1xf32>
    }}
    """


def loops(count: int, body: str) -> str:
    buffer, pointer = "!opencl.buffer<1xf32>", "!opencl.pointer<f32, global>"
    return f"""
    opencl.kernel @k(%O : {pointer}) group [1, 1, 1] {{
      %one = eltwise.constant 1.0 : f32
      opencl.for %k : {count} {{ {body} }}
      opencl.store %one, %O[0] : f32 -> {pointer}
    }}
    func.func @main() -> {buffer} {{
      %O = opencl.allocate : {buffer}
      opencl.launch @k groups [1, 1, 1] (%O) : {buffer}
      func.return %O : {buffer}
    }}
    """


HOSTILE = {
    "tensor": TENSOR,
    "block": block(f"%i : {LARGE}, %j : 8"),
    "block without valid points": block(f"%i : {LARGE}", "where -%i - 1 >= 0"),
    "nested blocks": block(
        "%i : 100000",
        inner="""stripe.block "T" [%j : 100000] out %t = %s[0] : 1 add {
          %y = eltwise.constant 1.0 : f32
          stripe.store %y, %t : !stripe.view<1xf32>
        }""",
    ),
    "allocations at each point": block(
        "%i : 1000", inner="%t = stripe.alloc : !stripe.view<1000000xf32>"
    ),
    "loop": loops(LARGE, "%x = eltwise.neg %one : f32"),
    "loop without a body": loops(LARGE, ""),
    "nested loops": loops(3000, "opencl.for %j : 3000 { }"),
    "vector": loops(1, f"%v = eltwise.broadcast %one : f32 to vector<{LARGE}xf32>"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_refused_within_seconds(text: str, parsed: Parsed) -> None:
    module = parsed(text)
    start = time.process_time()
    with pytest.raises(GinghamError, match=r"that the (reference )?interpreter runs"):
        interpret(module, [], budget=Budget(10**7))
    assert time.process_time() - start < 10


def test_what_fits_runs(parsed: Parsed) -> None:
    budget = Budget(20_000)
    (got,) = interpret(parsed(block("%i : 100")), [], budget=budget)
    assert got == [100.0]
    assert 0 < budget.left < 20_000
    budget.left = 1_000
    with pytest.raises(OverBudgetError, match="when 19,016 are run: more than the 20"):
        interpret(parsed(block("%i : 100")), [], budget=budget)


def test_the_setting(parsed: Parsed) -> None:
    module = parsed(block("%i : 100000"))
    gingham.configure(interpreted_points=100_000)
    try:
        with pytest.raises(GinghamError, match="more than the 100,000 that") as error:
            interpret(module, [])
        assert "GINGHAM_INTERPRETED_POINTS" in (error.value.hint or "")
    finally:
        gingham.configure(interpreted_points=None)
    np.testing.assert_array_equal(interpret(module, [])[0], [100000])


def test_points_of_a_contraction_are_not_enumerated() -> None:
    text = "function (A[N]) -> (S) { S[] = +(A[i]), k - i < 4000000000000; }"
    f = gingham.compile(text, device="reference")
    with pytest.raises(
        GinghamError, match=r"'tile\.contract' takes 12,000,000,000,006"
    ):
        f(np.zeros(3, np.float32))
