"""Records as files that `tile-opt` runs again."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...passes.stripe.decide.recall.database import Record


def replay_text(record: Record) -> str:
    """The unit with the decision, and the passes in the first line.

    `tile-opt --run-reproducer` takes it; `-t opencl` prints the kernels.
    """
    from ...passes.stripe.decide.recall.unit import decide, leaves_of, unit_block
    from .lowering import parsed

    unit = parsed(record.ir)
    leaf = leaves_of(unit_block(unit))[record.leaf]
    decide(leaf, record.schedule)
    pipeline = shlex.quote(f"builtin.module({record.passes})")
    return "\n".join(
        [
            f"// configuration: --pass-pipeline={pipeline}",
            f"// {_what(record)}",
            f"// on {record.target}, version {record.compiler}",
            str(unit).rstrip(),
            "",
        ]
    )


def _what(record: Record) -> str:
    """What was measured, on one line."""
    name = " ".join(f"{record.program} {record.block}".split())
    if record.seconds is None:
        return f"{name}: {record.status}"
    return (
        f"{name}: {1e3 * record.seconds:.4g} ms, {record.speedup:.2f} times as fast as "
        f"the model's choice; predicted {1e3 * record.predicted_seconds:.4g} ms"
    )


def replay_name(record: Record) -> str:
    """The name of the file, the same for the same record."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{Path(record.program).stem}-{record.block}")
    name = words.strip("-") or "block"
    return f"{name}-{record.unit[:8]}-{record.leaf}-{record.rank}.mlir"
