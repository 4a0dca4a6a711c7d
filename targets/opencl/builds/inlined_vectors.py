"""Functions in front of a source, which spare Intel's compiler much work.

`vload16(0, p)` calls a function of its library, and each of many passes compares the
names of all that is called with patterns: up to 2 ms for a call, half of the time of a
long kernel. A function of the source itself is inlined before, to the same
instructions:

```c
typedef float float16_anywhere __attribute__((ext_vector_type(16), aligned(4)));
static __attribute__((overloadable, always_inline))
float16 vload16_inlined(size_t n, const __global float *p) {
  return *(const __global float16_anywhere *)(p + 16 * n);
}
#define vload16 vload16_inlined
```
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product

from .parts import split

_WORTH_IT = 40
"""Calls in a kernel that takes so long to build that a user notices.

In shorter ones they are left as they are: in its own functions the compiler schedules
some instructions in another order."""
_SPACES = ("__global", "__local", "__private")
_BYTES = {
    **{"char": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8},
    **{"uchar": 1, "ushort": 2, "uint": 4, "ulong": 8},
}
# A vector of three lanes takes the room of four, which are not there to be read.
_CALL = re.compile(r"\b(?:(?:vload|vstore)|(?:load|store)_aligned\()(2|4|8|16)\b")
_IN_MEMORY = re.compile(rf"\b({'|'.join(_BYTES)})(?:[248]|16)? *(?:\*|\w+\[)")
_FUNCTIONS = """\
static __attribute__((overloadable, always_inline))
{T}{N} vload{N}_inlined(size_t n, const {S} {T} *p) {{
  return *(const {S} {T}{N}_anywhere *)(p + {N} * n);
}}
static __attribute__((overloadable, always_inline))
void vstore{N}_inlined({T}{N} x, size_t n, {S} {T} *p) {{
  *({S} {T}{N}_anywhere *)(p + {N} * n) = x;
}}
"""
_TYPE = """\
typedef {T} {T}{N}_anywhere __attribute__((ext_vector_type({N}), aligned({B})));
"""
_NAMES = """\
#define vload{N} vload{N}_inlined
#define vstore{N} vstore{N}_inlined
"""


def with_inlined_vectors(source: str) -> str:
    """The source, with functions in front of it for the vectors that it moves.

    Lines count as without them. Nothing is in front of one where no kernel moves many.
    Where a type is not found, as behind another name, the compiler refuses what this
    gives.
    """
    if not any(map(moves_many_vectors, split(source))):
        return source
    types = frozenset(_IN_MEMORY.findall(source))
    lanes = frozenset(_CALL.findall(source))
    return f"{_functions(types, lanes)}#line 1\n{source}"


def moves_many_vectors(kernel: str) -> bool:
    """Whether a source of one kernel has so many calls that their functions pay."""
    return len(_CALL.findall(kernel)) >= _WORTH_IT


@cache
def _functions(types: frozenset[str], lanes: frozenset[str]) -> str:
    """The functions for all these types and numbers of lanes."""
    parts: list[str] = []
    for name, count in product(sorted(types), sorted(lanes)):
        parts.append(_TYPE.format(T=name, N=count, B=_BYTES[name]))
        parts += [_FUNCTIONS.format(T=name, N=count, S=space) for space in _SPACES]
    parts += [_NAMES.format(N=count) for count in sorted(lanes)]
    return "".join(parts)
