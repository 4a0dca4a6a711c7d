"""Placing a module: what the pass, the command and the runtime share."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ..errors import GinghamError
from ..targets.hardware.machine import Machine
from .build import Posed, Residency, TaskGraph, pose
from .explanation import PlacementExplanation, explain, unit_reasons
from .solve import MARGIN, Solution, solve
from .units import DEVICE_ATTRIBUTE, REASON_ATTRIBUTE


@dataclass(frozen=True)
class Decision:
    """Where the units of a program run, with all that this was decided by."""

    posed: Posed
    solution: Solution

    @property
    def devices(self) -> list[str]:
        """For each unit the name of its device."""
        names = self.posed.problem.devices
        return [names[device] for device in self.solution.chosen.placement]

    @property
    def seconds(self) -> float:
        """From the start of a run to its last result, as it is predicted."""
        return self.solution.schedule.seconds

    @property
    def reasons(self) -> list[str]:
        """For each unit why it is where it is, in words."""
        return unit_reasons(self.posed, self.solution)

    def explain(self) -> PlacementExplanation:
        """All figures, and what every alternative would cost."""
        return explain(self.posed, self.solution)

    def write(self) -> None:
        """Set the attributes on the operations; the reason on the first of a unit."""
        units = self.posed.program.units
        for unit, device, reason in zip(units, self.devices, self.reasons, strict=True):
            was_placed = all(DEVICE_ATTRIBUTE in op.attributes for op in unit.ops)
            if was_placed and REASON_ATTRIBUTE in unit.ops[0].attributes:
                continue
            for op in unit.ops:
                op.attributes[DEVICE_ATTRIBUTE] = StringAttr(device)
            unit.ops[0].attributes[REASON_ATTRIBUTE] = StringAttr(reason)


def decide(
    module: ModuleOp | TaskGraph,
    machine: Machine,
    residency: Residency | None = None,
    margin: float = MARGIN,
) -> Decision:
    """Decide where each operation of a specialized and flattened module runs.

    Operations that have a device already keep it. The module is not changed:
    `Decision.write` does that. With a `TaskGraph` in place of the module only the
    figures are looked at again, for the same program with other data or loads.

    Raises GinghamError where no placement is possible, and says why.
    """
    program = module if isinstance(module, TaskGraph) else task_graph_of(module)
    posed = pose(program, machine, residency or Residency())
    return Decision(posed, solve(posed.problem, margin))


def task_graph_of(module: ModuleOp, entry: str = "main") -> TaskGraph:
    """The units of the entry function of a module."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == entry:
            return TaskGraph.of(op)
    raise GinghamError(f"the module has no function @{entry} to be placed")
