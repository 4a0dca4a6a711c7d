"""What a user may set once for all programs: by a variable, in a file, or in Python.

The lowest layer but errors, so that all others may ask; `gingham.runtime.settings` is
the way in from outside. `table` says which settings there are, `kinds` what values they
take, `sources` where a value comes from.
"""

from .kinds import Share
from .sources import Found, configure, find, settings_path, unknown_variables
from .table import SETTINGS, Setting

__all__ = [
    "SETTINGS",
    "Found",
    "Setting",
    "Share",
    "configure",
    "find",
    "settings_path",
    "unknown_variables",
]
