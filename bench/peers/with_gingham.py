"""Gingham, on the device that GINGHAM_DEVICE names or its default."""

from __future__ import annotations

import gingham

from ..cases import Case
from .prepared import Inputs, Prepared, arrays_of


def prepare(case: Case, inputs: Inputs) -> Prepared:
    """Compile the Tile program; results that nobody holds are written into again."""
    function = gingham.compile(case.program, constants=case.constants)
    arguments = list(inputs.values())
    return Prepared(
        lambda: function(*arguments), lambda: arrays_of(function(*arguments))
    )
