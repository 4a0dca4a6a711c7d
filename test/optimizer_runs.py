"""A program for `tile-opt`, and what runs that fail are called."""

from __future__ import annotations

from collections.abc import Callable

VALID = """\
func.func @main(%a: i32) -> i32 {
  %b = arith.muli %a, %a : i32
  func.return %b : i32
}
"""

Failing = Callable[..., str]
"""Takes arguments and a text to run on; gives the message."""
