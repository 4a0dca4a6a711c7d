"""Lit tests of passes and programs: what a `lit.cfg.py` needs to run our commands.

A folder of tests has this as its `lit.cfg.py`:

```python
from pathlib import Path

from gingham.tools.lit_suite import configure

configure(config, Path(__file__).parent)
```

Then `lit FOLDER` runs the `// RUN:` lines of its `.mlir` and `.test` files with the
`tile-opt`, `filecheck` and others of the environment that runs lit, activated or not,
and nothing that a user has measured or set decides what is printed. Two words stand for
a whole command: `ROUNDTRIP` prints and parses the file again in its own syntax,
`GENERIC_ROUNDTRIP` in the generic one, and each ends in filecheck.

The extra `lit` installs lit and filecheck.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol


class Configuration(Protocol):
    """What is used here of lit's `TestingConfig`, which has no types."""

    name: str
    test_format: Any
    suffixes: set[str]
    excludes: set[str]
    test_source_root: str
    test_exec_root: str
    environment: dict[str, str]
    substitutions: list[tuple[str, str]]


_SUBSTITUTIONS = [
    (r"\bROUNDTRIP\b", "tile-opt %s | tile-opt | filecheck %s"),
    (
        r"\bGENERIC_ROUNDTRIP\b",
        "tile-opt %s --print-op-generic | tile-opt | filecheck %s",
    ),
]


def configure(config: Configuration, root: Path, name: str | None = None) -> None:
    """Make `config`, which lit gives to each `lit.cfg.py`, run the tests below `root`.

    The suite is called `name`, or as the folder is. What tests write goes to
    `build/lit` in it, kernels that they compile to `build/cache`. All attributes can be
    changed afterwards, as in any `lit.cfg.py`.
    """
    root = root.resolve()
    config.name = name or root.name
    config.test_format = import_module("lit.formats").ShTest()
    config.suffixes = {".mlir", ".test"}
    config.excludes = {"build"}
    config.test_source_root = str(root)
    config.test_exec_root = str(root / "build" / "lit")
    config.environment |= _environment(root)
    config.substitutions += _SUBSTITUTIONS


def _environment(root: Path) -> dict[str, str]:
    """What commands see: our tools, and nothing of what the user has chosen."""
    tools = str(Path(sys.executable).parent)
    # Coverage tells commands by this variable to take part; lit would drop it.
    passed = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
    return {
        **{name: os.environ[name] for name in passed if name in os.environ},
        "PATH": os.pathsep.join([tools, os.environ.get("PATH", os.defpath)]),
        "XDG_CACHE_HOME": str(root / "build" / "cache"),
        "GINGHAM_RECORDS": "off",
        "GINGHAM_CACHE": "off",
        "GINGHAM_SETTINGS": "off",
    }
