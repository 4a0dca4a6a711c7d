"""What commands that compare whole networks with their own libraries have in common."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gingham.runtime.torch.notes import OperatorWarning

_CLOSE = 1e-4
"""The largest difference that passes, as a share of the largest value."""


def largest_difference(found: Any, expected: Any) -> float:
    """The largest difference of two arrays, as a share of the largest expected."""
    return float(abs(found - expected).max() / abs(expected).max())


def compare_all(
    description: str,
    names: Iterable[str],
    compare: Callable[[str], Mapping[str, float]],
) -> int:
    """Compare the networks that the command line names, or all of them.

    `compare` gives differences by what is compared. Prints them, and returns 1 where
    one is too large, 0 otherwise.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", default=[*names], metavar="NAME")
    # An operator that PyTorch runs would only be compared with itself.
    warnings.simplefilter("error", OperatorWarning)
    status = 0
    for name in parser.parse_args().names:
        start = time.process_time()
        differences = compare(name)
        seconds = time.process_time() - start
        status |= not all(each <= _CLOSE for each in differences.values())
        figures = "  ".join(f"{key} {value:.1e}" for key, value in differences.items())
        print(f"{name:18} {figures}  ({seconds:.0f} s of one core)", flush=True)
    return status
