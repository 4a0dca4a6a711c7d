"""Every family of kernels under Oclgrind: bounds, data races, what was never written.

CONTRIBUTING.md says where Oclgrind comes from, and how it is found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from simulated_kernels import FAULTS, PROGRAMS

LIBRARIES = (
    "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
    "/usr/local/lib/liboclgrind-rt-icd.so",
)
BUILD_OPTIONS = "-cl-opt-disable -D__builtin_prefetch(address,write,locality)="
"""It knows neither optimised code nor fetches, which change nothing."""

SCRIPT = Path(__file__).parents[2] / "simulated_kernels.py"


def library() -> str | None:
    """The path of Oclgrind as an OpenCL runtime, if it is there."""
    chosen = os.environ.get("OCLGRIND_LIBRARY")
    if chosen:
        return os.path.abspath(chosen)
    return next((path for path in LIBRARIES if os.path.exists(path)), None)


pytestmark = pytest.mark.skipif(
    library() is None,
    reason="there is no Oclgrind: apt-get install oclgrind, or see CONTRIBUTING.md",
)


@dataclass(frozen=True)
class Simulation:
    """What a process of Oclgrind has shown, by the names of programs."""

    results: Mapping[str, Mapping[str, str]]
    log: Mapping[str, str]


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """All programs in one process, as its start takes longer than most of them."""
    folder = tmp_path_factory.mktemp("oclgrind")
    path = library() or ""
    (folder / "oclgrind.icd").write_text(f"{path}\n")
    environment = {
        **os.environ,
        "OCL_ICD_VENDORS": str(folder),
        "OCLGRIND_BUILD_OPTIONS": BUILD_OPTIONS,
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_UNINITIALIZED": "1",
    }
    headers = Path(path).parents[1] / "x86_64-linux-gnu" / "oclgrind"
    if headers.is_dir():
        environment.setdefault("OCLGRIND_PCH_DIR", str(next(headers.iterdir())))
    result = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    _, *parts = re.split(r"^program: (.*)\n", result.stderr, flags=re.MULTILINE)
    return Simulation(
        {line["name"]: line for line in lines},
        dict(zip(parts[::2], parts[1::2], strict=True)),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels(name: str, simulation: Simulation) -> None:
    result = simulation.results[name]
    assert re.search(PROGRAMS[name].shows, result["source"]), result["source"]
    assert not simulation.log[name].strip(), simulation.log[name]
    assert not result["wrong"]


NOTICED = {
    "out of bounds": "Invalid write of size 4",
    "data race": "Write-write data race at global",
    "race in local memory": "Read-write data race at local",
    "never written": "Controlflow depends on uninitialized value",
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_noticed(name: str, simulation: Simulation) -> None:
    assert NOTICED[name] in simulation.log[name]
