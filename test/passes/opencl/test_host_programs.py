"""Random host programs: placing buffers and running launches once change no result."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

from gingham.dialects import make_context
from gingham.dialects.opencl.kernel import AllocateOp, LaunchOp
from gingham.errors import GinghamError
from gingham.passes import get_all_passes
from gingham.runtime.memory import memory_report
from gingham.targets.host_reader import host_program
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

POINTER = "!opencl.pointer<f32, global>"
KERNELS = f"""
opencl.kernel @sum(%A : {POINTER}, %B : {POINTER}, %C : {POINTER}) group [1, 1, 1] {{
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : {POINTER} -> f32
  %y = opencl.load %B[%i] : {POINTER} -> f32
  %z = eltwise.sub %x, %y : f32
  opencl.store %z, %C[%i] : f32 -> {POINTER}
}}
"""
PLACE = "opencl-run-once,opencl-place-memory{alignment=128}"


def buffer(size: int) -> str:
    return f"!opencl.buffer<{size}xf32>"


def random_program(seed: int) -> str:
    """Differences of earlier buffers of several sizes, some of them never used."""
    random = Random(seed)
    sizes = {"%I": 8, "%K": 8}
    lines: list[str] = []
    for number in range(random.randint(2, 14)):
        a, b = random.sample([*sizes][-5:], 2)
        name = f"%T{number}"
        sizes[name] = random.choice([8, 9, 40, 80])
        lines.append(f"{name} = opencl.allocate : {buffer(sizes[name])}")
        types = ", ".join(buffer(sizes[each]) for each in (a, b, name))
        lines.append(
            f"opencl.launch @sum groups [8, 1, 1] ({a}, {b}, {name}) : {types}"
        )
    # All of a result has to be written.
    lines.append(f"%O = opencl.allocate : {buffer(8)}")
    last = [*sizes][-2:]
    types = ", ".join(buffer(sizes[each]) for each in last)
    lines.append(
        f"opencl.launch @sum groups [8, 1, 1] ({', '.join(last)}, %O) : {types}, "
        f"{buffer(8)}"
    )
    body = "\n".join(lines)
    return f"""{KERNELS}
func.func @main(%I : {buffer(8)}, %K : {buffer(8)} {{tile.constant}}) -> {buffer(8)} {{
{body}
func.return %O : {buffer(8)}
}}"""


def parse(text: str) -> ModuleOp:
    return Parser(make_context(), text, "test.mlir").parse_module()


def placed(text: str) -> ModuleOp:
    module = parse(text)
    pipeline = PassPipeline.parse_spec(get_all_passes(), PLACE)
    for module_pass in pipeline.passes:
        module_pass.apply(Context(), module)
    module.verify()
    return module


def arrays(seed: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 9, 8).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize("seed", range(25))
def test_placed_programs_compute_the_same(
    seed: int, opencl_device: OpenCLDevice
) -> None:
    text = random_program(seed)
    before, after = parse(text), placed(text)
    report = memory_report(host_program(after))
    assert report.lower_bound <= report.peak <= max(report.unshared, 128 * 16)
    executable = OpenCLExecutable(after, opencl_device)
    constant = arrays(seed)[1]
    for call in range(3):
        values, other = arrays(100 * call + seed)
        weights = other if call == 2 else constant
        (expected,) = interpret(before, [values, weights])
        (computed,) = interpret(after, [values, weights])
        np.testing.assert_array_equal(computed, expected)
        (result,) = executable(values, weights)
        np.testing.assert_array_equal(result, expected)


def test_a_wrong_place_is_found_by_the_interpreter() -> None:
    text = random_program(3)
    module = placed(text)
    for op in module.walk():
        if isinstance(op, AllocateOp) and op.place is not None:
            op.offset = AllocateOp(op.buffer.type, 0).offset
    with pytest.raises(GinghamError, match="which was never written"):
        interpret(module, arrays(0))


def test_what_runs_once_is_marked() -> None:
    type = buffer(8)
    text = f"""{KERNELS}
func.func @main(%I : {type}, %K : {type} {{tile.constant}}) -> {type} {{
  %P = opencl.allocate : {type}
  opencl.launch @sum groups [8, 1, 1] (%K, %K, %P) : {type}, {type}, {type}
  %O = opencl.allocate : {type}
  opencl.launch @sum groups [8, 1, 1] (%I, %P, %O) : {type}, {type}, {type}
  func.return %O : {type}
}}"""
    launches = [op for op in placed(text).walk() if isinstance(op, LaunchOp)]
    assert [launch.once is not None for launch in launches] == [True, False]
    assert memory_report(host_program(placed(text))).kept == 32
