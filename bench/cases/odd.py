"""Shapes that nothing is tuned for: primes, odd numbers, very long and very short axes.

They are held back: who changes how kernels are made looks at the other lists, and runs
this one afterwards, to learn whether it holds for other shapes, too.
"""

from __future__ import annotations

from dataclasses import replace

from .convolutions import channels_first, convolution, transposed_convolution
from .fused import attention, chain, gelu, multiply_add
from .products import (
    batched_product,
    matrix_product,
    matrix_vector,
    transposed_product,
)
from .rows import (
    argmax,
    cumulative_rows,
    cumulative_sum,
    gather,
    layer_norm,
    middle_total,
    softmax,
    total,
    transpose,
    turned,
)

_STREAMS = (multiply_add(12_345_677), gelu(1_000_003))

ODD_CASES = (
    matrix_product(500, 900, 700),
    matrix_product(501, 901, 701),
    matrix_product(1, 4096, 4096),
    matrix_product(4096, 4096, 1),
    matrix_product(4095, 4095, 4095),
    matrix_product(4100, 4100, 4100),
    matrix_product(8191, 127, 33),
    matrix_product(7, 100_003, 11),
    transposed_product(1023, 1025, 777),
    batched_product(37, 129, 257, 63),
    batched_product(1000, 9, 31, 13),
    matrix_vector(1003, 5001),
    *(replace(case, group="rows") for case in _STREAMS),
    *(total(3001, 5003, axis) for axis in (0, 1, None)),
    *(total(100_003, 37, axis) for axis in (0, 1)),
    *(total(19, 700_001, axis) for axis in (0, 1)),
    middle_total(37, 1009, 253),
    softmax(1000, 1003),
    softmax(100_003, 17),
    softmax(33, 100_003),
    layer_norm(1023, 771),
    layer_norm(40_001, 65),
    argmax(777, 4097),
    transpose(4095, 3001),
    transpose(100_003, 5),
    turned(101, 203, 307),
    cumulative_sum(1_000_003),
    cumulative_rows(999, 1001),
    cumulative_rows(5, 600_001),
    gather(30_011, 33, 50_021),
    gather(1_000_003, 1, 3_000_001),
    convolution((3, 64), 225, 7, batch=5, stride=2),
    convolution((37, 53), 31, 5, batch=7),
    convolution((17, 40), 61, 3, batch=3, dilation=3),
    convolution((99, 99), 35, 5, batch=9, groups=99),
    transposed_convolution((33, 21), 57, 4),
    channels_first((3, 64), 223, 7, batch=3, stride=2),
    channels_first((37, 53), 31, 3, batch=7),
    attention(3, 777, 40),
    attention(12, 1000, 64),
    attention(5, 2049, 96),
    chain(100_003, 50),
)
