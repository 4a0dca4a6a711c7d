"""What is known of memory that is set right before it is read, or copied from there."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.passes.stripe.analysis.nests import nested_blocks, top_level_blocks
from gingham.passes.stripe.analysis.scratch import scratches_of

_PROGRAM = """
func.func @main(%A : !stripe.view<20xf32>) -> !stripe.view<3xf32> {
  %M = stripe.alloc : !stripe.view<3xf32>
  stripe.block [%s : 3]
      in %a = %A[8 * %s] : 8
      out %m = %M[%s] : 1 {
    %S = stripe.alloc : !stripe.view<8xf32, private>
    %T = stripe.alloc : !stripe.view<8xf32, local>
    %R = stripe.alloc : !stripe.view<1xf32, private>
    stripe.block [%k : 8]
        in %x = %a[%k] : 1
        out %y = %S[%k] : 1
        where -8 * %s - %k + 19 >= 0 {
      %0 = stripe.load %x : !stripe.view<1xf32>
      stripe.store %0, %y : !stripe.view<1xf32, private>
    }
    stripe.block [%k : 8]
        out %y = %S[%k] : 1 FILL
        where 8 * %s + %k - 20 >= 0 {
      %0 = eltwise.constant 0 : f32
      stripe.store %0, %y : !stripe.view<1xf32, private>
    }
    stripe.block [%k : 8]
        in %x = %S[%k] : 1
        out %y = %T[%k] : 1 COPY {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      stripe.store %0, %y : !stripe.view<1xf32, local>
    }
    stripe.block [%k : 8]
        in %x = %T[%k] : 1
        out %y = %R[0] : 1 add
        where -8 * %s - %k + 19 >= 0 {
      %0 = stripe.load %x : !stripe.view<1xf32, local>
      stripe.store %0, %y : !stripe.view<1xf32, private>
    }
  }
  func.return %M : !stripe.view<3xf32>
}
"""


def last_of(fill: str, copy: str) -> BlockOp:
    """The block that reads."""
    text = _PROGRAM.replace("FILL", fill).replace("COPY", copy)
    module = Parser(make_context(), text).parse_module()
    assert isinstance(module, ModuleOp)
    (group,) = top_level_blocks(module)
    return nested_blocks(group)[-1]


def test_what_is_set_is_copied() -> None:
    reader = last_of("", "")
    (scratch,) = (scratches_of(reader) or {}).values()
    (end,) = reader.where
    assert scratch.fill == 0
    assert scratch.is_fill_beyond(end, reader.access(0))
    # One more value is not set.
    assert not scratch.is_fill_beyond(end - 1, reader.access(0))


@pytest.mark.parametrize(("fill", "copy"), [("add", ""), ("", "add"), ("", "max")])
def test_what_is_aggregated_is_not_known(fill: str, copy: str) -> None:
    reader = last_of(fill, copy)
    (end,) = reader.where
    for scratch in (scratches_of(reader) or {}).values():
        assert not scratch.is_fill_beyond(end, reader.access(0))
