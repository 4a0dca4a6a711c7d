"""Times of units: predicted, measured, corrected, stretched by load."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from placed_programs import BRANCHES, BRANCHES_TYPES, flat, function_of, two_devices
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.errors import GinghamError
from gingham.placement import prediction
from gingham.placement.decide import decide
from gingham.placement.grouping import units_of
from gingham.placement.prediction import Prediction, predicted
from gingham.placement.times import device_times, unit_times
from gingham.placement.units import Unit
from gingham.targets.hardware import (
    HARDWARE_NAMES,
    Hardware,
    hardware_with,
    load_hardware,
)


def units(text: str = BRANCHES, types: tuple[str, ...] = BRANCHES_TYPES) -> list[Unit]:
    return units_of(function_of(flat(text, *types)))


@pytest.mark.parametrize("name", HARDWARE_NAMES)
def test_every_unit_has_a_time_on_every_device(name: str) -> None:
    hardware = load_hardware(name)
    for unit in units():
        seconds = predicted(unit, hardware).seconds
        assert hardware.launch_microseconds * 1e-6 <= seconds < 1


def test_more_work_takes_longer_and_more_cores_less_long() -> None:
    product = (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
    )
    hardware = load_hardware("cpu-avx512:cores=4")
    small, large = (
        predicted(units(product, (f"{n}x{n}xf32",) * 2)[0], hardware).seconds
        for n in (256, 1024)
    )
    assert 20 < large / small < 200
    fast = hardware_with(hardware, cores=32)
    unit = units(product, ("1024x1024xf32",) * 2)[0]
    assert 2 < predicted(unit, hardware).seconds / predicted(unit, fast).seconds < 12


def test_streams_take_what_memory_takes() -> None:
    hardware = load_hardware("cpu-avx512:cores=4")
    (unit,) = units("function (A, B) -> (C) { C = A * B; }", ("8192x8192xf32",) * 2)
    least = 3 * 4 * 8192**2 / (hardware.memory_gigabytes_per_second * 1e9)
    assert least <= predicted(unit, hardware).seconds < 1.5 * least


def test_special_operations_have_times() -> None:
    text = """function (X[M, N], Places[K]) -> (S, G) {
      Order = argsort(X);
      S = gather(X, Order);
      G = gather(X, Places);
    }"""
    text = text.replace("argsort(X)", "argsort(X, 0)").replace(
        "gather(X, Order)", "Order"
    )
    for unit in units(text, ("64x32xf32", "5xsi32")):
        assert 0 < predicted(unit, load_hardware("cpu-avx512")).seconds < 1


def test_equal_units_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = units()
    hardware = replace(load_hardware("cpu-avx2"), clock_gigahertz=3.21)
    lowered: list[object] = []
    original = prediction.predicted_module

    def counted(module: ModuleOp, hardware: Hardware) -> Prediction:
        lowered.append(module)
        return original(module, hardware)

    monkeypatch.setattr(prediction, "predicted_module", counted)
    for _ in range(3):
        for unit in found:
            predicted(unit, hardware)
    assert len(lowered) == len({unit.key for unit in found})


SOFTMAX = """function (X[N, M], U[M, K]) -> (Z) {
  P[n, k : N, K] = +(X[n, m] * U[m, k]);
  Most[n, 0 : N, 1] = >(P[n, k]);
  E = exp(P - Most);
  Sum[n, 0 : N, 1] = +(E[n, k]);
  Z = E / Sum;
}"""


def test_what_is_between_the_kernels_of_a_unit_takes_memory() -> None:
    """As much as the program has between its launches, when it is compiled."""
    hardware = load_hardware("cpu-avx512:cores=4")
    for rows, depth, columns, least in (
        (512, 64, 2048, 0),
        (512, 1024, 2048, 512 * 2048 * 4),
        (1024, 1024, 1024, 1024 * 1024 * 4),
    ):
        (unit,) = units(SOFTMAX, (f"{rows}x{depth}xf32", f"{depth}x{columns}xf32"))
        x, u = np.ones((rows, depth), np.float32), np.ones((depth, columns), np.float32)
        function = gingham.compile(SOFTMAX, hardware="cpu-avx512:cores=4")
        needed = function.memory(x, u).peak
        assert needed >= least
        assert predicted(unit, hardware).scratch_bytes == needed
    # Copies that are decided on when nests are fused.
    text = "function (A[M, K], B[K, N]) -> (C) { Q[i, j : M, N] = +(A[i, k] * B[k, j]);"
    text += " C = tanh(Q); }"
    (unit,) = units(text, ("2048x1024xf32", "1024x512xf32"))
    a, b = np.ones((2048, 1024), np.float32), np.ones((1024, 512), np.float32)
    needed = gingham.compile(text, hardware="cpu-avx512:cores=4").memory(a, b).peak
    assert predicted(unit, hardware).scratch_bytes == needed
    # A product alone has nothing but its result.
    text = (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
    )
    (alone,) = units(text, ("64x64xf32", "64x64xf32"))
    assert predicted(alone, hardware).scratch_bytes == 0


def test_what_was_measured_counts_and_corrects_the_rest() -> None:
    found = units()
    (device, _) = two_devices().devices
    plain = device_times(found, device)
    assert {time.source for time in plain} == {"predicted"}
    key = found[0].key
    corrected = device_times(found, replace(device, measured={key: 0.5}))
    assert (corrected[0].source, corrected[0].seconds) == ("measured", 0.5)
    factor = 0.5 / plain[0].seconds
    for before, after in zip(plain[1:], corrected[1:], strict=True):
        assert after.source == "predicted"
        assert after.correction == pytest.approx(factor)
        assert after.seconds == pytest.approx(before.seconds * factor)
        assert after.predicted == before.predicted
    other = device_times(found, replace(device, measured={"another unit": 9.0}))
    assert other == plain


def test_load_takes_its_part() -> None:
    found = units()
    device = replace(two_devices().devices[0], measured={found[0].key: 1e-3})
    free, busy = (
        device_times(found, replace(device, load=load)) for load in (0.0, 0.75)
    )
    for before, after in zip(free, busy, strict=True):
        assert after.seconds == pytest.approx(4 * before.seconds)


def test_a_device_that_lacks_a_type_is_not_chosen() -> None:
    module = flat(BRANCHES, *[t.replace("f32", "f64") for t in BRANCHES_TYPES])
    machine = two_devices()
    near, far = machine.devices
    limited = replace(machine, devices=(near, replace(far, unsupported=("f64",))))
    times = unit_times(units_of(function_of(module)), limited)
    assert all(math.isinf(row[1].seconds) for row in times)
    assert times[0][1].why == "it does not compute with f64"
    decision = decide(module, limited)
    assert {*decision.devices} == {"near"}
    nowhere = replace(limited, devices=limited.devices[1:])
    with pytest.raises(GinghamError, match=r"no device can run A2: 'far': it does not"):
        decide(module, nowhere)
