"""Identifiers of OpenCL C, and of C, made from the names of a program.

A program may call its tensors what it likes: `float`, `get_group_id`, `M_PI`, `A'`.
What is printed are identifiers that mean nothing to any OpenCL compiler, and unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Words that are keywords, types, macros or functions of OpenCL C, of C or of compilers'
# own headers, beyond those that `_PATTERNS` covers.
_WORDS = frozenset(
    """
    and asm auto bitand bitor bool break case catch class compl complex const constant
    constexpr continue decltype default delete do double else enum explicit export
    extern false final float for friend generic global goto half if image imaginary
    inline int kernel local long main mutable namespace new noexcept not nullptr
    operator or override packed pipe private protected ptrdiff public quad read_only
    read_write register restrict return sampler short signed sizeof static struct switch
    template this throw true try typedef typename typeof union unsigned using vec_step
    virtual void volatile while write_only xor char uchar ushort uint ulong bfloat

    abs abs_diff acos acosh acospi add_sat all any asin asinh asinpi atan atan2 atan2pi
    atanh atanpi barrier bitselect cbrt ceil clamp clz copysign cos cosh cospi cross ctz
    degrees distance divide dot erf erfc exp exp10 exp2 expm1 fabs fast_distance
    fast_length fast_normalize fdim floor fma fmax fmin fmod fract frexp hadd hypot
    ilogb isequal isfinite isgreater isgreaterequal isinf isless islessequal
    islessgreater isnan isnormal isnotequal isordered isunordered ldexp length lgamma
    lgamma_r log log10 log1p log2 logb mad mad24 mad_hi mad_sat max maxmag mem_fence min
    minmag mix modf mul24 mul_hi nan nextafter ndrange normalize popcount pow pown powr
    prefetch printf radians remainder remquo rhadd rint rootn rotate round rsqrt select
    shuffle shuffle2 sign signbit sin sincos sinh sinpi smoothstep sqrt step sub_sat tan
    tanh tanpi tgamma trunc upsample wait_group_events

    HUGE_VAL HUGE_VALF INFINITY MAXFLOAT NAN NULL EOF TRUE FALSE
    linux unix i386 defined assert likely unlikely
    """.split()
)

_PATTERNS = re.compile(
    r"""(
    (u?(char|short|int|long)|float|double|half|bool|quad|bfloat)\d+(x\d+)?
    | .*_t
    | (cl|CL|CLK|CHAR|SCHAR|UCHAR|SHRT|USHRT|INT|UINT|LONG|ULONG|FLT|DBL|HALF|FP|M)_.*
    | (OPENCL|POCL|INTEL|NV|AMD|SPIR)_.*
    | (intel|nv|arm|amd|pocl|spirv?|ocl|opencl|khr|qcom)_.*
    | (as|async|atom|atomic|convert|enqueue|get|image|memory|native|half|read|bfloat)_.*
    | (sub_group|vload|vstore|work_group|write|commit|is_valid|create|retain|release)_.*
    | lanes_.* # GnuC's own functions
    | (reserve|capture|set|to|mem|ctz|popcount|dot|divide|remainder)_.*
    | vloada?_?.* | vstorea?_?.* | (load|store)_aligned
    )""",
    re.VERBOSE,
)


def is_reserved(name: str) -> bool:
    """Whether an identifier may mean something to a compiler, or to our own helpers."""
    return name in _WORDS or _PATTERNS.fullmatch(name) is not None


def identifier(wish: str | None, default: str) -> str:
    """An identifier of ASCII letters, digits and `_` that is close to a wish.

    It starts with a letter and is not reserved; `default` must be such an identifier.
    """
    text = re.sub(r"[^A-Za-z0-9_]", "_", wish or "")
    text = re.sub(r"_+", "_", text).strip("_")[:64]
    if not text:
        return default
    if text[0].isdigit():
        text = f"{default}_{text}"
    for candidate in (text, f"{text}_", f"v_{text}_"):
        if not is_reserved(candidate):
            return candidate
    raise ValueError(f"every identifier like {text!r} is reserved")


class NameScope:
    """The names in use at a place in a program: its own and those of the scopes around.

    No name hides one of an outer scope.
    """

    def __init__(self, outer: NameScope | None = None, names: Iterable[str] = ()):
        self._outer = outer
        self._names = set(names)
        self._last_numbers: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._names or (self._outer is not None and name in self._outer)

    def declare(self, wish: str | None, default: str) -> str:
        """A new name for a variable that the program calls `wish`."""
        base = identifier(wish, default)
        name, number = base, self._last_numbers.get(base, 0)
        stem = base.rstrip("_")
        # `set` is free, but whatever begins with `set_` is reserved.
        if is_reserved(f"{stem}_1"):
            stem = f"v_{stem}"
        # Smaller numbers are taken, so that many variables of one name take no longer.
        while name in self or is_reserved(name):
            number += 1
            name = f"{stem}_{number}"
        self._last_numbers[base] = number
        self._names.add(name)
        return name


def comment_text(text: str) -> str:
    """Text that is safe after `//`: on one line, and without what a compiler reads."""
    return re.sub(r"[^A-Za-z0-9_.,:+/<> -]", "_", text)
