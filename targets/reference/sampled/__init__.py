"""Programs on some cells: what these should be, and how far from that a device may be.

```python
part = slice_of(module, {0: sample(shape, 64, seed=0)})  # flattened, at the tile level
estimates = expected(part, inputs)
```

Of every value only those cells are computed that the sampled ones depend on, so that a
few cells of a large result cost little: a row of a product needs a row of one matrix. A
second look at the definition, beside the interpreter's, from which it takes what
functions and special operations mean.
"""

from __future__ import annotations

from .estimate import Estimate, storage
from .grid import Grid, sample
from .slices import Slice, expected, slice_of

__all__ = ["Estimate", "Grid", "Slice", "expected", "sample", "slice_of", "storage"]
