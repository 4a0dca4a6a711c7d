"""Operations on tensors: `from gingham import op`.

```python
@gingham.jit
def layer(x, weight, bias):
    return op.relu(op.conv(x, weight, bias, padding=1))
```
"""

from .frontend import op as _op
from .frontend.op import *

__all__: list[str] = []
__all__ += _op.__all__
