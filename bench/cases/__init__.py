"""All benchmarks, in the order in which they run."""

from collections.abc import Mapping

from .case import Case, CaseGroup, Shape, select
from .convolutions import CONVOLUTIONS
from .fused import FUSED
from .odd import ODD_CASES
from .on_device import DEVICE_CASES
from .products import CONTRACTIONS, PRODUCTS
from .rows import ROWS

CASES: tuple[Case, ...] = (*PRODUCTS, *CONVOLUTIONS, *CONTRACTIONS, *ROWS, *FUSED)
"""Those for CPUs."""

LISTS: Mapping[str, tuple[Case, ...]] = {
    "host": CASES,
    "device": DEVICE_CASES,
    "odd": ODD_CASES,
}
"""What there is to choose from."""

__all__ = ["CASES", "LISTS", "Case", "CaseGroup", "Shape", "select"]
