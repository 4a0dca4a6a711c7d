"""Where in a model a node of its graph is from."""

from __future__ import annotations

import re
from typing import Any

from ...errors import SourceLocation

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def place_of(node: Any) -> SourceLocation:
    """The line of the model that a node is from; its name where PyTorch kept none."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return SourceLocation(f"<{node.name}>", 1, 1)
    file, line = frames[-1]
    return SourceLocation(file, int(line), 1)
