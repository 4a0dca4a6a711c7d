"""Top-level blocks that become one kernel."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ....dialects.stripe.attributes import KERNEL_ATTRIBUTE
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.scheduled import SCHEDULED
from ...structure import structure
from .nests import all_blocks, root_buffer, top_level_blocks


def top_level_blocks_by_kernel(module: ModuleOp) -> dict[BlockOp, list[BlockOp]]:
    """The top-level blocks of each kernel, by the first of them."""
    found: dict[BlockOp, list[BlockOp]] = {}
    shared: dict[Attribute, BlockOp] = {}
    for block in top_level_blocks(module):
        number = block.attributes.get(KERNEL_ATTRIBUTE)
        first = block if number is None else shared.setdefault(number, block)
        found.setdefault(first, []).append(block)
    return found


def blocks_of_kernels(module: ModuleOp) -> list[BlockOp]:
    """Every block, outer ones first, without what shares an earlier kernel."""
    firsts = top_level_blocks_by_kernel(module)
    return [block for first in firsts for block in all_blocks(first)]


def buffer_pattern(block: BlockOp) -> tuple[tuple[int, Attribute], ...]:
    """Which memory each buffer of a block is a part of, by numbers, and its type."""
    roots = list(dict.fromkeys(map(root_buffer, block.buffers)))
    return tuple((roots.index(root_buffer(b)), b.type) for b in block.buffers)


def kernel_structure(block: BlockOp) -> object:
    """What is equal for blocks that are the same kernel, and for no others."""
    return buffer_pattern(block), structure(block, _is_ignored)


def _is_ignored(name: str) -> bool:
    return name in ("block_name", SCHEDULED)
