"""The opencl level: host programs and kernels against NumPy, and what is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.reference import opencl as opencl_module

Array = np.ndarray[Any, Any]
Run = Callable[..., list[Array]]

GLOBAL = "!opencl.pointer<f32, global>"
LOCAL = "!opencl.pointer<f32, local>"


@pytest.fixture(params=[2**15, 5], autouse=True)
def items_at_once(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every program runs with all work-groups at once, and a few at a time."""
    monkeypatch.setattr(opencl_module, "ITEMS", request.param)


def program(body: str, group: int = 1, groups: int = 8, size: int = 8) -> str:
    """A kernel of `%A` and `%C`, and a host program that launches it once."""
    buffer = f"!opencl.buffer<{size}xf32>"
    return f"""
    opencl.kernel @work(%A : {GLOBAL}, %C : {GLOBAL}) group [{group}, 1, 1] {{
      {body}
    }}
    func.func @main(%A : {buffer}) -> {buffer} {{
      %C = opencl.allocate : {buffer}
      opencl.launch @work groups [{groups}, 1, 1] (%A, %C) : {buffer}, {buffer}
      func.return %C : {buffer}
    }}"""


INPUT = np.arange(8, dtype=np.float32)


def test_one_work_item_per_element(run: Run) -> None:
    (got,) = run(
        program(
            f"""%i = opencl.work_item global_id 0 below 8
                %x = opencl.load %A[%i] : {GLOBAL} -> f32
                %y = eltwise.add %x, %x : f32
                opencl.store %y, %C[-%i + 7] : f32 -> {GLOBAL}""",
            group=2,
            groups=4,
        ),
        INPUT,
    )
    assert got.tolist() == [2.0 * i for i in range(7, -1, -1)]


def test_matrix_product_with_vector_accumulators(
    run: Run, random: np.random.Generator
) -> None:
    a = random.integers(-4, 5, (6, 5)).astype(np.float32)
    b = random.integers(-4, 5, (5, 8)).astype(np.float32)
    registers = "!opencl.pointer<vector<4xf32>, private>"
    buffers = (
        "!opencl.buffer<6x5xf32>, !opencl.buffer<5x8xf32>, !opencl.buffer<6x8xf32>"
    )
    (got,) = run(
        f"""
        opencl.kernel @product(%A : {GLOBAL}, %B : {GLOBAL}, %C : {GLOBAL})
            group [1, 2, 1] {{
          %i = opencl.work_item group_id 0 below 6
          %j = opencl.work_item local_id 1 below 2
          %acc = opencl.array 1 : {registers}
          %zero = eltwise.constant 0.0 : vector<4xf32>
          opencl.store %zero, %acc[0] : vector<4xf32> -> {registers}
          opencl.for %k : 5 unroll {{
            %x = opencl.load %A[5 * %i + %k] : {GLOBAL} -> f32
            %xs = eltwise.broadcast %x : f32 to vector<4xf32>
            %y = opencl.load %B[8 * %k + 4 * %j] : {GLOBAL} -> vector<4xf32>
            %p = eltwise.mul %xs, %y : vector<4xf32>
            %s = opencl.load %acc[0] : {registers} -> vector<4xf32>
            %t = eltwise.add %s, %p : vector<4xf32>
            opencl.store %t, %acc[0] : vector<4xf32> -> {registers}
          }}
          %r = opencl.load %acc[0] : {registers} -> vector<4xf32>
          opencl.store %r, %C[8 * %i + 4 * %j] : vector<4xf32> -> {GLOBAL}
        }}
        func.func @main(%A : !opencl.buffer<6x5xf32>, %B : !opencl.buffer<5x8xf32>)
            -> !opencl.buffer<6x8xf32> {{
          %C = opencl.allocate : !opencl.buffer<6x8xf32>
          opencl.launch @product groups [6, 1, 1] (%A, %B, %C) : {buffers}
          func.return %C : !opencl.buffer<6x8xf32>
        }}""",
        a,
        b,
    )
    np.testing.assert_array_equal(got, a @ b)


