"""Processes that start programs: what they need, what they leave, several at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gingham

HEAVY = ("xdsl", "lark", "islpy", "networkx", "scipy", "rich")

START = """
import json, sys
import numpy as np
import gingham
from gingham.runtime.cache import code_state

# Somebody may be editing the code while it is tested.
code_state.package_code = code_state._state = lambda: ("code", 0.0)
text = '''function (A[M, K], B[K, N]) -> (C) {
  P[i, j : M, N] = +(A[i, k] * B[k, j]);
  C = relu(P);
}'''
f = gingham.compile(text)
a = np.arange(35, dtype=np.float32).reshape(5, 7) - 17
b = np.ones((7, 9), np.float32)
result = f(a, b)
heavy = [name for name in json.loads(sys.argv[1]) if name in sys.modules]
print(json.dumps([result.tolist() == np.maximum(a @ b, 0).tolist(), heavy]))
"""


@pytest.fixture(autouse=True)
def device() -> None:
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")


def start(environment: dict[str, str], before: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", before + START, json.dumps(HEAVY)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> tuple[bool, list[str], str]:
    """Whether it was right, which heavy packages it imported, and what it warned of."""
    output, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    answer: Any = json.loads(output)
    return answer[0], answer[1], errors


def test_a_second_process_imports_no_compiler(tmp_path: Path) -> None:
    environment = {"GINGHAM_CACHE": str(tmp_path / "programs")}
    is_right, heavy, errors = result(start(environment))
    assert is_right
    assert {"xdsl", "lark"} <= set(heavy)
    assert errors == ""
    assert result(start(environment)) == (True, [], "")


def test_processes_that_start_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    processes = [start({"GINGHAM_CACHE": str(folder)}) for _ in range(4)]
    for process in processes:
        is_right, _, errors = result(process)
        assert is_right
        assert errors == ""
    kinds = sorted(path.suffix for path in folder.iterdir())
    # A device that the user names is not probed.
    assert [kind for kind in kinds if kind != ".probe"] == ["", ".outline", ".program"]
    assert result(start({"GINGHAM_CACHE": str(folder)})) == (True, [], "")


@pytest.mark.parametrize("cache", ["off", "on"])
def test_nothing_else_is_written_at_home(tmp_path: Path, cache: str) -> None:
    """Not by pyopencl either, whose caches are pickled."""
    environment = {
        "HOME": str(tmp_path),
        "GINGHAM_CACHE": cache,
        "TMPDIR": str(tmp_path),
    }
    environment |= dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "")
    environment |= dict.fromkeys(("XDG_DATA_HOME", "XDG_STATE_HOME"), "")
    for _ in range(2):
        is_right, _, errors = result(start(environment))
        assert is_right
        assert errors == ""
    written = {
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    own = {path for path in written if path.startswith(".cache/gingham/programs/")}
    assert bool(own) is (cache == "on")
    # Drivers that compile have caches of their own.
    others = {path for path in written - own if not path.startswith(_OF_DRIVERS)}
    assert others == set()


_OF_DRIVERS = (".nv/", ".cache/pocl/", ".cache/neo_compiler_cache/")


def test_a_home_that_takes_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    is_right, _, errors = result(start({"GINGHAM_CACHE": str(file / "programs")}))
    assert is_right
    assert errors.count("CacheWarning") == 1
    assert "compiled programs are not stored" in errors
    # It points at a line of the caller's, which `python -c` has no text of.
    assert errors.startswith("<string>:13: CacheWarning: ")
    assert len(errors.splitlines()) == 1


def test_a_warning_shows_the_line_of_the_caller(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import gingham\n"
        "def program():\n"
        "    return gingham.compile('function (A[N]) -> (B) { B = A; }')\n"
        "program()\n"
    )
    (tmp_path / "file").touch()
    found = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"GINGHAM_CACHE": str(tmp_path / "file" / "programs")},
        capture_output=True,
        text=True,
    )
    first, second = found.stderr.splitlines()
    assert first.startswith(f"{script}:3: CacheWarning: compiled programs are not")
    assert second.strip().startswith("return gingham.compile(")


def test_a_disk_without_room(tmp_path: Path) -> None:
    if gingham.default_device().name.startswith("pocl"):
        pytest.skip("this driver writes files itself when it compiles")
    folder = tmp_path / "programs"
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    is_right, _, errors = result(start({"GINGHAM_CACHE": str(folder)}, full))
    assert is_right
    assert errors.count("CacheWarning") == 1
    assert "File too large" in errors
    assert [path for path in folder.iterdir() if path.name.startswith("new-")] == []
    is_right, _, errors = result(start({"GINGHAM_CACHE": str(folder)}))
    assert is_right
    assert errors == ""


def test_without_a_home(tmp_path: Path) -> None:
    """A relative folder would be a new one in each folder that programs start in."""
    before = (
        "import os, pwd\n"
        "def none(user): raise KeyError(user)\n"
        "pwd.getpwuid = none\n"
        "os.environ.pop('HOME', None)\n"
        f"os.chdir({str(tmp_path)!r})\n"
    )
    environment = {"GINGHAM_CACHE": "on", "XDG_CACHE_HOME": ""}
    is_right, _, errors = result(start(environment, before))
    assert is_right
    assert errors == ""
    assert list(tmp_path.iterdir()) == []
