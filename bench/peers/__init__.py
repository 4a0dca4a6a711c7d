"""Other ways to compute what the cases say, each in a process of its own.

A peer is a module with a function `prepare(case, inputs)`. It gives a `Prepared`, or
None for what it does not offer. It may need packages that are not installed, or an
interpreter of another environment: see `python -m bench --help`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .prepared import Prepare


@dataclass(frozen=True)
class Peer:
    """A contender: its module, and the environment that is fair to it."""

    name: str
    module: str
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def load(self) -> Prepare:
        """The peer's function. Raises ImportError where its packages are missing."""
        prepare: Prepare = import_module(f"..{self.module}", __name__).prepare
        return prepare


_NO_PAGE_FAULTS = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "MALLOC_TOP_PAD_": "1000000000",
}
"""Lets glibc keep memory: else each large result is paid for by its page faults."""

_NOTHING_MEASURED = {
    "GINGHAM_RECORDS": "off",
    "GINGHAM_CACHE": "off",
    "GINGHAM_SETTINGS": "off",
}
"""Compiles anew, by the model: nothing that a user has tuned, kept or set counts."""

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("gingham", "peers.with_gingham", _NOTHING_MEASURED),
        # Another version, of the environment that `--python gingham-old=PATH` names.
        Peer("gingham-old", "peers.with_gingham", _NOTHING_MEASURED),
        Peer("numpy", "peers.with_numpy", _NO_PAGE_FAULTS),
        Peer("torch", "peers.with_torch", _NO_PAGE_FAULTS),
        Peer("onnxruntime", "peers.with_onnxruntime", _NO_PAGE_FAULTS),
        Peer("jax", "peers.with_jax", {**_NO_PAGE_FAULTS, "JAX_PLATFORMS": "cpu"}),
        Peer(
            "plaidml",
            "peers.with_plaidml",
            {
                "PLAIDML_EXPERIMENTAL": "1",
                "PLAIDML_DEVICE_IDS": "llvm_cpu.0",
                "USE_STRIPE": "1",
            },
        ),
    )
}
"""All contenders; the first is ours."""
