"""What is decided for each GPU that is described fits it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import gingham
from gingham.targets.hardware import HARDWARE_NAMES, load_hardware

EXAMPLES = Path(gingham.__file__).parent / "examples"
GPUS = [name for name in HARDWARE_NAMES if not load_hardware(name).has_vectors]
SHAPES = {
    "matrix_product": [(1000, 512), (512, 777)],
    "softmax": [(1000, 777)],
    "transpose": [(1000, 777)],
}
BYTES = {"char": 1, "uchar": 1, "int": 4, "uint": 4, "float": 4}


@pytest.mark.parametrize("program", SHAPES)
@pytest.mark.parametrize("name", GPUS)
def test_kernels_keep_to_the_limits(name: str, program: str) -> None:
    hardware = load_hardware(name)
    inputs = [np.empty(shape, np.float32) for shape in SHAPES[program]]
    path = EXAMPLES / f"{program}.tile"
    source = gingham.compile_file(path, hardware=hardware).source(*inputs)
    # Without the instructions of any vendor, but behind what asks for the vendor.
    assert "asm" not in re.sub(r"#if.*?#endif", "", source, flags=re.DOTALL)
    kernels = source.split("__kernel ")[1:]
    assert kernels
    for kernel in kernels:
        sizes = re.search(r"reqd_work_group_size\((\d+), (\d+), (\d+)\)", kernel)
        assert sizes is not None
        items = math.prod(map(int, sizes.groups()))
        assert hardware.innermost.count <= items <= hardware.work_group_limit
        arrays = re.findall(r"__local (\w+?)(\d*) \w+\[(\d+)\]", kernel)
        taken = sum(
            BYTES[kind] * int(width or 1) * int(count) for kind, width, count in arrays
        )
        assert taken <= hardware.local_memory_bytes
        assert program == "matrix_product" or taken
