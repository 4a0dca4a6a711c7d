"""Commands that are tests, run as `python -m test.NAME` in the repository's root."""

import sys
from pathlib import Path

# As pytest has it: modules of this folder import each other by their names.
sys.path.insert(0, str(Path(__file__).parent))
