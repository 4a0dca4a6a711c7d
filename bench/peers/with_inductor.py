"""PyTorch, compiled by `torch.compile`: its compiler Inductor fuses calls."""

from __future__ import annotations

import torch

from ..cases import Case
from . import with_torch
from .prepared import Inputs, Prepared


def open_device() -> None:
    """As of `with_torch`; something is compiled, which takes long the first time."""
    with_torch.open_device()
    one = torch.ones(64, device="cuda")
    _compiled(lambda: one + one)()


def prepare(case: Case, inputs: Inputs) -> Prepared | None:
    """As of `with_torch`, compiled for these shapes."""
    return with_torch.prepare(case, inputs, _compiled)


def prepare_on_device(case: Case, inputs: Inputs) -> Prepared | None:
    """As of `with_torch`, compiled for these shapes."""
    return with_torch.prepare_on_device(case, inputs, _compiled)


def _compiled(call):
    torch.compiler.reset()
    return torch.compile(call, dynamic=False)
