"""What holds for every test that pytest runs."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Compiled kernels stay in this checkout, out of the user's own cache.
os.environ["XDG_CACHE_HOME"] = str(ROOT / "build" / "cache")

# What the user has measured decides nothing here.
os.environ["GINGHAM_RECORDS"] = "off"
os.environ.pop("GINGHAM_HARDWARE", None)

# A loaded machine is slow, not wrong.
settings.register_profile("gingham", settings.default, deadline=None)
settings.load_profile("gingham")
