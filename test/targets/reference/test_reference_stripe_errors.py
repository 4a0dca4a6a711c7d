"""The stripe level: programs that have no meaning are errors that say where and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from gingham.errors import GinghamError
from gingham.targets.reference import interpret
from gingham.targets.reference import stripe as stripe_module

Run = Callable[..., list[np.ndarray[Any, Any]]]


@pytest.fixture(params=[2**17, 2], autouse=True)
def part_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are found whether all points run at once, or a few at a time."""
    monkeypatch.setattr(stripe_module, "PART", request.param)


def program(body: str) -> str:
    """A function of `%A` (6 elements) that returns `%C` (6 elements)."""
    return f"""
    func.func @main(%A : !stripe.view<6xf32>) -> !stripe.view<6xf32> {{
      %C = stripe.alloc : !stripe.view<6xf32>
      {body}
      func.return %C : !stripe.view<6xf32>
    }}"""


INPUT = np.arange(6, dtype=np.float32)

COPY = """
  %x = stripe.load %a : !stripe.view<1xf32>
  stripe.store %x, %c : !stripe.view<1xf32>
"""


def check(run: Run, body: str, message: str) -> None:
    with pytest.raises(GinghamError, match=message):
        run(program(body), INPUT)


def test_read_out_of_bounds(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 6] in %a = %A[%i + 1] : 1 out %c = %C[%i] : 1 {{
            {COPY} }}""",
        r"'stripe.load' accesses \[6\] of %A, outside of its buffer of 6 at i = 5",
    )


def test_write_out_of_bounds(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[%i - 1] : 1 {{
            {COPY} }}""",
        r"'stripe.store' accesses \[-1\] of %C, outside of its buffer .* at i = 0",
    )


def test_vector_that_overhangs(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 2] in %a = %A[4 * %i] : 4 out %c = %C[4 * %i] : 4 {
             %x = stripe.load %a : !stripe.view<4xf32>
             stripe.store %x, %c : !stripe.view<4xf32> }""",
        r"'stripe.load' accesses \[4 to 7\] of %A",
    )


def test_access_outside_of_the_window_around(run: Run) -> None:
    """Within the buffer, but not where the outer block said that it would be."""
    check(
        run,
        f"""stripe.block [%o : 3] in %as = %A[2 * %o] : 1 out %cs = %C[2 * %o] : 2 {{
              stripe.block [%i : 2] in %a = %as[%i] : 1 out %c = %cs[%i] : 1 {{
                {COPY} }} }}""",
        r"accesses \[1\] of %A, outside of the window around it.* at o = 0, i = 1",
    )


def test_window_may_overhang_where_nothing_is_accessed(run: Run) -> None:
    """A tile within a tile that is no multiple of it: the constraint guards both."""
    text = program(
        f"""stripe.block [%o : 2] in %as = %A[3 * %o] : 3 out %cs = %C[3 * %o] : 3 {{
              stripe.block [%m : 2] in %am = %as[2 * %m] : 2
                  out %cm = %cs[2 * %m] : 2 {{
                stripe.block [%i : 2] in %a = %am[%i] : 1 out %c = %cm[%i] : 1
                    where -2 * %m - %i + 2 >= 0 {{
                  {COPY} }} }} }}"""
    )
    (got,) = run(text, INPUT)
    assert got.tolist() == INPUT.tolist()
    with pytest.raises(GinghamError, match=r"\[3\] of %A, outside of the window"):
        run(text.replace("-2 * %m - %i + 2", "-3 * %o - 2 * %m - %i + 5"), INPUT)


def test_read_of_what_was_never_written(run: Run) -> None:
    check(
        run,
        f"""%T = stripe.alloc : !stripe.view<6xf32>
            stripe.block [%i : 5] in %a = %A[%i] : 1 out %c = %T[%i] : 1 {{ {COPY} }}
            stripe.block [%i : 6] in %a = %T[%i] : 1 out %c = %C[%i] : 1 {{
                {COPY} }}""",
        r"'stripe.load' reads \[5\] of %T at i = 5, which was never written",
    )


def test_aggregation_into_what_was_never_written(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[%i] : 1 add {{
            {COPY} }}""",
        r"'stripe.store' aggregates into \[0\] of %C at i = 0, which was never written",
    )


