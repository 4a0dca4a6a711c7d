"""The operands of operations, as passes and verifiers ask for them again and again."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from xdsl.ir import Operation, SSAValue

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""The operands of an operation as they are now.

`Operation.operands` makes an object for each look at them, through which they can be
changed: that takes five times as long.
"""
