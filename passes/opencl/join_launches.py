"""`opencl-join-launches`: run launches that do not depend on each other as one.

Launches with the same number as `opencl.join` become one launch of a kernel whose
work-groups are divided among them.

Before:

```mlir
opencl.kernel @row(%A : ..., %B : ...) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  ...
}
opencl.kernel @tile(%A : ..., %C : ...) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %j = opencl.work_item group_id 1 below 4
  ...
}
func.func @main(...) {
  opencl.launch @row groups [64, 1, 1] (%A, %B) {opencl.join = 0} : ...
  opencl.launch @tile groups [8, 4, 1] (%A, %C) {opencl.join = 0} : ...
}
```

After:

```mlir
opencl.kernel @row_and_tile(%A : ..., %B : ..., %C : ...) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 128
  %place, %part = opencl.delinearize %g into [64, 2]
  opencl.if -%part >= 0 {
    ...
  }
  opencl.if %part - 1 >= 0, -%place + 31 >= 0 {
    %j, %i = opencl.delinearize %place into [4, 8]
    ...
  }
}
func.func @main(...) {
  opencl.launch @row_and_tile groups [128, 1, 1] (%A, %B, %C) : ...
}
```

The parts take turns, so that each core gets some of each. Launches of one kernel share
its code: `opencl.choose` gives it their buffers. Local arrays of different parts are
the same memory, as a group runs one part only. The new launch stands where the first
one stood, with the allocations that it needs.

It is an error when one of the launches depends on another, or on one that runs between
them; when their groups differ in size; when only some run once; and when kernels ask
for the number of a work-item in the whole launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.opencl.joining import JOIN_ATTRIBUTE, JOIN_REASON_ATTRIBUTE
from ...dialects.opencl.kernel import AllocateOp, LaunchOp
from ...dialects.work import Work, work_of
from ..kernel_pass import LaunchPass
from ..locations import error_at, located
from ..symbols import Symbols
from ..walking import operations
from .dependences import effects_of, kernel_uses
from .joined_kernel import JoinedLaunch, build_kernel, group_count
from .modules import host_launches, host_programs, kernels_by_name


@dataclass(frozen=True)
class OpenCLJoinLaunchesPass(LaunchPass):
    """Make one launch of those with the same `opencl.join`."""

    name = "opencl-join-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Join launches as marked, then drop the kernels that nothing launches.

        Raises GinghamError, located, where joined launches depend on each other.
        """
        joiner = _Joiner(op)
        for function in host_programs(op):
            for launches in _joined(function):
                joiner.join(launches)
        joiner.drop_unused()


def _joined(function: FuncOp) -> list[list[LaunchOp]]:
    """The launches that become one, for each of the new ones."""
    found: dict[int, list[LaunchOp]] = {}
    for launch in host_launches(function):
        launch.attributes.pop(JOIN_REASON_ATTRIBUTE, None)
        number = launch.attributes.pop(JOIN_ATTRIBUTE, None)
        if number is None:
            continue
        if not isinstance(number, IntegerAttr):
            raise error_at(
                launch,
                f"expected {JOIN_ATTRIBUTE} to be an integer, got {number}",
                f"{JOIN_ATTRIBUTE} = 0 : i64",
            )
        found.setdefault(number.value.data, []).append(launch)
    return [launches for launches in found.values() if len(launches) > 1]


