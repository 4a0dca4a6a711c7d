"""Where the operations of a program run: units, their times, and the best placement.

`tile-place` is the pass; what it decides by are the figures of a `Machine`, so that no
device is needed to decide. docs/placement.md has the model and the method.
"""
