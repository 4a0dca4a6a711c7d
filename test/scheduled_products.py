"""Matrix products with a schedule written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stripe_programs import CONTEXT
from xdsl.dialects.builtin import ModuleOp

from gingham.runtime.devices import devices
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Array = NDArray[Any]


def product_text(rows: int, columns: int, depth: int, schedule: str) -> str:
    """The product of `rows x depth` and `depth x columns` floats, as a block."""
    return f"""
func.func @main(%A : !stripe.view<{rows}x{depth}xf32>,
                %B : !stripe.view<{depth}x{columns}xf32>)
    -> !stripe.view<{rows}x{columns}xf32> {{
  %C = stripe.alloc : !stripe.view<{rows}x{columns}xf32>
  stripe.block "product" [%i : {rows}, %j : {columns}, %k : {depth}]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {{stripe.schedule = #stripe.schedule<{schedule}>}} {{
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }}
  func.return %C : !stripe.view<{rows}x{columns}xf32>
}}
"""


def product(rows: int, columns: int, depth: int, schedule: str) -> ModuleOp:
    """The same as a module."""
    text = product_text(rows, columns, depth, schedule)
    return parse_mlir(CONTEXT, text, "product.mlir", Sources())


def operands(rows: int, columns: int, depth: int) -> list[Array]:
    """Small integers, whose product is exact."""
    random = np.random.default_rng(rows * columns + depth)
    shapes = ((rows, depth), (depth, columns))
    return [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]


def run_on_devices(module: ModuleOp, inputs: list[Array]) -> list[Array]:
    """The results of all OpenCL devices that work."""
    found = [d for d in devices() if isinstance(d, OpenCLDevice)]
    usable = [d for d in found if d.failure() is None]
    return [OpenCLExecutable(module, device)(*inputs)[0] for device in usable]
