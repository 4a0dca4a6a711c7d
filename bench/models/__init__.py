"""Networks of PyTorch, written from their papers, with random weights.

They are the same for measurements (`python -m bench.networks`) and for tests.
"""
