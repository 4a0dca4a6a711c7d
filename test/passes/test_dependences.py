"""Which statements depend on which, against what their order means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.ir.core import Block

from gingham.passes.dependences import Dependences, Effects

_MEMORIES: list[SSAValue] = [*Block(arg_types=[f32] * 4).args]
_STATEMENT = st.dictionaries(st.integers(0, 3), st.booleans(), max_size=3)


@given(st.lists(_STATEMENT, max_size=8))
def test_statements_depend_on_those_that_use_what_they_write(
    program: list[dict[int, bool]],
) -> None:
    found = Dependences()
    effects = [
        Effects.of((_MEMORIES[memory], writes) for memory, writes in uses.items())
        for uses in program
    ]
    for place, own in enumerate(program):
        before = {
            other
            for other in range(place)
            if any(
                memory in own and (own[memory] or writes)
                for memory, writes in program[other].items()
            )
        }
        assert found.add(place, effects[place]) == before
        for other in range(place):
            depends = effects[place].depends_on(effects[other])
            assert depends == effects[other].depends_on(effects[place])
            assert depends == (other in before)
    for first in range(len(program)):
        for last in range(first, len(program)):
            between = program[first + 1 : last + 1]
            for number, memory in enumerate(_MEMORIES):
                is_written = any(uses.get(number, False) for uses in between)
                assert found.are_written([memory], first, last) == is_written


def test_several_statements_do_what_each_does() -> None:
    first, second, *_ = _MEMORIES
    both = Effects.of([(first, True)])
    both.add(Effects.of([(second, False)]))
    assert both.depends_on(Effects.of([(second, True)]))
    assert not both.depends_on(Effects.of([(second, False)]))
