"""What `tile-specialize` says of arguments and sizes that can not be."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.specialize import TileSpecializePass

TEXT = "function (A[N], K) -> (O) {\n  O[i : K] = +(A[i]);\n}\n"

WRONG = [
    (("3xf32", "si32"), "2:9", "K is used as a size, and has no value"),
    (("3xf32", "si8=128"), "2:9", "128 does not fit the type si8 of K"),
    (("3xf32", "ui8=-1"), "2:9", "-1 does not fit the type ui8 of K"),
    (
        ("3xf32", "f32=3"),
        "2:9",
        "K is used as a size, and has to be an integer, got f32",
    ),
    (
        ("3xf32", "2xsi32=3"),
        "2:9",
        "K is used as a size, and has to be an integer, got 2xsi32",
    ),
    (
        ("3xf32=3", "si32=3"),
        "1:1",
        "argument 0 is not used as a size, so it takes no number",
    ),
    (
        ("1152921504606846976xf32", "si32=3"),
        "1:11",
        "A of shape 1152921504606846976 is too large: its sizes multiply to 2^60 or "
        "more",
    ),
    (
        ("3xf32", "si64=9223372036854775807"),
        "2:3",
        "O of shape 9223372036854775807 is too large: its sizes multiply to 2^60 or "
        "more",
    ),
]


@pytest.mark.parametrize(("arguments", "place", "message"), WRONG)
def test_wrong_arguments(arguments: tuple[str, ...], place: str, message: str) -> None:
    module = parse_tile(TEXT, file="test.tile")
    with pytest.raises(GinghamError) as caught:
        TileSpecializePass(arguments).apply(Context(), module)
    location = caught.value.location
    assert caught.value.message == message
    assert location is not None
    assert f"{location.line}:{location.column}" == place


@pytest.mark.parametrize("number", ["si8=127", "ui8=255", "si64=0"])
def test_numbers_up_to_the_limits_of_their_type(number: str) -> None:
    module = parse_tile(TEXT)
    TileSpecializePass(("3xf32", number)).apply(Context(), module)
    module.verify()
    assert f"tensor<{number.partition('=')[2]}xf32>" in str(module)
