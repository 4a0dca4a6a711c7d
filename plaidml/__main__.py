"""`python -m gingham.plaidml PROGRAM ...`: a program for PlaidML, as it is."""

from __future__ import annotations

import os
import runpy
import sys

from .names import install


def main() -> None:
    """Run the Python program of the command line, for which `plaidml` is Gingham's."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m gingham.plaidml PROGRAM [ARGUMENT ...]")
    program = sys.argv[1]
    if not os.path.exists(program):
        sys.exit(f"error: cannot read '{program}': no such file")
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    install()
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
