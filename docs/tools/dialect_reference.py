"""`docs/dialects.md`: the dialects as their docstrings describe them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import docstrings
from docstrings import on_one_line, table
from gingham.dialects import get_all_dialects
from gingham.dialects.eltwise.ops import FUNCTION_OPS, ElementwiseOp
from gingham.dialects.eltwise.table import FUNCTIONS, Function, TypeRule
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, Dialect, Operation, TypeAttribute
from xdsl.irdl import (
    ArrayOfConstraint,
    AttrConstraint,
    BaseAttr,
    OpDef,
    OptionalDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
)

_INTRODUCTION = """\
A program passes through four dialects. `tile` has tensors and contractions. `stripe`
has blocks of points over buffers. `opencl` has kernels and their launches. `eltwise` has
the functions of single elements, and is used by the three others, on tensors, on
elements and on vectors. The host program and its arguments are a `func.func` at every
level, and integers and types are those of xDSL's `builtin`.

Every operation has the custom form that its examples show and the generic form of MLIR,
which `tile-opt --print-op-generic` prints. Both can be read back."""


def page() -> str:
    """The whole page."""
    parts = ["# Dialects", _INTRODUCTION]
    for factory in get_all_dialects().values():
        parts += _dialect(factory())
    return "\n\n".join(parts) + "\n"


def _dialect(dialect: Dialect) -> Iterator[str]:
    module = inspect.getmodule(next(iter(dialect.operations)))
    package = inspect.importlib.import_module(module.__name__.rpartition(".")[0])
    yield f"## The dialect `{dialect.name}`"
    yield docstrings.of(package).partition(": ")[2][:0] + docstrings.of(package)
