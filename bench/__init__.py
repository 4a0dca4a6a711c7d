"""Benchmarks of Gingham against other ways to compute the same: `python -m bench`."""

import os

# What compiling takes is measured, so programs are not to be found compiled already.
os.environ.setdefault("GINGHAM_CACHE", "off")
