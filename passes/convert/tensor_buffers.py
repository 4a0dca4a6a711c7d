"""The buffers that the tensors of one function become, and the block they fill."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.eltwise.element_types import is_element_type
from ...dialects.stripe import AllocOp, ReshapeOp
from ...dialects.stripe.attributes import ViewType, view_type
from ..locations import error_at, located
from ..stripe.edit.point_block import PointBlock, Source, identity_access, index_names
from .sort_order import Sorting


class TensorBuffers:
    """A function under construction: what each tensor is now, and its statements."""

    def __init__(
        self, function: FuncOp, sorting: Sorting, owners: int, items: int
    ) -> None:
        """With how rows are sorted, points of a scatter, the most items of a group."""
        self.block = Block()
        self.sorting = sorting
        self.owners = owners
        self.items = items
        self._function = function
        self._sources: dict[SSAValue, Source] = {}

    def add_argument(self, argument: BlockArgument) -> None:
        """Make a tensor argument a view."""
        type = static_type(argument, self._function)
        shape = type.get_shape()
        view = self.block.insert_arg(
            ViewType.of(shape, type.element_type),
            argument.index,
            argument.location,
        )
        view.name_hint = argument.name_hint
        self._sources[argument] = Source(type.element_type, shape, view)

    def source(self, tensor: SSAValue) -> Source:
        """What a tensor is read from."""
        return self._sources[tensor]

    def bind(self, tensor: SSAValue, source: Source) -> None:
        """Say what a tensor is read from."""
        self._sources[tensor] = source

    def view(self, tensor: SSAValue) -> SSAValue:
        """A view of all of a tensor; one that has no buffer yet is written to one."""
        source = self._sources[tensor]
        if isinstance(source.value, SSAValue):
            return source.value
        view = self.copy(tensor, self._origin(tensor))
        self._sources[tensor] = Source(source.element, source.shape, view)
        return view

    def result(self, tensor: SSAValue, op: Operation) -> SSAValue:
        """A buffer for a tensor, from which it is read from now on."""
        type = static_type(tensor, op)
        shape, element = type.get_shape(), type.element_type
        view = self.allocate(tensor, shape, element)
        self._sources[tensor] = Source(element, shape, view)
        return view

    def allocate(
        self,
        tensor: SSAValue,
        shape: Sequence[int],
        element: Attribute,
        suffix: str = "",
    ) -> SSAValue:
        """A buffer for a tensor, or a further one that is named after it."""
        alloc = AllocOp(ViewType.of(shape, element), name_after(tensor, suffix))
        self.emit(alloc, self._origin(tensor))
        return alloc.view

    def reshaped(self, view: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The memory of a whole buffer seen with another shape."""
        type = view_type(view)
        if type.sizes == tuple(shape):
            return view
        reshape = ReshapeOp(view, type.resized(shape))
        reshape.view.name_hint = view.name_hint
        owner = view.owner
        self.emit(reshape, owner if isinstance(owner, Operation) else self._function)
        return reshape.view

    def erase_unused_shapes(self) -> None:
        """Let go of other shapes of buffers that nothing is read from."""
        for operation in [*self.block.ops][::-1]:
            if isinstance(operation, ReshapeOp) and operation.view.first_use is None:
                operation.detach()
                operation.erase()

    def copy(self, tensor: SSAValue, op: Operation) -> SSAValue:
        """A new buffer with the elements of a tensor, for which `op` asks."""
        source = self._sources[tensor]
        view = self.allocate(tensor, source.shape, source.element)
        if 0 in source.shape:
            return view
        origin = tensor.owner if isinstance(tensor.owner, Operation) else op
        self.fill(view, source, name_after(tensor, "copy"), origin)
        return view

    def fill(
        self, view: SSAValue, source: Source, name: str | None, origin: Operation
    ) -> None:
        """A block that writes a source, which has some element, to a buffer."""
        rank = len(source.shape)
        block = PointBlock(source.shape, index_names(rank), origin)
        access = identity_access(rank)
        value = block.convert(block.read(source, access), view)
        block.store(value, view, access)
        self.emit(block.finish(name), origin)

    def emit(self, op: Operation, origin: Operation) -> None:
        """Add a statement, where it has no location at that of `origin`."""
        self.block.add_op(located(op, origin))

    def _origin(self, tensor: SSAValue) -> Operation:
        owner = tensor.owner
        return owner if isinstance(owner, Operation) else self._function


def name_after(tensor: SSAValue, suffix: str) -> str | None:
    """A name for what belongs to a tensor; without a suffix, the tensor's own."""
    hint = tensor.name_hint
    if not suffix:
        return hint
    return suffix if hint is None else f"{hint}_{suffix}"


def static_type(value: SSAValue, op: Operation) -> TensorType[Attribute]:
    """The type of a tensor; GinghamError when it is not known yet."""
    type = value.type
    if (
        isinstance(type, TensorType)
        and type.has_static_shape()
        and is_element_type(type.element_type)
    ):
        return type
    raise error_at(
        op,
        f"expected tensors of known shape and element type, got {type}",
        "run tile-specialize first",
    )


def block_name(op: Operation) -> str | None:
    """The profiling name that the program gives, else the name of the result."""
    profiling = op.attributes.get("tile.pid")
    if isinstance(profiling, StringAttr):
        return profiling.data
    return op.results[0].name_hint
