"""Decisions as attributes, and the figures behind them in words."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute

from .....dialects.stripe.staging import ORDER_ATTRIBUTE, STAGE_ATTRIBUTE, StagingAttr
from .....dialects.stripe.tiling import REASON_ATTRIBUTE, TILE_ATTRIBUTE
from .....dialects.syntax import integer_arrays
from .....targets.hardware.description import Hardware
from ...analysis.nest import Nest
from .search import Scored


def attributes_of(nest: Nest, reason: str | None = None) -> dict[str, Attribute]:
    """The attributes that make `stripe-tile` and `stripe-stage` build a nest."""
    found: dict[str, Attribute] = {TILE_ATTRIBUTE: integer_arrays(nest.levels)}
    if nest.orders:
        found[ORDER_ATTRIBUTE] = integer_arrays(nest.orders)
    if nest.stages:
        found[STAGE_ATTRIBUTE] = ArrayAttr([StagingAttr(s) for s in nest.stages])
    if reason is not None:
        found[REASON_ATTRIBUTE] = StringAttr(reason)
    return found


def describe(scored: Scored, hardware: Hardware) -> str:
    """The predicted time, the parts that matter and what was left out, in words."""
    estimate = scored.estimate
    largest = sorted(estimate.breakdown.items(), key=lambda part: -part[1])
    shown = [
        f"{name} {duration(seconds)}"
        for name, seconds in largest
        if seconds >= 0.02 * estimate.seconds
    ]
    used, registers = estimate.tile.registers, hardware.vector_registers
    return (
        f"{duration(estimate.seconds)}: {', '.join(shown)}; "
        f"{used} of {registers} registers, limited by {estimate.tile.limit}"
        + (f"; {scored.remark}" if scored.remark else "")
    )


def duration(seconds: float) -> str:
    """A time for people: `4.1 ms`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
