"""Operations on tensors: `from gingham import op`.

```python
@gingham.jit
def layer(x, weight, bias):
    return op.relu(op.conv(x, weight, bias, padding=1))
```
"""

from .frontend import op as _op
from .frontend.edsl.known_types import lend_type_finder
from .frontend.op import *
from .runtime.result_types import result_type

lend_type_finder(result_type)

__all__: list[str] = []
__all__ += _op.__all__
