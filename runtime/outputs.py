"""Arrays that a caller gives for results: `f(A, B, out=C)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from ..errors import GinghamError
from .arrays.array import Array as DeviceArray
from .expected_type import check_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..targets.backend import ArrayType
    from .device import Device

    Array = NDArray[Any]


def output_arrays(
    names: Sequence[str],
    types: Sequence[ArrayType] | None,
    out: Any,
    inputs: Sequence[Array],
) -> list[Array | None]:
    """The array for each result, None where the caller wants a new one.

    `out` is an array or None, or a sequence of them with one for each result. Raises
    GinghamError for one that a result can not be written to in place: of another shape
    or type, not contiguous, not writable, or in memory that an input or another result
    has too.
    """
    targets = given_targets(out)
    if len(targets) != len(names):
        raise _wrong_count(names, len(targets))
    for number, target in enumerate(targets):
        if target is None:
            continue
        what = f"'out' for result '{names[number]}'"
        _check_layout(what, target)
        if types is not None:
            check_type(what, target, types[number])
        check_overlap(what, target, inputs, "an input")
        check_overlap(what, target, targets[:number], "another result")
    return targets


def output_targets(
    names: Sequence[str],
    types: Sequence[ArrayType] | None,
    out: Any,
    inputs: Sequence[DeviceArray],
    device: Device | None,
) -> list[DeviceArray | None]:
    """As `output_arrays`, for results that are arrays of a device; None is any."""
    targets = given_targets(out)
    if len(targets) != len(names):
        raise _wrong_count(names, len(targets))
    found: list[DeviceArray | None] = []
    for number, target in enumerate(targets):
        what = f"'out' for result '{names[number]}'"
        if target is None:
            found.append(None)
            continue
        if not isinstance(target, DeviceArray):
            raise GinghamError(
                f"{what}: expected a gingham.Array, got {type(target).__name__}",
                hint="a call with arrays of a device returns before results are there",
            )
        target.check()
        if device is not None and target.device is not device:
            raise GinghamError(
                f"{what} is on {target.device.name}, the program runs on {device.name}"
            )
        if target.host is not None and not target.host.flags.writeable:
            raise GinghamError(f"{what} is read-only")
        if types is not None:
            check_type(what, target, types[number])
        _check_memory(what, target, inputs, "an input")
        _check_memory(what, target, found, "another result")
        found.append(target)
    return found


def _check_memory(
    what: str,
    target: DeviceArray,
    others: Sequence[DeviceArray | None],
    name: str,
) -> None:
    for other in others:
        if other is None:
            continue
        if other.memory is target.memory:
            raise _shared(what, name)
        if target.host is not None:
            check_overlap(what, target.host, [other.host], name)


def _wrong_count(names: Sequence[str], count: int) -> GinghamError:
    return GinghamError(
        f"the program has {len(names)} result(s) ({', '.join(names)}), 'out' has "
        f"{count}",
        hint="give a tuple with an array or None for each",
    )


def given_targets(out: Any) -> list[Any]:
    """What a caller gives as `out`, for each result: an array or a sequence of them."""
    return list(cast("Sequence[Any]", out)) if isinstance(out, tuple | list) else [out]


def _check_layout(what: str, target: object) -> None:
    import numpy as np

    if not isinstance(target, np.ndarray):
        raise GinghamError(
            f"{what}: expected a NumPy array, got {type(target).__name__}"
        )
    flags = target.flags
    if not flags.writeable:
        raise GinghamError(f"{what} is read-only")
    if not flags.c_contiguous:
        raise GinghamError(
            f"{what} is not contiguous: strides {target.strides} of shape "
            f"{target.shape}",
            hint="rows must lie one behind the other, as numpy.empty makes them",
        )
    if not flags.aligned:
        raise GinghamError(f"{what} is not aligned to its elements")


def check_overlap(
    what: str, target: Array, others: Sequence[Array | None], name: str
) -> None:
    """Refuse an array that shares memory with one of others, which `name` says."""
    import numpy as np

    for other in others:
        if other is None or not np.may_share_memory(target, other):
            continue
        # What was asked before takes bounds only, and is fast.
        if np.shares_memory(target, other):
            raise _shared(what, name)


def _shared(what: str, name: str) -> GinghamError:
    return GinghamError(
        f"{what} shares memory with {name}",
        hint="a result is written while inputs are read; use another array",
    )
