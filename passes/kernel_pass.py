"""Passes that can run on one kernel after the other: see `kernel_by_kernel`."""

from __future__ import annotations

from xdsl.passes import ModulePass


class KernelPass(ModulePass):
    """A pass that does to a kernel, or its blocks, what it does to it among others."""


class LaunchPass(ModulePass):
    """A pass over all launches, and what they launch.

    It leaves kernels alone that it neither joins nor lets store past the caches.
    """