class _Joiner:
    """Joins launches of one module; where they are alike they share a kernel."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._kernels = kernels_by_name(module)
        self._uses = kernel_uses(self._kernels)
        self._symbols = Symbols(module)
        self._known: dict[object, str] = {}
        self._replaced: set[str] = set()

    def join(self, launches: Sequence[LaunchOp]) -> None:
        """Replace launches of one host program by one at the place of the first."""
        self._check(launches)
        parts = [JoinedLaunch(o, self._kernels[o.kernel_name]) for o in launches]
        # Those that can share code side by side.
        kinds = list(dict.fromkeys(part.likeness for part in parts))
        parts.sort(key=lambda part: kinds.index(part.likeness))
        buffers = list(dict.fromkeys(b for part in parts for b in part.launch.buffers))
        key = tuple(part.key(buffers) for part in parts)
        if key not in self._known:
            self._known[key] = self._add_kernel(parts, buffers)
        self._replaced.update(launch.kernel_name for launch in launches)
        launch = LaunchOp(
            self._known[key],
            [group_count(parts), 1, 1],
            buffers,
            once=launches[0].once is not None,
        )
        _add_work(launch, launches)
        _replace(launches, located(launch, launches[0]))

    def drop_unused(self) -> None:
        """Erase the kernels that no launch needs any more."""
        used = {
            o.kernel_name for o in operations(self._module) if isinstance(o, LaunchOp)
        }
        for name in self._replaced - used:
            Rewriter.erase_op(self._kernels[name])

    def _add_kernel(
        self, parts: Sequence[JoinedLaunch], buffers: Sequence[SSAValue]
    ) -> str:
        """Put a new kernel behind those that it is made of; its name."""
        kernel = build_kernel(self._new_name(parts), parts, buffers)
        Rewriter.insert_op(kernel, InsertPoint.after(parts[-1].kernel))
        return kernel.sym_name.data

    def _new_name(self, parts: Sequence[JoinedLaunch]) -> str:
        """`q_and_k`, or `q_and_3_more`, different from all other names."""
        names = [part.launch.kernel_name for part in parts]
        others = names[1] if len(names) == 2 else f"{len(names) - 1}_more"
        return self._symbols.unique(f"{names[0]}_and_{others}")

    def _check(self, launches: Sequence[LaunchOp]) -> None:
        """Raise a GinghamError for launches that can not be one."""
        first = launches[0]
        size = self._kernels[first.kernel_name].group_size
        for launch in launches[1:]:
            own = self._kernels[launch.kernel_name].group_size
            if own != size:
                raise error_at(
                    launch,
                    f"cannot join launches with groups of {list(size)} and of "
                    f"{list(own)} work-items",
                )
            if launch.once != first.once:
                raise error_at(
                    launch, "cannot join a launch that runs once with one that does not"
                )
            self._check_dependences(first, launch)
        for buffer in {b for launch in launches for b in launch.buffers}:
            if isinstance(buffer.owner, AllocateOp) and buffer.owner.place is not None:
                raise error_at(
                    launches[0],
                    "cannot join launches whose buffers have places already",
                    "run opencl-join-launches before opencl-place-memory",
                )

    def _check_dependences(self, first: LaunchOp, launch: LaunchOp) -> None:
        """A launch moves to the first one: over that and all between."""
        own = effects_of(launch, self._uses)
        before = launch.prev_op
        while before is not None:
            if isinstance(before, LaunchOp) and own.depends_on(
                effects_of(before, self._uses)
            ):
                raise error_at(
                    launch,
                    f"cannot join the launch: it depends on that of {before.kernel}, "
                    "which does not run before all of them",
                )
            if before is first:
                return
            before = before.prev_op


def _add_work(joined: LaunchOp, launches: Sequence[LaunchOp]) -> None:
    """Let a launch carry the work of others, where it is known."""
    works = [work for launch in launches if (work := work_of(launch)) is not None]
    if len(works) == len(launches):
        Work(
            sum(work.flops for work in works),
            sum(work.bytes_read for work in works),
            sum(work.bytes_written for work in works),
        ).write_to(joined)


def _replace(launches: Sequence[LaunchOp], joined: LaunchOp) -> None:
    """Put a launch in the place of the first of several, behind its allocations."""
    first = launches[0]
    for buffer in joined.buffers:
        definition = buffer.owner
        if isinstance(definition, AllocateOp) and first.is_before_in_block(definition):
            definition.detach()
            Rewriter.insert_op(definition, InsertPoint.before(first))
    Rewriter.insert_op(joined, InsertPoint.before(first))
    for launch in launches:
        Rewriter.erase_op(launch)
