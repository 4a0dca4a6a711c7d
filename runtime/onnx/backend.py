"""`gingham.onnx.Backend`: the interface by which ONNX tests what runs its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...frontend.onnx.reading import read_model
from ..options import CompileOptions
from .graphs import source_of
from .session import Session

if TYPE_CHECKING:
    from onnx import ModelProto


def prepare_model(model: ModelProto, device: str | None) -> Session:
    return Session(source_of(read_model(model)), CompileOptions(device=device))
