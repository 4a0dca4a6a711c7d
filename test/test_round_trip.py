"""Every program printed at the tile level parses back to the same IR.

As it was parsed, specialized, and flattened; in the ops' own syntax and in the generic
one. Programs are those of the examples and of the documentation, a list with every
construct of Tile, and random ones.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_programs import Program, programs
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.canonicalize import TileCanonicalizePass
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.passes.tile.specialize import specialize

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.tile"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```tile.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)


CONTEXT = make_context()


def check(module: ModuleOp) -> None:
    """The module is what comes of parsing its text, in both syntaxes."""
    module.verify()
    text = str(module)
    generic = io.StringIO()
    Printer(stream=generic, print_generic_format=True).print_op(module)
    for printed in (text, generic.getvalue()):
        parsed = Parser(CONTEXT, printed).parse_module()
        parsed.verify()
        assert parsed.is_structurally_equivalent(module), printed
        assert str(parsed) == text


def check_stages(module: ModuleOp, types: list[TensorType]) -> None:
    """The module round trips as it is, specialized, canonical and flattened."""
    check(module)
    static = specialize(module, types)
    check(static)
    TileCanonicalizePass().apply(CONTEXT, static)
    check(static)
    TileFlattenPass().apply(CONTEXT, static)
    check(static)


def fits_usual_types(module: ModuleOp) -> bool:
    """Whether the module has an instance for inputs of the usual types."""
    try:
        specialize(module, usual_types(module))
    except GinghamError:
        return False
    return True


def usual_types(module: ModuleOp) -> list[TensorType]:
    """A type for each input: all sizes are 7, and those of any rank are matrices."""
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    types = [argument.type for argument in function.body.block.args]
    ranks = [t.get_num_dims() if isinstance(t, TensorType) else 2 for t in types]
    return [TensorType(f32, [7] * rank) for rank in ranks]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples(path: Path) -> None:
    module = parse_tile(path.read_text(), path.name)
    if fits_usual_types(module):
        check_stages(module, usual_types(module))
    else:
        check(module)


def test_most_examples_fit_the_usual_types() -> None:
    modules = [parse_tile(path.read_text()) for path in EXAMPLES]
    assert sum(map(fits_usual_types, modules)) > len(modules) / 2


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_documentation(page: Path) -> None:
    """All programs of a page that are right."""
    for module in programs_of(page):
        check(module)
        if fits_usual_types(module):
            check(specialize(module, usual_types(module)))


def programs_of(page: Path) -> list[ModuleOp]:
    """The programs of a page; it shows wrong ones too."""
    modules: list[ModuleOp] = []
    for text in FENCE.findall(page.read_text()):
        with contextlib.suppress(GinghamError):
            modules.append(parse_tile(text))
    return modules


def test_the_documentation_has_programs() -> None:
    modules = [module for page in PAGES for module in programs_of(page)]
    assert len(modules) > 60
    assert sum(map(fits_usual_types, modules)) > 30


HEAD = "function (A[M, N], B[N], I[K], S[], U, R[G, H]) -> (O)"
TYPES = [
    parse_argument_type(text)
    for text in ("4x6xf32", "6xf16", "5xsi32", "f64", "4x6xf32", "3x8xui32")
]

CONSTRUCTS = [
    # Contractions.
    "O[i : M] = +(A[i, j]);",
    "O[i, j : M, M] = *(A[i, k] * A[j, k]);",
    "O[] = >(A[i, j] + B[j]);",
    "O[:] = <(S[]);",
    "O[i : M] = =(A[i, 0]) no_defract;",
    "O[i : N] = +(A[i, j] == B[j]);",
    "O[i : N] = +(A[0, i] == B[i] ? I[0]);",
    "O[2i + 1 : 2 * N] = +(B[i]);",
    "O[i/2 : N] = +(B[i]);",
    "O[(i + 1)/3 : N] = +(B[(2i - 1)/3]);",
    "O[i : N] = +(B[i + k]), k < 3, i - k < N / 2 default B;",
    "O[i : N - 2] = >(B[N/2*i - k]), k < max(N, 3) no_defract;",
    "O[i, i : N, N] = =(B[i]);",
    "O[i, 3 : N, 5] = +(B[i]);",
    "O[i : 0] = +(B[i]);",
    "O[i : N] = +(U[0, i]);",
    # Sizes in an order of their own, not used, and multiplied.
    "O[M, k : M + 1, 1] = +(A[i + N - 2, 0] * B[k]);",
    "O[i : N] = =(B[i / (N - 2)]);",
    "O[i : N] = +(A[G * H + M * i - N * K, K - i]), i + H * M - N * G < H * H;",
    "O[i + N - N : N] = +(B[i - M + M]), i < K + M - M;",
    "O'[i' : N] = +(B[$I'] * B[i']), $I' - i' < 1; O = O';",
    # Expressions.
    "O = A + B * 2 - 1.5 / S;",
    "O = (A < B ? A : -B) + (A == B);",
    "O = I & 3 | I << 1 ^ ~I >> 2;",
    "O = as_float(I, 16) * as_int(S, 64) + as_uint(I, 8);",
    "O = max(min(A, 1), relu(B)) + exp(sigmoid(A)) + pow(A, 2);",
    "O = A * N + M / 2 * mod(N, 4) + (M > N) + (M < N ? 2.5 : 1);",
    "O = 1.0;",
    "O = N * M;",
    "O = -9223372036854775807 * as_int(S, 64);",
    "O = A + 1e-30 + 123456.789e20 + 0.1;",
    "[[pid(name)]] [[note]] [[two(A, b)]] O = A;",
    "O = reverse_grad(A, 2.5);",
    # Special operations.
    "O = reshape(A, N * 2, M / 2);",
    "O = reshape(shape(A), 1, 2, 1);",
    "O = index(U, -1) + index(A, 0);",
    "O = gather(A, I);",
    "O = gather(A, I, axis=-1, out_of_bounds=zero);",
    "O = gather(A, A, axis=1, batch_dims=1, interpolation=linear);",
    "O = gather(A, B, interpolation=cubic, cube_coefficient=-1e-7);",
    "O = gather(A, B, interpolation=nearest, nearest_mode=simple);",
    "O = gather(A, shape(A), mode=nd);",
    "O = scatter(I, I, B);",
    "O = scatter(A, index(B, 0), A, axis=1, mode=update_slice);",
    "O = scatter(A, index(A, 1), A, axis=1, mode=update_elt, out_of_bounds=zero);",
    "O = scatter(S, shape(A), A, mode=update_nd);",
    "O = argsort(A, 0) + argsort(A, order=descending);",
    "P = prng_step(R, M, 3); V = prng_value(P); O = prng_value(prng_step("
    "prng_state(P), 2));",
    "T = tuple(A, B); O = element(T, 0) + element(T, 1);",
    "X = assert_wide(M < N); O[i : match(N, 6)] = +(B[i]);",
    "O[i : broadcast(N, 1)] = +(B[i]);",
    "O = simple_reduce(A, 1, N);",
    "O = simple_reduce(U, N) + simple_reduce(U, M, N);",
    "O = builtin_softmax(A, M, N) + builtin_logsoftmax(A, M, N);",
    "O = builtin_binary_crossentropy(A, U, M * N);",
    "O = mad(A, B, 1);",
    "O = as_bool(A);",
]  # fmt: skip


@pytest.mark.parametrize("body", CONSTRUCTS)
def test_constructs(body: str) -> None:
    check_stages(parse_tile(f"{HEAD} {{ {body} }}"), TYPES)


def test_gradients() -> None:
    """A gradient round trips before it is expanded."""
    text = f"{HEAD} {{ L[] = +(A[i, j]); O = gradient(L, A); }}"
    module = parse_tile(text)
    check(module)
    check(specialize(module, TYPES))


@given(programs())
@settings(
    max_examples=40,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
def test_random_programs(program: Program) -> None:
    module = parse_tile(program.text)
    check(module)
    types = [
        parse_argument_type("x".join([*map(str, x.shape), x.type]))
        for x in program.inputs.values()
    ]
    static = specialize(module, types)
    check(static)
    # Cells that are written twice, and index sets that are too hard, end flattening.
    with contextlib.suppress(GinghamError):
        TileFlattenPass().apply(CONTEXT, static)
        check(static)
