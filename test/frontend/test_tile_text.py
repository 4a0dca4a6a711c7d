"""The `tile` IR of Tile programs, and where its ops say that they come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    Builtin,
    FileLineColLoc,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from gingham.dialects.eltwise import Eltwise
from gingham.dialects.eltwise.ops import ANY_ELEMENT, CastOp, ConstantOp
from gingham.dialects.tile import ContractOp, Tile
from gingham.errors import GinghamError
from gingham.frontend.tile_text import load, parse_tile

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.tile"))


def main_of(module: ModuleOp) -> FuncOp:
    module.verify()
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function


def ops_of(text: str) -> list[Operation]:
    return list(main_of(parse_tile(text, "a.tile")).body.block.ops)


def body(statements: str) -> list[Operation]:
    """The ops of a function, those of its head left out."""
    text = f"function (A[M, N], B[N], S, Z[]) -> (O) {{\n{statements}\n}}"
    return ops_of(text)[2:-1]


def places(ops: list[Operation]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for op in ops:
        assert isinstance(op.location, FileLineColLoc)
        place = f"{op.location.line.data}:{op.location.column.data}"
        found.append((op.name.split(".")[1], place))
    return found


def reparsed(module: ModuleOp) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Eltwise, Tile):
        context.load_dialect(dialect)
    return Parser(context, str(module)).parse_module()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid_and_round_trip(path: Path) -> None:
    module = load(path)
    main_of(module)
    again = reparsed(module)
    again.verify()
    assert str(again) == str(module)
    assert path.read_text().startswith("// ")


def test_there_are_examples() -> None:
    names = {path.stem for path in EXAMPLES}
    assert {"matrix_product", "softmax", "complex_conv_2d"} <= names


def test_names_of_inputs_and_outputs_are_kept_exactly() -> None:
    text = "function (A_1[N'], A_2, #b') -> (O', A_2) { O' = A_1 + #b'; }"
    function = main_of(parse_tile(text))
    names = {
        key: [name.data for name in value if isinstance(name, StringAttr)]
        for key, value in function.attributes.items()
        if isinstance(value, ArrayAttr)
    }
    assert names == {
        "tile.inputs": ["A_1", "A_2", "b'"],
        "tile.outputs": ["O'", "A_2"],
    }
    assert str(reparsed(parse_tile(text))) == str(parse_tile(text))


def test_every_op_has_the_place_of_its_operator_or_statement() -> None:
    ops = body(
        "T = exp(A) +\n -B * 2;\n"
        "P = M / 2;\n"
        "  U[i : N + 1] = +(B[i]);\n"
        "O = P * U ? 1.5 : as_float(B, 32);"
    )
    assert places(ops) == [
        ("exp", "2:5"),
        ("neg", "3:2"),
        ("constant", "3:5"),
        ("mul", "3:5"),
        ("add", "2:12"),
        ("constant", "4:7"),
        ("div", "4:7"),
        ("constant", "5:11"),
        ("add", "5:11"),
        ("contract", "5:3"),
        ("from_index", "6:7"),
        ("mul", "6:7"),
        ("cast", "6:19"),
        ("constant", "6:5"),
        ("cond", "6:5"),
    ]


def test_the_head_has_places() -> None:
    module = parse_tile("// c\nfunction (A[M],\n  B) -> (A) { }", "a.tile")
    function = main_of(module)
    for place, origin in [
        ('loc("a.tile":2:1)', function.location),
        ('loc("a.tile":2:1)', module.location),
        ('loc("a.tile":2:11)', function.body.block.args[0].location),
        ('loc("a.tile":3:3)', function.body.block.args[1].location),
    ]:
        assert str(origin) == place


def test_results_have_the_names_of_the_text() -> None:
    ops = body("Half = N / 2; T = A; O = -T + Half;")
    hints = [op.results[0].name_hint for op in ops]
    assert hints == [None, "Half", "T", None, None, "O"]


def test_a_copy_is_an_op_and_a_size_is_not_copied() -> None:
    assert [op.name for op in body("T = A; P = N; O = T;")] == ["eltwise.ident"] * 2


def test_negated_literals_are_literals() -> None:
    ops = ops_of("function () -> (O, P, Q) { O = -2; P = -1.5; Q = --3; }")
    numbers = [op.number for op in ops if isinstance(op, ConstantOp)]
    assert numbers == [-2, -1.5, 3]
    assert len(ops) == 4


def test_integer_literals_fold_as_integers() -> None:
    ops = ops_of("function (A) -> (O) { O = A * (7 / 2 - -1); }")
    assert [op.number for op in ops if isinstance(op, ConstantOp)] == [4]


def test_a_comparison_of_sizes_is_a_boolean_as_a_tensor() -> None:
    ops = ops_of("function (A[N]) -> (O, P) { O = N < 3; P = 2 < 3; }")
    casts = [str(op.result.type) for op in ops if isinstance(op, CastOp)]
    assert casts == ["tensor<i1>", "tensor<i1>"]


def test_operands_of_known_type_are_promoted() -> None:
    ops = body("O = as_int(B, 8) + as_uint(B, 32);")
    assert str(ops[-1].results[0].type) == "tensor<?xui32>"
    ops = body("T = as_int(B, 8); U = as_float(B, 16); O[i : N] = +(T[i] * U[i]);")
    assert str(ops[-1].results[0].type) == "tensor<?xf16>"


@pytest.mark.parametrize(
    ("statement", "shape"),
    [
        ("O = A + B;", (None, None)),
        ("O = Z + B;", (None,)),
        ("T[i : 3] = =(B[i]); O = T + B;", (3,)),
        ("T[i : 1] = =(B[i]); O = T + B;", (None,)),
        ("O = Z * 2;", ()),
        ("O[i : 5] = +(B[i]);", (5,)),
        ("O[i, 0 : N, 1] = +(B[i]);", (None, 1)),
        ("O[i : 2 * 3 - 1] = +(B[i]);", (5,)),
        ("O[:] = +(B[i]);", ()),
        ("O[] = +(B[i]);", ()),
        ("One = 1; O[i : N] = +(B[i] * One[]);", (None,)),
    ],
)
def test_shapes(statement: str, shape: tuple[int | None, ...]) -> None:
    extents = [DYNAMIC_INDEX if extent is None else extent for extent in shape]
    type = body(statement)[-1].results[0].type
    assert type == TensorType(ANY_ELEMENT, extents)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("O[i/2 : N] = +(B[i]);", "over [i] %B[i] -> [i / 2 : %N]"),
        ("O[i : N] = +(B[2i - 1]);", "%B[2 * i - 1] -> [i : %N]"),
        ("O[i : N] = >(A[i, N - i]);", "contract max over [i] %A[i, -i + %N]"),
        ("O[i : N] = *(A[i, -(i - N)/2]);", "%A[i, -i / 2 + %N / 2]"),
        ("O[M*i : N] = +(B[i]);", "-> [%M * i : %N]"),
        ("O[i : N] = +(B[i/(M + 1)]);", "%B[i / %1]"),
        ("O[i' : N] = +(A[i', i_prime]);", "over [i_prime_, i_prime]"),
        ("O[i : N] = +(B[i] == A[j, i]);", "%B[i] == %A[j, i]"),
        ("O[i : N] = +(B[i] * A[j, i] ? Z[]);", "%B[i] == %A[j, i] ? %Z[]"),
        ("O[] = <(S[i, j, k]);", "contract min over [i, j, k] %S[i, j, k] -> []"),
        ("O[i, i : N, N] = =(B[i]);", "assign over [i] %B[i] -> [i : %N, i : %N]"),
        ("O[i : N] = +(B[i + k]), k < 3, i < N/2;",
         "where 0 <= k < 3, 0 <= i < %"),
        ("O[i : N] = +(B[i]) no_defract default B;", "default %B no_defract :"),
    ],
)  # fmt: skip
def test_contractions(statement: str, expected: str) -> None:
    module = parse_tile(f"function (A[M, N], B[N], S, Z[]) -> (O) {{ {statement} }}")
    main_of(module)
    assert expected in str(module)
    assert str(reparsed(module)) == str(module)


def test_attributes_of_a_statement_are_on_its_last_op() -> None:
    ops = body("[[pid(name)]] [[flag]] [[two(A, b)]] O = A * B + 1;\n[[x]] Q = N;")
    assert [sorted(op.attributes) for op in ops] == [
        [],
        [],
        ["tile.flag", "tile.pid", "tile.two"],
    ]
    assert ops[2].attributes["tile.pid"] == StringAttr("name")
    assert ops[2].attributes["tile.two"] == ArrayAttr(
        [StringAttr("A"), StringAttr("b")]
    )


def test_the_same_size_is_one_symbol() -> None:
    (op,) = body("O[i + N : N] = +(B[i - N]), i < N;")
    assert isinstance(op, ContractOp)
    assert len(op.symbols) == 1


def test_an_index_in_constraints_only_is_legal() -> None:
    (op,) = body("O[i : N] = +(B[i]), k < 3;")
    assert isinstance(op, ContractOp)
    assert op.index_names == ("i", "k")


def test_deep_expressions() -> None:
    deep = "-" * 5_000 + "B" + " + B" * 5_000
    assert len(body(f"O = {deep};")) == 10_000
    (op,) = body(f"O[{'-' * 5_000}i{' + i - i' * 5_000} : N] = +(B[i]);")
    assert isinstance(op, ContractOp)
    assert len(body(f"P = {'-' * 5_001}N{' + N' * 5_000}; O = B;")) == 10_002


NAMES = [
    "A",
    "B",
    "S",
    "M",
    "N",
    "O",
    "T",
    "i",
    "j",
    "k'",
    "1",
    "2.5",
    "0",
    "exp",
    "max",
]
SEEDS = [
    "T [ i , j : M , N ] = + ( A [ i , j ] * B [ j ] ) , i + j < N ; O = exp ( T ) ;",
    "T = N / 2 + max ( M , 1 ) ; O [ 2 * i - T / j : N ] = > ( B [ i ] ) , i < T ;",
    "T = A - B * 2.5 ; O [ i : N ] = = ( T [ i , 0 ] + S [ i / N ] ) default B ;",
]  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_names_in_wrong_places_give_an_error_or_valid_ir(data: st.DataObject) -> None:
    tokens = data.draw(st.sampled_from(SEEDS)).split()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        tokens[at] = data.draw(st.sampled_from(NAMES))
    text = f"function (A[M, N], B[N], S) -> (O) {{ {' '.join(tokens)} }}"
    try:
        module = parse_tile(text)
    except GinghamError as error:
        located = error.location is not None
    else:
        main_of(module)
        assert str(reparsed(module)) == str(module)
        located = True
    assert located
