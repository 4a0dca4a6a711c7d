"""`stripe-recall`: take decisions about nests from measurements.

Looks up every top-level block in a file of records that `tile-tune` has measured, and
gives its leaves the schedules that were fastest. Later passes that decide leave these
as they are. Blocks that were not measured on this target, or for which nothing was
faster than what the model chooses, are left alone.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 64, %k : 32] ... { ... }
```

After:

```mlir
stripe.block "C" [%i : 64, %j : 64, %k : 32] ...
    attributes {stripe.schedule = #stripe.schedule<
      tile [8, 32, 32],
      because "measured: 0.02 ms, 1.34 times as fast as the model's choice">} { ... }
```

A block is found by its key, which is that of all blocks with the same indices, windows,
statements and earlier decisions; names do not count. See `unit` and `database` beside
this file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .....dialects.stripe.block import BlockOp
from .....errors import warn
from ...analysis.nests import top_level_blocks
from .database import Database, DatabaseError, Record
from .unit import decide, key_of, leaves_of, unit_of

WORTH = 1.03
"""How many times as fast as the model's choice a decision has to be to be recalled:
less is within what two measurements of the same differ by."""


class RecordsWarning(UserWarning):
    """A file of records can not be read, so that the model decides alone."""


@dataclass(frozen=True)
class StripeRecallPass(ModulePass):
    """Take decisions about nests from measurements."""

    name = "stripe-recall"

    records: str = ""
    """The file of the records; without one nothing is recalled."""
    target: str = ""
    """What the measurements have to be from: device, driver, vectors."""
    compiler: str = ""
    """The version of the compiler that they have to be from."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write measured decisions on blocks that records know.

        Records that cannot be read are a warning.
        """
        if not self.records:
            return
        database = Database(self.records)
        try:
            units = database.units(self.target, self.compiler)
            for block in [*top_level_blocks(op)] if units else []:
                self._recall(block, database, units)
        except (DatabaseError, OSError) as error:
            warn(f"{error}", RecordsWarning)

    def _recall(self, block: BlockOp, database: Database, units: set[str]) -> None:
        """Give the leaves of a block what was fastest for it, if it was measured."""
        unit = unit_of(block)
        key = "" if unit is None else key_of(unit)
        if key not in units:
            return
        found = database.records(unit=key, target=self.target, compiler=self.compiler)
        best = best_of(found)
        for number, leaf in enumerate(leaves_of(block)):
            record = best.get((key, number))
            if record is not None:
                _recall(leaf, record)


def best_of(records: Iterable[Record]) -> dict[tuple[str, int], Record]:
    """The fastest record of each leaf that is worth more than the model's choice."""
    best: dict[tuple[str, int], Record] = {}
    for record in records:
        place = record.unit, record.leaf
        if record.speedup >= WORTH and (
            place not in best or record.speedup > best[place].speedup
        ):
            best[place] = record
    return best


def _recall(leaf: BlockOp, record: Record) -> None:
    reason = (
        f"measured: {1e3 * (record.seconds or 0):.3g} ms, {record.speedup:.2f} times "
        "as fast as the model's choice"
    )
    try:
        decide(leaf, record.schedule, reason)
    except ValueError as error:
        warn(f"cannot use a schedule that was measured: {error}", RecordsWarning)
