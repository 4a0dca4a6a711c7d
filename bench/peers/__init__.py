"""Other ways to compute what the cases say, each in a process of its own.

A peer is a module with a function `prepare(case, inputs)`. It gives a `Prepared`, or
None for what it does not offer. One that computes on GPUs has `prepare_on_device`, too,
for inputs that are to lie in the device's memory, and `open_device`. It may need
packages that are not installed, or an interpreter of another environment: see
`python -m bench --help`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .prepared import Prepare

Place: TypeAlias = Literal["host", "device"]
"""Whose memory inputs and results are in."""

_FUNCTIONS: dict[Place, str] = {"host": "prepare", "device": "prepare_on_device"}


@dataclass(frozen=True)
class Peer:
    """A contender: its module, and the environment that is fair to it."""

    name: str
    module: str
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def load(self, place: Place) -> Prepare:
        """The peer's function for arrays that lie there.

        Raises ImportError where its packages are missing, and LookupError where it has
        none.
        """
        module = import_module(f"..{self.module}", __name__)
        prepare: Prepare | None = getattr(module, _FUNCTIONS[place], None)
        if prepare is None:
            raise LookupError(f"{self.name} is not compared on devices")
        return prepare

    def open(self, place: Place) -> None:
        """Get ready, so that the first case does not pay for it; see `load`."""
        self.load(place)
        if place == "device":
            import_module(f"..{self.module}", __name__).open_device()


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
        Peer("inductor", "peers.with_inductor", _NO_PAGE_FAULTS),
        Peer("triton", "peers.with_triton", _NO_PAGE_FAULTS),
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
