"""A source of many kernels as sources of one kernel each.

```c
float helper(float x) { ... }
// net.tile:3
__kernel void a(...) { ... helper(...) ... }
// net.tile:4
__kernel void b(...) { ... }
```

becomes a source for `a` and one for `b`, both with what is in front of the first
kernel. A compiler counts their lines as in the whole, so that what it says of one can
be looked up there. Short ones may be merged again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_KERNEL = re.compile(r"^(?://[^\n]*\n)*__kernel ", re.MULTILINE)
_LINE = "#line "


def split(source: str) -> list[str]:
    """A source for each kernel; the source itself where it has only one."""
    starts = [match.start() for match in _KERNEL.finditer(source)]
    if len(starts) < 2:
        return [source]
    shared = source[: starts[0]]
    return [
        f"{shared}{_LINE}{source.count(chr(10), 0, start) + 1}\n{source[start:end]}"
        for start, end in zip(starts, [*starts[1:], len(source)], strict=True)
    ]


def merged(parts: Iterable[str], size: int) -> list[str]:
    """Parts that `split` gave of one source, as sources of up to `size` characters.

    A part that is longer stays alone.
    """
    found: list[str] = []
    for part in parts:
        kernel = part[part.index(_LINE) :]
        if found and len(found[-1]) + len(kernel) <= size:
            found[-1] += kernel
        else:
            found.append(part)
    return found


def kernel_of(part: str) -> str:
    """The text of the kernel of a part that `split` gave."""
    start = _KERNEL.search(part)
    return part[start.start() :].rstrip() if start else part
