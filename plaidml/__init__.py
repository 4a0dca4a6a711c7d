"""PlaidML's API: programs bound to tensors, and run while the caller goes on.

`import gingham.plaidml as plaidml` is what programs for PlaidML 0.6 need to change.
`docs/plaidml.md` tells the story, and where this differs. All of it runs on what
`gingham.compile` makes.
"""

from ..errors import GinghamError as PlaidMLError
from ..frontend.edsl.dtypes import DType
from . import tile
from .composition import Applier, Composer
from .devices import Context, Device, DeviceConfig, devices, open_first_device
from .errors import ViewWarning
from .functions import Function, load_function
from .invocation import Invocation, Invoker, run
from .shapes import Dimension, Shape
from .tensors import Tensor
from .variables import Integer, Placeholder, Real, Var, gradients
from .views import View

__all__ = [
    "Applier",
    "Composer",
    "Context",
    "DType",
    "Device",
    "DeviceConfig",
    "Dimension",
    "Function",
    "Integer",
    "Invocation",
    "Invoker",
    "Placeholder",
    "PlaidMLError",
    "Real",
    "Shape",
    "Tensor",
    "Var",
    "View",
    "ViewWarning",
    "devices",
    "gradients",
    "load_function",
    "open_first_device",
    "run",
    "tile",
]

_View = View
"""What PlaidML's documentation calls it."""
