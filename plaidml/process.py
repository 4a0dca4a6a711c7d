"""Settings of the process: the type of numbers, backtraces, counters, and logging."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from ..frontend.edsl.dtypes import DType
from .dtypes import DTYPE_INFOS, convert_np_dtype_to_pml

LOGGER = logging.getLogger("plaidml")
"""Where functions are logged while backtraces are enabled."""

DEFAULT_LOG_HANDLER = logging.StreamHandler()
"""What shows the log, until a program removes it from the logger `plaidml`."""

DEFAULT_LOG_HANDLER.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
LOGGER.addHandler(DEFAULT_LOG_HANDLER)
LOGGER.setLevel(logging.INFO)


@dataclass
class _Process:
    floatx: DType = DType.FLOAT32
    has_backtraces: bool = False
    counters: dict[str, int] = field(default_factory=dict[str, int])


_PROCESS = _Process()


def floatx() -> DType:
    """The element type of a number with a point that is bound to an input."""
    return _PROCESS.floatx


def set_floatx(dtype: DType | str) -> None:
    """Choose `floatx()`: FLOAT16, BFLOAT16, FLOAT32 or FLOAT64.

    Raises ValueError for any other type.
    """
    chosen = convert_np_dtype_to_pml(dtype)
    if DTYPE_INFOS[chosen].base not in ("float", "bfloat"):
        raise ValueError(f"expected a type of numbers with a point, got {chosen.name}")
    _PROCESS.floatx = chosen


def quiet() -> None:
    """Log warnings and errors only."""
    LOGGER.setLevel(logging.WARNING)


def set_verbosity(level: int) -> None:
    """Log everything for a level above 0; 0 changes nothing."""
    if level:
        LOGGER.setLevel(logging.DEBUG)


def set_backtrace(enable: bool) -> None:
    """Choose whether functions and operations remember the calls that made them.

    What is remembered is their `backtrace`, and is logged to the logger `plaidml`.
    """
    _PROCESS.has_backtraces = bool(enable)


def is_backtrace_enabled() -> bool:
    """Whether functions and operations remember the calls that made them."""
    return _PROCESS.has_backtraces


def get_perf_counter(name: str) -> int:
    """A counter of the process by its name; 0 before it was set."""
    return _PROCESS.counters.get(name, 0)


def set_perf_counter(name: str, value: int) -> None:
    """Set a counter of the process."""
    _PROCESS.counters[name] = int(value)
