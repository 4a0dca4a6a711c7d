"""Copies from global to local memory while the work-item goes on, in OpenCL C.

NVIDIA's GPUs have an instruction for them (Ampere and later), which OpenCL C has no
name for; elsewhere they are made at once. Of 16 bytes, they leave the nearest cache
alone.
"""

from __future__ import annotations

from ...printer.types import CType

ASYNCHRONOUS = """\
#ifdef __NV_CL_C_VERSION
#define copy_asynchronously(KIND, BYTES, LANES, to, from) \\
  asm volatile("cp.async." #KIND ".shared.global [%0], [%1], " #BYTES ";" \\
               :: "r"((uint)(size_t)(to)), "l"(from) : "memory")
#define barrier_behind_copies(fence) \\
  asm volatile("cp.async.wait_all;" ::: "memory"); barrier(fence)
#else
#define copy_asynchronously(KIND, BYTES, LANES, to, from) COPY_##LANES(to, from)
#define COPY_1(to, from) (*(to) = *(from))
#define COPY_2(to, from) vstore2(vload2(0, from), 0, to)
#define COPY_4(to, from) vstore4(vload4(0, from), 0, to)
#define COPY_8(to, from) vstore8(vload8(0, from), 0, to)
#define COPY_16(to, from) vstore16(vload16(0, from), 0, to)
#define barrier_behind_copies(fence) barrier(fence)
#endif
"""

COPY_OR_ZERO = """\
#ifdef __NV_CL_C_VERSION
#define copy_or_zero(KIND, BYTES, LANES, to, from, is_there) \\
  asm volatile("cp.async." #KIND ".shared.global [%0], [%1], " #BYTES ", %2;" \\
               :: "r"((uint)(size_t)(to)), "l"(from), \\
                  "r"((is_there) ? BYTES : 0) : "memory")
#else
#define copy_or_zero(KIND, BYTES, LANES, to, from, is_there) \\
  if (is_there) \\
    COPY_##LANES(to, from); \\
  else \\
    for (int cell = 0; cell < LANES; ++cell) (to)[cell] = 0
#endif
"""


def copy_asynchronously(
    type: CType, target: str, source: str, condition: str | None = None
) -> str:
    """The statement that begins to copy a value of 4, 8 or 16 bytes.

    Where a condition fails, it sets zeros.
    """
    lanes = type.lanes or 1
    size = type.bits // 8 * lanes
    cache = "cg" if size == 16 else "ca"
    places = f"{cache}, {size}, {lanes}, {target}, {source}"
    if condition is None:
        return f"copy_asynchronously({places});"
    return f"copy_or_zero({places}, {condition});"