def test_allocation_of_another_point_is_not_this_ones(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {
             %t = stripe.alloc : !stripe.view<1xf32, private>
             stripe.block [] in %b = %a[0] : 1 out %d = %t[0] : 1 where %i - 1 >= 0 {
               %x = stripe.load %b : !stripe.view<1xf32>
               stripe.store %x, %d : !stripe.view<1xf32, private>
             }
             %y = stripe.load %t : !stripe.view<1xf32, private>
             stripe.store %y, %c : !stripe.view<1xf32>
           }""",
        r"reads \[0\] of %t at i = 0, which was never written",
    )


def test_result_that_was_never_written(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 3] in %a = %A[%i] : 1 out %c = %C[2 * %i] : 1 {{
            {COPY} }}""",
        r"the result \[1\] of %C was never written",
    )


def test_two_points_assign_one_cell(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 4, %j : 3] in %a = %A[%j] : 1 out %c = %C[%i + %j] : 1 {{
            {COPY} }}""",
        r"the cell \[1\] of %C, .*: \(i = 0, j = 1\) and \(i = 1, j = 0\)",
    )


def test_points_of_an_outer_block_assign_one_cell(run: Run) -> None:
    """The inner blocks are fine by themselves."""
    check(
        run,
        f"""stripe.block [%o : 2] in %as = %A[0] : 6 out %cs = %C[%o] : 6 {{
              stripe.block [%i : 5] in %a = %as[%i] : 1 out %c = %cs[%i] : 1 {{
                {COPY} }} }}""",
        r"two points use the cell \[1\] of %C.*\(o = 0\) and \(o = 1\)",
    )


def test_lanes_of_two_points_overlap(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 2] in %a = %A[2 * %i] : 4 out %c = %C[2 * %i] : 4 {
             %x = stripe.load %a : !stripe.view<4xf32>
             stripe.store %x, %c : !stripe.view<4xf32> }""",
        r"two points use the cell \[2\] of %C",
    )


def test_a_point_reads_what_another_writes(run: Run) -> None:
    """A fusion that is wrong: the second statement needs a neighbour's value."""
    check(
        run,
        """%T = stripe.alloc : !stripe.view<7xf32>
           %zero = eltwise.constant 0.0 : f32
           stripe.block [%i : 7] out %t = %T[%i] : 1 {
             stripe.store %zero, %t : !stripe.view<1xf32>
           }
           stripe.block [%i : 6] in %a = %A[%i] : 1 out %w = %T[%i] : 1
               in %r = %T[%i + 1] : 1 out %c = %C[%i] : 1 {
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %w : !stripe.view<1xf32>
             %y = stripe.load %r : !stripe.view<1xf32>
             stripe.store %y, %c : !stripe.view<1xf32>
           }""",
        r"two points use the cell \[\d\] of %T, and at least one writes it",
    )


def test_a_point_reads_what_it_wrote(run: Run) -> None:
    text = program(
        """%T = stripe.alloc : !stripe.view<6xf32>
           stripe.block [%i : 6] in %a = %A[%i] : 1 out %w = %T[%i] : 1
               in %r = %T[%i] : 1 out %c = %C[%i] : 1 {
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %w : !stripe.view<1xf32>
             %y = stripe.load %r : !stripe.view<1xf32>
             stripe.store %y, %c : !stripe.view<1xf32>
           }"""
    )
    (got,) = run(text, INPUT)
    assert got.tolist() == INPUT.tolist()


