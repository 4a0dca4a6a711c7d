"""All rows, from the modules that have them."""

from __future__ import annotations

from collections.abc import Mapping

from . import attention as attention
from . import creation as creation
from . import elementwise as elementwise
from . import indexing as indexing
from . import normalization as normalization
from . import pooling as pooling
from . import products as products
from . import reductions as reductions
from . import shapes as shapes
from .rows import Row, rows

ROWS: Mapping[str, Row] = rows()
"""What each operator means, by its name and overload: `aten.mm.default`."""
