"""Decisions about whole programs: what runs where, and what that depends on."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from placed_programs import (
    ATTENTION,
    ATTENTION_TYPES,
    BRANCHES,
    flat,
    function_of,
    two_devices,
)
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from gingham.dialects.constants import mark_constants
from gingham.dialects.eltwise.ops import ConstantOp
from gingham.errors import GinghamError
from gingham.placement.build import ANYWHERE, Residency
from gingham.placement.decide import Decision, decide, task_graph_of
from gingham.placement.grouping import device_of
from gingham.placement.place_pass import TilePlacePass
from gingham.placement.schedule import Transfer
from gingham.targets.hardware import hardware_with
from gingham.targets.hardware.machine import HOST, Link, Machine
from gingham.targets.hardware.machine_file import machine_text
from gingham.targets.reference import interpret


def timed(module: ModuleOp, near: float, far: float, **others: float) -> Machine:
    """Two devices on which every unit takes so many seconds, as if measured, and units
    that compute a named tensor take others, `near_Y=1.0`.
    """
    machine = two_devices(latency=0.0, rate=1e12)
    units = task_graph_of(module).units
    devices = [
        replace(
            device,
            measured={
                unit.key: others.get(f"{device.name}_{unit.name}", seconds)
                for unit in units
            },
        )
        for device, seconds in zip(machine.devices, (near, far), strict=True)
    ]
    return replace(machine, devices=tuple(devices))


def by_name(decision: Decision) -> dict[str, str]:
    units = decision.posed.program.units
    return {u.name: d for u, d in zip(units, decision.devices, strict=True)}


def different(text: str = BRANCHES) -> ModuleOp:
    """The branches with units that differ, so that each has a time of its own."""
    return flat(
        text, "64x96xf32", "96x128xf32", "128x96xf32", "96x160xf32", "160x96xf32"
    )


def branches() -> str:
    return BRANCHES.replace("V1[D, H], V2[H, D]", "V1[D, G], V2[G, D]").replace(
        "B1[b, h : B, H]", "B1[b, h : B, G]"
    )


def test_each_branch_is_on_a_device_of_its_own() -> None:
    module = different(branches())
    decision = decide(module, timed(module, 1e-3, 1e-3, near_Y=1e-4))
    where = by_name(decision)
    assert where["A2"] == where["A"] != where["B2"] == where["C"]
    assert decision.seconds == pytest.approx(2.1e-3, rel=0.1)
    assert "earlier than all on" in decision.solution.reason


def test_what_is_forced_is_not_said_to_be_elsewhere() -> None:
    module = different(branches())
    machine = timed(module, 1e-3, 1e-3)
    for operation in module.walk():
        if any(result.name_hint == "B2" for result in operation.results):
            operation.attributes["tile.device"] = StringAttr("far")
    solution = decide(module, machine).solution
    assert "all on near" not in solution.reason
    assert [one and one.origin for one in solution.singles] == [
        "all that can be on near",
        "all on far",
    ]


def test_slow_links_keep_everything_together() -> None:
    module = different(branches())
    machine = timed(module, 1e-3, 1e-3)
    slow = {pair: Link(1.0, 1e6) for pair in machine.links}
    free = {pair: link for pair, link in machine.links.items() if "near" in pair}
    decision = decide(module, replace(machine, links=slow | free))
    assert {*decision.devices} == {"near"}


def test_data_pulls_work_to_it() -> None:
    module = flat("function (A) -> (B) { B = tanh(A); }", "2048x2048xf32")
    machine = replace(timed(module, 1e-3, 1e-3), links=two_devices(rate=1e9).links)
    assert decide(module, machine).devices == ["near"]
    on_far = Residency({"A": "far"}, {"B": ANYWHERE})
    assert decide(module, machine, on_far).devices == ["far"]
    result_on_far = Residency({"A": ("near", "far")}, {"B": "far"})
    assert decide(module, machine, result_on_far).devices == ["far"]
    everywhere = Residency({"A": ("near", "far")})
    assert decide(module, machine, everywhere).devices == ["near"]


def test_load_pushes_work_away() -> None:
    module = flat("function (A) -> (B) { B = tanh(A); }", "64x64xf32")
    machine = timed(module, 1e-3, 1.5e-3)
    assert decide(module, machine).devices == ["near"]
    near, far = machine.devices
    busy = replace(machine, devices=(replace(near, load=0.5), far))
    assert decide(module, busy).devices == ["far"]


def test_constant_inputs_are_not_copied_in_every_run() -> None:
    module = flat(
        "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }",
        "16x512xf32",
        "512x512xf32",
    )
    links = two_devices(rate=1e9).links
    machine = replace(timed(module, 1e-3, 5e-4), links=links)
    assert decide(module, machine).devices == ["near"]
    mark_constants(function_of(module), [1])
    machine = replace(timed(module, 1e-3, 5e-4), links=links)
    decision = decide(module, machine)
    assert decision.devices == ["far"]
    names = [decision.posed.problem.tensors[t.tensor].name for t in moved(decision)]
    assert names == ["A", "C"]


def moved(decision: Decision) -> tuple[Transfer, ...]:
    return decision.solution.schedule.transfers


def test_a_program_too_large_for_each_device_is_divided() -> None:
    text = """function (A[M, M], B[M, M], C[M, M]) -> (Y) {
      P[i, j : M, M] = +(A[i, k] * B[k, j]);
      Q[i, j : M, M] = +(B[i, k] * C[k, j]);
      R[i, j : M, M] = >(P[i, k] * Q[k, j]);
      Y[i : M] = +(R[i, j] * A[i, j]);
    }"""
    size = 4 * 256 * 256
    module = flat(text, *["256x256xf32"] * 3)

    def machine(memory: int) -> Machine:
        found = two_devices(memory=memory)
        links = dict.fromkeys(found.links, Link(1e-5, 1e10))
        return replace(found, links=links)

    decision = decide(module, machine(4 * size))
    assert {*decision.devices} == {"near", "far"}
    for device in decision.explain().devices:
        assert 0 < device.peak_bytes <= device.memory_bytes
    with pytest.raises(GinghamError, match="no placement fits the memory") as error:
        decide(module, machine(2 * size))
    words = "'near' has 524 kB, and everything there takes 1.31 MB while Q is computed"
    assert words in str(error.value)
    # A device that works on the host's memory needs none for the inputs there: it has
    # to hold P, Q and Y.
    enough = 2 * size + 4 * 256
    assert {*decide(module, two_devices(memory=enough)).devices} == {"near"}
    with pytest.raises(GinghamError, match=r"'near' .* takes 525 kB while Y is"):
        decide(module, two_devices(memory=enough - 1))


def test_what_is_forced_stays_and_the_rest_follows() -> None:
    module = different(branches())
    machine = timed(module, 1e-3, 1e-3, near_Y=1e-4)
    for forced in ("near", "far"):
        again = module.clone()
        (op,) = (
            op
            for op in function_of(again).body.block.ops
            if op.results and op.results[0].name_hint == "A"
        )
        op.attributes["tile.device"] = StringAttr(forced)
        decision = decide(again, machine)
        assert by_name(decision)["A"] == forced
        assert decision.explain().units[1].is_forced
        assert decision.seconds == pytest.approx(2.1e-3, rel=0.1)


def test_placing_changes_attributes_only() -> None:
    module = flat(ATTENTION, *ATTENTION_TYPES)
    before = module.clone()
    decision = decide(module, two_devices())
    assert module.is_structurally_equivalent(before)
    decision.write()
    module.verify()
    random = np.random.default_rng(0)
    arrays = [
        random.random(shape, np.float32) for shape in ((32, 24), (40, 24), (40, 24))
    ]
    for got, wanted in zip(
        interpret(module, arrays), interpret(before, arrays), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
    placed = [op for op in operations(module) if not isinstance(op, ConstantOp)]
    assert all(device_of(op) in ("near", "far") for op in placed)
    reasons = [op for op in placed if "tile.device_reason" in op.attributes]
    assert len(reasons) == len(decision.devices)
    for op in placed:
        del op.attributes["tile.device"]
        op.attributes.pop("tile.device_reason", None)
    assert module.is_structurally_equivalent(before)


def operations(module: ModuleOp) -> list[Operation]:
    return [*function_of(module).body.block.ops][:-1]


def test_the_pass_does_what_the_function_does(tmp_path: object) -> None:
    module = flat(ATTENTION, *ATTENTION_TYPES)
    path = f"{tmp_path}/machine.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(machine_text(two_devices()))
    by_pass, by_function = module.clone(), module
    TilePlacePass(machine=path).apply(Context(), by_pass)
    decide(by_function, two_devices()).write()
    assert str(by_pass) == str(by_function)


def test_a_program_is_placed_again_for_other_data_without_being_read_again() -> None:
    module = different(branches())
    machine = timed(module, 1e-3, 1e-3)
    program = task_graph_of(module)
    first = decide(program, machine)
    assert first.devices == decide(module, machine).devices
    assert first.posed.program is program
    again = decide(program, machine, Residency({"X": "far"}))
    assert again.posed.program is program
    assert again.posed.problem.tensors[0].homes == (1,)


def test_a_machine_that_cannot_be_used_is_an_error() -> None:
    module = flat("function (A) -> (B) { B = tanh(A); }", "4xf32")
    machine = two_devices()
    near, far = machine.devices
    with pytest.raises(GinghamError, match="the machine has no devices"):
        decide(module, replace(machine, devices=()))
    with pytest.raises(GinghamError, match="a second device called 'near'"):
        decide(module, replace(machine, devices=(near, near)))
    with pytest.raises(GinghamError, match="no device can be called 'host'"):
        decide(module, replace(machine, devices=(replace(near, name=HOST),)))
    with pytest.raises(GinghamError, match="load of 'near' from 0 to below 1, got 1"):
        decide(module, replace(machine, devices=(replace(near, load=1.0),)))
    with pytest.raises(GinghamError, match="not to compute with 'f99'"):
        decide(module, replace(machine, devices=(replace(far, unsupported=("f99",)),)))
    links = {pair: link for pair, link in machine.links.items() if pair[0] != "near"}
    with pytest.raises(GinghamError, match="machine has no link from 'near' to 'host'"):
        decide(module, replace(machine, links=links))


@pytest.mark.parametrize(("package", "count"), [("networkx", 2), ("scipy.optimize", 3)])
def test_a_missing_package_is_an_error_that_says_what_to_do(
    package: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = flat("function (A) -> (B) { B = tanh(A); }", "4xf32")
    machine = two_devices()
    near, far = machine.devices
    devices = (near, far, replace(far, name="third"))[:count]
    links = {
        **machine.links,
        ("third", HOST): Link(0.0, 1e9),
        (HOST, "third"): Link(0.0, 1e9),
    }
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(GinghamError, match=f"package {package.split('.')[0]}") as error:
        decide(module, Machine(devices, links))
    assert error.value.hint == "pip install 'gingham[placement]'"
    assert decide(module, replace(machine, devices=(near,))).devices == ["near"]


def test_nothing_to_place() -> None:
    module = flat("function (A) -> (B) { B = A; }", "4xf32")
    decision = decide(module, two_devices())
    assert decision.devices == [] or {*decision.devices} <= {"near", "far"}
    assert decision.explain().html()


def test_what_is_looked_up_in_a_large_table_comes_to_the_device_alone() -> None:
    """The rows are found where the table is, and the work on them is done elsewhere."""
    text = """function (Table[V, D], Words[B], W[D, H]) -> (Y) {
      Rows = gather(Table, Words);
      H1[b, h : B, H] = +(Rows[b, d] * W[d, h]);
      R = H1 < 0 ? 0 : H1;
      Y[b, k : B, H] = +(R[b, h] * W[h, k]);
    }"""
    module = flat(text, "500000x1024xf32", "2048xsi32", "1024x1024xf32")
    machine = two_devices()
    near, far = machine.devices
    fast = replace(far, hardware=hardware_with(far.hardware, cores=256))
    decision = decide(module, replace(machine, devices=(near, fast)))
    assert by_name(decision) == {"Rows": "near", "R": "far", "Y": "far"}
    assert max(unit.bytes_in for unit in decision.explain().units) < 2e7
