"""Operations on tensors of the eDSL, named as NumPy, PyTorch or ONNX name them.

Each is made of contractions and the functions that Tile has, and so has derivatives,
fuses with its neighbours and takes tensors whose sizes are not known yet.
"""

from . import (
    accumulation,
    activations,
    adaptive_pooling,
    attention,
    blocks,
    choice,
    classification,
    convolution,
    creation,
    detection,
    distances,
    elementwise,
    indexing,
    joining,
    losses,
    normalization,
    padding,
    patches,
    pooling,
    products,
    random,
    recurrent,
    reductions,
    resizing,
    sampling,
    shapes,
    slicing,
    sorting,
    spectra,
)
from .accumulation import *
from .activations import *
from .adaptive_pooling import *
from .attention import *
from .blocks import *
from .choice import *
from .classification import *
from .convolution import *
from .creation import *
from .detection import *
from .distances import *
from .elementwise import *
from .indexing import *
from .joining import *
from .losses import *
from .normalization import *
from .padding import *
from .patches import *
from .pooling import *
from .products import *
from .random import *
from .recurrent import *
from .reductions import *
from .resizing import *
from .sampling import *
from .shapes import *
from .slicing import *
from .sorting import *
from .spectra import *

__all__: list[str] = []
__all__ += accumulation.__all__
__all__ += activations.__all__
__all__ += adaptive_pooling.__all__
__all__ += attention.__all__
__all__ += blocks.__all__
__all__ += choice.__all__
__all__ += classification.__all__
__all__ += convolution.__all__
__all__ += creation.__all__
__all__ += detection.__all__
__all__ += distances.__all__
__all__ += elementwise.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += losses.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += patches.__all__
__all__ += pooling.__all__
__all__ += products.__all__
__all__ += random.__all__
__all__ += recurrent.__all__
__all__ += reductions.__all__
__all__ += resizing.__all__
__all__ += sampling.__all__
__all__ += shapes.__all__
__all__ += slicing.__all__
__all__ += sorting.__all__
__all__ += spectra.__all__
