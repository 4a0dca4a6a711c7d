"""Whether a device's compiler is right about what Gingham prints: random kernels.

    python -m gingham.tools.driver_sweep --seconds 600

draws kernels of the shapes that the passes make (loops around accumulators, arrays that
one loop fills and another reads, recurrences, positions that the data choose, groups
that share memory) with every kind of statement that the printer knows, runs them on the
device and compares the results with those of the reference interpreter. A kernel that
differs is built once more without optimisation: where that is right, the optimizer is
wrong, otherwise Gingham is. A kernel that does not end in time, or crashes the driver,
is found by halving the batch that it is in.

Numbers are drawn so that results are exact whatever the order of a sum, or else
bounded. Kernel `n` of seed `s` is always the same one.
"""
