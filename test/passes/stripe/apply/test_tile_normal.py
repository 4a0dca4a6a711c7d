"""Schedules that make the same loops make the same nest, whatever they say besides."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from stripe_programs import CONTEXT, run
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.attributes import MemorySpace
from gingham.dialects.stripe.binding import Binding
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.dialects.stripe.scheduled import SCHEDULED
from gingham.dialects.stripe.staging import Staging
from gingham.dialects.stripe.tiling import Points, Tiles
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

PRODUCT = """
func.func @main(%A : !stripe.view<12x8xf32>, %B : !stripe.view<8x6xf32>)
    -> !stripe.view<12x6xf32> {
  %C = stripe.alloc : !stripe.view<12x6xf32>
  stripe.block "C" [%i : 12, %j : 6, %k : 8]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<12x6xf32>
}
"""
RANGES = 12, 6, 8
loops = (Binding.UNDECIDED, Binding.LOOP, Binding.UNROLL)
bindings = st.one_of(st.just(()), st.tuples(*[st.sampled_from(loops)] * 3))
orders = st.permutations(range(3)).flatmap(
    lambda order: st.integers(0, 3).map(lambda count: tuple(order[:count]))
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schedule, Schedule]:
    """A schedule, and one of the same loops that says more, and some of it in vain."""
    sizes, levels, wordy = RANGES, list[Tiles](), list[Tiles]()
    for _ in range(draw(st.integers(0, 2))):
        # Tiles that divide those around them, whole where something is aggregated.
        inner = tuple(
            draw(st.sampled_from([d for d in range(1, n + 1) if n % d == 0]))
            for n in sizes[:2]
        )
        inner = (*inner, sizes[2])
        levels.append(Tiles(inner, draw(orders), draw(bindings)))
        vain = [
            draw(st.sampled_from([0, n, n + 3])) if n == m else n
            for n, m in zip(inner, sizes, strict=True)
        ]
        wordy.append(replace(levels[-1], sizes=tuple(vain)))
        sizes = inner
        if draw(st.booleans()):
            same = tuple([draw(st.sampled_from([0, n, n + 1])) for n in sizes])
            wordy.append(Tiles(same, draw(orders), draw(bindings)))
    points = Points(draw(orders), draw(bindings))
    stages = tuple(
        Staging(number, 0, len(levels), (0, 1), MemorySpace.GLOBAL)
        for number in range(draw(st.integers(0, 2)))
    )
    late = tuple([replace(stage, window=len(wordy)) for stage in stages])
    return Schedule(tuple(levels), points, stages), Schedule(tuple(wordy), points, late)


def nest_of(schedule: Schedule) -> ModuleOp:
    """The product as the passes make it by a schedule, without what is noted."""
    module = parse_mlir(CONTEXT, PRODUCT, "product.mlir", Sources())
    block = next(op for op in module.walk() if isinstance(op, BlockOp))
    set_schedule(block, schedule)
    run(module, "stripe-tile,stripe-stage")
    for operation in module.walk():
        operation.attributes.pop(SCHEDULED, None)
    return module


@given(pairs())
@settings(max_examples=60, deadline=None)
def test_the_same_loops_are_one_nest(pair: tuple[Schedule, Schedule]) -> None:
    plain, wordy = pair
    assert wordy.normalized(RANGES, {2}) == plain.normalized(RANGES, {2})
    nest = str(nest_of(wordy))
    assert nest == str(nest_of(plain))
    assert nest == str(nest_of(plain.normalized(RANGES, {2})))
