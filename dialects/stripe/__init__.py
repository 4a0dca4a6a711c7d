"""The `stripe` dialect: nested polyhedral blocks over buffers.

A program is a `func.func` whose arguments are views of the input buffers and whose
results are the output buffers. Its body allocates buffers and runs blocks, one after
the other; a block has a box of index values with constraints, refinements that cut
windows out of the views around it, and statements: allocations, loads, `eltwise`
functions, stores and further blocks. See `BlockOp` for the meaning. Loads and stores
may choose a place in their window by computed subscripts, and the points of a `serial`
block run in order.

After PlaidML's Stripe (Zerrell and Bruestle, arXiv 1903.06498): a nested polyhedral
model with limited dependencies.
"""

from xdsl.ir import Dialect

from ..form_attribute import FormAttr
from .attributes import MemorySpaceAttr, RefinementAttr, ViewType
from .binding import BindingAttr
from .block import BlockOp
from .layout import LayoutAttr
from .ops import AllocOp, IndexOp, LoadOp, StoreOp
from .reshape import ReshapeOp
from .schedule import ScheduleAttr

Stripe = Dialect(
    "stripe",
    [BlockOp, AllocOp, ReshapeOp, IndexOp, LoadOp, StoreOp],
    [
        ViewType,
        FormAttr,
        BindingAttr,
        LayoutAttr,
        MemorySpaceAttr,
        RefinementAttr,
        ScheduleAttr,
    ],
)

__all__ = ["Stripe"]
