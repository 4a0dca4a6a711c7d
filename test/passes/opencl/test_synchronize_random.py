"""Random kernels of one work-group: with the pass's barriers there is no race left."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from stripe_programs import CONTEXT, run
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

ITEMS = 4
CELLS = 16
LOCAL = "!opencl.pointer<f32, local>"
GLOBAL = "!opencl.pointer<f32, global>"


class _Kernel:
    """Writes statements that use two local arrays and a global one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 0

    def text(self) -> str:
        body = self._statements(2, [])
        # Every cell is written before, so that only races are errors.
        fill = "\n".join(
            f"opencl.store %x, {array}[{ITEMS} * %f + %i] : f32 -> {type}"
            for array, type in (("%s", LOCAL), ("%t", LOCAL), ("%B", GLOBAL))
        )
        buffer = f"!opencl.buffer<{CELLS}xf32>"
        return f"""
        opencl.kernel @k(%A : {GLOBAL}, %B : {GLOBAL}) group [{ITEMS}, 1, 1] {{
          %s = opencl.array {CELLS} : {LOCAL}
          %t = opencl.array {CELLS} : {LOCAL}
          %p = opencl.array 1 : !opencl.pointer<f32, private>
          %i = opencl.work_item local_id 0 below {ITEMS}
          %x = opencl.load %A[%i] : {GLOBAL} -> f32
          opencl.store %x, %p[0] : f32 -> !opencl.pointer<f32, private>
          opencl.for %f : {CELLS // ITEMS} {{
            {fill}
          }}
          {body}
        }}
        func.func @main(%A : {buffer}) -> {buffer} {{
          %B = opencl.allocate : {buffer}
          opencl.launch @k groups [1, 1, 1] (%A, %B) : {buffer}, {buffer}
          func.return %B : {buffer}
        }}"""

    def _statements(self, depth: int, loops: list[str]) -> str:
        return "\n".join(
            self._statement(depth, loops) for _ in range(self._random.randint(1, 4))
        )

    def _statement(self, depth: int, loops: list[str]) -> str:
        self._count += 1
        number = self._count
        kind = self._random.choice(("load", "load", "store", "store", "for", "if"))
        if kind == "for" and depth > 0:
            name = f"%k{number}"
            body = self._statements(depth - 1, [*loops, name])
            return f"opencl.for {name} : 2 {{\n{body}\n}}"
        if kind == "if" and depth > 0 and loops:
            body = self._statements(depth - 1, loops)
            return f"opencl.if {loops[-1]} - 1 >= 0 {{\n{body}\n}}"
        array, type = self._random.choice(
            (("%s", LOCAL), ("%t", LOCAL), ("%B", GLOBAL))
        )
        if kind == "load":
            position = self._position(loops, self._random.choice((0, 1, -1, 2)))
            return (
                f"%v{number} = opencl.load {array}[{position}] : {type} -> f32\n"
                f"opencl.store %v{number}, %p[0] : f32 -> "
                "!opencl.pointer<f32, private>"
            )
        # At one time work-items store to different cells.
        position = self._position(loops, self._random.choice((1, -1, 2)))
        return (
            f"%w{number} = opencl.load %p[0] : !opencl.pointer<f32, private> -> f32\n"
            f"opencl.store %w{number}, {array}[{position}] : f32 -> {type}"
        )

    def _position(self, loops: list[str], step: int) -> str:
        """A form whose values are cells for all items and iterations."""
        terms = [f"{step} * %i"]
        start = self._random.randint(0, 3) - min(step, 0) * (ITEMS - 1)
        for loop in loops:
            terms.append(f"{self._random.choice((0, 1, 2))} * {loop}")
        return " + ".join([*terms, str(start)])


def has_race(module: ModuleOp) -> bool:
    """Whether the interpreter finds work-items in each other's way."""
    try:
        interpret(module, [np.arange(CELLS, dtype=np.float32)])
    except GinghamError as error:
        return "two points use the cell" in str(error)
    return False


def random_module(seed: int) -> ModuleOp:
    text = _Kernel(Random(seed)).text()
    return parse_mlir(CONTEXT, text, "random.mlir", Sources())


@pytest.mark.parametrize("seed", range(40))
def test_no_race_is_left(seed: int) -> None:
    module = random_module(seed)
    run(module, "opencl-synchronize")
    module.verify()
    interpret(module, [np.arange(CELLS, dtype=np.float32)])


def test_most_kernels_need_barriers() -> None:
    assert sum(has_race(random_module(seed)) for seed in range(40)) > 20
