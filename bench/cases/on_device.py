"""What is measured on GPUs: larger than for CPUs, in both layouts of images."""

from __future__ import annotations

from dataclasses import replace

from .case import of_halves
from .convolutions import channels_first, convolution, transposed_convolution
from .fused import attention, chain, gelu, multiply_add, negation
from .products import (
    batched_product,
    integer_product,
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
    max_pool,
    softmax,
    total,
    transpose,
    turned,
)

_STREAMS = (negation(2**25), multiply_add(2**24), gelu(2**24))

_OTHER_TYPES = (
    *(of_halves(matrix_product(n, n, n)) for n in (1024, 4096)),
    *(integer_product(n, n, n) for n in (1024, 4096)),
    of_halves(multiply_add(2**24)),
    of_halves(softmax(4096, 4096)),
)

DEVICE_CASES = (
    *(matrix_product(n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192)),
    matrix_product(64, 4096, 4096),
    matrix_product(4096, 64, 4096),
    matrix_product(4096, 4096, 64),
    matrix_product(17, 1024, 1024),
    transposed_product(1024, 1024, 1024),
    transposed_product(4096, 4096, 4096),
    batched_product(64, 128, 128, 128),
    batched_product(16, 512, 512, 512),
    matrix_vector(4096, 4096),
    *(replace(case, group="rows") for case in _STREAMS),
    *(total(4096, 4096, axis) for axis in (0, 1, None)),
    softmax(4096, 4096),
    softmax(4096, 4096, logarithm=True),
    softmax(16384, 512),
    layer_norm(4096, 4096),
    argmax(4096, 4096),
    transpose(4096, 4096),
    turned(256, 256, 256),
    cumulative_sum(2**24),
    cumulative_rows(4096, 4096),
    gather(100_000, 256, 65_536),
    max_pool(16, 112, 64, 3),
    convolution((64, 64), 56, 3, batch=16),
    convolution((256, 256), 28, 3, batch=16),
    convolution((64, 256), 56, 1, batch=16),
    convolution((3, 64), 224, 7, batch=16, stride=2),
    convolution((128, 128), 56, 3, batch=16, stride=2),
    convolution((64, 64), 56, 3, batch=16, dilation=2),
    convolution((128, 128), 56, 3, batch=16, groups=128),
    convolution((256, 256), 28, 3, batch=16, groups=32),
    transposed_convolution((64, 32), 112, 4),
    channels_first((64, 64), 56, 3, batch=16),
    channels_first((64, 256), 56, 1, batch=16),
    channels_first((3, 64), 224, 7, batch=16, stride=2),
    *(replace(case, group="types") for case in _OTHER_TYPES),
    attention(8, 1024, 64),
    attention(16, 2048, 64),
    attention(16, 2048, 128),
    chain(2**22, 100),
    # A kernel takes 10 us on an H200.
    chain(3 * 2**20, 100),
    chain(2**10, 100),
)
