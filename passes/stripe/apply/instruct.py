"""`stripe-instruct`: let an instruction of the device compute innermost blocks.

Applies `instruction "NAME"` of schedules (see `dialects/stripe/instruction.py`). The
innermost block of the nest must be what the hardware's description says that the
instruction computes, in all but names; it is replaced by a call of a function, which
stands for the instruction and has its meaning as its body.

Before, with `hardware="cpu-avx512"`:

```mlir
func.func @main(%A : !stripe.view<4x1xf32>, %B : !stripe.view<1x16xf32>)
    -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x1
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %x, %y : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}
```

After:

```mlir
opencl.function @fma_f32x16(%A : f32, %B : vector<16xf32>, %C : vector<16xf32>)
    -> vector<16xf32> accumulates add native "..." {
  ... 16 times: a lane of %B, eltwise.mul, eltwise.add ...
}
func.func @main(%A : !stripe.view<4x1xf32>, %B : !stripe.view<1x16xf32>)
    -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x1
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.scheduled = #stripe.schedule<instruction "fma_f32x16">} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x16xf32>
    %2 = eltwise.constant 0 : vector<16xf32>
    %3 = opencl.call @fma_f32x16(%0, %1, %2) : ...
    stripe.store %3, %c : !stripe.view<1x16xf32>
  }
  func.return %C : !stripe.view<4x16xf32>
}
```

Where the result is stored, the instruction is handed what was there. In OpenCL C
the description's spelling of the instruction is the body of the function.

It is an error when there is no such instruction, and when the block is another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ....dialects.opencl.functions import FunctionOp
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.instruction import Instruction
from ....suggestions import did_you_mean
from ....targets.hardware import Hardware
from ....targets.hardware.instruction_block import BlockError, block_of
from ...hardware_pass import HardwarePass
from ...locations import error_at, located
from ...symbols import Symbols
from ..analysis.nests import all_blocks, nested_blocks
from ..analysis.unification import Mismatch, unify
from ..edit.instruct import instruct
from ..edit.instruction_function import function_of
from ..edit.schedules import take_part


@dataclass(frozen=True)
class StripeInstructPass(HardwarePass):
    """Let instructions of the device compute innermost blocks, by the schedules."""

    name = "stripe-instruct"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Put calls in place of the innermost blocks of nests with an instruction.

        Raises GinghamError, located, for one that the hardware does not list, and for
        a block that is not what it computes.
        """
        for block in all_blocks(op):
            part = take_part(block, Instruction)
            if part is not None:
                _instruct(op, block, part.name, self.figures)


def _instruct(module: ModuleOp, nest: BlockOp, name: str, hardware: Hardware) -> None:
    instruction = hardware.instruction(name)
    known = [each.name for each in hardware.instructions if each.block]
    listed = f"it has {', '.join(known)}" if known else "it lists none with a block"
    if instruction is None or not instruction.block:
        what = "has no instruction" if instruction is None else "tells no block of"
        raise error_at(
            nest,
            f"the hardware '{hardware.name}' {what} '{name}'",
            did_you_mean(name, known) or listed,
        )
    try:
        pattern = block_of(instruction)
        leaf = _innermost(nest)
        cells = unify(leaf, pattern)
    except BlockError as error:
        raise error_at(
            nest, f"'{name}' of the hardware '{hardware.name}': {error.message}"
        ) from error
    except Mismatch as error:
        raise error_at(
            nest,
            f"the innermost block is not what '{name}' computes: {error}",
            error.hint or f"the description '{hardware.origin}' has its block",
        ) from error
    wish = re.sub(r"\W", "_", name)
    function = located(function_of(wish, instruction, pattern), nest)
    instruct(leaf, pattern, cells, _symbol(module, function))


def _innermost(nest: BlockOp) -> BlockOp:
    """The leaf of a nest: copies stand in front of the block that goes on."""
    while inner := nested_blocks(nest):
        nest = inner[-1]
    return nest


def _symbol(module: ModuleOp, function: FunctionOp) -> str:
    """Put a function in front of a module, unless it is there; its symbol."""
    wish = function.sym_name.data
    for other in [op for op in module.ops if isinstance(op, FunctionOp)]:
        function.sym_name = other.sym_name
        if function.is_structurally_equivalent(other):
            return other.sym_name.data
    function.sym_name = StringAttr(Symbols(module).unique(wish))
    first = module.body.block.first_op
    if first is not None:
        module.body.block.insert_op_before(function, first)
    return function.sym_name.data
