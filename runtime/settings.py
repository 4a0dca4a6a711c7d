"""What a user may set once for all programs, and which value holds.

`setting("device")` is the value of the first of these that gives one: the environment
variable `GINGHAM_DEVICE`, the key `device` of the settings file, what the program has
said by `gingham.configure(device=...)`, the default. An argument of a call, such as
`device=` of `gingham.compile`, is asked before all of them. `docs/settings.md` has the
list.
"""

from __future__ import annotations

from typing import Any

# Named again, as they are part of what this module offers.
from ..settings import SETTINGS as SETTINGS
from ..settings import Found as Found
from ..settings import Setting as Setting
from ..settings import Share as Share
from ..settings import configure as configure
from ..settings import find as find
from ..settings import settings_path as settings_path
from ..settings import unknown_variables as unknown_variables


def setting(name: str) -> Any:
    """The value that holds for a setting.

    Raises GinghamError for a name that is none, and where the environment variable or
    the settings file is wrong, located in the file.
    """
    return find(name).value
