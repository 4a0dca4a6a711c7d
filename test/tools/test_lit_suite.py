"""Tests that a folder of a user's own lit tests needs three lines and runs anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFIGURATION = """
from pathlib import Path

from gingham.tools.lit_suite import configure

configure(config, Path(__file__).parent)
"""
ROUND_TRIP = """\
// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP
// CHECK: eltwise.{operation}
func.func @f(%a: f32) -> f32 {{
  %b = eltwise.add %a, %a : f32
  func.return %b : f32
}}
"""


def test_users_suite_runs_with_the_tools_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "lit.cfg.py").write_text(CONFIGURATION)
    (tmp_path / "right.mlir").write_text(ROUND_TRIP.format(operation="add"))
    (tmp_path / "wrong.mlir").write_text(ROUND_TRIP.format(operation="mul"))
    (tmp_path / "settings.test").write_text(
        "// RUN: python -c 'import os; print(os.environ)' | filecheck %s\n"
        "// CHECK-DAG: 'GINGHAM_SETTINGS': 'off'\n"
        "// CHECK-DAG: 'GINGHAM_RECORDS': 'off'\n"
    )
    lit = Path(sys.executable).with_name("lit")
    result = subprocess.run(
        [lit, "-v", tmp_path],
        env={"PATH": os.defpath, "GINGHAM_SETTINGS": str(tmp_path / "mine.toml")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert f"PASS: {tmp_path.name} :: right.mlir" in result.stdout
    assert f"PASS: {tmp_path.name} :: settings.test" in result.stdout
    assert f"FAIL: {tmp_path.name} :: wrong.mlir" in result.stdout
    assert (tmp_path / "build" / "lit").is_dir()
