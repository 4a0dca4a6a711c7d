"""`stripe.block`: a polyhedron of points over refinements of outer views."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ..building import INDEX, build, operation_definition
from ..form_attribute import FormAttr
from ..index_sum import IndexSum, values_of
from ..operands import operands_of
from ..syntax import integer_array, integers
from .attributes import Refinement, RefinementAttr, ViewType
from .binding import Binding, BindingAttr, bindings_array
from .block_forms import compact_captures, verify_counts, verify_forms, verify_window
from .block_syntax import BlockArguments, parse_block, print_block
from .block_values import (
    IndexedOperation,
    argument_place,
    direction_of,
    index_range,
    is_block_index,
    is_view_of,
)
from .schedule import verify_schedule
from .tiling import verify_bindings

_SEGMENTS = "operandSegmentSizes"


@operation_definition
class BlockOp(IndexedOperation):
    """Runs its statements for every point of an index space, in any order, in parallel.

    ```mlir
    stripe.block "C" [%i : 64, %j : 64, %k : 32]
        in %a = %A[%i, %k] : 1x1
        in %b = %B[%k, %j] : 1x1
        out %c = %C[%i, %j] : 1x1 add init 0
        where %i + %k - 3 >= 0 {
      %x = stripe.load %a : !stripe.view<1x1xf32>
      %y = stripe.load %b : !stripe.view<1x1xf32>
      %z = eltwise.mul %x, %y : f32
      stripe.store %z, %c : !stripe.view<1x1xf32>
    }
    ```

    Every index runs from 0 to its range; the points are those where all constraints
    (forms `>= 0`) hold. A refinement gives the body, for each point, a window of an
    outer view: `in` to read, `out` to write, `inout` for both (see `Refinement`); it
    may be larger than what a point accesses of it by subscripts. Forms are over the
    block's own indices and indices of enclosing blocks, which it captures. Accesses
    must be in bounds at every point where a statement accesses them. Statements use
    views of their own block only: its windows and what it allocates.

    Within a point statements run in order, and an allocation lives as long as the
    point. Different points communicate only through an `out` refinement with an
    aggregation: no point reads what another writes, and of points that `assign` one
    cell there is one.

    An index may be bound: `[%i : 64 grid, %k : 32, %v : 4 unroll]`, see `Binding`. That
    means nothing to the result, nor does the order of the indices; it is the order of
    the loops, outermost first.

    The points of a `serial` block run one after the other in lexicographic order, the
    last index fastest, and each sees what those before it stored:

    ```mlir
    stripe.block "running sum" [%r : 64 grid]
        inout %row = %A[%r, 0] : 1x100 {
      stripe.block serial [%t : 99]
          in %last = %row[0, %t] : 1x1
          inout %next = %row[0, %t + 1] : 1x1 { ... }
    }
    ```

    Its indices are loops or lanes of vectors: not bound to work-items.
    """

    name = "stripe.block"
    buffers = var_operand_def(ViewType)
    captures = var_operand_def(IndexType)
    block_name = opt_prop_def(StringAttr)
    serial = opt_prop_def(UnitAttr)
    ranges = prop_def(DenseArrayBase)
    bindings = prop_def(ArrayAttr[BindingAttr])
    refinements = prop_def(ArrayAttr[RefinementAttr])
    constraints = prop_def(ArrayAttr[FormAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        ranges: Sequence[int],
        buffers: Sequence[SSAValue],
        refinements: Sequence[Refinement],
        body: Region,
        *,
        captures: Sequence[SSAValue] = (),
        constraints: Sequence[LinearForm] = (),
        bindings: Sequence[Binding] | None = None,
        block_name: str | None = None,
        serial: bool = False,
    ) -> None:
        refinements, constraints, captures = compact_captures(
            len(ranges), refinements, constraints, [*body.block.args], captures
        )
        bound = [Binding.UNDECIDED] * len(ranges) if bindings is None else bindings
        name = None if block_name is None else StringAttr(block_name)
        build(
            self,
            operands=[*buffers, *captures],
            properties={
                "block_name": name,
                "serial": UnitAttr() if serial else None,
                "ranges": integer_array(ranges),
                "bindings": bindings_array(bound),
                "refinements": ArrayAttr([RefinementAttr(r) for r in refinements]),
                "constraints": ArrayAttr([FormAttr(form) for form in constraints]),
                _SEGMENTS: _segments(buffers, captures),
            },
            regions=[body],
        )

    @staticmethod
    def empty_body(
        index_names: Sequence[str | None], views: Sequence[tuple[ViewType, str | None]]
    ) -> Region:
        """A region whose block has an index argument per name and these views."""
        types: list[Attribute] = [INDEX] * len(index_names)
        block = Block(arg_types=[*types, *(type for type, _ in views)])
        hints = [*index_names, *(hint for _, hint in views)]
        for argument, hint in zip(block.args, hints, strict=True):
            argument.name_hint = hint
        return Region(block)

    @property
    def index_ranges(self) -> tuple[int, ...]:
        """The number of values of each index."""
        # Passes ask so often that looking `ranges` up shows.
        return integers(self.properties["ranges"])

    @property
    def index_bindings(self) -> tuple[Binding, ...]:
        """What the values of each index become on the device, where it is decided."""
        return tuple([binding.data for binding in self.bindings])

    @property
    def is_serial(self) -> bool:
        """Whether the points run in order, each seeing what those before it stored."""
        return self.serial is not None

    @property
    def bindings_around(self) -> frozenset[Binding]:
        """What indices of the blocks around it are bound to."""
        outer = self.parent_op()
        if not isinstance(outer, BlockOp):
            return frozenset()
        return outer.bindings_around.union(outer.index_bindings)

    @property
    def is_nested(self) -> bool:
        """Whether it is inside of another block."""
        return isinstance(self.parent_op(), BlockOp)

    @property
    def indices(self) -> tuple[BlockArgument, ...]:
        """The body's arguments that hold the indices."""
        return self._arguments[: len(self.index_ranges)]

    @property
    def views(self) -> tuple[BlockArgument, ...]:
        """The body's arguments that hold the windows, one per refinement."""
        return self._arguments[len(self.index_ranges) :]

    @property
    def _arguments(self) -> tuple[BlockArgument, ...]:
        # Passes ask so often that looking `body` up shows.
        return self.regions[0].block.args

    @property
    def refinement_list(self) -> tuple[Refinement, ...]:
        """Direction, access and aggregation of each window, as in `buffers`."""
        return tuple([refinement.data for refinement in self.refinements.data])

    @property
    def written(self) -> list[int]:
        """The numbers of the windows that are written."""
        return [n for n, r in enumerate(self.refinement_list) if r.direction.writes]

    @property
    def conditions(self) -> tuple[LinearForm, ...]:
        """The constraints as forms that are >= 0 at every point."""
        return tuple([form.data for form in self.constraints.data])

    @property
    def form_values(self) -> tuple[SSAValue, ...]:
        """What the forms range over: the block's indices, then the captured ones."""
        return (*self.indices, *operands_of(self)[len(self.refinements.data) :])

    def set_ranges(self, ranges: Iterable[int]) -> None:
        """Give the indices other numbers of values."""
        self.properties["ranges"] = integer_array(ranges)

    def set_operands(
        self, buffers: Sequence[SSAValue], captures: Sequence[SSAValue]
    ) -> None:
        """Refine and capture other values; the refinements are for who calls this."""
        self.operands = [*buffers, *captures]
        self.properties[_SEGMENTS] = _segments(buffers, captures)

    def set_bindings(self, bindings: Iterable[Binding]) -> None:
        """Bind the indices in another way."""
        self.properties["bindings"] = bindings_array(bindings)

    def refinement(self, number: int) -> Refinement:
        """The refinement of window `number`."""
        return self.refinements.data[number].data

    def view(self, number: int) -> BlockArgument:
        """The body's argument that holds window `number`."""
        arguments = self._arguments
        return arguments[len(arguments) - len(self.refinements.data) + number]

    def buffer(self, number: int) -> SSAValue:
        """What window `number` is cut from."""
        return operands_of(self)[number]

    def view_type(self, number: int) -> ViewType:
        """The type of window `number`."""
        type = self.view(number).type
        if not isinstance(type, ViewType):
            raise VerifyException(f"expected view {number} to be a view, got {type}")
        return type

    def access(self, number: int) -> tuple[IndexSum, ...]:
        """Where window `number` starts in its buffer, along each axis."""
        values = self.form_values
        forms = self.refinement(number).access
        return tuple([IndexSum.of(form, values) for form in forms])

    @property
    def accesses(self) -> list[tuple[IndexSum, ...]]:
        """Where each window starts in its buffer."""
        return [self.access(number) for number in range(len(self.refinements))]

    @property
    def where(self) -> tuple[IndexSum, ...]:
        """The constraints as sums that are >= 0 at every point."""
        values = self.form_values
        return tuple([IndexSum.of(form, values) for form in self.conditions])

    # Changes in place.

    def substitute(self, replacements: Mapping[SSAValue, IndexSum]) -> None:
        """Put sums in place of index values, in the accesses and the constraints."""
        accesses = [
            [start.substitute(replacements) for start in access]
            for access in self.accesses
        ]
        where = [condition.substitute(replacements) for condition in self.where]
        self.rewrite(accesses, where)

    def rewrite(
        self, accesses: Sequence[Sequence[IndexSum]], where: Sequence[IndexSum]
    ) -> None:
        """Let windows start elsewhere, and other conditions hold."""
        sums = [*chain.from_iterable(accesses), *where]
        values = values_of(sums, first=self.indices)
        refinements = [
            replace(refinement, access=tuple([start.form(values) for start in starts]))
            for refinement, starts in zip(self.refinement_list, accesses, strict=True)
        ]
        self._set_forms(refinements, [condition.form(values) for condition in where])
        self.set_operands(self.buffers, values[len(self.index_ranges) :])

    def set_refinements(self, refinements: Sequence[Refinement]) -> None:
        """Give the windows other refinements, over the same values."""
        self.set_forms(refinements, self.conditions, self.captures)

    def set_refinement(self, number: int, refinement: Refinement) -> None:
        """Give a window another refinement, over the same values."""
        refinements = [*self.refinement_list]
        refinements[number] = refinement
        self.set_refinements(refinements)

    def set_constraints(self, constraints: Sequence[LinearForm]) -> None:
        """Other constraints, over the same values."""
        self.set_forms(self.refinement_list, constraints, self.captures)

    def add_where(self, *conditions: IndexSum) -> None:
        """Let further conditions hold."""
        self.rewrite(self.accesses, [*self.where, *conditions])

    def drop_where(self, *conditions: IndexSum) -> None:
        """Let some of the conditions hold no more."""
        pairs = zip(self.conditions, self.where, strict=True)
        self.set_constraints([form for form, each in pairs if each not in conditions])

    def set_forms(
        self,
        refinements: Sequence[Refinement],
        constraints: Sequence[LinearForm],
        captures: Sequence[SSAValue],
    ) -> None:
        """Other refinements and constraints, over the indices and then `captures`."""
        refinements, constraints, captures = compact_captures(
            len(self.index_ranges), refinements, constraints, self.indices, captures
        )
        self._set_forms(refinements, constraints)
        self.set_operands(self.buffers, captures)

    def set_range(self, index: int, extent: int) -> None:
        """Let an index have so many values."""
        ranges = [*self.index_ranges]
        ranges[index] = extent
        self.set_ranges(ranges)

    def add_index(self, extent: int, name: str | None) -> BlockArgument:
        """Another index, of so many values, behind those that there are."""
        accesses, where, count = self.accesses, self.where, len(self.index_ranges)
        index = self.body.block.insert_arg(INDEX, count)
        index.name_hint = name
        self.set_ranges([*self.index_ranges, extent])
        self.set_bindings([*self.index_bindings, Binding.UNDECIDED])
        self.rewrite(accesses, where)
        return index

    def add_input(
        self, buffer: SSAValue, refinement: Refinement, type: ViewType, name: str | None
    ) -> BlockArgument:
        """Another window, of this type, behind those that there are."""
        body = self.body.block
        view = body.insert_arg(type, len(body.args))
        view.name_hint = name
        self.refinements = ArrayAttr([*self.refinements, RefinementAttr(refinement)])
        self.set_operands([*self.buffers, buffer], self.captures)
        return view

    def drop(self, numbers: Collection[int]) -> None:
        """Remove windows that nothing uses any more; the body becomes another one.

        (To erase many arguments one by one takes a time quadratic in them.)
        """
        kept = [n for n in range(len(self.refinements)) if n not in numbers]
        refinements = [self.refinement(number) for number in kept]
        buffers = [self.buffer(number) for number in kept]
        arguments = [*self.indices, *(self.view(number) for number in kept)]
        old, body = self.body.block, Block(arg_types=[a.type for a in arguments])
        for argument, new in zip(arguments, body.args, strict=True):
            new.name_hint, new.location = argument.name_hint, argument.location
            argument.replace_all_uses_with(new)
        for statement in [*old.ops]:
            statement.detach()
            body.add_op(statement)
        self.body.insert_block(body, 0)
        self.body.erase_block(old)
        self.set_operands(buffers, self.captures)
        self.set_refinements(refinements)

    def replace_by(self, *others: Operation) -> None:
        """Put ops in place of this one, which nothing uses."""
        Rewriter.replace_op(self, others, [])

    def _set_forms(
        self, refinements: Sequence[Refinement], constraints: Sequence[LinearForm]
    ) -> None:
        self.refinements = ArrayAttr([RefinementAttr(each) for each in refinements])
        self.constraints = ArrayAttr([FormAttr(form) for form in constraints])

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        """Read all behind `stripe.block`; raises ParseError at what does not fit."""
        arguments, attributes = parse_block(parser)
        op = cls(**arguments)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the pretty form; what has its default is left out."""
        name = self.block_name
        block = BlockArguments(
            ranges=self.index_ranges,
            buffers=self.buffers,
            refinements=self.refinement_list,
            body=self.body,
            captures=self.captures,
            constraints=self.conditions,
            bindings=self.index_bindings,
            block_name=None if name is None else name.data,
            serial=self.is_serial,
        )
        print_block(block, self.attributes, printer)

    def verify_(self) -> None:
        """Raise VerifyException unless indices, windows and constraints agree."""
        ranges, arguments = self.index_ranges, self.body.block.args
        sizes = len(self.bindings), len(self.refinements), len(self.buffers)
        verify_counts(ranges, *sizes, [argument.type for argument in arguments])
        for number, capture in enumerate(self.captures):
            if not is_block_index(capture) or capture.owner is self.body.block:
                raise VerifyException(
                    f"expected captured value {number} to be an index of a block around"
                )
        verify_bindings(self)
        verify_schedule(self)
        reached = [*ranges, *map(index_range, self.captures)]
        for number, buffer in enumerate(self.buffers):
            self._verify_refinement(number, buffer, reached)
        verify_forms(self.conditions, "constraint", reached)

    def _verify_refinement(
        self, number: int, buffer: SSAValue, ranges: Sequence[int]
    ) -> None:
        refinement = self.refinement(number)
        outer = buffer.type
        inner = self.view_type(number)
        where = f"refinement {number}"
        if not isinstance(outer, ViewType):
            raise VerifyException(f"expected {where} to be of a view, got {outer}")
        if not is_view_of(buffer, self.parent):
            raise VerifyException(
                f"expected {where} to be of a view of the block around, got one from "
                "further out"
            )
        verify_window(refinement, outer, inner, where)
        verify_forms(refinement.access, where, ranges)
        allowed = direction_of(buffer)
        if allowed is not None and not allowed.permits(refinement.direction):
            raise VerifyException(
                f"expected {where} to be '{allowed.value}' as the outer view is, got "
                f"'{refinement.direction.value}'"
            )


def _segments(buffers: Sequence[SSAValue], captures: Sequence[SSAValue]) -> Attribute:
    """How many of the operands are buffers, and how many are captured."""
    return integer_array([len(buffers), len(captures)], bits=32)


def window_of(view: SSAValue) -> tuple[BlockOp, int] | None:
    """The block whose window a view is, and the window's number there.

    None for other memory: an allocation, what is reshaped, an argument of the function.
    """
    block, number = argument_place(view) or (None, 0)
    if not isinstance(block, BlockOp):
        return None
    return block, number - len(block.index_ranges)
