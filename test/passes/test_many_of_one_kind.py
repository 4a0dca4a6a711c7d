"""Passes take a time in proportion to what there are thousands of."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.passes.stripe.apply.dead_code_elimination import (
    StripeDeadCodeEliminationPass,
)

COUNT = 2000
SECONDS = 4.0
"""A tenth of what is quadratic takes."""


def unread_buffers() -> str:
    """A block that stores to many buffers, of which one is read."""
    numbers = range(COUNT)
    allocations = [f"%T{n} = stripe.alloc : !stripe.view<8xf32>" for n in numbers]
    windows = [f"out %t{n} = %T{n}[%i] : 1" for n in numbers]
    stores = [f"stripe.store %x, %t{n} : !stripe.view<1xf32>" for n in numbers]
    return f"""func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {{
      {chr(10).join(allocations)}
      stripe.block [%i : 8] in %a = %A[%i] : 1 {" ".join(windows)} {{
        %x = stripe.load %a : !stripe.view<1xf32>
        {chr(10).join(stores)}
      }}
      func.return %T7 : !stripe.view<8xf32>
    }}"""


def applied(text: str, apply: Callable[[Context, ModuleOp], None]) -> ModuleOp:
    """The module after a pass, which may take some seconds."""
    context = make_context()
    module = Parser(context, text).parse_module()
    start = process_time()
    apply(context, module)
    assert process_time() - start < SECONDS
    module.verify()
    return module


def test_buffers_that_nobody_reads() -> None:
    module = applied(unread_buffers(), StripeDeadCodeEliminationPass().apply)
    # The module, the function, its return, a buffer, a block, a load and a store.
    assert sum(1 for _ in module.walk()) == 7
