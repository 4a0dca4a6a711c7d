"""The dialects, by name; each is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.context import Context
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


def make_context() -> Context:
    """A context that knows all dialects, and the builtin ones that ours are in."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context