def test_two_aggregations_into_one_cell(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 6] out %c = %C[%i] : 1 add init 0 {}
           stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[0] : 1 add
               out %d = %C[1] : 1 max out %e = %C[0] : 1 max {
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %c : !stripe.view<1xf32>
             stripe.store %x, %d : !stripe.view<1xf32>
             stripe.store %x, %e : !stripe.view<1xf32>
           }""",
        r"two points use the cell \[0\] of %C",
    )


def test_assignment_within_an_aggregated_window(run: Run) -> None:
    """The outer block aggregates, but its points end up overwriting each other."""
    check(
        run,
        f"""stripe.block [%o : 2] in %as = %A[0] : 6 out %cs = %C[0] : 6 add init 0 {{
              stripe.block [%i : 6] in %a = %as[%i] : 1 out %c = %cs[%i] : 1 {{
                {COPY} }} }}""",
        r"two points use the cell \[0\] of %C.*\(o = 0\) and \(o = 1\)",
    )


def test_initialization_by_several_points(run: Run) -> None:
    """Each outer point would set the sum to zero again."""
    check(
        run,
        f"""stripe.block [%o : 2] in %as = %A[3 * %o] : 3 out %cs = %C[0] : 1 add {{
              stripe.block [%i : 3] in %a = %as[%i] : 1
                  out %c = %cs[0] : 1 add init 0 {{
                {COPY} }} }}""",
        r"'stripe.block': two points use the cell \[0\] of %C.*\(o = 0\) and \(o = 1\)",
    )


def test_errors_have_the_place_of_the_operation(
    parsed: Callable[[str], ModuleOp],
) -> None:
    module = parsed(
        program(
            f"""stripe.block [%i : 9] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {{
                {COPY} }}"""
        )
    )
    for op in module.walk():
        if op.name == "stripe.load":
            op.location = FileLineColLoc(StringAttr("c.tile"), IntAttr(3), IntAttr(7))
    with pytest.raises(GinghamError) as error:
        interpret(module, [INPUT])
    assert str(error.value.location) == "c.tile:3:7"


def test_subscripts_outside_of_the_window(run: Run) -> None:
    """Also where the buffer goes on behind the window."""
    check(
        run,
        """stripe.block [%i : 3] in %a = %A[2 * %i] : 2 out %c = %C[%i] : 1 {
             %n = stripe.index %i : si32
             %x = stripe.load %a[%n] : !stripe.view<2xf32>
             stripe.store %x, %c : !stripe.view<1xf32> }""",
        r"'stripe.load' has the subscripts \[2\] in a window of 2 of %A at i = 2",
    )


def test_negative_subscripts(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[0] : 6 {
             %n = stripe.index 4 - %i : si32
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %c[%n] : !stripe.view<6xf32> }""",
        r"'stripe.store' has the subscripts \[-1\] in a window of 6 of %C at i = 5",
    )


def test_subscripts_outside_of_the_buffer(run: Run) -> None:
    """A window may overhang, as long as nothing is accessed there."""
    check(
        run,
        """stripe.block [%i : 2] in %a = %A[4 * %i] : 4 out %c = %C[%i] : 1 {
             %n = stripe.index 2 * %i : si32
             %x = stripe.load %a[%n] : !stripe.view<4xf32>
             stripe.store %x, %c : !stripe.view<1xf32> }""",
        r"'stripe.load' accesses \[6\] of %A, outside of its buffer of 6 at i = 1",
    )


