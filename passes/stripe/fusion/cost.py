"""What a group of blocks costs as one kernel: tiles of the shared indices, and time.

The model is coarse: it compares a nest with the same blocks as kernels of their own.
The time of a kernel, in seconds, is

    launch + starts + (larger + exposed * smaller) * imbalance

of arithmetic with late operands and memory traffic, as the one does not hide all of the
other; with the memory traffic of buffers that stay inside the nest left out, and `late
operands` the part of reading an operand over and over, once for each tile of the shared
indices, that arithmetic does not hide: all of it where the operand does not fit the
caches of a core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from xdsl.ir import SSAValue

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.staging import Staging
from ....targets.hardware import Hardware
from ..blocks.nests import output_indices, reduction_indices, root_buffer
from ..cost import best_to_share, problem_of
from ..cost.kernel import tile_cost
from ..cost.nest import Nest, blocks_of_reductions
from ..cost.problem import Problem
from ..cost.search import Scored
from ..localize import StripeLocalizePass
from .footprint import (
    are_all_users,
    footprint_bytes,
    is_contraction,
    operations,
    window_bytes,
)
from .panels import Contraction, even, panels
from .shared_indices import Member, written_memories
from .tiling import GroupCost, Tiling

_EXPOSED = 0.3
"""The part of the smaller of arithmetic and traffic that the larger does not hide."""
_GRAIN = 16384
"""Elements that are worth a work-group."""
_PIECES = 16
"""Work-groups that there should be for each core."""


@dataclass(frozen=True)
class FusionCost:
    """Costs groups for one device."""

    hardware: Hardware
    _problems: dict[BlockOp, Problem] = field(default_factory=dict[BlockOp, Problem])
    _decided: dict[BlockOp, Scored] = field(default_factory=dict[BlockOp, Scored])
    _late: dict[BlockOp, float] = field(default_factory=dict[BlockOp, float])

    def of(self, members: Sequence[Member]) -> GroupCost | None:
        """The cost of a group; None when it would not fit the device."""
        group = _Group(members, self)
        costs = [
            self._cost(group, tiling)
            for tiling in group.tilings()
            if group.scratch_bytes(tiling.levels[-1]) <= self.scratch_limit
        ]
        return min(costs, key=lambda cost: cost.seconds, default=None)

    def _cost(self, group: _Group, tiling: Tiling) -> GroupCost:
        tiles = tiling.levels
        count = len(tiles[0])
        return GroupCost(
            tiles,
            tiling.order or tuple(range(count)),
            tiling.leaves or (None,) * len(group.members),
            self._seconds(group, tiling),
            group.traffic_bytes,
            group.scratch_bytes(tiles[-1]),
        )

    def decide(self, block: BlockOp) -> Nest:
        """The nest that a contraction wants by itself."""
        return self._best(block).nest

    def problem(self, block: BlockOp) -> Problem:
        """What the model of nests sees of a block."""
        if block not in self._problems:
            self._problems[block] = problem_of(block, self.hardware.vector_bits)
        return self._problems[block]

    def _best(self, block: BlockOp) -> Scored:
        if block not in self._decided:
            self._decided[block] = best_to_share(self.problem(block), self.hardware)
        return self._decided[block]

    def _late_seconds(self, member: Member) -> float:
        """What staging and caches add to the time of a contraction as counted here."""
        block = member.block
        if block not in self._late:
            group = _Group([member], self)
            counted = min(self._counted(group, tiling) for tiling in group.tilings())
            self._late[block] = max(self._best(block).seconds - counted, 0.0)
        return self._late[block]

    @property
    def scratch_limit(self) -> int:
        """Bytes that a point may hold: half of the last cache that a core owns; on a
        GPU, where a point is one of many lanes, what fits its registers.
        """
        if self.hardware.kind == "gpu":
            return self.hardware.vector_registers * 4
        return (self.hardware.own_cache_bytes or 65536) // 2

    def _seconds(self, group: _Group, tiling: Tiling) -> float:
        counted = self._counted(group, tiling)
        if tiling.contraction_seconds is not None:
            return counted
        return counted + sum(map(self._late_seconds, group.contractions))

    def _counted(self, group: _Group, tiling: Tiling) -> float:
        hardware = self.hardware
        sizes = tiling.levels[0]
        points = group.points(sizes)
        rounds = -(-points // hardware.cores)
        imbalance = rounds * hardware.cores / points
        arithmetic = group.arithmetic_seconds(tiling)
        near, far = 0.0, 0.0
        if tiling.contraction_seconds is None:
            near, far = group.stream_seconds(sizes)
        late = max(near - arithmetic, 0.0) + far
        work = (arithmetic + late, group.traffic_seconds)
        busy = max(work) + _EXPOSED * min(work)
        starts = points * hardware.group_nanoseconds * 1e-9 / hardware.cores
        return hardware.launch_microseconds * 1e-6 + starts + busy * imbalance


@dataclass(frozen=True)
class _Group:
    """Members with what is known of them."""

    members: Sequence[Member]
    cost: FusionCost

    @property
    def extents(self) -> list[int]:
        """The ranges of the shared indices."""
        first = self.members[0]
        return [first.block.index_ranges[index] for index in first.shared]

    def points(self, sizes: Sequence[int]) -> int:
        """Points of a block over tiles of these sizes."""
        pairs = zip(self.extents, sizes, strict=True)
        return prod(-(-extent // (size or extent)) for extent, size in pairs)

    # Tiles.

    @cached_property
    def contractions(self) -> list[Member]:
        """The members that are tiled for registers."""
        return [m for m in self.members if is_contraction(m.block)]

    def tilings(self) -> Iterator[Tiling]:
        """Tiles of the shared indices worth a thought, with those that leaves get."""
        if not self.contractions:
            yield Tiling(self._row_tiles())
            return
        is_covered = all(map(_is_covered, self.contractions))
        if is_covered and len(self.contractions) == 1:
            yield self._register_tiles(self._main)
            return
        found = list(self._panels())
        yield from found
        # What wants blocks by itself wants them inside, too.
        if found and any(map(self._wants_blocks, self.contractions)):
            return
        if is_covered:
            yield self._register_tiles(self._main)
        else:
            yield from {self._strip(m) for m in self.contractions}

    def _wants_blocks(self, member: Member) -> bool:
        """Whether a contraction is best in blocks of what it aggregates over."""
        nest = self.cost.decide(member.block)
        return blocks_of_reductions(self.cost.problem(member.block), nest) is not None

    @property
    def _main(self) -> Member:
        """The contraction with most points."""
        return max(self.contractions, key=lambda m: prod(m.block.index_ranges))

    def _panels(self) -> Iterator[Tiling]:
        """Tiles inside of which contractions are nests in blocks."""
        hardware = self.cost.hardware
        if hardware.kind != "cpu":
            return
        found = {
            member.block: Contraction(
                self.cost.problem(member.block),
                self.cost.decide(member.block),
                member.shared,
            )
            for member in (self._main, *self.contractions)
        }
        for panel in panels(
            [*found.values()], self.extents, hardware, self._fits_panel
        ):
            nests = dict(zip(found, panel.leaves, strict=True))
            leaves = tuple(nests.get(member.block) for member in self.members)
            yield Tiling((panel.sizes,), leaves, (), panel.seconds)

    def _fits_panel(self, sizes: Sequence[int]) -> bool:
        """Whether `stripe-localize` takes the scratch of a panel into it."""
        scratch = self._scratch(sizes).values()
        largest = max(scratch, default=0)
        return largest <= StripeLocalizePass.limit and (
            sum(scratch) <= self.cost.scratch_limit
        )

    def _row_tiles(self) -> tuple[tuple[int, ...], ...]:
        """One value of the shared indices at a time, several to a work-group."""
        rows = tuple(1 for _ in self.extents)
        work = sum(prod(m.block.index_ranges) for m in self.members)
        points = prod(self.extents)
        most = points // (_PIECES * self.cost.hardware.cores)
        wanted = min(max(_GRAIN * points // max(work, 1), 1), max(most, 1))
        sizes = list(rows)
        for shared in reversed(range(len(sizes))):
            extent = self.extents[shared]
            sizes[shared] = even(min(wanted, extent), extent)
            wanted //= sizes[shared]
        return (rows,) if tuple(sizes) == rows else (tuple(sizes), rows)

    def _strip(self, main: Member) -> Tiling:
        """As many values of the shared indices as one contraction has in registers."""
        tile = self.cost.decide(main.block).tile
        pairs = zip(main.shared, self.extents, strict=True)
        sizes = tuple(
            even(tile[index], extent, self._unit(main, index))
            for index, extent in pairs
        )
        leaves = tuple(
            self._leaf(member, sizes) if member in self.contractions else None
            for member in self.members
        )
        return Tiling((sizes,), leaves, self._order(main))

    def _order(self, main: Member) -> tuple[int, ...]:
        """The shared indices in the order that a contraction wants, others inside."""
        orders = self.cost.decide(main.block).orders
        listed = orders[0] if orders else ()
        first = [main.shared.index(index) for index in listed if index in main.shared]
        rest = [shared for shared in range(len(main.shared)) if shared not in first]
        return (*first, *rest)

    def _leaf(self, member: Member, sizes: Sequence[int]) -> Nest:
        """The nest of a contraction within a tile of the shared indices."""
        nest = self.cost.decide(member.block)
        tile = list(nest.tile)
        for index, size in zip(member.shared, sizes, strict=True):
            unit = self._unit(member, index)
            tile[index] = even(min(tile[index], size), size, unit)
        for index in reduction_indices(member.block):
            tile[index] = member.block.index_ranges[index]
        depth = len(nest.levels) - 1
        stages = tuple(
            replace(stage, before=-1, window=0)
            for stage in self._stages(member, nest)
            if stage.before == 0 and stage.window == depth
        )
        return Nest((tuple(tile),), nest.lanes, (), stages)

    def _register_tiles(self, main: Member) -> Tiling:
        """The tiles of a contraction whose outputs are all shared, for all members."""
        nest = self._even_nest(main)
        levels = nest.levels
        whole = [
            all(
                level[index] in (0, main.block.index_ranges[index])
                for index in reduction_indices(main.block)
            )
            for level in levels
        ]
        count = whole.index(False) if False in whole else len(levels)
        if count == 0:
            return Tiling(self._row_tiles())
        tiles = tuple(
            tuple(level[index] for index in main.shared) for level in levels[:count]
        )
        inner = levels[count:] or levels[-1:]
        added = count - (len(levels) - len(inner))

        def place(block: int) -> int:
            """What the leaf calls a block of the nest: those around it are negative."""
            return block - count + (added if block >= count else 0)

        stages = tuple(
            replace(stage, before=place(stage.before), window=place(stage.window))
            for stage in self._stages(main, nest)
        )
        orders = ((),) * added + nest.orders[count:]
        leaf = Nest(inner, nest.lanes, orders if any(orders) else (), stages)
        leaves = tuple(
            leaf
            if m is main
            else replace(self._leaf(m, tiles[-1]), stages=())
            if m in self.contractions
            else None
            for m in self.members
        )
        return Tiling(tiles, leaves, self._order(main))

    def _unit(self, member: Member, index: int) -> int:
        """What sizes of an index are a multiple of: the lanes of vectors along it."""
        problem, nest = self.cost.problem(member.block), self.cost.decide(member.block)
        return nest.lanes if index == problem.vector else 1

    def _even_nest(self, main: Member) -> Nest:
        """The nest of a contraction, with sizes that leave nothing over where some do.

        What reaches over an edge shares its registers with what does not, and compilers
        keep less of them there.
        """
        nest = self.cost.decide(main.block)
        levels = [list(level) for level in nest.levels]
        for index, extent in zip(main.shared, self.extents, strict=True):
            inner = self._unit(main, index)
            for level in reversed(levels):
                size = level[index]
                if size and extent % size:
                    level[index] = inner * even(max(size // inner, 1), extent // inner)
                if level[index] and extent % level[index]:
                    return nest
                inner = level[index] or extent
        return replace(nest, levels=tuple(map(tuple, levels)))

    def _stages(self, member: Member, nest: Nest) -> list[Staging]:
        """What a nest stages, but for what members write: it is inside the group."""
        written = {*written_memories(self.members)}
        buffers = member.block.buffers
        return [
            stage
            for stage in nest.stages
            if root_buffer(buffers[stage.refinement]) not in written
        ]

    # Time.

    def arithmetic_seconds(self, tiling: Tiling) -> float:
        """On all cores."""
        hardware = self.cost.hardware
        lanes = max(hardware.vector_bits // 32, 1)
        known = tiling.contraction_seconds
        per_second = hardware.clock_gigahertz * 1e9
        cycles = 0.0
        if known is not None:
            cycles = known * self.points(tiling.levels[0]) * per_second
        for member, leaf in zip(
            self.members, tiling.leaves or (None,) * len(self.members), strict=True
        ):
            if member in self.contractions:
                if known is not None:
                    continue
                own = leaf or self._leaf(member, tiling.levels[-1])
                cycles += self._register_cycles(member, own)
            else:
                points = prod(member.block.index_ranges)
                steps = points * operations(member.block) / lanes
                cycles += steps / hardware.multiply_adds_per_cycle
        return cycles / (per_second * hardware.cores)

    def _register_cycles(self, member: Member, nest: Nest) -> float:
        """A contraction, tile after tile."""
        hardware = self.cost.hardware
        problem = self.cost.problem(member.block)
        staged = {stage.refinement for stage in nest.stages}
        cost = tile_cost(problem, nest.tile, nest.lanes, hardware, staged)
        steps = prod(problem.ranges[index] for index in problem.reductions)
        tiles = prod(
            -(-problem.ranges[index] // max(nest.tile[index], 1))
            for index in problem.parallel
        )
        return (cost.step_cycles * steps + cost.start_cycles) * tiles

    def stream_seconds(self, sizes: Sequence[int]) -> tuple[float, float]:
        """To read, for each tile, the operands that it shares with other tiles: those
        that stay in a core's own caches meanwhile, and the others.
        """
        hardware = self.cost.hardware
        near = far = 0.0
        for member in self.members:
            if member not in self.contractions or _is_covered(member):
                continue
            for number, refinement in enumerate(member.block.refinement_list):
                used = {index for form in refinement.access for index in form.support}
                moving = [
                    -(-extent // (size or extent))
                    for index, extent, size in zip(
                        member.shared, self.extents, sizes, strict=True
                    )
                    if index not in used
                ]
                if refinement.direction.writes or prod(moving) == 1:
                    continue
                window = window_bytes(member, number, sizes)
                seconds = window * self.points(sizes) / self._rate_of(window)
                if 2 * window <= hardware.own_cache_bytes:
                    near += seconds / hardware.cores
                else:
                    far += seconds / hardware.cores
        return near, far

    def _rate_of(self, size: float) -> float:
        """Bytes per second at which a core reads what it reads again and again."""
        hardware = self.cost.hardware
        for cache in hardware.caches:
            if 2 * size <= cache.size_bytes:
                return cache.bytes_per_cycle * hardware.clock_gigahertz * 1e9
        return hardware.memory_gigabytes_per_second * 1e9 / hardware.cores

    @cached_property
    def _buffers(self) -> dict[tuple[SSAValue, bool], int]:
        """Bytes of the memories outside of the nest, by whether they are written."""
        blocks = [member.block for member in self.members]
        written = {*written_memories(self.members)}
        inside = {memory for memory in written if are_all_users(memory, blocks)}
        found: dict[tuple[SSAValue, bool], int] = {}
        for block in blocks:
            for number, buffer in enumerate(block.buffers):
                memory = root_buffer(buffer)
                if memory in inside:
                    continue
                writes = block.refinement(number).direction.writes
                if memory in written and not writes:
                    # What a member wrote just before is still in a cache.
                    continue
                size = footprint_bytes(block, number)
                known = found.get((memory, writes), 0)
                found[memory, writes] = max(known, size)
        return found

    @property
    def traffic_bytes(self) -> float:
        """Moved between memory and the cores by the whole nest."""
        return float(sum(self._buffers.values()))

    @property
    def traffic_seconds(self) -> float:
        hardware = self.cost.hardware
        last = hardware.caches[-1] if hardware.caches else None
        total = 0.0
        for size in self._buffers.values():
            rate = hardware.memory_gigabytes_per_second * 1e9
            if last is not None and 2 * size <= last.size_bytes:
                cached = last.bytes_per_cycle * hardware.clock_gigahertz * 1e9
                rate = max(rate, cached * hardware.cores)
            total += size / rate
        return total

    def scratch_bytes(self, sizes: Sequence[int]) -> int:
        """Of the buffers inside, for one tile."""
        return sum(self._scratch(sizes).values())

    def _scratch(self, sizes: Sequence[int]) -> dict[SSAValue, int]:
        """The buffers inside, with the bytes of one tile."""
        blocks = [member.block for member in self.members]
        scratch: dict[SSAValue, int] = {}
        for member in self.members:
            for number, buffer in enumerate(member.block.buffers):
                memory = root_buffer(buffer)
                writes = member.block.refinement(number).direction.writes
                if writes and are_all_users(memory, blocks):
                    scratch[memory] = window_bytes(member, number, sizes)
        return scratch


def _is_covered(member: Member) -> bool:
    """Whether all indices of a member's outputs are shared."""
    ranges = member.block.index_ranges
    outputs = {i for i in output_indices(member.block) if ranges[i] > 1}
    return outputs <= {*member.shared}
