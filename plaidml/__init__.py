"""PlaidML's API: programs bound to tensors, and run while the caller goes on.

`import gingham.plaidml as plaidml` is what programs for PlaidML 0.6 need to change, and
after `gingham.plaidml.install()` not even that. `docs/plaidml.md` tells the story, and
where this differs. All of it runs on what `gingham.compile` makes.
"""

from .. import __version__ as __version__
from ..errors import GinghamError as PlaidMLError
from ..frontend.edsl.dtypes import DType, TensorShape
from ..runtime.program import Program
from . import context, edsl, exceptions, exec, op, settings, tile
from .buffers import Buffer
from .composition import Applier, Composer
from .context import Context
from .devices import Device, DeviceConfig, devices, open_first_device
from .errors import ViewWarning
from .functions import Function, load_function
from .invocation import Invocation, Invoker, run
from .names import install
from .process import (
    DEFAULT_LOG_HANDLER,
    floatx,
    get_perf_counter,
    is_backtrace_enabled,
    quiet,
    set_backtrace,
    set_floatx,
    set_perf_counter,
    set_verbosity,
)
from .shapes import Dimension, Shape
from .tensors import Tensor
from .variables import Integer, Placeholder, Real, Var, gradients
from .views import View

__all__ = [
    "DEFAULT_LOG_HANDLER",
    "Applier",
    "Buffer",
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
    "Program",
    "Real",
    "Shape",
    "Tensor",
    "TensorShape",
    "Var",
    "View",
    "ViewWarning",
    "context",
    "devices",
    "edsl",
    "exceptions",
    "exec",
    "floatx",
    "get_perf_counter",
    "gradients",
    "install",
    "is_backtrace_enabled",
    "load_function",
    "op",
    "open_first_device",
    "quiet",
    "run",
    "set_backtrace",
    "set_floatx",
    "set_perf_counter",
    "set_verbosity",
    "settings",
    "tile",
]

# What PlaidML calls them, and programs too.
_View = View
_DeviceConfig = DeviceConfig
_internal_set_vlog = set_verbosity
