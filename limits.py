"""The limits of a program: beyond one of them it is refused, at the place in its text.

They are far beyond what programs need, and keep any input from taking minutes or
gigabytes to be understood. `docs/limits.md` tells them to users.
"""

from __future__ import annotations

MOST_TOKENS = 250_000
"""Words, numbers and signs of a Tile text."""

LONGEST_NAME = 1_000
"""Characters of a name in a Tile text."""

MOST_NESTED = 256
"""Brackets inside brackets in a Tile text."""

MOST_ARGUMENTS = 10_000
"""Inputs of a program, and outputs."""

MOST_OPERATIONS = 50_000
"""Operations of a program, those of gradients and of composite functions included."""

LARGEST_INTEGER = 2**63 - 1
"""Of literals and sizes, and of all that is computed from them."""

MOST_PARTS = 1_000
"""Parts of a tuple, with those of the tuples in it."""

MOST_TUPLES = 64
"""Tuples inside each other."""

MOST_AXES = 64
"""Axes of a tensor; NumPy has no arrays of more."""

MOST_CONTAINERS = 256
"""Lists, tuples and dictionaries inside each other, of arguments and results."""

MOST_OPERANDS = 1_000
"""Operands of an einsum; to choose their order takes a time quadratic in them."""

MOST_INDICES = 64
"""Different indices of a contraction."""

MOST_CONSTRAINTS = 256
"""Constraints of a contraction."""

MOST_TERMS = 128
"""Terms of an index expression, when it is multiplied out, and factors of a term."""

MOST_ELEMENTS = 2**60 - 1
"""Elements of a tensor; so many of 8 bytes are counted by a signed integer of 64 bits,
by devices as by NumPy."""

MOST_BITS = 4096
"""Bits of an integer type in an .mlir text; LLVM has up to 2^23, kernels have 64."""

MOST_DIGITS = 1_000
"""Digits of a number in an .mlir text."""

MOST_DIMENSIONS = 256
"""Dimensions and symbols of an affine map in an .mlir text."""

MOST_BLOCKS = 256
"""Blocks of a region in an .mlir text: verifiers take a time cubic in them."""

MOST_CHUNKS = 1_000
"""Parts of an .mlir text, between lines `// -----`, that are compiled one by one."""

MOST_NODES = 100_000
"""Nodes of a model of ONNX, those of its graphs in graphs and functions included."""

MOST_GRAPHS = 24
"""Graphs inside each other in a model of ONNX, and functions that call functions."""

LARGEST_MODEL = 2**31 - 1
"""Bytes of a model of ONNX without the data in files beside it, as protobuf has it."""

LARGEST_TENSOR = 2**33
"""Bytes of a tensor of a model of ONNX."""

LARGEST_FOLDED = 2**22
"""Bytes of a tensor of a model that is computed before the model runs."""
