"""The folders of a user that are Gingham's, by the operating system's conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def user_folder(kind: Literal["cache", "config", "data"]) -> Path | None:
    """The user's own folder for Gingham, which may not be there yet.

    None for a user without a home: a relative path would be another folder wherever a
    program starts.
    """
    import platformdirs

    find = {
        "cache": platformdirs.user_cache_path,
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
    }[kind]
    try:
        folder = find("gingham", appauthor=False)
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None
