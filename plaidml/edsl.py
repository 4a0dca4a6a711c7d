"""The eDSL as PlaidML 1 has it: `gingham.edsl`, with its order of operands.

`from plaidml.edsl import *` is this after `gingham.plaidml.install()`. Only `scatter`
differs: PlaidML 1 names what is written to first, all others what is written.
"""

from ..edsl import *
from ..frontend import edsl as _edsl
from .scattering import scatter as scatter

__all__ = ["Program", "jit"]
__all__ += _edsl.__all__
