"""Random host programs: launches that run as one compute the same."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.dialects.opencl.joining import JOIN_ATTRIBUTE
from gingham.dialects.opencl.kernel import KernelOp, LaunchOp
from gingham.errors import GinghamError
from gingham.passes.opencl.dependences import effects_of, kernel_uses
from gingham.passes.opencl.join_launches import OpenCLJoinLaunchesPass
from gingham.passes.opencl.modules import host_launches
from gingham.passes.opencl.place_memory import OpenCLPlaceMemoryPass
from gingham.passes.opencl.plan_joins import OpenCLPlanJoinsPass
from gingham.passes.opencl.synchronize import OpenCLSynchronizePass
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

POINTER = "!opencl.pointer<f32, global>"
BUFFER = "!opencl.buffer<64xf32>"
LOCAL = "!opencl.pointer<f32, local>"
GRIDS = {"line": (16, 1, 1), "plane": (4, 4, 1), "box": (2, 2, 4), "few": (3, 1, 1)}
ITEMS = 4


def kernel(name: str, function: str, grid: tuple[int, int, int], turns: bool) -> str:
    """`C = f(A, B)` for 4 elements a group, through local memory if it `turns`."""
    x, y, _ = grid
    group = f"{4 * x * y} * %z + {4 * x} * %y + 4 * %x"
    ids = "\n".join(
        f"  %{index} = opencl.work_item group_id {n} below {grid[n]}"
        for n, index in enumerate("xyz")
    )
    own = f"{group} + %i"
    staged = f"""
  %t = opencl.array {5 if turns else 4} : {LOCAL}
  opencl.store %a, %t[%i] : f32 -> {LOCAL}
  %u = opencl.load %t[-%i + 3] : {LOCAL} -> f32"""
    return f"""
opencl.kernel @{name}(%A : {POINTER}, %B : {POINTER}, %C : {POINTER})
    group [{ITEMS}, 1, 1] {{
{ids}
  %i = opencl.work_item local_id 0 below {ITEMS}
  %a = opencl.load %A[{own}] : {POINTER} -> f32
  %b = opencl.load %B[{own}] : {POINTER} -> f32{staged if turns else ""}
  %c = eltwise.{function} {"%u" if turns else "%a"}, %b : f32
  opencl.store %c, %C[{own}] : f32 -> {POINTER}
}}"""


KINDS = [*product(("add", "sub"), GRIDS, (False, True))]
KERNELS = "".join(
    kernel(f"{function}_{grid}{'_turned' * turns}", function, GRIDS[grid], turns)
    for function, grid, turns in KINDS
)


def random_program(seed: int) -> str:
    """Launches that read buffers which were written whole before."""
    random = Random(seed)
    whole, lines = ["%I", "%K"], [""]
    kinds = random.sample(KINDS, 3)
    for number in range(random.randint(3, 9)):
        function, grid, turns = random.choice(kinds)
        a, b, name = random.choice(whole), random.choice(whole), f"%T{number}"
        if a == b:
            b = next(buffer for buffer in whole if buffer != a)
        lines.append(f"{name} = opencl.allocate : {BUFFER}")
        lines.append(launch(f"{function}_{grid}{'_turned' * turns}", grid, a, b, name))
        if grid != "few":
            whole.append(name)
    lines.append(f"%O = opencl.allocate : {BUFFER}")
    lines.append(launch("add_line", "line", *random.sample(whole, 2), "%O"))
    results = ["%O", *random.sample(whole[2:], min(len(whole) - 2, 1))]
    body = "\n".join(lines)
    types = ", ".join([BUFFER] * len(results))
    return f"""{KERNELS}
