"""The settings that there are: one entry for each, here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import Count, Flag, Kind, Level, Name, Place, Size, SizeOrShare, Text


@dataclass(frozen=True)
class Setting:
    """Something that a user may set for all programs.

    `name` is its key in the settings file and its keyword for `gingham.configure`.
    """

    name: str
    kind: Kind
    default: object
    """What holds where nobody sets it; None where that depends on the rest."""
    documentation: str
    """One line."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"GINGHAM_{self.name.upper()}"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "device",
        Text("the name of a device such as 'intel.0'"),
        None,
        "the device of programs that name none (default: the first that works)",
    ),
    Setting(
        "hardware",
        Name("a hardware description: its name or the path of its file"),
        None,
        "what programs are compiled by (default: what the device tells of itself)",
    ),
    Setting(
        "cache",
        Place(("on", "off"), "the path of a folder"),
        "on",
        "where compiled programs are kept on disk; on is the user's own cache folder",
    ),
    Setting(
        "cache_size",
        Size(),
        1 << 30,
        "the most that the folder of compiled programs may hold",
    ),
    Setting(
        "records",
        Place(("off",), "the path of a file"),
        None,
        "where measured decisions are (default: a file in the user's folder for data)",
    ),
    Setting(
        "memory_budget",
        SizeOrShare(),
        None,
        "the most memory that programs may use on a device (default: 90% of a device's "
        "own memory, and what is free of the host's)",
    ),
    Setting(
        "program_memory",
        Size(),
        256 << 20,
        "the most memory that compiled programs may take; least recently used go first",
    ),
    Setting(
        "check",
        Flag(),
        False,
        "whether the first results of each program are compared with what they should "
        "be, and kernels that a device's compiler got wrong are refused",
    ),
    Setting(
        "progress",
        Flag(),
        True,
        "whether a terminal shows what takes longer than a second while it lasts",
    ),
    Setting(
        "largest_program",
        Count(),
        1_500_000,
        "the most words of an .mlir text: what is larger is refused",
    ),
    Setting(
        "interpreted_points",
        Count(),
        1 << 30,
        "the most points that the reference interpreter runs for one result",
    ),
    Setting(
        "debug",
        Level(4),
        0,
        "how much is told of what happens: 0 nothing, more with each number up to 4",
    ),
)
"""In the order in which `tile-settings` shows them."""
