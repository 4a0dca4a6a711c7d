"""Wrong builds are found at the first call, on every road, and replaced."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham import edsl, plaidml
from gingham.dialects.eltwise.table import FUNCTIONS, TypeRule
from gingham.errors import GinghamError
from gingham.runtime.cache import programs as program_cache
from gingham.targets.c.device import DEVICE as C
from gingham.targets.opencl import compiled
from gingham.targets.opencl.checking import WrongKernelWarning, trial
from gingham.targets.opencl.checking import expectation as expectation_module
from gingham.targets.opencl.checking.builds import (
    UNOPTIMISED,
    unoptimised,
    without_unrolling,
)
from gingham.targets.opencl.checking.expectation import Expected
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.program import DeviceProgram, build_program
from gingham.targets.reference.sampled import Grid

Array = NDArray[Any]

TEXT = """function (A[M, K], B[K, N]) -> (C, S) {
  P[i, j : M, N] = +(A[i, k] * B[k, j]);
  C = sqrt(P * P + 1.0);
  S[i : M] = +(C[i, j]);
}"""


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Programs are checked, and nothing is known of them before and behind."""
    if not isinstance(gingham.default_device(), OpenCLDevice):
        pytest.skip("nothing is compiled for the interpreter")
    monkeypatch.setenv("GINGHAM_CHECK", "1")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    program_cache.forget_programs()
    yield
    program_cache.forget_programs()


@pytest.fixture
def expectations(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Array]]:
    """The inputs of programs for which it was computed what they should give."""
    seen: list[Sequence[Array]] = []
    real = trial.expectation

    def noted(module: Any, inputs: Sequence[Array], *, fast_math: bool) -> Any:
        seen.append(inputs)
        return real(module, inputs, fast_math=fast_math)

    monkeypatch.setattr(trial, "expectation", noted)
    return seen


def unrolls(source: str, options: Sequence[str]) -> bool:
    return "#pragma unroll\n" in source and UNOPTIMISED not in options


def optimises(source: str, options: Sequence[str]) -> bool:
    return UNOPTIMISED not in options


def always(source: str, options: Sequence[str]) -> bool:
    return True


def break_builds(
    monkeypatch: pytest.MonkeyPatch, when: Callable[[str, Sequence[str]], bool]
) -> None:
    """Let the device's compiler make something else of some sources."""

    def build(
        device: OpenCLDevice,
        source: str,
        options: Sequence[str] | None = None,
        begun: object = None,
    ) -> DeviceProgram:
        if when(source, options or ()):
            # Roots that are 1 too large.
            source = source.replace("sqrt(", "1.0f + sqrt(")
        return build_program(device, source, options)

    monkeypatch.setattr(compiled, "build_program", build)


def inputs(seed: int = 0) -> list[Array]:
    random = np.random.default_rng(seed)
    shapes = (64, 33), (33, 40)
    return [random.normal(size=shape).astype(np.float32) for shape in shapes]


def wanted(a: Array, b: Array) -> list[Array]:
    c = np.sqrt((a.astype(np.float64) @ b) ** 2 + 1)
    return [c, c.sum(1)]


def assert_right(results: Any, a: Array, b: Array) -> None:
    for got, want in zip(results, wanted(a, b), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4)


def in_numpy(a: Array, b: Array) -> Any:
    return gingham.compile(TEXT)(a, b)


def into_arrays(a: Array, b: Array) -> Any:
    out = np.zeros((64, 40), np.float32), np.zeros(64, np.float32)
    gingham.compile(TEXT)(a, b, out=out)
    return out


def asynchronously(a: Array, b: Array) -> Any:
    return gingham.compile(TEXT)(gingham.asarray(a), gingham.asarray(b))


def into_arrays_of_the_device(a: Array, b: Array) -> Any:
    out = (
        gingham.asarray(np.zeros((64, 40), np.float32)),
        gingham.asarray(np.zeros(64, np.float32)),
    )
    gingham.compile(TEXT)(gingham.asarray(a), gingham.asarray(b), out=out)
    return out


