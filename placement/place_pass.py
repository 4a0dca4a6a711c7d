"""`tile-place`: decide which device each operation runs on.

With `tile-place{machine="host.json"}`

```mlir
%A = tile.contract add over [i : 512, j : 512 | k : 512] %X[i, k] * %U[k, j] -> ...
%R = eltwise.tanh %A : tensor<512x512xf32>
%B = tile.contract add over [i : 512, j : 512 | k : 512] %X[i, k] * %V[k, j] -> ...
%Y = eltwise.add %R, %B : tensor<512x512xf32>
```

becomes

```mlir
%A = tile.contract ... {tile.device = "intel.0",
         tile.device_reason = "170 us here (predicted); ..."}
%R = eltwise.tanh %A {tile.device = "intel.0"} : tensor<512x512xf32>
%B = tile.contract ... {tile.device = "nvidia.0",
         tile.device_reason = "44 us here (predicted); ..."}
%Y = eltwise.add %R, %B {tile.device = "nvidia.0"} : tensor<512x512xf32>
```

The machine is a file of figures of devices and the links between them: see
docs/placement.md, which has the method, too. What is placed together are units: a
contraction with what is element-wise after it, the chain of a softmax. The placement is
the one with which the last result is predicted to be there first, transfers and the
memory of devices counted. The reason is on the first operation of a unit. An operation
that has `tile.device` before keeps it, and so does its unit. Constants have no device.

The function must be specialized and flattened. Nothing runs it on these devices by this
pass alone: the attributes are what the runtime goes by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passes.locations import error_at

if TYPE_CHECKING:
    from ..targets.hardware.machine import Machine


@dataclass(frozen=True)
class TilePlacePass(ModulePass):
    """Set `tile.device` on every operation of the entry function."""

    name = "tile-place"

    machine: str
    """The path of the file that describes the devices and links."""
    devices: tuple[str, ...] = ()
    """Names of those devices of it that may be used; without any, all."""
    inputs: tuple[str, ...] = ()
    """Where inputs are that are not on the host: "A=intel.0"."""
    results: tuple[str, ...] = ()
    """Where results have to be in the end, if not on the host: "C=intel.0", or
    "C=anywhere"."""
    entry: str = "main"
    """The function to be placed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide, and name each operation's device on it.

        Raises GinghamError for a machine file with mistakes, and where no placement
        exists.
        """
        from ..targets.hardware.machine_file import load_machine

        place(op, load_machine(self.machine), self)


def place(module: ModuleOp, machine: Machine, options: TilePlacePass) -> None:
    """What the pass does, with a machine that is at hand."""
    from .build import Residency
    from .decide import decide, task_graph_of

    inputs: dict[str, str | tuple[str, ...]] = {}
    for name, where in _assignments(module, options.inputs, "inputs"):
        known = inputs.get(name, ())
        inputs[name] = (*((known,) if isinstance(known, str) else known), where)
    results = dict(_assignments(module, options.results, "results"))
    program = task_graph_of(module, options.entry)
    chosen = machine.restricted(options.devices) if options.devices else machine
    decide(program, chosen, Residency(inputs, results)).write()


def _assignments(
    module: ModuleOp, texts: tuple[str, ...], option: str
) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, equals, where = text.partition("=")
        if not (name and equals and where):
            raise error_at(
                module,
                f"{option}: expected a name and a place, as in A=intel.0, got '{text}'",
            )
        pairs.append((name, where))
    return pairs
