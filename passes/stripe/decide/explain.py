"""What the compiler decided about a program, and the figures behind each decision.

An `Explainer` watches a pipeline: it is shown the module before each pass, and notes
which buffers got another order of axes, what `stripe-plan-fusion` has put together and
why, for each block that `stripe-autotile` decides about the nests that the cost model
predicts to be fastest, with the parts of their times, what indices became on the
device, and which launches `opencl-plan-joins` runs as one. The result is an
`Explanation`: a table for people, JSON for programs. The units are seconds in JSON and
as shown in the table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ....dialects.opencl.effects import argument_uses
from ....dialects.opencl.joining import JOIN_ATTRIBUTE, JOIN_REASON_ATTRIBUTE
from ....dialects.opencl.kernel import KernelOp, LaunchOp
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.fusion import Alone, Epilogue, Fusion
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.schedule import schedule_of
from ....dialects.stripe.scheduled import done_with
from ...locations import source_location
from ...walking import operations
from ..analysis.nests import (
    all_blocks,
    is_leaf,
    is_top_level,
    root_buffer,
    top_level_blocks,
)
from ..analysis.schedules import has_tiles
from .autotile import StripeAutotilePass
from .candidate import Candidate
from .candidates import candidates
from .explanation import (
    ExplainedBinding,
    ExplainedBlock,
    ExplainedFusion,
    ExplainedLaunch,
    ExplainedLayout,
    ExplainedNest,
    Explanation,
)


class Explainer:
    """Collects an explanation: call `before` with each pass that is about to run."""

    def __init__(self, count: int = 10) -> None:
        self.explanation = Explanation()
        self._count = count
        self._names: dict[str, str] = {}
        """What blocks were called before they became parts of nests, by lower case."""

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Note what there is to say before a pass runs."""
        if module_pass.name == "stripe-permute-axes":
            self.explanation.layouts += _layouts(module)
        if module_pass.name == "stripe-fuse-nests":
            self.explanation.fusions += _fusions(module)
            names = [_own_name(block) for block in all_blocks(module)]
            self._names |= {name.lower(): name for name in names}
        if module_pass.name == "lower-stripe-to-opencl":
            for block in top_level_blocks(module):
                self.explanation.bindings += _bindings(block, self._name(block))
        if module_pass.name == "opencl-join-launches":
            self.explanation.launches += _launches(module)
        if isinstance(module_pass, StripeAutotilePass):
            self._tiles(module_pass, module)

    def _tiles(self, autotile: StripeAutotilePass, module: ModuleOp) -> None:
        hardware = autotile.described_hardware()
        for block in all_blocks(module):
            if not is_leaf(block):
                continue
            figures = hardware if hardware.has_vectors else autotile.figures
            found = candidates(block, figures, self._count)
            decided = autotile.decision(block, hardware)
            schedule = schedule_of(block).completed_by(decided)
            is_epilogue = schedule.part(Epilogue) is not None
            is_whole = not schedule and not is_top_level(block)
            if not schedule.levels and not is_epilogue and not is_whole:
                continue
            nests = [] if has_tiles(block) or is_epilogue or is_whole else found
            self.explanation.blocks.append(
                ExplainedBlock(
                    self._name(block),
                    _place(block),
                    _indices(block),
                    str(schedule.unexplained()),
                    schedule.reason or ("all of it at once" if is_whole else "given"),
                    {str(part): part.reason for part in schedule if part.reason},
                    tuple(map(_nest, nests)),
                )
            )

    def _name(self, block: BlockOp) -> str:
        """What a block is called, by what it writes if a nest has taken its name."""
        if name := _own_name(block):
            return name
        for number, refinement in enumerate(block.refinement_list):
            if not refinement.direction.writes:
                continue
            window = _stem(block.view(number))
            if window in self._names:
                return self._names[window]
            return root_buffer(block.view(number)).name_hint or ""
        return ""


def _own_name(block: BlockOp) -> str:
    """The name that stands on a block, or nothing."""
    return "" if block.block_name is None else block.block_name.data


def _stem(value: SSAValue) -> str:
    """The name of a value without the number that tells it from others."""
    return re.sub(r"_\d+$", "", value.name_hint or "")


