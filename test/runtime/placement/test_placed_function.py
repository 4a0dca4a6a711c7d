"""Programs on several devices: never wrong, one failing device harms no other."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.edsl import Placeholder
from gingham.errors import GinghamError
from gingham.runtime.placement.function import PlacedFunction
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable

MIXED = """function (X[N, M], W[M, K], V[M, K], Z[K, L]) -> (O, P) {
  A[i, k : N, K] = +(X[i, m] * W[m, k]);
  B[i, k : N, K] = +(X[i, m] * V[m, k]);
  R = relu(A) * 2.0;
  S = tanh(B);
  O[i, l : N, L] = +(R[i, k] * Z[k, l]);
  P = R + S;
}"""
SHAPES = ((24, 16), (16, 20), (16, 20), (20, 8))


def arrays(seed: int = 0, shapes: tuple[tuple[int, ...], ...] = SHAPES) -> list[Any]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


def expected(inputs: list[NDArray[np.float32]]) -> list[NDArray[np.float32]]:
    x, w, v, z = inputs
    r = np.maximum(x @ w, 0) * 2
    return [r @ z, r + np.tanh(x @ v)]


def check(results: Any, inputs: list[NDArray[np.float32]]) -> None:
    for got, want in zip(results, expected(inputs), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def whole() -> OpenCLDevice:
    device = gingham.devices()[0]
    if not isinstance(device, OpenCLDevice) or device.kind != "cpu":
        pytest.skip("there is no CPU device")
    return device


@pytest.fixture(scope="module")
def part(whole: OpenCLDevice) -> OpenCLDevice:
    if whole.details.compute_units < 2:
        pytest.skip("the machine has one core")
    return whole.split([1, whole.details.compute_units - 1])[0]


@pytest.fixture
def discrete(whole: OpenCLDevice) -> OpenCLDevice:
    """A device that is treated as if it had memory of its own."""
    details = replace(
        whole.details, host_unified_memory=False, shares_host_memory=False
    )
    return OpenCLDevice("discrete.0", "gpu", details, whole.handle)


def forced(devices: list[Any], **places: str) -> PlacedFunction:
    return gingham.compile(MIXED, device=devices, place=places)


def segments_of(function: PlacedFunction, inputs: list[Any]) -> list[str]:
    return [each.device for each in function.plan(*inputs).segments.segments]


def test_a_whole_device_and_a_part_of_it(
    whole: OpenCLDevice, part: OpenCLDevice
) -> None:
    function = forced([whole, part], A=whole.name, B=part.name, O=whole.name)
    inputs = arrays()
    check(function(*inputs), inputs)
    assert {*segments_of(function, inputs)} == {whole.name, part.name}
    # Other inputs, and another shape.
    check(function(*arrays(1)), arrays(1))
    shapes = ((5, 7), (7, 3), (7, 3), (3, 9))
    check(function(*arrays(2, shapes)), arrays(2, shapes))


def test_with_the_interpreter(whole: OpenCLDevice) -> None:
    function = forced([whole, "reference"], B="reference", O="reference")
    inputs = arrays()
    check(function(*inputs), inputs)
    assert "reference" in segments_of(function, inputs)


@pytest.mark.parametrize("name", ["A", "B", "O", "P"])
def test_memory_of_its_own(
    whole: OpenCLDevice, discrete: OpenCLDevice, name: str
) -> None:
    function = forced([whole, discrete], **{name: discrete.name})
    inputs = arrays()
    for _ in range(3):
        check(function(*inputs), inputs)
    check(function(*arrays(1)), arrays(1))


def test_arrays_stay_on_devices(whole: OpenCLDevice, discrete: OpenCLDevice) -> None:
    function = forced([whole, discrete], B=discrete.name, P=discrete.name)
    inputs = arrays()
    given = [gingham.asarray(x, discrete) for x in inputs[:2]] + inputs[2:]
    results = function(*given)
    assert all(isinstance(result, gingham.Array) for result in results)
    assert results[1].device is discrete
    check(results, inputs)
    again = function(*[gingham.asarray(x, whole) for x in inputs])
    check(again, inputs)


def test_source_and_ir_show_devices(whole: OpenCLDevice, part: OpenCLDevice) -> None:
    function = forced([whole, part], A=whole.name, B=part.name, O=whole.name)
    source = function.source(*arrays())
    assert f"// {whole.name}\n" in source
    assert f"// {part.name}\n" in source
    assert f'tile.device = "{part.name}"' in function.placed_ir(*arrays())


def test_one_device_is_called_straight(whole: OpenCLDevice) -> None:
    function = gingham.compile(MIXED, device=[whole])
    inputs = arrays()
    check(function(*inputs), inputs)
    assert function.plan(*inputs).only_device == whole.name


def test_results_that_are_inputs_and_given_arrays(
    whole: OpenCLDevice, discrete: OpenCLDevice
) -> None:
    text = "function (X[N]) -> (Y, X, Z) { Y = X + 1.0; Z = Y * 2.0; }"
    function = gingham.compile(
        text, device=[whole, discrete], place={"Z": "discrete.0", "Y": whole.name}
    )
    x = np.arange(6, dtype=np.float32)
    y, same, z = function(x)
    assert same.tolist() == x.tolist()
    assert not np.may_share_memory(same, x)
    target = np.empty_like(x)
    results = function(x, out=(target, None, None))
    assert results[0] is target
    assert target.tolist() == y.tolist() == (x + 1).tolist()
    assert results[2].tolist() == z.tolist() == ((x + 1) * 2).tolist()


FOUR = """function (X[N, M], W[M, K], V[M, K]) -> (P, Q, R, S) {
  P[i, k : N, K] = +(X[i, m] * W[m, k]);
  T[i, k : N, K] = +(X[i, m] * V[m, k]);
  Q = T + P;
  R = P;
  S = X;
}"""


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("places", [{}, {"P": "discrete.0"}, {"T": "reference"}])
def test_results_are_written_to_arrays_of_any_device(
    whole: OpenCLDevice, discrete: OpenCLDevice, places: dict[str, str], shift: int
) -> None:
    reference = gingham.device("reference")
    function = gingham.compile(FOUR, device=[whole, discrete, reference], place=places)
    x, w, v = arrays(0, ((6, 6),) * 3)
    wanted = [x @ w, x @ v + x @ w, x @ w, x]
    homes = [whole, discrete, reference, None]
    for given in ((x, w, v), (gingham.asarray(x, discrete), w, v)):
        out = tuple(
            None if home is None else gingham.asarray(np.zeros_like(x), home, copy=True)
            for home in homes[shift:] + homes[:shift]
        )
        for _ in range(2):
            results = function(*given, out=out)
            for result, target, want in zip(results, out, wanted, strict=True):
                assert target is None or result is target
                assert result.numpy().tolist() == want.tolist()
            assert len({id(result.memory) for result in results}) == 4


def test_arrays_that_results_can_not_be_written_to(
    whole: OpenCLDevice, discrete: OpenCLDevice
) -> None:
    text = "function (X[N], C[N]) -> (Y) { T = X * 2; Y = T + C; }"
    function = gingham.compile(
        text,
        device=[whole, discrete],
        place={"T": discrete.name, "Y": whole.name},
        constants=["C"],
    )
    x, c = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    on_device = gingham.asarray(x, discrete)
    closed = gingham.asarray(np.zeros(6, np.float32), whole)
    closed.close()
    same = gingham.asarray(c, whole) if whole.details.host_unified_memory else on_device
    for target, message in (
        (on_device, "shares memory with an input"),
        (same, "shares memory with an input"),
        (gingham.asarray(np.zeros(5, np.float32), whole), "expected shape"),
        (np.zeros(6, np.float32), "expected a gingham.Array"),
        (closed, "is closed"),
        ((on_device, None), "'out' has 2"),
    ):
        with pytest.raises(GinghamError, match=message):
            function(on_device, c, out=target)
    assert function(on_device, c).numpy().tolist() == (x * 2 + 1).tolist()


def test_constant_inputs_are_sent_once_and_refreshed(
    whole: OpenCLDevice, discrete: OpenCLDevice
) -> None:
    function = gingham.compile(
        MIXED, device=[whole, discrete], place={"B": discrete.name}, constants=["V"]
    )
    inputs = arrays()
    check(function(*inputs), inputs)
    check(function(*inputs), inputs)
    inputs[2][...] = 1
    function.refresh()
    check(function(*inputs), inputs)
    inputs[2] = np.full_like(inputs[2], -2)
    check(function(*inputs), inputs)


def test_constant_inputs_of_the_interpreter(whole: OpenCLDevice) -> None:
    function = gingham.compile(
        MIXED, device=[whole, "reference"], place={"O": "reference"}, constants=["V"]
    )
    for _ in range(3):
        check(function(*arrays()), arrays())


def test_arrays_of_devices_that_take_no_part(
    whole: OpenCLDevice, part: OpenCLDevice
) -> None:
    text = "function (A[N], B[N]) -> (C) { C = A + B; }"
    function = gingham.compile(text, device=[whole, part])
    x = gingham.asarray(np.ones(8, np.float32), whole)
    y = gingham.asarray(np.ones(8, np.float32), "reference")
    # Where data is, is the same for placement: the host.
    for other in (y.numpy(), y, y.numpy()):
        np.testing.assert_array_equal(function(x, other).numpy(), np.full(8, 2))


def test_many_threads(whole: OpenCLDevice, part: OpenCLDevice) -> None:
    function = forced([whole, part], B=part.name, O=part.name)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for number in range(10):
                inputs = arrays(seed * 100 + number)
                check(function(*inputs), inputs)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_failing_device_harms_no_other(
    whole: OpenCLDevice, part: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = OpenCLExecutable.start
    broken: list[OpenCLDevice] = []

    def start_if_it_works(self: OpenCLExecutable, *arguments: Any) -> Any:
        if self.device in broken:
            raise GinghamError("the device is gone")
        return start(self, *arguments)

    monkeypatch.setattr(OpenCLExecutable, "start", start_if_it_works)
    function = forced([whole, part], A=whole.name, B=part.name, O=whole.name)
    inputs = arrays()
    check(function(*inputs), inputs)
    broken.append(part)
    with pytest.raises(GinghamError, match="the device is gone"):
        function(*inputs)
    check(gingham.compile(MIXED, device=whole)(*inputs), inputs)
    broken.clear()
    check(function(*inputs), inputs)


def test_measured_placement_is_kept(
    whole: OpenCLDevice,
    part: OpenCLDevice,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GINGHAM_RECORDS", str(tmp_path / "records.sqlite3"))
    function = gingham.compile(MIXED, device=[whole, part], measure=True)
    inputs = arrays()
    check(function(*inputs), inputs)
    # Links always are; times, where the machine is not busy with other work.
    assert (tmp_path / "placement.sqlite3").exists()
    explained = str(function.explain_placement(*inputs))
    assert "measured" in explained
    assert whole.name in explained
    function.measure_placement(*inputs, again=True)
    check(function(*inputs), inputs)


def test_few_situations_are_kept() -> None:
    """Those that were used last: what is let go of is decided and compiled again."""
    function = gingham.compile(
        "function (A) -> (B) { B = A + 1; }", device=["reference"]
    )
    for count in [*range(1, 60), 1]:
        array = np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(function(array), array + 1)
    assert len(vars(function)["_choices"]) < 40
    assert len(vars(function)["_flats"]) < 40


def test_a_file_and_a_traced_program(whole: OpenCLDevice, tmp_path: Path) -> None:
    file = tmp_path / "mixed.tile"
    file.write_text(MIXED)
    inputs = arrays()
    devices = [whole, gingham.device("reference")]
    function = gingham.compile_file(file, device=devices)
    assert isinstance(function, PlacedFunction)
    check(function(*inputs), inputs)
    forced_one = gingham.compile_file(file, device=devices, place={"B": "reference"})
    check(forced_one(*inputs), inputs)
    assert "reference" in segments_of(forced_one, inputs)
    one: Any = whole
    with pytest.raises(GinghamError, match="several devices"):
        gingham.compile_file(file, device=one, place={"B": "reference"})
    x = Placeholder("f32", [4], "x")
    square = x * x
    program = gingham.Program("powers", [x], {"y": square, "z": square * x})
    placed = gingham.compile(program, device=devices)
    squares, cubes = placed(np.arange(4, dtype=np.float32))
    assert (squares.tolist(), cubes.tolist()) == ([0, 1, 4, 9], [0, 1, 8, 27])


NAMES = """function (X[N, M], U[M, K]) -> (Z) {
  P[n, k : N, K] = +(X[n, m] * U[m, k]);
  Dead[n : N] = +(X[n, m]);
  Deader = Dead * 2;
  Number = 3;
  Other = P;
  Same = X;
  Z = (Other + Same) * Number;
}"""


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("X", "'X' is to be placed on 'reference', but is an input", "asarray(X"),
        ("Same", "'Same', another name for 'X', is to be placed", "asarray(X"),
        (
            "Dead",
            "'Dead' is to be placed on 'reference', but no result needs",
            "result",
        ),
        ("Deader", "no result needs it", "leave out its place"),
        ("Number", "computes no tensor 'Number'", "it computes P, Other, Same, Z"),
        ("N", "computes no tensor 'N'", "it computes P"),
        ("Missing", "computes no tensor 'Missing'", "it computes P"),
    ],
)
def test_names_that_nothing_computes(name: str, message: str, hint: str) -> None:
    with pytest.raises(GinghamError) as error:
        gingham.compile(NAMES, device=["reference"], place={name: "reference"})
    assert message in error.value.message
    assert hint in (error.value.hint or "")


def test_another_name_is_placed_as_what_it_names(whole: OpenCLDevice) -> None:
    devices = [whole, gingham.device("reference")]
    function = gingham.compile(NAMES, device=devices, place={"Other": "reference"})
    x, u = arrays(0, ((4, 4), (4, 4)))
    assert function(x, u).tolist() == ((x @ u + x) * 3).tolist()
    units = function.explain_placement(x, u).units
    assert [(each.device, each.is_forced) for each in units] == [("reference", True)]
    places = {"Other": "reference", "P": whole.name}
    with pytest.raises(GinghamError, match="another name for 'P', which is to be"):
        gingham.compile(NAMES, device=devices, place=dict(reversed(places.items())))


def test_what_is_asked_wrongly(whole: OpenCLDevice, part: OpenCLDevice) -> None:
    with pytest.raises(GinghamError, match="got none"):
        gingham.compile(MIXED, device=[])
    one: Any = whole
    with pytest.raises(GinghamError, match="several devices"):
        gingham.compile(MIXED, device=one, place={"B": whole.name})
    with pytest.raises(GinghamError, match="not among the devices"):
        gingham.compile(MIXED, device=[whole], place={"B": part.name})
    names: Any = ["B"]
    with pytest.raises(GinghamError, match="expected the device of each tensor"):
        gingham.compile(MIXED, device=[whole], place=names)
    several: Any = [whole]
    with pytest.raises(GinghamError, match="hardware description"):
        gingham.compile(MIXED, device=several, hardware="cpu-avx512")
    number: Any = 3
    with pytest.raises(GinghamError, match="expected the text"):
        gingham.compile(number, device=[whole])
    function = forced([whole, part], A=whole.name, B=part.name, O=whole.name)
    with pytest.raises(GinghamError, match="1:"):
        function(*arrays(0, ((24, 16), (17, 20), (16, 20), (20, 8))))
