"""What an OpenCL error means to a user: status codes in words, as `GinghamError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import GinghamError

if TYPE_CHECKING:
    import pyopencl as cl

# Status codes of the OpenCL specification, appendix "Return Codes", in a user's words.
_MEANINGS = {
    -2: "the device is not available",
    -4: "the device could not allocate the memory",
    -5: "the device is out of resources (registers, local memory or stack)",
    -6: "the host is out of memory",
    -14: "a command that it waited for had failed",
    -11: "the source does not compile",
    -52: "a kernel argument has not been set",
    -53: "the number of dimensions is not supported",
    -54: "the work-group size is not possible for this kernel on this device",
    -55: "a dimension of the work-group is larger than the device allows",
    -61: "the device does not allow a buffer of this size",
    -63: "the global size is not possible",
    -1001: "no OpenCL platform was found",
}


def meaning(code: int) -> str:
    """A status code's name in OpenCL, and words for it: `OUT_OF_RESOURCES: ...`."""
    import pyopencl as cl

    try:
        name = cl.status_code.to_string(code)
    except ValueError:
        name = f"status {code}"
    words = _MEANINGS.get(code)
    return f"{name}: {words}" if words is not None else name


def as_gingham_error(
    action: str, error: cl.Error, hint: str | None = None
) -> GinghamError:
    """`error` as a `GinghamError` that says which `action` failed."""
    return error_of(action, error.code, hint)


def error_of(action: str, code: int, hint: str | None = None) -> GinghamError:
    """As `as_gingham_error`, for a status code."""
    return GinghamError(f"{action} failed: {meaning(code)}", hint=hint)