def with_constants(a: Array, b: Array) -> Any:
    text = TEXT.replace("B[k, j]", "R[k, j]").replace("  P[", "  R = sqrt(B*B); P[")
    return gingham.compile(text, constants=["B"])(a, b)


def placed(a: Array, b: Array) -> Any:
    device = gingham.default_device()
    return gingham.compile(TEXT, device=[device, gingham.device("reference")])(a, b)


def traced(a: Array, b: Array) -> Any:
    def function(A: Any, B: Any) -> Any:
        i, j, k = edsl.TensorIndexes(3)
        P = edsl.TensorOutput(A.shape[0], B.shape[1])
        P[i, j] = edsl.sum(A[i, k] * B[k, j])
        C = edsl.sqrt(P * P + 1.0)
        S = edsl.TensorOutput(A.shape[0])
        S[i] = edsl.sum(C[i, j])
        return C, S

    return gingham.jit(function)(a, b)


ROADS = [
    in_numpy,
    into_arrays,
    asynchronously,
    into_arrays_of_the_device,
    placed,
    traced,
]


@pytest.mark.parametrize("road", ROADS)
def test_a_build_that_is_wrong_where_it_unrolls_is_replaced(
    road: Callable[[Array, Array], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_builds(monkeypatch, unrolls)
    a, b = inputs()
    with pytest.warns(WrongKernelWarning, match="without unrolling") as caught:
        results = road(a, b)
    assert_right(results, a, b)
    assert len(caught) == 1
    message = str(caught[0].message)
    device = gingham.default_device()
    for part in ("C[", device.name, str(device.properties["driver_version"])):
        assert part in message


def test_a_build_that_optimisation_breaks_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_builds(monkeypatch, optimises)
    a, b = inputs()
    function = gingham.compile(TEXT)
    with pytest.warns(WrongKernelWarning, match="without optimisation"):
        assert_right(function(a, b), a, b)
    # It stays so, and says no more.
    a, b = inputs(1)
    assert_right(function(a, b), a, b)
    assert_right(function(gingham.asarray(a), gingham.asarray(b)), a, b)
    assert_right(gingham.compile(TEXT, check=False)(a, b), a, b)


def test_nothing_is_handed_out_where_no_build_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_builds(monkeypatch, always)
    a, b = inputs()
    function = gingham.compile(TEXT)
    out = np.full((64, 40), 7, np.float32), np.full(64, 7, np.float32)
    with pytest.raises(GinghamError, match=r"C\[\d+, \d+\] is .*should be"):
        function(a, b, out=out)
    assert (out[0] == 7).all()
    assert (out[1] == 7).all()
    # Nor at the next call.
    with pytest.raises(GinghamError, match="should be"):
        function(a, b)


def test_arrays_that_were_to_be_written_hold_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_builds(monkeypatch, always)
    a, b = (gingham.asarray(array) for array in inputs())
    out = (
        gingham.asarray(np.zeros((64, 40), np.float32)),
        gingham.asarray(np.zeros(64, np.float32)),
    )
    with pytest.raises(GinghamError, match="should be"):
        gingham.compile(TEXT)(a, b, out=out)
    with pytest.raises(GinghamError, match="should be"):
        out[0].numpy()


def test_constants_are_computed_anew_by_the_right_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_builds(monkeypatch, optimises)
    a, b = inputs()
    with pytest.warns(WrongKernelWarning):
        results = with_constants(a, b)
    assert_right(results, a, np.abs(b))


def test_all_roads_are_checked(expectations: list[Sequence[Array]]) -> None:
    a, b = inputs()
    gingham.einsum("ij,jk->ik", a, b)
    assert len(expectations) == 1
    context = plaidml.Context()
    device = plaidml.Device(context)
    shape = plaidml.Shape(context, plaidml.DType.FLOAT32, 3)
    tensors = [plaidml.Tensor(device, shape) for _ in range(2)]
    with tensors[0].mmap_discard(context) as view:
        view.copy_from_ndarray(np.ones(3, np.float32))
        view.writeback()
    function = plaidml.Function("function (X[N]) -> (Y) { Y = 2 * X; }")
    plaidml.run(context, function, {"X": tensors[0]}, {"Y": tensors[1]})
    with tensors[1].mmap_current() as view:
        assert list(view) == [2, 2, 2]
    assert len(expectations) == 2
    # Each shape for itself, and each only once.
    twice = gingham.compile(TEXT)
    for rows in (64, 32, 64):
        assert_right(twice(a[:rows], b), a[:rows], b)
    assert len(expectations) == 4


def test_who_asks_for_it_in_a_call(
    expectations: list[Sequence[Array]], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = inputs()
    gingham.compile(TEXT, check=False)(a, b)
    assert not expectations
    monkeypatch.delenv("GINGHAM_CHECK")
    gingham.compile(TEXT)(a, b)
    assert not expectations
    gingham.compile(TEXT, check=True)(a, b)
    assert len(expectations) == 1


def test_threads_wait_for_the_check(
    expectations: list[Sequence[Array]], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_builds(monkeypatch, optimises)
    function = gingham.compile(TEXT)
    problems: list[BaseException] = []

    def call(seed: int) -> None:
        a, b = inputs(seed)
        given = [gingham.asarray(a), gingham.asarray(b)] if seed % 2 else [a, b]
        try:
            assert_right(function(*given), a, b)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(8)]

    def call_all() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with pytest.warns(WrongKernelWarning) as caught:
        call_all()
    assert not problems
    assert len(caught) == 1
    assert len(expectations) == 1


def test_what_has_been_checked_is_kept_on_disk(
    expectations: list[Sequence[Array]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", str(tmp_path / "programs"))
    monkeypatch.setattr(program_cache, "code_is_unchanged", lambda: True)
    monkeypatch.setattr(program_cache, "code_is_as_started", lambda: True)
    break_builds(monkeypatch, optimises)
    a, b = inputs()
    with pytest.warns(WrongKernelWarning):
        gingham.compile(TEXT)(a, b)
    program_cache.forget_programs()
    # Loaded, and not built: a build would be wrong. Without a check it is right, too.
    for check in (None, False):
        assert_right(gingham.compile(TEXT, check=check)(a, b), a, b)
    assert len(expectations) == 1


@pytest.mark.parametrize("has_compiler", [True, False])
def test_an_output_that_is_too_dear_is_compared_with_another_build(
    has_compiler: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_compiler and C.failure() is not None:
        pytest.skip(f"no C compiler: {C.failure()}")
    if not has_compiler:
        monkeypatch.setattr(C, "failure", lambda: "there is none")
    monkeypatch.setattr(expectation_module, "BUDGET", 20)
    slow: list[object] = []

    def noted(code: compiled.CompiledCode, device: OpenCLDevice) -> Any:
        slow.append(code)
        return unoptimised(code, device)

    monkeypatch.setattr(trial, "unoptimised", noted)
    a, b = inputs()
    assert_right(gingham.compile(TEXT)(a, b), a, b)
    assert len(slow) == (0 if has_compiler else 1)
    program_cache.forget_programs()
    break_builds(monkeypatch, unrolls)
    with pytest.warns(WrongKernelWarning, match="without unrolling") as caught:
        assert_right(gingham.compile(TEXT)(a, b), a, b)
    assert "2.0e+01 are the most" in str(caught[0].message)


@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        ("function (A[N]) -> (B, C) { B = sqrt(A); C = log(A) / A; }", [[-1, 0, 1, 4]]),
        ("function (A[N]) -> (B) { B = exp(A) * 2.0; }", [[100, -200, 88.5, np.inf]]),
        ("function (A[N]) -> (B) { B[] = +(A[i]); }", [[1, np.nan, 2]]),
        ("function (A[N]) -> (B) { B[] = >(A[i]); }", [[1, -np.inf, 2]]),
        ("function (A[N]) -> (B) { B = argsort(A, 0); }", [[1, 1, 0.5, 1]]),
        ("function (A[N]) -> (B) { B = as_int(A * 1000000, 32); }", [[1, 9999, -3]]),
        ("function (A[N]) -> (B) { B = A / 0.0; }", [[1, 0, -3]]),
        (
            "function (A[N, M]) -> (B) { B[i : N] = *(A[i, j]); }",
            [[[3] * 90, [0] * 90]],
        ),
    ],
)
def test_odd_numbers_give_no_alarm(text: str, arrays: list[Any]) -> None:
    gingham.compile(text)(*(np.float32(array) for array in arrays))


def test_no_function_gives_an_alarm() -> None:
    """All functions of floats in one program, on numbers of all sorts."""
    odd = [0, -0.0, 1, -1, 0.5, 2.5, 1e-30, 1e30, np.inf, -np.inf, np.nan, 88, -104]
    random = np.random.default_rng(0)
    x = np.array([*odd, *random.normal(size=30) * 3], np.float32)
    whole = (TypeRule.BITS, TypeRule.SHIFT)
    functions = [each for each in FUNCTIONS.values() if each.rule not in whole]
    lines = [
        f"R{n} = {each.name}({', '.join('ABC'[: each.arity])});"
        for n, each in enumerate(functions)
    ]
    outputs = ", ".join(f"R{n}" for n in range(len(functions)))
    text = f"function (A, B, C) -> ({outputs}) {{ {' '.join(lines)} }}"
    gingham.compile(text)(x, random.permutation(x), random.permutation(x))


def test_integers_are_compared_exactly() -> None:
    grid = Grid((np.arange(2, dtype=np.int64),))
    values = np.array([2**60, -(2**60)])
    right = Expected(0, grid, values, np.zeros(2), 1.0)
    assert right.mismatch(values) is None
    found = right.mismatch(values + np.array([0, 1]))
    assert found is not None
    assert found.cell == (1,)
    truths = Expected(0, grid, values > 0, np.zeros(2), 1.0)
    other = truths.mismatch(values < 0)
    assert other is not None
    assert other.distance == 1


def test_random_numbers_and_types() -> None:
    state = np.arange(1, 3 * 2048 + 1, dtype=np.uint32).reshape(3, 2048) * 7919
    text = """function (S) -> (R, T, H) {
      P = prng_step(S, 100, 33); R = prng_value(P); T = prng_state(P);
      H = as_float(R, 16) * 3; }"""
    gingham.compile(text)(state)


def test_fast_math_is_allowed_more() -> None:
    text = "function (A[N]) -> (B) { B = exp(A) / (1.0 + sin(A)); }"
    gingham.compile(text, fast_math=True)(np.linspace(-3, 3, 1000, dtype=np.float32))


def test_reproducers_are_few_and_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    break_builds(monkeypatch, optimises)
    a, b = inputs()
    with pytest.warns(WrongKernelWarning, match=r"reproduce\.py` shows it"):
        gingham.compile(TEXT)(a, b)
    parent = tmp_path / "data" / "gingham" / "wrong-kernels"
    (folder,) = parent.iterdir()
    np.testing.assert_array_equal(np.load(folder / "input-1.npy"), b)
    assert "sqrt" in (folder / "kernels.cl").read_text()
    assert "opencl.kernel" in (folder / "program.mlir").read_text()
    (folder / "kernels.cl").write_text("mine")
    program_cache.forget_programs()
    with pytest.warns(WrongKernelWarning, match=r"reproduce\.py` shows it"):
        gingham.compile(TEXT)(a, b)
    assert (folder / "kernels.cl").read_text() == "mine"
    for number in range(19):
        (parent / str(number)).mkdir()
    with pytest.warns(WrongKernelWarning, match="has 20 programs"):
        gingham.compile(TEXT)(a[:10], b)
    assert len([*parent.iterdir()]) == 20


def test_loops_stay_loops() -> None:
    source = "  #pragma unroll\n  for (int i = 0; i < 8; ++i) {\n    x[i] = 0;\n  }\n"
    safe = without_unrolling(source)
    assert "#pragma unroll 1\n" in safe
    assert "#pragma unroll\n" not in safe
    assert safe.count("for (") == 1
    assert without_unrolling(safe) == safe
