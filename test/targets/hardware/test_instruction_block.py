"""Blocks of instructions: those of the descriptions, and errors in one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.targets.hardware import HARDWARE_NAMES, load_hardware
from gingham.targets.hardware.instruction_block import block_of

BLOCK = """\
func.func @dot(%A : !stripe.view<4xf32>, %B : !stripe.view<4xf32>)
    -> !stripe.view<1xf32> {
  %C = stripe.alloc : !stripe.view<1xf32>
  stripe.block [%k : 4]
      in %a = %A[%k] : 1
      in %b = %B[%k] : 1
      out %c = %C[0] : 1 add {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<1xf32>
}
"""
ROW = """\
base = "cpu-neon"

[[instructions]]
name = "dot"
per_cycle = 1
spelling = "return {C} + dot({A}, {B});"
"""


def written(folder: Path, block: str, row: str = ROW) -> Path:
    path = folder / "mine.toml"
    path.write_text(f"{row}block = '''\n{block}'''\n")
    return path


def test_every_description_has_blocks_that_are_read() -> None:
    found = {
        each.name
        for name in HARDWARE_NAMES
        for each in load_hardware(name).instructions
        if each.block and block_of(each).native
    }
    assert found == {"fma_f32x16", "fma_f32x8", "dot_f32x4", "dp4a", "dot_si8x4"}


def test_operands_are_scalars_and_vectors() -> None:
    instruction = load_hardware("cpu-avx512").instruction("fma_f32x16")
    assert instruction is not None
    found = block_of(instruction)
    types = [str(each.type) for each in (*found.inputs, found.output)]
    assert types == ["f32", "vector<16xf32>", "vector<16xf32>"]
    assert [each.name for each in found.inputs] == ["A", "B"]
    assert found.inputs[0].places == (0,) * 16
    assert found.native == "return fma((float16)({0}), {1}, {2});"


def test_own_row(tmp_path: Path) -> None:
    hardware = load_hardware(str(written(tmp_path, BLOCK)))
    instruction = hardware.instruction("dot")
    assert instruction is not None
    assert block_of(instruction).output.lanes == 1


INDICES = ", ".join(["%k : 4", *(f"%i{number} : 2" for number in range(5))])
PRODUCTS = "".join(f"    %p{n} = eltwise.mul %x, %y : f32\n" for n in range(70))
WRONG = {
    "syntax": (("[%k : 4]", "[%k ? 4]"), "", "stripe.block [%k ? 4]"),
    "types": (("%x, %y : f32", "%x, %y : si32"), "si32", "eltwise.mul"),
    "lanes": (("4", "3"), "expected %A to have 1, 2, 4, 8 or 16 elements, got 3", ""),
    "points": (("%k : 4", "%k : 300"), "expected at most 256 points, got 300", ""),
    "indices": (("%k : 4", INDICES), "expected at most 5 indices", ""),
    "long": (("    %z", f"{PRODUCTS}    %z"), "expected at most 64 statements", ""),
    "serial": (("block [", "block serial ["), "got a serial block", ""),
    "unused": (("%A[%k]", "%A[0]"), "element 1 of %A is never used", ""),
    "outside": (("%A[%k]", "%A[%k + 1]"), "%A has no element [4]", ""),
    "init": (("1 add", "1 add init 0"), "one element of %C, without 'init'", ""),
    "assign": (("1 add", "1"), "several points assign one element of %C", ""),
    "statements": (
        ("%C = ", "%D = stripe.alloc : !stripe.view<1xf32>\n%C = "),
        "expected a function of three statements",
        "",
    ),
    "order": (
        ("%A : !stripe.view<4xf32>, %B", "%B : !stripe.view<4xf32>, %A"),
        "an input for each argument of the function, in their order: B, A",
        "",
    ),
    "subscript": (("load %a :", "load %a[0] :"), "without subscripts", ""),
    "nothing": ((BLOCK, "builtin.module {\n}\n"), "expected one func.func", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_block(name: str, tmp_path: Path) -> None:
    (old, new), message, line = WRONG[name]
    assert old in BLOCK
    path = written(tmp_path, BLOCK.replace(old, new))
    with pytest.raises(GinghamError) as raised:
        load_hardware(str(path))
    error = raised.value
    assert error.message.startswith("instructions.dot.block: ")
    assert message in error.message
    assert error.location is not None
    found = path.read_text().splitlines()[error.location.line - 1]
    assert line in found if line else found.startswith("block = ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{A}", "{D}", "spelling: there is no operand 'D', only A, B, C"),
        ('"dot"', '"dot"\nneeds = "a b"', "needs: expected the name of a macro"),
    ],
)
def test_wrong_spelling(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, BLOCK, ROW.replace(old, new))
    with pytest.raises(GinghamError, match=r"instructions\.dot") as raised:
        load_hardware(str(path))
    assert message in raised.value.message
    assert raised.value.location is not None
    place = path.read_text().splitlines()[raised.value.location.line - 1]
    assert place.startswith(message.partition(":")[0])


def test_spelling_without_a_block(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ROW)
    with pytest.raises(GinghamError, match="spelling: expected a block"):
        load_hardware(str(path))
