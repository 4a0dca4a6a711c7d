"""What stock `xdsl-opt` learns from us; the entry point `xdsl.universe` names it."""

from __future__ import annotations

from xdsl.universe import Universe

from .dialects import get_all_dialects
from .passes import get_all_passes

UNIVERSE = Universe(all_dialects=get_all_dialects(), all_passes=get_all_passes())
"""Our dialects and passes; each is imported when it is used."""
