"""What holds for every test that pytest runs."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Programs are compiled, not found in a cache; what else writes to one stays in this
# checkout.
os.environ["GINGHAM_CACHE"] = "off"
os.environ["XDG_CACHE_HOME"] = str(ROOT / "build" / "cache")

# What the user has measured decides nothing here.
os.environ["GINGHAM_RECORDS"] = "off"
os.environ.pop("GINGHAM_HARDWARE", None)

# Nor does the user's settings file.
os.environ["GINGHAM_SETTINGS"] = "off"

# A loaded machine is slow, not wrong.
settings.register_profile("gingham", settings.default, deadline=None)
settings.load_profile("gingham")
