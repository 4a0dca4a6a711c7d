"""The Python eDSL: `from gingham.edsl import *`.

```python
from gingham.edsl import *

@jit
def matrix_product(A, B):
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] += A[i, k] * B[k, j]
    return C
```
"""

from .frontend import edsl as _edsl
from .frontend.edsl import *
from .frontend.edsl.known_types import lend_type_finder
from .runtime.jit import jit
from .runtime.program import Program
from .runtime.result_types import result_type

lend_type_finder(result_type)

__all__ = ["Program", "jit"]
__all__ += _edsl.__all__