def _nest(candidate: Candidate) -> ExplainedNest:
    text = str(candidate.schedule.unexplained())
    estimate = candidate.estimate
    return ExplainedNest(estimate.seconds, dict(estimate.breakdown), text)


def _indices(block: BlockOp) -> dict[str, int]:
    names = [
        index.name_hint or f"i{number}" for number, index in enumerate(block.indices)
    ]
    return dict(zip(names, block.index_ranges, strict=True))


def _place(block: BlockOp) -> str:
    location = source_location(block)
    return "" if location is None else f"{location.file}:{location.line}"


def _layouts(module: ModuleOp) -> list[ExplainedLayout]:
    """What `stripe-assign-layouts` has decided, each decision once."""
    found: dict[tuple[tuple[int, ...], str], list[str]] = {}
    for buffer in operations(module):
        if isinstance(buffer, AllocOp) and (layout := buffer.layout) is not None:
            names = found.setdefault((layout.order, layout.reason), [])
            names.append(buffer.view.name_hint or "")
    return [ExplainedLayout(tuple(names), *key) for key, names in found.items()]


def _fusions(module: ModuleOp) -> list[ExplainedFusion]:
    groups: dict[int, list[BlockOp]] = {}
    reasons: dict[int, list[str]] = {}
    alone: list[ExplainedFusion] = []
    for block in all_blocks(module):
        schedule = schedule_of(block)
        if (fusion := schedule.part(Fusion)) is not None:
            groups.setdefault(fusion.group, []).append(block)
            reasons.setdefault(fusion.group, []).append(fusion.reason)
        elif (part := schedule.part(Alone)) is not None:
            alone.append(ExplainedFusion((_own_name(block),), part.reason, False))
    nests = [
        ExplainedFusion(
            tuple(map(_own_name, members)), "; ".join(filter(None, reasons[group]))
        )
        for group, members in groups.items()
    ]
    return [*nests, *alone]


def _bindings(kernel: BlockOp, name: str) -> list[ExplainedBinding]:
    """What indices of a kernel's blocks were bound to, each decision once."""
    found = [
        ExplainedBinding(
            name,
            {
                index: binding.value
                for index, binding in zip(done.indices, done.points.bind, strict=True)
                if binding is not Binding.UNDECIDED
            },
            done.points.reason,
        )
        for block in all_blocks(kernel)
        for done in done_with(block)
        if done.points.reason and len(done.points.bind) == len(done.indices)
    ]
    return [each for number, each in enumerate(found) if each not in found[:number]]


def _launches(module: ModuleOp) -> list[ExplainedLaunch]:
    """What was decided about joining launches."""
    found: list[ExplainedLaunch] = []
    joined: dict[Attribute, list[LaunchOp]] = {}
    launches = [op for op in module.walk() if isinstance(op, LaunchOp)]
    names = _launch_names(module, launches)
    for launch in launches:
        number = launch.attributes.get(JOIN_ATTRIBUTE)
        if number is not None:
            joined.setdefault(number, []).append(launch)
    for launch in launches:
        number = launch.attributes.get(JOIN_ATTRIBUTE)
        reason = launch.attributes.get(JOIN_REASON_ATTRIBUTE)
        if isinstance(reason, StringAttr):
            together = [launch] if number is None else joined[number]
            called = tuple(names[each] for each in together)
            found.append(ExplainedLaunch(called, reason.data, len(together) > 1))
    return found


def _launch_names(
    module: ModuleOp, launches: Sequence[LaunchOp]
) -> dict[LaunchOp, str]:
    """The kernels' names; of a kernel that is launched again, what a launch writes."""
    kernels = {op.sym_name.data: op for op in module.walk() if isinstance(op, KernelOp)}
    counts = Counter(launch.kernel_name for launch in launches)
    names: dict[LaunchOp, str] = {}
    for launch in launches:
        name = launch.kernel_name
        names[launch] = name
        if counts[name] > 1:
            uses = argument_uses(kernels[name])
            pairs = zip(launch.buffers, uses, strict=True)
            written = [buffer.name_hint for buffer, use in pairs if use.writes]
            names[launch] = " and ".join(filter(None, written)) or name
    return names
