"""Configuration of lit, which runs the commands on the RUN lines of test files."""

from importlib.util import find_spec
from pathlib import Path

from gingham.tools.lit_suite import configure

ROOT = Path(__file__).resolve().parent

configure(config, ROOT, "gingham")

# The examples of the documentation are shown and run by its pages, what fuzzers found
# by test/test_fuzz.py.
config.excludes |= {".typing", ".venv", "regressions"}
config.excludes |= {path.name for path in (ROOT / "docs/examples").glob("*.mlir")}

# Commands in documentation name files from the root, as a reader of it would.
config.substitutions.append(("%root", str(ROOT)))

# Pages about other packages are checked where these are installed.
if find_spec("torch"):
    config.available_features.add("torch")
