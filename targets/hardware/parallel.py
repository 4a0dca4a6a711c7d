"""The levels of what runs at the same time on a device: rows `[[parallel]]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .positive import require_positive

LevelName = Literal["group", "subgroup", "lane", "vector"]

_FIGURES: dict[LevelName, tuple[str, ...]] = {
    "group": ("memory_bytes", "item_limit"),
    "subgroup": (),
    "lane": ("registers", "access_bits"),
    "vector": ("registers",),
}
"""What is said of each level beside its name and count."""
_INSIDE: dict[LevelName, tuple[LevelName, ...]] = {
    "group": ("subgroup", "lane", "vector"),
    "subgroup": ("lane",),
    "lane": (),
    "vector": (),
}
"""What may be the next level inwards; innermost are those with none."""
_NONE = {"registers": 0, "memory_bytes": 0, "item_limit": 0, "access_bits": 0}


@dataclass(frozen=True)
class Level:
    """One level of what runs at the same time, inside of the one before it."""

    name: LevelName
    """`group`, the outermost: work-groups, on the cores of a CPU or multiprocessors of
    a GPU. Inside are either a `vector`, of one work-item, or a `subgroup` (a warp, a
    wavefront) and in it a `lane`, a work-item of 32 bits."""
    count: int
    """How many run at the same time: groups as there are cores, sub-groups as are worth
    having in a work-group, the lanes of a sub-group; of a vector, its elements of 32
    bits. Lanes and elements are a power of two."""
    registers: int = 0
    """Of a `vector`: those that a work-item may use before values spill to memory; of a
    `lane`: its registers of 32 bits."""
    memory_bytes: int = 0
    """Of a `group`: the local memory that its work-items share."""
    item_limit: int = 0
    """Of a `group`: the most work-items that it may have."""
    access_bits: int = 0
    """Of a `lane`: the most that it loads or stores at once, in bits."""

    def __post_init__(self) -> None:
        if self.name not in _FIGURES:
            names = ", ".join(map(repr, _FIGURES))
            raise ValueError(f"name: expected one of {names}, got '{self.name}'")
        require_positive(self, allowed=_NONE)
        for figure in _NONE:
            is_given = getattr(self, figure) != 0
            if is_given and figure not in _FIGURES[self.name]:
                known = ", ".join(("count", *_FIGURES[self.name]))
                raise ValueError(
                    f"{figure}: a level '{self.name}' has none, only {known}"
                )
            if not is_given and figure in _FIGURES[self.name]:
                raise ValueError(
                    f"{figure}: expected a number above 0 for a level '{self.name}'"
                )
        if self.is_innermost and self.count.bit_count() != 1:
            raise ValueError(f"count: expected a power of two, got {self.count}")

    @property
    def is_innermost(self) -> bool:
        """Whether nothing is inside of such a level."""
        return not _INSIDE[self.name]

    def __str__(self) -> str:
        """`32 lanes`."""
        if self.name == "vector":
            return f"vectors of {self.count}"
        return f"{self.count} {self.name}s"


def check_levels(levels: Sequence[Level]) -> None:
    """Raise ValueError unless each level may be inside of the one before it."""
    wanted: tuple[LevelName, ...] = ("group",)
    around = "the device"
    for level in levels:
        if level.name not in wanted:
            what = " or ".join(map(repr, wanted)) or "nothing"
            raise ValueError(
                f"parallel.{level.name}.name: expected {what} inside of {around}, "
                f"got '{level.name}'"
            )
        wanted, around = _INSIDE[level.name], f"'{level.name}'"
    if wanted:
        what = " or ".join(map(repr, wanted))
        raise ValueError(f"parallel: expected {what} inside of {around}, got nothing")
