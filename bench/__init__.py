"""Benchmarks of Gingham against other ways to compute the same: `python -m bench`."""
