"""How many work-groups a core of a device with lanes runs at once."""

from __future__ import annotations

from .....targets.hardware.description import Hardware


def resident_groups(
    items: int, hardware: Hardware, *, local_bytes: int = 0, registers: int = 0
) -> int:
    """The work-groups of so many items that a core has room for, one at least.

    `local_bytes` are those of a group, `registers` those of an item, 0 where they are
    few.
    """
    figures, lanes = hardware.lanes, hardware.items_at_once
    items = -(-items // lanes) * lanes
    most = min(figures.core_groups, figures.core_items // items)
    if local_bytes:
        most = min(most, figures.core_memory_bytes // local_bytes)
    if registers:
        given = -(-registers // figures.register_unit) * figures.register_unit
        given = min(given, hardware.vector_registers)
        most = min(most, figures.core_registers // (given * items))
    return max(most, 1)
