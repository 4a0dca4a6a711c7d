"""Vector stores past the caches, in OpenCL C.

The language has no such store, but the compilers of CPU runtimes, which come from
Clang, have a builtin function. It wants whole vectors at their own alignment, which an
array of the caller's need not have.
"""

from __future__ import annotations

from ...printer.types import CType

_STREAM = """\
void vstore_stream_{T}({T} x, __global {S} *p) {{
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
  if (((size_t)p & (sizeof({T}) - 1)) == 0) {{
    __builtin_nontemporal_store(x, (__global {T} *)p);
    return;
  }}
#endif
#endif
  vstore{N}(x, 0, p);
}}
"""


def can_stream(type: CType) -> bool:
    """Whether vectors can go past the caches; of three lanes four would be written."""
    return type.mask_bits is None and type.lanes != 3


def stream_helper(type: CType) -> str:
    """The definition of the function that stores a vector past the caches."""
    return _STREAM.format(T=type.name, S=type.scalar, N=type.lanes)
