"""`Tensor`: memory for one device, seen through views or used by runs."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..errors import GinghamError
from ..frontend.edsl import tensors as edsl
from ..frontend.edsl.dtypes import element_type
from ..frontend.edsl.graph import Input
from ..runtime.arrays.array import Array, asarray
from ..runtime.arrays.transfers import empty
from ..runtime.claims import Claim, WouldDeadlock
from ..runtime.runs import Buffer
from .context import Context
from .devices import Device
from .errors import ViewWarning
from .shapes import Shape
from .variables import Var
from .views import View

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.ir import Attribute


class BoundInput(Input):
    """A tensor with memory as a part of a composed program."""

    def __init__(self, tensor: Tensor, sizes: Sequence[int], element: Attribute):
        super().__init__(sizes, element, None)
        self.tensor = tensor


class Tensor(Var):
    """A tensor with memory, for the programs of one device.

    As a variable it is what it contains when a program runs. Raises GinghamError when
    there is not as much memory.
    """

    def __init__(self, dev: Device, shape: Shape, name: str | None = None) -> None:
        dev.check()
        self.device = dev
        self.shape = shape
        try:
            array = Array(*empty(shape.sizes, shape.numpy_dtype, dev.device))
        except GinghamError as error:
            raise GinghamError(
                f"there is no memory for a tensor {shape} of {shape.bytes} bytes: "
                f"{error.message}",
                hint=error.hint,
            ) from error
        self.buffer = Buffer(name or f"a tensor {shape}", array)
        self._node: ref[BoundInput] | None = None

    @classmethod
    def from_ndarray(cls, ctx: Context, dev: Device, array: NDArray[Any]) -> Tensor:
        """A tensor with these contents."""
        tensor = cls(dev, Shape(ctx, array.dtype.name, *array.shape))
        tensor.fill(array)
        return tensor

    @property
    def symbol(self) -> edsl.Tensor:
        """What it contains, as a tensor of `gingham.edsl`."""
        # Programs keep the tensor alive; were it to keep them, too, its memory would be
        # free only when Python looks for cycles.
        node = None if self._node is None else self._node()
        if node is None:
            element = element_type(self.shape.dtype)
            node = BoundInput(self, self.shape.sizes, element)
            self._node = ref(node)
        return edsl.Tensor.of(node)

    def __repr__(self) -> str:
        return f"<gingham.plaidml.Tensor {self.shape} of {self.device.id}>"

    @contextmanager
    def mmap_current(self, ctx: Context | None = None) -> Generator[View, None, None]:
        """A view of the contents, for the time of a `with` statement.

        Waits for the runs and views that were asked for before. Raises the error of the
        run that should have computed the contents, if that failed.
        """
        with self._mapped(ctx) as view:
            yield view
        _warn_of(view, self)

    @contextmanager
    def mmap_discard(self, ctx: Context | None = None) -> Generator[View, None, None]:
        """As `mmap_current`, where the contents do not matter, but are to be written.

        What the elements are before that is not defined.
        """
        with self._mapped(ctx, reads=False) as view:
            yield view
        _warn_of(view, self)

    def as_ndarray(self, ctx: Context | None = None) -> NDArray[Any]:
        """The contents as a new array. Waits and raises as `mmap_current`."""
        with self._mapped(ctx, writes=False) as view:
            return view.as_ndarray()

    def fill(self, array: NDArray[Any]) -> None:
        """Write contents where nobody else uses the tensor yet."""
        self.buffer.write(asarray(array, self.device.device, copy=True))

    def check(self) -> None:
        """Raise GinghamError when its device is closed."""
        if self.device.is_closed:
            raise GinghamError(
                f"the device {self.device.id} of {self.buffer.name} is closed"
            )

    @contextmanager
    def _mapped(
        self, ctx: Context | None, reads: bool = True, writes: bool = True
    ) -> Generator[View, None, None]:
        if ctx is not None:
            ctx.check()
        self.check()
        claim = Claim(
            f"a view of {self.buffer.name}",
            {self.buffer: writes},
            _do_nothing,
            threading.get_ident(),
        )
        try:
            claim.enter()
            claim.wait()
        except WouldDeadlock as error:
            raise held_here(error, f"a view of {self.buffer.name}") from None
        except BaseException:
            # An interrupted wait must not keep others waiting.
            claim.release()
            raise
        try:
            yield from self._viewed(ctx, reads, writes)
        finally:
            claim.release()

    def _viewed(
        self, ctx: Context | None, reads: bool, writes: bool
    ) -> Generator[View, None, None]:
        """A view, which nobody else has or waits for meanwhile."""
        if reads:
            self.buffer.check()
        if writes:
            self.buffer.settle()
        memory = self._memory(reads)
        if not reads:
            self.buffer.forget()
        view = View(memory, self.shape, ctx, self.device)
        try:
            yield view
        finally:
            view.close()
            if writes and memory is not self.buffer.array.host:
                self.fill(memory)

    def _memory(self, reads: bool) -> NDArray[Any]:
        """The elements as they lie in memory by the layout.

        Where the layout is that of arrays, and memory is shared, it is the array's.
        """
        array = self.buffer.array
        rows_follow_each_other = list(self.shape.layout) == sorted(self.shape.layout)
        if array.host is not None and rows_follow_each_other:
            return array.host
        memory = _allocate(self.shape)
        if reads:
            memory[...] = array.numpy()
        return memory


def held_here(error: WouldDeadlock, what: str) -> GinghamError:
    """What to tell a thread that would wait for a view of its own."""
    return GinghamError(
        f"{what} would wait forever for {error.held.name} that this thread holds",
        hint="leave the 'with' statement of that view first",
    )


def _do_nothing() -> None:
    pass


def _allocate(shape: Shape) -> NDArray[Any]:
    """Memory for the elements by the layout, seen by the axes of the tensor."""
    import numpy as np

    memory = np.empty([shape.sizes[axis] for axis in shape.layout], shape.numpy_dtype)
    return memory.transpose(np.argsort(shape.layout)) if shape.sizes else memory


def _warn_of(view: View, tensor: Tensor) -> None:
    """Say that writeback was forgotten, where the `with` statement ends."""
    if view.needs_writeback:
        warnings.warn(
            f"a view of {tensor.buffer.name} was written to and left without "
            "writeback(); the contents are kept",
            ViewWarning,
            stacklevel=4,
        )
