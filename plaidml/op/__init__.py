"""PlaidML's library of operations: functions of `tile.Value`s.

Each operation is a class of its own, by which programs recognise it, and a function of
the same name in small letters.
"""

from .classification import *
from .convolution import *
from .elementwise import *
from .products import *
from .reductions import *
from .shapes import *
from .windows import *