def test_a_chosen_vector_outside_of_the_window(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 3] in %a = %A[0] : 6 out %c = %C[2 * %i] : 2 {
             %n = stripe.index 3 * %i : ui8
             %x = stripe.load %a[%n] : !stripe.view<6xf32> -> vector<2xf32>
             stripe.store %x, %c : !stripe.view<2xf32> }""",
        r"'stripe.load' has the subscripts \[6\] in a window of 6 of %A at i = 2",
    )


def test_a_chosen_cell_that_was_never_written(run: Run) -> None:
    check(
        run,
        """%T = stripe.alloc : !stripe.view<6xf32>
           stripe.block [%i : 5] in %a = %A[%i] : 1 out %t = %T[0] : 6 {
             %n = stripe.index %i : si32
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %t[%n] : !stripe.view<6xf32> }
           stripe.block [%i : 6] in %t = %T[0] : 6 out %c = %C[%i] : 1 {
             %n = stripe.index 5 - %i : si32
             %x = stripe.load %t[%n] : !stripe.view<6xf32>
             stripe.store %x, %c : !stripe.view<1xf32> }""",
        r"'stripe.load' reads \[5\] of %T at i = 0, which was never written",
    )


def test_two_points_choose_one_cell(run: Run) -> None:
    check(
        run,
        """stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[0] : 6 {
             %n = stripe.index %i : si32
             %two = eltwise.constant 2 : si32
             %half = eltwise.div %n, %two : si32
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %c[%half] : !stripe.view<6xf32> }""",
        r"two points use the cell \[0\] of %C.*\(i = 0\) and \(i = 1\)",
    )


def test_a_point_chooses_what_another_writes(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {{ {COPY} }}
           stripe.block [%i : 6] inout %c = %C[%i] : 1 in %all = %C[0] : 6 {{
             %n = stripe.index 5 - %i : si32
             %x = stripe.load %all[%n] : !stripe.view<6xf32>
             stripe.store %x, %c : !stripe.view<1xf32> }}""",
        r"two points use the cell \[\d\] of %C, and at least one writes it",
    )


def test_a_point_reads_through_another_shape_what_another_writes(run: Run) -> None:
    check(
        run,
        f"""stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {{ {COPY} }}
           %D = stripe.reshape %C : !stripe.view<6xf32> to !stripe.view<2x3xf32>
           stripe.block [%i : 2, %j : 3] in %d = %D[1 - %i, %j] : 1x1
               out %c = %C[3 * %i + %j] : 1 {{
             %x = stripe.load %d : !stripe.view<1x1xf32>
             stripe.store %x, %c : !stripe.view<1xf32> }}""",
        r"two points use the cell \[.*\] of %[CD], and at least one writes it",
    )


def test_points_in_order_that_points_of_an_outer_block_share(run: Run) -> None:
    """The serial blocks are fine by themselves."""
    check(
        run,
        """stripe.block [%o : 2] in %as = %A[0] : 6 out %cs = %C[0] : 6 {
             stripe.block serial [%i : 6] in %a = %as[%i] : 1 out %c = %cs[%i] : 1 {
               %x = stripe.load %a : !stripe.view<1xf32>
               stripe.store %x, %c : !stripe.view<1xf32> } }""",
        r"two points use the cell \[0\] of %C.*\(o = 0\) and \(o = 1\)",
    )


def test_parallel_points_in_a_serial_one(run: Run) -> None:
    check(
        run,
        """stripe.block serial [%t : 2] in %as = %A[0] : 6 out %cs = %C[0] : 6 {
             stripe.block [%i : 6] in %a = %as[%i] : 1 out %c = %cs[0] : 1 {
               %x = stripe.load %a : !stripe.view<1xf32>
               stripe.store %x, %c : !stripe.view<1xf32> } }""",
        r"two points use the cell \[0\] of %C.*t = 0",
    )


def test_a_condition_guards_its_subscripts(run: Run) -> None:
    """Where it does not hold, nothing is stored, and no place is wrong."""
    text = program(
        """stripe.block [%i : 6] in %a = %A[%i] : 1 out %c = %C[0] : 6 add init 7 {
             %n = stripe.index 3 * %i - 3 : si32
             %low = eltwise.constant 0 : si32
             %high = eltwise.constant 6 : si32
             %above = eltwise.cmp_ge %n, %low : (si32, si32) -> i1
             %below = eltwise.cmp_lt %n, %high : (si32, si32) -> i1
             %keep = eltwise.logical_and %above, %below : i1
             %x = stripe.load %a : !stripe.view<1xf32>
             stripe.store %x, %c[%n] if %keep : !stripe.view<6xf32> }"""
    )
    (got,) = run(text, INPUT)
    assert got.tolist() == [8, 7, 7, 9, 7, 7]
