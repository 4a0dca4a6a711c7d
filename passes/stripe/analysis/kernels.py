"""Top-level blocks that become one kernel."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ....dialects.stripe.attributes import KERNEL_ATTRIBUTE
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.scheduled import SCHEDULED
from ...structure import structure
from .nests import all_blocks, root_buffer, top_level_blocks


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
    return name in ("block_name", SCHEDULED)
