"""The ops of a kernel's body that are about work-items: which one, and waiting."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..stripe.attributes import MemorySpace, MemorySpaceAttr
from ..syntax import integer_array, integers
from .attributes import WorkItemQuery, WorkItemQueryAttr
from .kernel import parse_integers


@operation_definition
class WorkItemOp(DialectOperation):
    """Which work-item this is: `%i = opencl.work_item group_id 0 below 64`.

    The number is the dimension of the launch (0 to 2); `below` is a proven bound on the
    value, from which the width of index arithmetic is chosen.
    """

    name = "opencl.work_item"
    query = prop_def(WorkItemQueryAttr)
    dimension = prop_def(IntegerAttr)
    bound = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, query: WorkItemQuery, dimension: int, bound: int) -> None:
        super().__init__(
            properties={
                "query": WorkItemQueryAttr(query),
                "dimension": IntegerAttr(dimension, i64),
                "bound": IntegerAttr(bound, i64),
            },
            result_types=[IndexType()],
        )

    @classmethod
    def parse(cls, parser: Parser) -> WorkItemOp:
        """Read `group_id 0 below 64`."""
        query = parser.parse_str_enum(WorkItemQuery)
        dimension = parser.parse_integer(allow_negative=False)
        parser.parse_keyword("below")
        op = cls(query, dimension, parser.parse_integer(allow_negative=False))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Print what is asked, the dimension of the launch, and the bound."""
        printer.print_string(
            f" {self.query.data.value} {self.dimension.value.data} below "
            f"{self.bound.value.data}"
        )
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Raise VerifyException for a dimension other than 0, 1 and 2."""
        if self.dimension.value.data not in (0, 1, 2):
            raise VerifyException(
                f"expected dimension 0, 1 or 2, got {self.dimension.value.data}"
            )


@operation_definition
class DelinearizeOp(DialectOperation):
    """One index taken apart: `%a, %b = opencl.delinearize %i into [4, 32]`.

    The results are the coordinates of position `%i` in a box of these sizes, rows
    contiguous: `%i == %a * 32 + %b`.
    """

    name = "opencl.delinearize"
    index = operand_def(IndexType)
    sizes = prop_def(DenseArrayBase)
    coordinates = var_result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, index: SSAValue, sizes: Sequence[int]) -> None:
        super().__init__(
            operands=[index],
            properties={"sizes": integer_array(sizes)},
            result_types=[[IndexType()] * len(sizes)],
        )

    @property
    def extents(self) -> tuple[int, ...]:
        """The sizes of the box."""
        return integers(self.sizes)

    @classmethod
    def parse(cls, parser: Parser) -> DelinearizeOp:
        """Read `%i into [4, 32]`; there are as many results as sizes."""
        index = parser.parse_operand(IndexType())
        parser.parse_keyword("into")
        op = cls(index, parse_integers(parser))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Print the index and the sizes of the box."""
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(f" into {list(self.extents)}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Raise VerifyException unless each size has a result."""
        if len(self.extents) != len(self.coordinates):
            raise VerifyException(
                f"expected a result for each of {len(self.extents)} sizes, got "
                f"{len(self.coordinates)}"
            )


@operation_definition
class BarrierOp(DialectOperation):
    """All work-items of a group wait here: `opencl.barrier local`.

    Writes to the named memory before the barrier are seen by all of the group after it.
    With `asynchronous local`, each work-item waits for its own asynchronous stores
    before: they are among these writes, and in no other barrier's.
    """

    name = "opencl.barrier"
    space = prop_def(MemorySpaceAttr)
    asynchronous = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, space: MemorySpace) -> None:
        super().__init__(properties={"space": MemorySpaceAttr(space)})

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        """Read `local` or `global`, before it `asynchronous` or nothing."""
        is_asynchronous = parser.parse_optional_keyword("asynchronous") is not None
        op = cls(parser.parse_str_enum(MemorySpace))
        op.asynchronous = UnitAttr() if is_asynchronous else None
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Print the memory whose writes are seen after it."""
        printer.print_string("" if self.asynchronous is None else " asynchronous")
        printer.print_string(f" {self.space.data.value}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Raise VerifyException for private memory, of which others see nothing."""
        if self.space.data is MemorySpace.PRIVATE:
            raise VerifyException("expected global or local memory, got private")
