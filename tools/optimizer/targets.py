"""What `--target` can print beyond what xDSL prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...errors import GinghamError
from ...targets.opencl.printer import print_opencl
from ...targets.printer import kernel_names


@dataclass(frozen=True)
class OpenCLTarget(Target):
    """The kernels of an `opencl` module as OpenCL C.

    `index_bits` is the least width of index arithmetic, 32 or 64.
    """

    name = "opencl"

    index_bits: int = 32

    def __post_init__(self) -> None:
        if self.index_bits not in (32, 64):
            raise ValueError(
                f"expected index-bits to be 32 or 64, not {self.index_bits}"
            )

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the OpenCL C of all kernels.

        Raises GinghamError for a module without kernels.
        """
        if not kernel_names(module):
            raise GinghamError(
                "the program has no kernels to print as OpenCL C",
                hint="the pass lower-stripe-to-opencl makes them, where a result has "
                "elements",
            )
        output.write(print_opencl(module, index_bits=self.index_bits))
