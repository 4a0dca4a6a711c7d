"""`tile-specialize`: bind the shapes and element types of the arguments.

With `tile-specialize{arguments="4x5xf32","5x6xf16"}`

```mlir
func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>)
    -> tensor<?x?x!eltwise.any> {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>
  %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N] : (...)
  func.return %C : tensor<?x?x!eltwise.any>
}
```

becomes

```mlir
func.func @main(%A : tensor<4x5xf32>, %B : tensor<5x6xf16>) -> tensor<4x6xf32> {
  %0 = eltwise.cast %B : tensor<5x6xf16> to tensor<5x6xf32>
  %C = tile.contract add over [i, k, j] %A[i, k] * %0[k, j] -> [i : 4, j : 6]
      : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  func.return %C : tensor<4x6xf32>
}
```

Size names are checked to agree, size arithmetic is computed, element types are inferred
in program order, and casts are put where an operand has another type than the function
asks for. Of special operations the shapes are checked, axes are counted from 0, and
assertions on sizes must hold. Literals, sizes and functions of only those are weak (see
`weak_numbers`) and become constants of the type that they meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.element_types import is_element_type
from ...dialects.tile.ops import ToIndexOp
from ...errors import GinghamError
from ..locations import error_at
from .argument_types import parse_argument_type
from .declared_arguments import argument_name
from .specializer import FunctionSpecializer


def specialize(
    module: ModuleOp,
    argument_types: Sequence[TensorType[Attribute]],
    entry: str = "main",
    numbers: Mapping[int, int] | None = None,
) -> ModuleOp:
    """A copy of the module whose entry function takes arguments of these types.

    `numbers` are the values of those arguments, by position, that the program uses as
    sizes: see `size_arguments`. `module` stays as it is, so one parsed program serves
    any number of shapes. Raises GinghamError, located where possible, when the program
    has no such instance.
    """
    copy = module.clone()
    _specialize_entry(copy, argument_types, entry, numbers or {})
    return copy


def size_arguments(module: ModuleOp, entry: str = "main") -> frozenset[int]:
    """The positions of the arguments that a program uses as sizes."""
    return frozenset(
        op.tensor.index
        for op in _find(module, entry).walk()
        if isinstance(op, ToIndexOp) and isinstance(op.tensor, BlockArgument)
    )


@dataclass(frozen=True)
class TileSpecializePass(ModulePass):
    """Bind the argument types of the entry function and infer all others.

    `arguments` has one type for each argument, such as "4x5xf32", or "f32" for a 0-D
    tensor, or "si32=3" for one that the program uses as a size; without it the declared
    types are bound, which must then be static. Other functions than `entry` are left
    alone.
    """

    name = "tile-specialize"

    arguments: tuple[str, ...] = ()
    entry: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind and check all sizes and types.

        Raises GinghamError, located, where arguments do not fit the program.
        """
        parts = [text.partition("=") for text in self.arguments]
        types = [parse_argument_type(type) for type, _, _ in parts]
        numbers = {
            position: _parse_number(op, number)
            for position, (_, equals, number) in enumerate(parts)
            if equals
        }
        for position in sorted(numbers.keys() - size_arguments(op, self.entry)):
            raise error_at(
                _find(op, self.entry),
                f"argument {position} is not used as a size, so it takes no number",
                "give its type alone",
            )
        _specialize_entry(op, types or None, self.entry, numbers)


def _parse_number(module: ModuleOp, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise error_at(
            module, f"expected an integer behind '=', as in si32=3, got '{text}'"
        ) from None


def _specialize_entry(
    module: ModuleOp,
    argument_types: Sequence[TensorType[Attribute]] | None,
    entry: str,
    numbers: Mapping[int, int],
) -> None:
    function = _find(module, entry)
    if argument_types is None:
        argument_types = _declared_types(function)
    static = FunctionSpecializer(function, argument_types, numbers).run()
    Rewriter.insert_op(static, InsertPoint.before(function))
    Rewriter.erase_op(function)


def _find(module: ModuleOp, entry: str) -> FuncOp:
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == entry:
            if len(function.body.blocks) != 1:
                raise error_at(function, f"expected @{entry} to have one block")
            return function
    names = ", ".join(f"@{function.sym_name.data}" for function in functions)
    raise GinghamError(f"the module has no function @{entry}, only {names or 'none'}")


def _declared_types(function: FuncOp) -> list[TensorType[Attribute]]:
    types: list[TensorType[Attribute]] = []
    for argument in function.body.block.args:
        type = argument.type
        if not (
            isinstance(type, TensorType)
            and type.has_static_shape()
            and is_element_type(type.element_type)
        ):
            ranked = isinstance(type, UnrankedTensorType | TensorType)
            raise error_at(
                function,
                f"the type of argument {argument_name(argument)} is not known"
                if ranked
                else f"expected argument {argument_name(argument)} to be a tensor, "
                f"got {type}",
                'give one type for each argument: arguments="4x5xf32","f32"',
            )
        types.append(type)
    return types
