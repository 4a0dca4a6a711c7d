"""Values beyond the end of the last step: set where all stop there, and only there."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.passes.stripe.analysis.nests import nested_blocks, top_level_blocks
from gingham.passes.stripe.decide.gpu.ends import set_ends

_PROGRAM = """
func.func @main(%A : !stripe.view<20xf32>) -> !stripe.view<2xf32> {
  %M = stripe.alloc : !stripe.view<2xf32>
  stripe.block serial [%s : 3]
      in %a = %A[8 * %s] : 8
      inout %m = %M[0] : 2 {
    %S = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%k : 8]
        in %x = %a[%k] : 1
        out %y = %S[%k] : 1
        where -8 * %s - %k + 19 >= 0 {
      %0 = stripe.load %x : !stripe.view<1xf32>
      stripe.store %0, %y : !stripe.view<1xf32, private>
    }
    stripe.block [%k : 8]
        in %x = %S[%k] : 1
        out %y = %m[0] : 1 max
        where -8 * %s - %k + 19 >= 0 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      stripe.store %0, %y : !stripe.view<1xf32>
    }
    stripe.block [%k : 8]
        in %x = %S[%k] : 1
        out %y = %m[1] : 1 add
        where OTHER >= 0 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      stripe.store %0, %y : !stripe.view<1xf32>
    }
  }
  func.return %M : !stripe.view<2xf32>
}
"""


def step_of(other: str) -> BlockOp:
    text = _PROGRAM.replace("OTHER", other)
    module = Parser(make_context(), text).parse_module()
    assert isinstance(module, ModuleOp)
    (serial,) = top_level_blocks(module)
    first, *_ = nested_blocks(serial)
    set_ends(serial, [first.buffer(1)])
    module.verify()
    return serial


def test_all_stop_at_one_end() -> None:
    _, low, largest, zero, total = nested_blocks(step_of("-8 * %s - %k + 19"))
    assert not (*largest.conditions, *total.conditions)
    for fill in (low, zero):
        once, each = fill.where
        assert [len(once.terms), len(each.terms)] == [1, 2]
        assert [once.constant, each.constant] == [7 - 20, -20]


@pytest.mark.parametrize("other", ["-8 * %s - %k + 21", "%k - 2", "-%s - %k + 19"])
def test_somebody_else_stops_elsewhere(other: str) -> None:
    blocks = nested_blocks(step_of(other))
    assert len(blocks) == 3
    assert all(each.conditions for each in blocks)
