"""The names of what a module defines: functions, kernels."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.traits import SymbolOpInterface


class Symbols:
    """Hands out names that no symbol of a module has."""

    def __init__(self, module: ModuleOp) -> None:
        self._taken = {
            name.data
            for op in module.ops
            if (symbol := op.get_trait(SymbolOpInterface)) is not None
            and (name := symbol.get_sym_attr_name(op)) is not None
        }

    def unique(self, base: str) -> str:
        """A name, with a number behind it where it is taken."""
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name