def test_three_dimensions(run: Run) -> None:
    """Every work-item knows its ids along every dimension."""
    (got,) = run(
        f"""
        opencl.kernel @ids(%C : {GLOBAL}) group [2, 3, 1] {{
          %gx = opencl.work_item group_id 0 below 2
          %gy = opencl.work_item group_id 1 below 1
          %gz = opencl.work_item group_id 2 below 3
          %x = opencl.work_item global_id 0 below 4
          %y = opencl.work_item local_id 1 below 3
          %a = eltwise.cast %gz : index to f32
          %b = eltwise.cast %gx : index to f32
          %ten = eltwise.constant 10.0 : f32
          %c = eltwise.mul %a, %ten : f32
          %d = eltwise.add %c, %b : f32
          opencl.store %d, %C[12 * %gz + 3 * %x + %y + %gy] : f32 -> {GLOBAL}
        }}
        func.func @main() -> !opencl.buffer<3x4x3xf32> {{
          %C = opencl.allocate : !opencl.buffer<3x4x3xf32>
          opencl.launch @ids groups [2, 1, 3] (%C) : !opencl.buffer<3x4x3xf32>
          func.return %C : !opencl.buffer<3x4x3xf32>
        }}"""
    )
    z, x, _ = np.indices((3, 4, 3))
    np.testing.assert_array_equal(got, 10 * z + x // 2)


def test_delinearize(run: Run) -> None:
    (got,) = run(
        program(
            f"""%i = opencl.work_item group_id 0 below 8
                %a, %b, %c = opencl.delinearize %i into [2, 2, 2]
                %x = opencl.load %A[%i] : {GLOBAL} -> f32
                opencl.store %x, %C[%a + 2 * %b + 4 * %c] : f32 -> {GLOBAL}"""
        ),
        INPUT,
    )
    assert got.tolist() == [0, 4, 2, 6, 1, 5, 3, 7]


def test_conditions(run: Run) -> None:
    (got,) = run(
        program(
            f"""%i = opencl.work_item group_id 0 below 8
                %zero = eltwise.constant 0.0 : f32
                opencl.if -%i + 2 >= 0 {{
                  opencl.store %zero, %C[%i] : f32 -> {GLOBAL}
                }}
                opencl.if %i - 3 >= 0, -%i + 7 >= 0 {{
                  %x = opencl.load %A[%i - 3] : {GLOBAL} -> f32
                  opencl.store %x, %C[%i] : f32 -> {GLOBAL}
                }}
                opencl.if %i - 100 >= 0 {{
                  opencl.store %zero, %C[%i + 1000] : f32 -> {GLOBAL}
                }}"""
        ),
        INPUT,
    )
    assert got.tolist() == [0, 0, 0, 0, 1, 2, 3, 4]


REVERSE = f"""
  %g = opencl.work_item group_id 0 below 2
  %l = opencl.work_item local_id 0 below 4
  %t = opencl.array 4 : {LOCAL}
  %x = opencl.load %A[4 * %g + %l] : {GLOBAL} -> f32
  opencl.store %x, %t[%l] : f32 -> {LOCAL}
  opencl.barrier local
  %y = opencl.load %t[-%l + 3] : {LOCAL} -> f32
  opencl.store %y, %C[4 * %g + %l] : f32 -> {GLOBAL}
"""


def test_local_memory_and_barrier(run: Run) -> None:
    (got,) = run(program(REVERSE, group=4, groups=2), INPUT)
    assert got.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


def test_missing_barrier(run: Run) -> None:
    text = program(REVERSE.replace("opencl.barrier local", ""), group=4, groups=2)
    with pytest.raises(
        GinghamError,
        match=r"the cell \[3\] of %t.*: item 0 of group 0 and item 3 of group 0",
    ):
        run(text, INPUT)


def test_barrier_for_another_memory_does_not_help(run: Run) -> None:
    text = program(REVERSE.replace("barrier local", "barrier global"), 4, 2)
    with pytest.raises(GinghamError, match=r"two points use the cell \[3\] of %t"):
        run(text, INPUT)


def test_global_barrier_within_a_group(run: Run) -> None:
    body = f"""
      %l = opencl.work_item local_id 0 below 8
      %x = opencl.load %A[%l] : {GLOBAL} -> f32
      opencl.store %x, %C[%l] : f32 -> {GLOBAL}
      opencl.barrier global
      %y = opencl.load %C[-%l + 7] : {GLOBAL} -> f32
      opencl.barrier global
      opencl.store %y, %C[%l] : f32 -> {GLOBAL}
    """
    (got,) = run(program(body, group=8, groups=1), INPUT)
    assert got.tolist() == INPUT[::-1].tolist()


def test_global_barrier_between_groups_does_not_help(run: Run) -> None:
    body = f"""
      %i = opencl.work_item global_id 0 below 8
      %x = opencl.load %A[%i] : {GLOBAL} -> f32
      opencl.store %x, %C[%i] : f32 -> {GLOBAL}
      opencl.barrier global
      %y = opencl.load %C[-%i + 7] : {GLOBAL} -> f32
    """
    with pytest.raises(GinghamError) as error:
        run(program(body, group=4, groups=2), INPUT)
    message = error.value.message
    # With a group at a time, what the other group writes is not there yet.
    assert "group 0 and group 1" in message or "never written" in message


def test_barrier_that_not_all_reach(run: Run) -> None:
    body = """
      %l = opencl.work_item local_id 0 below 4
      opencl.if %l - 1 >= 0 {
        opencl.barrier local
      }
    """
    with pytest.raises(GinghamError, match="only some work-items of a group reach"):
        run(program(body, group=4, groups=2), INPUT)


def test_barrier_that_whole_groups_skip(run: Run) -> None:
    body = f"""
      %g = opencl.work_item group_id 0 below 2
      %i = opencl.work_item global_id 0 below 8
      opencl.if %g - 1 >= 0 {{
        opencl.barrier local
      }}
      %x = opencl.load %A[%i] : {GLOBAL} -> f32
      opencl.store %x, %C[%i] : f32 -> {GLOBAL}
    """
    (got,) = run(program(body, group=4, groups=2), INPUT)
    assert got.tolist() == INPUT.tolist()


def test_two_work_items_write_one_cell(run: Run) -> None:
    body = f"""
      %i = opencl.work_item group_id 0 below 8
      %a, %b = opencl.delinearize %i into [4, 2]
      %x = opencl.load %A[%i] : {GLOBAL} -> f32
      opencl.store %x, %C[%a] : f32 -> {GLOBAL}
    """
    with pytest.raises(
        GinghamError, match=r"'opencl.store'.*cell \[0\] of %C.*: group 0 and group 1"
    ):
        run(program(body), INPUT)


def test_out_of_bounds(run: Run) -> None:
    body = f"""
      %i = opencl.work_item group_id 0 below 8
      %x = opencl.load %A[%i - 1] : {GLOBAL} -> f32
    """
    with pytest.raises(
        GinghamError,
        match=r"'opencl.load' accesses element -1 of %A, which has 8 at group = 0",
    ):
        run(program(body), INPUT)
    body = f"""
      %i = opencl.work_item group_id 0 below 8
      %x = opencl.load %A[%i] : {GLOBAL} -> vector<4xf32>
    """
    with pytest.raises(GinghamError, match="accesses elements 5 to 8 of %A"):
        run(program(body), INPUT)


def test_private_array_that_was_never_written(run: Run) -> None:
    body = """
      %t = opencl.array 2 : !opencl.pointer<f32, private>
      %one = eltwise.constant 1.0 : f32
      opencl.store %one, %t[0] : f32 -> !opencl.pointer<f32, private>
      opencl.for %k : 2 {
        %x = opencl.load %t[%k] : !opencl.pointer<f32, private> -> f32
      }
    """
    with pytest.raises(
        GinghamError, match=r"reads \[1\] of %t at group = 0, item = 0, k = 1, which"
    ):
        run(program(body), INPUT)


def test_bounds_that_were_promised(run: Run) -> None:
    body = "%i = opencl.work_item group_id 0 below 7"
    with pytest.raises(GinghamError, match="from 0 to below 7, got 7 at group = 7"):
        run(program(body), INPUT)
    body = """
      %i = opencl.work_item group_id 0 below 8
      %a, %b = opencl.delinearize %i into [3, 2]
    """
    with pytest.raises(GinghamError, match="from 0 to below 6, got 6"):
        run(program(body), INPUT)


def test_one_buffer_as_two_arguments(run: Run) -> None:
    text = program("").replace("(%A, %C)", "(%C, %C)")
    with pytest.raises(GinghamError, match="must be different buffers"):
        run(text, INPUT)


def test_a_launch_of_no_groups_does_nothing(run: Run) -> None:
    text = program("").replace("groups [8, 1, 1]", "groups [0, 1, 1]")
    text = text.replace("func.return %C", "func.return %A")
    (got,) = run(text, INPUT)
    assert got.tolist() == INPUT.tolist()


def test_launches_run_in_order(run: Run) -> None:
    buffer = "!opencl.buffer<8xf32>"
    text = program(
        f"""%i = opencl.work_item group_id 0 below 8
            %x = opencl.load %A[%i] : {GLOBAL} -> f32
            %y = eltwise.add %x, %x : f32
            opencl.store %y, %C[-%i + 7] : f32 -> {GLOBAL}"""
    ).replace(
        "func.return %C",
        f"""%D = opencl.allocate : {buffer}
            opencl.launch @work groups [8, 1, 1] (%C, %D) : {buffer}, {buffer}
            func.return %D""",
    )
    (got,) = run(text, INPUT)
    assert got.tolist() == (4 * INPUT).tolist()


def test_numbers_of_indices_and_indices_of_numbers(run: Run) -> None:
    """A work-item goes where its number says, when it says so."""
    (got,) = run(
        program(
            f"""%i = opencl.work_item group_id 0 below 8
                %n = opencl.index -%i + 7 : si32
                %p = opencl.position %n below 8
                %x = opencl.load %A[%p] : {GLOBAL} -> f32
                %zero = eltwise.constant 0.0 : f32
                opencl.store %zero, %C[%i] : f32 -> {GLOBAL}
                %three = eltwise.constant 3 : si32
                %keep = eltwise.cmp_gt %n, %three : (si32, si32) -> i1
                opencl.when %keep {{
                  opencl.store %x, %C[%i] : f32 -> {GLOBAL}
                }}
                %never = eltwise.cmp_gt %n, %n : (si32, si32) -> i1
                opencl.when %never {{
                  %q = opencl.position %n below 1
                  opencl.store %x, %C[%q + 1000] : f32 -> {GLOBAL}
                }}"""
        ),
        INPUT,
    )
    assert got.tolist() == [7, 6, 5, 4, 0, 0, 0, 0]


def test_lanes_of_an_index(run: Run) -> None:
    (got,) = run(
        program(
            f"""%i = opencl.work_item group_id 0 below 2
                %n = opencl.index 100 * %i step -3 : vector<4xui8>
                %x = eltwise.cast %n : vector<4xui8> to vector<4xf32>
                opencl.store %x, %C[4 * %i] : vector<4xf32> -> {GLOBAL}""",
            groups=2,
        ),
        INPUT,
    )
    assert got.tolist() == [0, 253, 250, 247, 100, 97, 94, 91]


def test_a_number_that_is_no_position(run: Run) -> None:
    with pytest.raises(
        GinghamError, match=r"'opencl.position' expects a value .* below 7, got 7"
    ):
        run(
            program(
                f"""%i = opencl.work_item group_id 0 below 8
                    %n = opencl.index %i : si32
                    %p = opencl.position %n below 7
                    %x = opencl.load %A[%p] : {GLOBAL} -> f32
                    opencl.store %x, %C[%i] : f32 -> {GLOBAL}"""
            ),
            INPUT,
        )
