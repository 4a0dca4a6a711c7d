"""Benchmarks of Gingham against NumPy: `python -m bench`."""
