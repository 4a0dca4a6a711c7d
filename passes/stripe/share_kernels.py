"""`stripe-share-kernels`: find the top-level blocks that are the same kernel.

Networks repeat their layers. Blocks that differ only in their buffers, names and source
locations get the attribute `stripe.kernel` with the same number. The passes that follow
work on the first of them alone, and `lower-stripe-to-opencl` makes one kernel for all:
it launches the first one's with the buffers of the others, which stay as they are.

Before:

```mlir
stripe.block "T" [%i : 64] in %a = %A[%i] : 1 out %t = %T[%i] : 1 { ... }
stripe.block "B" [%j : 64] in %t = %T[%j] : 1 out %b = %B[%j] : 1 { ... }
```

After:

```mlir
stripe.block "T" [%i : 64] in %a = %A[%i] : 1 out %t = %T[%i] : 1
    attributes {stripe.kernel = 0} { ... }
stripe.block "B" [%j : 64] in %t = %T[%j] : 1 out %b = %B[%j] : 1
    attributes {stripe.kernel = 0} { ... }
```

Buffers of the same types and shapes, of which the same ones are parts of one memory:
blocks that read what they write share no kernel with those that do not.

What follows may change how a block computes but not what: passes that join blocks, or
drop outputs by what the statements around need, come before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ...dialects.stripe.block import BlockOp
from ..structure import structure
from .blocks.nests import all_blocks, root_buffer, top_level_blocks

KERNEL_ATTRIBUTE = "stripe.kernel"
"""On top-level blocks: those with the same number are the same kernel."""


@dataclass(frozen=True)
class StripeShareKernelsPass(ModulePass):
    """Find the top-level blocks that are the same kernel."""

    name = "stripe-share-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        alike: dict[object, list[BlockOp]] = {}
        for block in top_level_blocks(op):
            alike.setdefault(kernel_structure(block), []).append(block)
        shared = [blocks for blocks in alike.values() if len(blocks) > 1]
        for number, blocks in enumerate(shared):
            for block in blocks:
                block.attributes[KERNEL_ATTRIBUTE] = IntegerAttr(number, i64)


def first_blocks(module: ModuleOp) -> Iterator[BlockOp]:
    """The top-level blocks without those that share the kernel of an earlier one."""
    seen: set[Attribute] = set()
    for block in top_level_blocks(module):
        kernel = block.attributes.get(KERNEL_ATTRIBUTE)
        if kernel is None:
            yield block
        elif kernel not in seen:
            seen.add(kernel)
            yield block


def blocks_of_kernels(module: ModuleOp) -> list[BlockOp]:
    """Every block, outer ones first, without what shares an earlier kernel."""
    return [block for first in first_blocks(module) for block in all_blocks(first)]


def buffer_pattern(block: BlockOp) -> tuple[tuple[int, Attribute], ...]:
    """Which memory each buffer of a block is a part of, by numbers, and its type."""
    roots = list(dict.fromkeys(map(root_buffer, block.buffers)))
    return tuple((roots.index(root_buffer(b)), b.type) for b in block.buffers)


def kernel_structure(block: BlockOp) -> object:
    """What is equal for blocks that are the same kernel, and for no others."""
    return buffer_pattern(block), structure(block, _is_ignored)


def _is_ignored(name: str) -> bool:
    return name == "block_name" or name.endswith("_reason")
