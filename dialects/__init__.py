"""The dialects, by name; each is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect

_DIALECTS = {
    "eltwise": "Eltwise",
    "tile": "Tile",
    "stripe": "Stripe",
    "opencl": "OpenCL",
}


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """A factory for each of our dialects, which imports it when called."""

    def factory(name: str, attribute: str) -> Callable[[], Dialect]:
        return lambda: getattr(import_module(f".{name}", __name__), attribute)

    return {name: factory(name, attribute) for name, attribute in _DIALECTS.items()}
