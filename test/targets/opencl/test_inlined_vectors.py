"""Vectors move as the compiler's own functions move them, where a source does so often.

What is wrong with such a source is said of its own lines.
"""

from __future__ import annotations

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.opencl.builds import driver, inlined_vectors
from gingham.targets.opencl.builds.inlined_vectors import with_inlined_vectors
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.memory.copies import download, upload
from gingham.targets.opencl.program import build_program

TYPES = {
    "char": np.int8,
    "ushort": np.uint16,
    "int": np.int32,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
LANES = (2, 3, 4, 8, 16)
SIZE = 1 + sum(LANES)


def moving_kernel(name: str) -> str:
    """Vectors of all lengths move through all memory, none of them aligned."""
    lines: list[str] = []
    start = 1
    for n in LANES:
        lines += [
            f"  vstore{n}(vload{n}(0, X + {start}), 0, own + {start});",
            f"  vstore{n}(vload{n}(0, own + {start}), 1, all + {start});",
            f"  vstore{n}(vload{n}(1, all + {start}), 0, Y + {start});",
        ]
        start += n
    body = "\n".join(lines)
    return f"""
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void move_{name}(__global const {name} *restrict X, __global {name} *restrict Y) {{
  __local {name} all[{SIZE + 16}];
  {name} own[{SIZE}];
{body}
}}
"""


def test_vectors_move(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = dict(TYPES)
    if not opencl_device.details.supports_fp64:
        del types["double"]
    plain = "".join(map(moving_kernel, types))
    monkeypatch.setattr(inlined_vectors, "_WORTH_IT", 1)
    inlined = with_inlined_vectors(plain)
    assert inlined.endswith(f"#line 1\n{plain}")
    assert "vload3_inlined" not in inlined
    monkeypatch.setattr(inlined_vectors, "_WORTH_IT", len(inlined))
    program = build_program(opencl_device, inlined)
    for name, type in types.items():
        values = np.arange(SIZE).astype(type)
        given = upload(opencl_device.queue, values)
        found = allocate(opencl_device, (SIZE,), values.dtype)
        kernel = program.kernel(f"move_{name}")
        opencl_device.queue.enqueue(kernel, (1,), (1,), (given, found))
        moved = download(opencl_device.queue, found)
        np.testing.assert_array_equal(moved[1:], values[1:])


def test_few_vectors_are_left_to_the_compiler() -> None:
    text = moving_kernel("float")
    assert with_inlined_vectors(text) == text


@pytest.mark.parametrize("error", ["", "undeclared = 1;"])
def test_what_a_compiler_refuses_is_built_as_it_is(
    opencl_device: OpenCLDevice, error: str
) -> None:
    """Here the type of an array is not found, and its vectors have no function."""
    text = f"typedef float number;\n{moving_kernel('number')}"
    text = text.replace("}\n", f"{error}\n}}\n")
    calls = "vstore16(vload16(0, X + 1), 0, Y + 1);\n" * 40
    text = text.replace("  __local", f"{calls}  __local")
    assert with_inlined_vectors(text) != text
    if not error:
        assert driver.build(opencl_device, text, "")
        return
    with pytest.raises(GinghamError, match="undeclared") as caught:
        driver.build(opencl_device, text, "")
    assert "inlined" not in str(caught.value)
