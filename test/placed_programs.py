"""Programs to be placed, and machines to place them on, for the tests of placement."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gingham.dialects import make_context
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, run_stages
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.hardware import hardware_with, load_hardware
from gingham.targets.hardware.machine import HOST, Link, Machine, MachineDevice

BRANCHES = """\
function (X[B, D], U1[D, H], U2[H, D], V1[D, H], V2[H, D]) -> (Y) {
  A1[b, h : B, H] = +(X[b, d] * U1[d, h]);
  A2 = A1 < 0 ? 0 : A1;
  A[b, d : B, D] = +(A2[b, h] * U2[h, d]);
  B1[b, h : B, H] = +(X[b, d] * V1[d, h]);
  B2 = tanh(B1);
  C[b, d : B, D] = +(B2[b, h] * V2[h, d]);
  Y = A + C;
}
"""
BRANCHES_TYPES = (
    "64x96xf32",
    "96x128xf32",
    "128x96xf32",
    "96x128xf32",
    "128x96xf32",
)
ATTENTION = """\
function (Q[L, D], K[M, D], V[M, D]) -> (O) {
  Score[l, m : L, M] = +(Q[l, d] * K[m, d]);
  Top[l, 0 : L, 1] = >(Score[l, m]);
  E = exp(Score - Top);
  Sum[l, 0 : L, 1] = +(E[l, m]);
  W = E / Sum;
  O[l, d : L, D] = +(W[l, m] * V[m, d]);
}
"""
ATTENTION_TYPES = ("32x24xf32", "40x24xf32", "40x24xf32")


def flat(text: str, *types: str) -> ModuleOp:
    """A program for arguments of these types, as `tile-place` takes it."""
    module = specialize(parse_tile(text), [parse_argument_type(type) for type in types])
    run_stages(module, make_context(), TargetOptions(), ("tile",))
    return module


def function_of(module: ModuleOp) -> FuncOp:
    """The only function of a module."""
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function


def two_devices(
    latency: float = 1e-5, rate: float = 1e10, memory: int = 10**10
) -> Machine:
    """A processor of four cores, and a faster one with a memory of its own."""
    slow = load_hardware("cpu-avx512:cores=4")
    fast = hardware_with(slow, cores=16)
    shared, link = Link(0.0, float("inf")), Link(latency, rate)
    return Machine(
        (MachineDevice("near", slow, memory), MachineDevice("far", fast, memory)),
        {
            (HOST, "near"): shared,
            ("near", HOST): shared,
            (HOST, "far"): link,
            ("far", HOST): link,
        },
    )
