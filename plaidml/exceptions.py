"""The exceptions of PlaidML's C library, by its names.

What goes wrong here is a `PlaidMLError`, which is `gingham.GinghamError`. The others
are its subclasses, for programs that raise or catch them.
"""

from ..errors import GinghamError as PlaidMLError

__all__ = [
    "Aborted",
    "AlreadyExists",
    "Cancelled",
    "DataLoss",
    "DeadlineExceeded",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "PlaidMLError",
    "ResourceExhausted",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Unknown",
]


class Cancelled(PlaidMLError):
    """What was asked for was cancelled."""


class Unknown(PlaidMLError):
    """Something else went wrong."""


class InvalidArgument(PlaidMLError):
    """An argument has no meaning."""


class DeadlineExceeded(PlaidMLError):
    """It took too long."""


class NotFound(PlaidMLError):
    """What was asked for is not there."""


class AlreadyExists(PlaidMLError):
    """What was to be made is there."""


class PermissionDenied(PlaidMLError):
    """The caller may not do that."""


class ResourceExhausted(PlaidMLError):
    """There is no more memory, or of something else."""


class FailedPrecondition(PlaidMLError):
    """Something else has to be done before."""


class Aborted(PlaidMLError):
    """What was asked for was given up."""


class OutOfRange(PlaidMLError):
    """An argument is outside of what is accepted."""


class Unimplemented(PlaidMLError):
    """What was asked for does not exist."""


class Internal(PlaidMLError):
    """Something is wrong in the library itself."""


class Unavailable(PlaidMLError):
    """What is needed cannot be used now."""


class DataLoss(PlaidMLError):
    """Data that is needed is lost."""


class Unauthenticated(PlaidMLError):
    """Nobody knows who the caller is."""
