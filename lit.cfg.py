"""Configuration of lit, which runs the commands on the RUN lines of test files."""

import os
import sys
from pathlib import Path

import lit.formats

ROOT = Path(__file__).resolve().parent

config.name = "gingham"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
# The examples of the documentation are shown and run by its pages, what fuzzers found
# by test/test_fuzz.py.
config.excludes = [".typing", ".venv", "build", "local_tiles.mlir", "rows.mlir"]
config.excludes += ["regressions"]
config.test_source_root = str(ROOT)
config.test_exec_root = str(ROOT / "build" / "lit")

# The tools of the environment that runs lit, activated or not.
tools = Path(sys.executable).parent
config.environment["PATH"] = os.pathsep.join([str(tools), os.environ["PATH"]])

# Compiled kernels stay in this checkout, out of the user's own cache.
config.environment["XDG_CACHE_HOME"] = str(ROOT / "build" / "cache")

# What the user has measured decides nothing here.
config.environment["GINGHAM_RECORDS"] = "off"
config.environment["GINGHAM_CACHE"] = "off"
config.environment["GINGHAM_SETTINGS"] = "off"

config.substitutions += [
    # Commands in documentation name files from the root, as a reader of it would.
    ("%root", str(ROOT)),
    # Everything is printed and parsed again, in its own syntax and the generic one.
    (r"\bROUNDTRIP\b", "tile-opt %s | tile-opt | filecheck %s"),
    (
        r"\bGENERIC_ROUNDTRIP\b",
        "tile-opt %s --print-op-generic | tile-opt | filecheck %s",
    ),
]