func.func @main(%I : {BUFFER}, %K : {BUFFER}) -> ({types}) {{
{body}
func.return {", ".join(results)} : {types}
}}"""


def launch(name: str, grid: str, *buffers: str) -> str:
    types = ", ".join([BUFFER] * len(buffers))
    groups = list(GRIDS[grid])
    return f"opencl.launch @{name} groups {groups} ({', '.join(buffers)}) : {types}"


def parse(text: str) -> ModuleOp:
    context = make_context()
    module = Parser(context, text, "test.mlir").parse_module()
    OpenCLSynchronizePass().apply(context, module)
    module.verify()
    return module


def launches_of(module: ModuleOp) -> list[LaunchOp]:
    (main,) = [op for op in module.ops if isinstance(op, FuncOp)]
    return host_launches(main)


def join_at_random(module: ModuleOp, seed: int) -> None:
    """Number launches that may become one, a legal choice out of many."""
    random = Random(seed)
    kernels = {k.sym_name.data: k for k in module.ops if isinstance(k, KernelOp)}
    uses = kernel_uses(kernels)
    launches = launches_of(module)
    start = 0
    for number in range(len(launches)):
        effects = [effects_of(launch, uses) for launch in launches]
        rest = launches[start:]
        chosen = rest[:1]
        for later in range(start + 1, len(launches)):
            between = effects[start:later]
            if any(effects[later].depends_on(other) for other in between):
                continue
            if random.random() < 0.8:
                chosen.append(launches[later])
        for each in chosen:
            each.attributes[JOIN_ATTRIBUTE] = IntegerAttr(number, i64)
        start += random.randint(1, 2)
        if start >= len(launches) or any(
            JOIN_ATTRIBUTE in each.attributes for each in launches[start:]
        ):
            return


def arrays(seed: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 9, 64).astype(np.float32) for _ in range(2)]


def check(before: ModuleOp, after: ModuleOp, seed: int, device: OpenCLDevice) -> None:
    values = arrays(seed)
    expected = interpret(before, values)
    executable = OpenCLExecutable(after, device)
    for computed in (interpret(after, values), executable(*values)):
        for one, other in zip(computed, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(20))
def test_random_joins_compute_the_same(seed: int, opencl_device: OpenCLDevice) -> None:
    text = random_program(seed)
    before, after = parse(text), parse(text)
    join_at_random(after, seed)
    count = len(launches_of(after))
    OpenCLJoinLaunchesPass().apply(Context(), after)
    after.verify()
    OpenCLPlaceMemoryPass().apply(Context(), after)
    after.verify()
    assert len(launches_of(after)) <= count
    check(before, after, seed, opencl_device)


@pytest.mark.parametrize("seed", range(20, 40))
def test_planned_joins_compute_the_same(seed: int, opencl_device: OpenCLDevice) -> None:
    text = random_program(seed)
    before, after = parse(text), parse(text)
    OpenCLPlanJoinsPass().apply(Context(), after)
    OpenCLJoinLaunchesPass().apply(Context(), after)
    after.verify()
    check(before, after, seed, opencl_device)


def test_independent_launches_are_one_kernel() -> None:
    two = f"""{KERNELS}
func.func @main(%I : {BUFFER}, %K : {BUFFER}) -> ({BUFFER}, {BUFFER}) {{
%A = opencl.allocate : {BUFFER}
{launch("add_line", "line", "%I", "%K", "%A")}
%B = opencl.allocate : {BUFFER}
{launch("sub_plane_turned", "plane", "%K", "%I", "%B")}
func.return %A, %B : {BUFFER}, {BUFFER}
}}"""
    module = parse(two)
    OpenCLPlanJoinsPass().apply(Context(), module)
    OpenCLJoinLaunchesPass().apply(Context(), module)
    (launched,) = launches_of(module)
    assert launched.group_counts == (32, 1, 1)
    assert launched.kernel_name == "add_line_and_sub_plane_turned"


def test_chained_joins_are_refused() -> None:
    chain = f"""{KERNELS}
func.func @main(%I : {BUFFER}, %K : {BUFFER}) -> {BUFFER} {{
%A = opencl.allocate : {BUFFER}
{launch("add_line", "line", "%I", "%K", "%A")}
%B = opencl.allocate : {BUFFER}
{launch("sub_line", "line", "%A", "%I", "%B")}
func.return %B : {BUFFER}
}}"""
    module = parse(chain)
    OpenCLPlanJoinsPass().apply(Context(), module)
    for launched in launches_of(module):
        assert JOIN_ATTRIBUTE not in launched.attributes
        launched.attributes[JOIN_ATTRIBUTE] = IntegerAttr(0, i64)
    with pytest.raises(GinghamError, match="it depends on that of @add_line"):
        OpenCLJoinLaunchesPass().apply(Context(), module)


PROJECTIONS = """
function (X[M, K], P[K, N], Q[K, N], R[K, N]) -> (A, B, C) {
  A[i, j : M, N] = +(X[i, k] * P[k, j]);
  B[i, j : M, N] = +(X[i, k] * Q[k, j]);
  C[i, j : M, N] = +(X[i, k] * R[k, j]);
}
"""
BRANCHES = """
function (I[N, X, Y, C], K[C, D], L[A, B, C, E]) -> (P, Q, M) {
  P[n, x, y, d : N, X, Y, D] = +(I[n, x, y, c] * K[c, d]);
  Q[n, x, y, d : N, X, Y, E] = +(I[n, x + a - 1, y + b - 1, c] * L[a, b, c, d]);
  M[n, x, y, c : N, X, Y, C] = >(I[n, x + a - 1, y + b - 1, c]), a < 3, b < 3;
}
"""
PROGRAMS = [
    (PROJECTIONS, [(8, 32), (32, 48), (32, 48), (32, 48)]),
    (PROJECTIONS, [(1, 17), (17, 5), (17, 5), (17, 5)]),
    (BRANCHES, [(1, 6, 7, 16), (16, 8), (3, 3, 16, 24)]),
]


@pytest.mark.parametrize(("text", "shapes"), PROGRAMS)
def test_branches_of_programs_are_launched_once(
    text: str, shapes: list[tuple[int, ...]], opencl_device: OpenCLDevice
) -> None:
    del opencl_device
    generator = np.random.default_rng(0)
    inputs = [generator.integers(-4, 5, s).astype(np.float32) for s in shapes]
    function = gingham.compile(text)
    assert function.source(*inputs).count("__kernel") == 1
    expected = gingham.compile(text, device="reference")(*inputs)
    for one, other in zip(function(*inputs), expected, strict=True):
        np.testing.assert_array_equal(one, other)
