"""What `gingham`, `gingham.edsl` and `gingham.op` export is there, and documented."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gingham
from gingham import edsl, op
from gingham.dialects.eltwise.table import FUNCTIONS

EXPORTED: list[str] = vars(edsl)["__all__"]
DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", gingham.__all__)
def test_names_of_the_package_are_there(name: str) -> None:
    assert getattr(gingham, name).__doc__


@pytest.mark.parametrize("name", ["keras", "onnx", "op"])
def test_modules_are_imported_by_their_public_names(name: str) -> None:
    program = f"""if True:
        import gingham.{name} as one
        import gingham.{name}
        from gingham.{name} import *
        from gingham import {name}
        assert one is {name} is gingham.{name}
    """
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compute'"):
        vars(gingham)["__getattr__"]("compute")


def test_a_star_import_gives_all_of_the_edsl() -> None:
    names: dict[str, object] = {}
    exec("from gingham.edsl import *", names)
    assert set(EXPORTED) == names.keys() - {"__builtins__"}
    assert len(set(EXPORTED)) == len(EXPORTED)


def test_all_operations_are_documented() -> None:
    """The reference has them from their docstrings, under all of their names."""
    reference = (DOCS / "operations.md").read_text().partition("## Reference")[2]
    assert len(set(op.__all__)) == len(op.__all__)
    for name in op.__all__:
        assert getattr(op, name).__doc__, name
        assert re.search(rf"`{name}\b", reference), name


def test_all_of_the_edsl_is_documented() -> None:
    """The page names everything but the functions of the table, which have a page."""
    words = set(re.findall(r"\w+", (DOCS / "edsl.md").read_text()))
    table = {*FUNCTIONS, "select"}
    assert set(EXPORTED) - table <= words
    for name in EXPORTED:
        assert getattr(edsl, name).__doc__, name
