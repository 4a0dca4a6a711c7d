"""A group of blocks: tiles of the shared indices, and what one nest over them takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.ir import SSAValue

from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.staging import Staging
from .....targets.hardware import Hardware
from ...analysis.lanes import vector_width
from ...analysis.shared_indices import Member, written_memories
from ..gpu.turns import columns_of_group, rows_of_group
from .block_costs import BlockCosts
from .cache_tiles import cache_tiles
from .common import are_columns
from .contraction import Contraction, even
from .tiling import Tiling


@dataclass(frozen=True)
class FusionGroup:
    """Members with what is known of them."""

    members: Sequence[Member]
    costs: BlockCosts

    @property
    def _hardware(self) -> Hardware:
        return self.costs.hardware

    @cached_property
    def extents(self) -> list[int]:
        """The ranges of the shared indices."""
        first = self.members[0]
        return [first.facts.ranges[index] for index in first.shared]

    @cached_property
    def written(self) -> frozenset[SSAValue]:
        """The memories that members write."""
        return frozenset(written_memories(self.members))

    @cached_property
    def inside(self) -> frozenset[SSAValue]:
        """The memories that nothing else uses."""
        blocks = frozenset(member.block for member in self.members)
        return frozenset(
            memory
            for memory in self.written
            if self.costs.are_all_users(memory, blocks)
        )

    def points(self, sizes: Sequence[int]) -> int:
        """Points of a block over tiles of these sizes."""
        pairs = zip(self.extents, sizes, strict=True)
        return prod(-(-extent // (size or extent)) for extent, size in pairs)

    # Tiles.

    @cached_property
    def contractions(self) -> list[Member]:
        """The members that are tiled for registers."""
        return [m for m in self.members if m.facts.is_contraction]

    def tilings(self) -> Iterator[Tiling]:
        """Tiles of the shared indices worth a thought, with those that leaves get."""
        if not self.contractions:
            yield Tiling(self._row_tiles())
            return
        is_covered = all(map(_is_covered, self.contractions))
        if is_covered and len(self.contractions) == 1:
            yield self._register_tiles(self._main)
            return
        found = list(self._cache_tiles())
        yield from found
        # What wants blocks by itself wants them inside, too.
        known = [*map(self.costs.contraction, self.contractions)]
        if found and any(contraction.wants_blocks for contraction in known):
            return
        if is_covered:
            yield self._register_tiles(self._main)
            return
        strips = ((self._strip(each), each.order) for each in known)
        for sizes, order in dict.fromkeys(strips):
            leaves = tuple(self._leaf(member, sizes) for member in self.members)
            yield Tiling((sizes,), leaves, order)

    def _strip(self, contraction: Contraction) -> tuple[int, ...]:
        """What leaves nothing over, if it may stay in the nearest cache of a core."""
        if not self._hardware.has_vectors or not self._hardware.caches:
            return contraction.strip
        sizes = contraction.even_strip
        fits = 2 * self.scratch_bytes(sizes) <= self._hardware.caches[0].size_bytes
        return sizes if fits else contraction.strip

    @property
    def _main(self) -> Member:
        """The contraction with most points."""
        return max(self.contractions, key=lambda m: m.facts.points)

    def _cache_tiles(self) -> Iterator[Tiling]:
        """Tiles inside of which contractions are nests in blocks."""
        hardware = self._hardware
        if not hardware.has_vectors:
            return
        found = {
            member.block: self.costs.contraction(member)
            for member in (self._main, *self.contractions)
        }
        for tile in cache_tiles(
            [*found.values()], self.extents, hardware, self._fits_cache
        ):
            nests = dict(zip(found, tile.leaves, strict=True))
            leaves = tuple(nests.get(member.block) for member in self.members)
            yield Tiling((tile.sizes,), leaves, (), tile.seconds)

    def _fits_cache(self, sizes: Sequence[int]) -> bool:
        """Whether `stripe-localize` takes the scratch of a cache tile into it."""
        scratch = self._scratch(sizes).values()
        largest = max(scratch, default=0)
        private_bytes = self._hardware.overheads.private_bytes
        return largest <= private_bytes and sum(scratch) <= self.costs.scratch_limit

    def _row_tiles(self) -> tuple[tuple[int, ...], ...]:
        """One value of the shared indices at a time, several to a work-group."""
        if not self._hardware.has_vectors:
            return (self._rows_of_group(),)
        rows = tuple(1 for _ in self.extents)
        work = sum(member.facts.points for member in self.members)
        points = prod(self.extents)
        overheads = self._hardware.overheads
        most = points // (overheads.groups_per_core * self._hardware.cores)
        grain = round(overheads.group_elements * points / max(work, 1))
        wanted = min(max(grain, 1), max(most, 1))
        sizes = list(rows)
        for shared in reversed(range(len(sizes))):
            extent = self.extents[shared]
            sizes[shared] = even(min(wanted, extent), extent)
            wanted //= sizes[shared]
        return (rows,) if tuple(sizes) == rows else (tuple(sizes), rows)

    def _rows_of_group(self) -> tuple[int, ...]:
        """As many rows as give each lane of a group something to do."""
        longest = max(member.facts.points for member in self.members)
        row = longest // prod(self.extents)
        if are_columns(self.members):
            return tuple(columns_of_group(row, self.extents, self._hardware))
        return tuple(rows_of_group(row, self.extents, self._hardware))

    def _leaf(
        self, member: Member, sizes: tuple[int, ...], levels: int = 1
    ) -> Schedule | None:
        """The nest of a contraction within a tile of the shared indices.

        What it stages it finds in front of so many levels of tiles.
        """
        if not member.facts.is_contraction:
            return None
        nest = self.costs.contraction(member).in_strip(sizes)
        stages = [
            replace(stage, before=-levels) for stage in self._stages(member, nest)
        ]
        return replace(nest, stages=tuple(stages)) if nest.stages else nest

    def _register_tiles(self, main: Member) -> Tiling:
        """The tiles of a contraction whose outputs are all shared, for all members."""
        nest = self._even_nest(main)
        levels = nest.sizes
        whole = [
            all(
                level[index] in (0, main.facts.ranges[index])
                for index in main.facts.reductions
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
        leaf = Schedule.of(inner, orders, stages)
        leaves = tuple(
            leaf if member is main else self._leaf(member, tiles[-1], count)
            for member in self.members
        )
        return Tiling(tiles, leaves, self.costs.contraction(main).order)

    def _even_nest(self, main: Member) -> Schedule:
        """The nest of a contraction, with sizes that leave nothing over where some do.

        What reaches over an edge shares its registers with what does not, and compilers
        keep less of them there.
        """
        contraction = self.costs.contraction(main)
        nest = contraction.nest
        levels = [list(level) for level in nest.sizes]
        for index, extent in zip(main.shared, self.extents, strict=True):
            inner = contraction.unit(index)
            for level in reversed(levels):
                size = level[index]
                if size and extent % size:
                    level[index] = inner * even(max(size // inner, 1), extent // inner)
                if level[index] and extent % level[index]:
                    return nest
                inner = level[index] or extent
        return nest.with_sizes(levels)

    def _stages(self, member: Member, nest: Schedule) -> tuple[Staging, ...]:
        """What a nest stages, but for what members write: it is inside the group."""
        memories = member.facts.memories
        return tuple(
            stage
            for stage in nest.stages
            if memories[stage.refinement] not in self.written
        )

    # Time.

    def arithmetic_seconds(self, tiling: Tiling) -> float:
        """On all cores."""
        clock = self.costs.clock
        known = tiling.contraction_seconds
        seconds = 0.0
        if known is not None:
            seconds = known * self.points(tiling.levels[0]) / self._hardware.cores
        for member, leaf in zip(
            self.members, tiling.leaves or (None,) * len(self.members), strict=True
        ):
            if not member.facts.is_contraction:
                steps = member.facts.points * member.facts.operations
                steps /= self.lanes(member, tiling.levels[-1])
                seconds += clock.operations(steps)
            elif known is None:
                own = leaf or self._leaf(member, tiling.levels[-1])
                if own is not None:
                    cycles = self.costs.register_cycles(member.block, own)
                    seconds += cycles * clock.cycle / self._hardware.cores
        return seconds

    def lanes(self, member: Member, sizes: Sequence[int]) -> int:
        """How many numbers a member computes at once inside of tiles of these sizes.

        A reduction may have vectors along indices of which tiles leave little.
        """
        facts, bits = member.facts, self._hardware.vector_bits
        most = max(bits // 32, 1)
        if not facts.reductions:
            return most
        tiles = dict(zip(member.shared, sizes, strict=True))
        widths = [1]
        for index in facts.vector_indices:
            extent = tiles.get(index) or facts.ranges[index]
            whole = vector_width(facts.block, index, bits, extent)
            widths.append(most if extent >= most else min(whole, most))
        return max(widths)

    def stream_seconds(self, sizes: Sequence[int]) -> tuple[float, float]:
        """Seconds to read, for each tile, the operands that it shares with other tiles.

        The first number is of those that stay in a core's own caches meanwhile, the
        second of the others. Contractions of a tile take turns, so that what one reads
        stays only if the operands of all do.
        """
        clock = self.costs.clock
        held = sum(
            member.facts.window_bytes(number, member.shared, sizes)
            for member in self.contractions
            for number in self._read_again(member, sizes)
        )
        near, far = clock.swept(held * self.points(sizes), held)
        return near / self._hardware.cores, far / self._hardware.cores

    def _read_again(self, member: Member, sizes: Sequence[int]) -> Iterator[int]:
        """The operands that a tile of a member shares with other tiles.

        What is tiled for registers along all of its outputs reads none so often.
        """
        if _is_covered(member):
            return
        facts = member.facts
        for number, refinement in enumerate(facts.refinements):
            used = {index for form in refinement.access for index in form.support}
            moving = [
                -(-extent // (size or extent))
                for index, extent, size in zip(
                    member.shared, self.extents, sizes, strict=True
                )
                if index not in used
            ]
            if not refinement.direction.writes and prod(moving) > 1:
                yield number

    @cached_property
    def _buffers(self) -> dict[tuple[SSAValue, bool], int]:
        """Bytes of the memories outside of the nest, by whether they are written."""
        found: dict[tuple[SSAValue, bool], int] = {}
        for member in self.members:
            facts = member.facts
            for memory, writes, size in zip(
                facts.memories, facts.writes, facts.footprints, strict=True
            ):
                if memory in self.inside:
                    continue
                if memory in self.written and not writes:
                    # What a member wrote just before is still in a cache.
                    continue
                known = found.get((memory, writes), 0)
                found[memory, writes] = max(known, size)
        return found

    @property
    def traffic_bytes(self) -> float:
        """Moved between memory and the cores by the whole nest."""
        return float(sum(self._buffers.values()))

    def traffic_seconds(self, sizes: Sequence[int], reads: int = 1) -> float:
        """To read the memories outside so often, and to write them, on all cores.

        What tiles of these sizes share is read by each core that has some of them.
        """
        clock = self.costs.clock
        readers = min(self.points(sizes), self._hardware.cores)
        shared = {
            member.facts.memories[number]
            for member in self.contractions
            for number in self._read_again(member, sizes)
        }
        seconds = 0.0
        for (memory, writes), size in self._buffers.items():
            is_shared = memory in shared and not writes
            once = clock.handed_on(size, readers if is_shared else 1)
            seconds += once * (1 if writes else reads)
        return seconds

    @property
    def scratch_limit(self) -> int:
        """Bytes that a point may hold."""
        if self.contractions:
            return self.costs.scratch_limit
        return self.costs.row_scratch_limit

    def scratch_bytes(self, sizes: Sequence[int]) -> int:
        """Of the buffers inside, for one tile."""
        return sum(self._scratch(sizes).values())

    def _scratch(self, sizes: Sequence[int]) -> dict[SSAValue, int]:
        """The buffers inside, with the bytes of one tile."""
        scratch: dict[SSAValue, int] = {}
        for member in self.members:
            facts = member.facts
            pairs = zip(facts.memories, facts.writes, strict=True)
            for number, (memory, writes) in enumerate(pairs):
                if writes and memory in self.inside:
                    size = facts.window_bytes(number, member.shared, sizes)
                    scratch[memory] = size
        return scratch


def _is_covered(member: Member) -> bool:
    """Whether all indices of a member's outputs are shared."""
    return member.facts.outputs <= {*member.shared}
