"""Vectors at multiples of their own size, in OpenCL C.

`vload4` is for any alignment of an element. Most devices load four elements at once all
the same; NVIDIA's compiler does so only where a pointer to vectors says that it may.
Elsewhere an array of the caller's may lie at any element.
"""

from __future__ import annotations

from ....dialects.stripe.attributes import MemorySpace
from ...printer.types import CType

ALIGNED = """\
#ifdef __NV_CL_C_VERSION
#define load_aligned(N, T, p) (*(const T *)(p))
#define store_aligned(N, T, x, p) (*(T *)(p) = (x))
#else
#define load_aligned(N, T, p) vload##N(0, p)
#define store_aligned(N, T, x, p) vstore##N(x, 0, p)
#endif
"""


def can_align(type: CType) -> bool:
    """Whether vectors lie in memory as they are; of three lanes there are four."""
    return type.mask_bits is None and type.lanes != 3


def load_aligned(type: CType, space: MemorySpace, position: str) -> str:
    """A vector that is read."""
    return f"load_aligned({type.lanes}, {_name(type, space)}, {position})"


def store_aligned(value: str, type: CType, space: MemorySpace, position: str) -> str:
    """The statement that writes a vector."""
    return f"store_aligned({type.lanes}, {_name(type, space)}, {value}, {position});"


def _name(type: CType, space: MemorySpace) -> str:
    return f"__{space.value} {type.name}"
