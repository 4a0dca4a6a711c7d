"""Operations on tensors of the eDSL, named as NumPy, PyTorch or ONNX name them.

Each is made of contractions and the functions that Tile has, and so has derivatives,
fuses with its neighbours and takes tensors whose sizes are not known yet.
"""

from . import (
    accumulation,
    activations,
    adaptive_pooling,
    blocks,
    choice,
    classification,
    convolution,
    creation,
    elementwise,
    indexing,
    joining,
    normalization,
    padding,
    pooling,
    products,
    reductions,
    shapes,
    slicing,
)
from .accumulation import *
from .activations import *
from .adaptive_pooling import *
from .blocks import *
from .choice import *
from .classification import *
from .convolution import *
from .creation import *
from .elementwise import *
from .indexing import *
from .joining import *
from .normalization import *
from .padding import *
from .pooling import *
from .products import *
from .reductions import *
from .shapes import *
from .slicing import *

__all__: list[str] = []
__all__ += accumulation.__all__
__all__ += activations.__all__
__all__ += adaptive_pooling.__all__
__all__ += blocks.__all__
__all__ += choice.__all__
__all__ += classification.__all__
__all__ += convolution.__all__
__all__ += creation.__all__
__all__ += elementwise.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += products.__all__
__all__ += reductions.__all__
__all__ += shapes.__all__
__all__ += slicing.__all__
