"""Hints that memory is read soon, in OpenCL C.

`prefetch` of the language is a call that does nothing on Intel's CPU runtime, and takes
its time. The compilers of CPU runtimes, which come from Clang, have a builtin function.
It takes a pointer of no address space, which only a number turns into: that of a
processor's one memory.
"""

from __future__ import annotations

_FETCH = """\
void fetch_{S}(__global const {S} *p) {{
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
  __builtin_prefetch((const void *)(size_t)p, 0, 2);
#endif
#endif
}}
"""


def fetch_helper(scalar: str) -> str:
    """The definition of the function that fetches a line into the second cache."""
    return _FETCH.format(S=scalar)
