"""The last passes for one kernel after the other: each is ready before the next begins.

From `stripe-share-kernels` on, nearly all passes look at one kernel at a time. Whoever
can do something with a kernel while the passes work on the others, such as to build it,
has them run in another order: all of them on the first kernel, then all of them on the
second one.

```text
whole module       blocks of a kernel           kernel                    whole module
... share-kernels  separate, vectorize ... map  lower   copy, to its end  join, place
                   |<------------ again and again ------------>|
```

Only what is between lowering and the end, as the joining of launches, looks at all of
them. So a copy of each kernel is taken to its end, as if it stayed alone, which most
do. Where it did, the copy is put in its place at last; what became of the others goes
through the last passes then. The kernels are the same in both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from ..dialects.opencl.functions import FunctionOp
from ..dialects.opencl.kernel import KernelOp
from ..dialects.opencl.memory import StoreOp
from ..dialects.stripe.block import BlockOp
from .convert.lower_stripe_to_opencl import LowerStripeToOpenCLPass
from .kernel_pass import KernelPass, LaunchPass
from .stripe.analysis.kernels import top_level_blocks_by_kernel
from .walking import operations

Ready = Callable[[ModuleOp, KernelOp], None]
"""Is told of a kernel that is ready, in a module with the functions that it calls."""

Expect = Callable[[ModuleOp], Ready | None]
"""Is told of a module that will be lowered; gives what wants its kernels early."""


def run_kernel_by_kernel(
    module: ModuleOp, context: Context, passes: Sequence[ModulePass], ready: Ready
) -> None:
    """Run passes, with a lowering to kernels among them, and verify the kernels.

    `ready` is told of each kernel at the end of its way. A few are told of that nobody
    needs in the end, as their launches were joined. With a pass that is not known here
    all are ready at the end.
    """
    lowering = next(
        n for n, each in enumerate(passes) if isinstance(each, LowerStripeToOpenCLPass)
    )
    first, last = _start(passes, lowering), _start(passes, len(passes))
    lower, after = passes[lowering], passes[lowering + 1 :]
    if not all(isinstance(each, KernelPass | LaunchPass) for each in after):
        # What another pass does to kernels is not known.
        _apply(passes, context, module)
        module.verify()
        for op in module.ops:
            if isinstance(op, KernelOp):
                ready(module, op)
        return
    _apply(passes[:first], context, module)
    kernels = _Kernels(module, context, passes[first:lowering], after, ready)
    if isinstance(lower, LowerStripeToOpenCLPass):
        lower.lower(module, kernels.prepare, kernels.finish)
    _apply(passes[lowering + 1 : last], context, module)
    kernels.finish_others(passes[last:])


def _start(passes: Sequence[ModulePass], end: int) -> int:
    """Where the passes in front of a place begin that look at kernels alone."""
    while end and isinstance(passes[end - 1], KernelPass):
        end -= 1
    return end


def _apply(passes: Iterable[ModulePass], context: Context, module: ModuleOp) -> None:
    for each in passes:
        each.apply(context, module)


class _Kernels:
    """The kernels of one module on their way."""

    def __init__(
        self,
        module: ModuleOp,
        context: Context,
        before: Sequence[ModulePass],
        after: Sequence[ModulePass],
        ready: Ready,
    ) -> None:
        """`before` are the passes on the blocks of a kernel, `after` those on it."""
        self._module = module
        self._context = context
        self._before = before
        self._after = [each for each in after if isinstance(each, KernelPass)]
        self._ready = ready
        self._blocks = top_level_blocks_by_kernel(module)
        self._finished: dict[KernelOp, KernelOp] = {}
        """The copy of each kernel that has been taken to its end."""

    def prepare(self, block: BlockOp) -> Sequence[Operation]:
        """Take all blocks of a kernel to where they can be lowered, at its first one.

        What is there of them now, in place of the block.
        """
        blocks = self._blocks.pop(block, ())
        if not blocks:
            # One that shares the kernel of an earlier one.
            return [block] if block.parent is not None else []
        anchors = dict(zip(blocks, map(_anchor, blocks), strict=True))
        body = Block()
        for each in blocks:
            each.detach()
            body.add_op(each)
        alone = ModuleOp([FuncOp("main", ([], []), Region(body))])
        _apply(self._before, self._context, alone)
        place, found = anchors[block], list[Operation]()
        for each in [*body.ops]:
            each.detach()
            if isinstance(each, BlockOp):
                place = anchors.get(each, place)
            _put(each, place)
            if place is anchors[block]:
                found.append(each)
        for anchor in anchors.values():
            anchor.detach()
        return found

    def finish(self, kernel: KernelOp) -> None:
        """Take a copy of a kernel to its end, and say that it is ready."""
        functions = [
            op.clone() for op in self._module.ops if isinstance(op, FunctionOp)
        ]
        copy = kernel.clone()
        alone = ModuleOp([*functions, copy])
        _apply(self._after, self._context, alone)
        self._finished[kernel] = copy
        self._ready(alone, copy)

    def finish_others(self, passes: Sequence[ModulePass]) -> None:
        """Put copies in the places of kernels; take the others to their end."""
        anchors: dict[KernelOp, Operation] = {}
        for kernel, copy in self._finished.items():
            if kernel.parent is not None and not _streams(kernel):
                anchors[copy] = _anchor(kernel)
                kernel.detach()
        _apply(passes, self._context, self._module)
        for copy, anchor in anchors.items():
            copy.detach()
            _put(copy, anchor)
            anchor.detach()
        for op in self._module.ops:
            if isinstance(op, KernelOp) and op not in anchors:
                self._ready(self._module, op)
        # Whoever builds kernels has all of them meanwhile.
        self._module.verify()


def _anchor(op: Operation) -> Operation:
    """What keeps the place of an operation, in front of it."""
    anchor = ModuleOp([])
    _put(anchor, op)
    return anchor


def _put(op: Operation, place: Operation) -> None:
    """Put an operation in front of another one."""
    if place.parent is None:
        raise ValueError("expected a place in a block")
    place.parent.insert_op_before(op, place)


def _streams(kernel: KernelOp) -> bool:
    """Whether stores were marked by what comes after them in other kernels."""
    return any(
        isinstance(op, StoreOp) and op.stream is not None for op in operations(kernel)
    )
