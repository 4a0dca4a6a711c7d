"""All benchmarks, in the order in which they run."""

from .case import Case, CaseGroup, Shape, select
from .convolutions import CONVOLUTIONS
from .fused import FUSED
from .products import CONTRACTIONS, PRODUCTS
from .rows import ROWS

CASES: tuple[Case, ...] = (*PRODUCTS, *CONVOLUTIONS, *CONTRACTIONS, *ROWS, *FUSED)

__all__ = ["CASES", "Case", "CaseGroup", "Shape", "select"]
