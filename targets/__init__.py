"""What runs programs, and what is known of it.

`reference` is the interpreter on NumPy, which defines what a program means; `opencl`
prints kernels, finds devices and launches; `hardware` describes devices in figures.
"""
