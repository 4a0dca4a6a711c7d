"""Passes over contractions and element-wise functions of tensors.

`specializer` and `sizes` bind shapes, `differentiate` has the derivatives of
operations, and `placement` decides which device each of them runs on.
"""
