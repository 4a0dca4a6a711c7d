"""Calls of which nothing is new, by a function that is written for their signature.

A call with arrays of a device that does not wait is as long as what Python does before
the launch, some microseconds. Loops over inputs and outputs, and what they collect, are
half of that. So the function is made with a statement for each input and each output:

```python
def call(inputs):
    if len(inputs) != 1:
        return None
    (a0,) = inputs
    ...
    m0 = a0.memory
    ...
    m0.readers[queue] = event
```

Where an input is not as it was at the call before, or is written by something else than
runs of the device's queue, it does nothing and says None: the call is one for the
general way, in `starter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from .arrays.array import Array
from .arrays.memory import SUBMISSION, Memory

if TYPE_CHECKING:
    from ..targets.backend import Startable
    from ..targets.device_memory import Event, Queue, SparesOfAKind
    from .arrays.storage import Kind

    Direct: TypeAlias = Callable[[Sequence[Any]], "Array | tuple[Array, ...] | None"]
    """A call with arrays: its result, or several; None where it did nothing."""

MOST = 64
"""Inputs and outputs of a call that is written out."""


def direct_call(
    executable: Startable,
    queue: Queue,
    kinds: Sequence[Kind],
    outputs: Sequence[tuple[Kind, SparesOfAKind]],
) -> Direct:
    """What calls an executable with arrays of these kinds, of the device of `queue`."""
    make = _maker(len(kinds), len(outputs))
    return make(
        [*kinds],
        [kind for kind, _ in outputs],
        [spares.take for _, spares in outputs],
        executable.join,
        queue,
    )


def joinable(events: Sequence[Event], queue: Queue) -> Sequence[Event] | None:
    """Those of which it is not known that they ended well, if a run may join them."""
    unknown: list[Event] = []
    for event in events:
        if not event.is_settled:
            unknown.append(event)
        elif event.failure is not None:
            return None
    is_joinable = all(each.is_shared and each.queue is queue for each in unknown)
    return unknown if is_joinable else None


@cache
def _maker(inputs: int, outputs: int) -> Callable[..., Direct]:
    """What makes the calls of so many inputs and outputs."""
    names: dict[str, Any] = {
        "Array": Array,
        "Memory": Memory,
        "SUBMISSION": SUBMISSION,
        "joinable": joinable,
    }
    exec(_source(inputs, outputs), names)
    return names["make"]


def _source(inputs: int, outputs: int) -> str:
    ins, outs = range(inputs), range(outputs)

    def each(numbers: range, text: str, between: str = "\n") -> str:
        return between.join(text.replace("#", str(n)) for n in numbers)

    differs = each(ins, "a#.kind is not k# and a#.kind != k#", " or ")
    is_closed = each(ins, "b# is None", " or ")
    buffers = each(ins, "b#, ", "") + each(outs, "p#, ", "")
    result = "r0" if outputs == 1 else f"({each(outs, 'r#', ', ')})"
    return f"""
def make(kinds, types, takes, join, queue):
    ({each(ins, "k#, ", "")}) = kinds
    ({each(outs, "t#, ", "")}) = types
    ({each(outs, "take#, ", "")}) = takes
    acquire, release, throttle = SUBMISSION.acquire, SUBMISSION.release, queue.throttle

    def call(inputs):
        if len(inputs) != {inputs}:
            return None
        ({each(ins, "a#, ", "")}) = inputs
        try:
            if {differs}:
                return None
        except AttributeError:
            return None
{each(ins, "        b# = a#.own_buffer")}
        if {is_closed}:
            return None
{each(outs, _OUTPUT)}
        sources = ()
        # A context manager would take as long as what is kept of a run.
        acquire()
        try:
            shared = queue.shared
{each(ins, _INPUT)}
            if sources:
                sources = joinable(sources, queue)
                if sources is None:
                    return None
            event = join(({buffers}), sources)
            if event is None:
                return None
{each(ins, "            m#.readers[queue] = event")}
{each(outs, "            r#.memory.written = event")}
        finally:
            release()
        if event is not shared:
            throttle()
        return {result}

    return call
"""


_OUTPUT = """\
        s# = take#()
        p# = s#.buffer
        r# = Array(t#[2], t#, p#.host, p#, Memory(s#))"""

_INPUT = """\
            m# = a#.memory
            written = m#.written
            if written is not None and written is not shared:
                sources = (*sources, written)"""
