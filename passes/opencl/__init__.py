"""Passes over kernels and the host program that launches them.

`kernel_cost` predicts the times of launches, `lifetimes` and `arena` find places for
buffers, `expansions` has formulas for functions that a runtime computes badly.
"""
