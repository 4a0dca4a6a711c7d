"""`gingham.onnx.Backend`: the interface by which ONNX runs and tests models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import GinghamError
from ...frontend.onnx.reading import require_onnx
from ..devices import devices
from .loading import load
from .model_function import ModelFunction

require_onnx()

from onnx import ModelProto, NodeProto, helper  # noqa: E402
from onnx.backend.base import Backend as AbstractBackend  # noqa: E402
from onnx.backend.base import BackendRep, namedtupledict  # noqa: E402
from onnx.shape_inference import infer_node_outputs  # noqa: E402

_DEFAULT = "CPU"
"""What ONNX calls the device that somebody gets who asks for none."""


class Prepared(BackendRep):
    """A model that is ready to be run."""

    def __init__(self, function: ModelFunction) -> None:
        super().__init__()
        self.function = function
        """The model as a function of arrays."""

    def run(self, inputs: Any, **options: Any) -> tuple[Any, ...]:
        """The outputs by position and by name, for inputs in a list or by name."""
        function = self.function
        if isinstance(inputs, dict):
            results = function.run([inputs[name] for name in function.input_names])
        else:
            is_one = type(inputs) not in (list, tuple)
            results = function.run([inputs] if is_one else [*inputs])
        return namedtupledict("Outputs", function.output_names)(*results)


class Backend(AbstractBackend):
    """Models and nodes on the devices of `gingham.devices()`.

    The device `CPU` is the default device; others are by their names.
    """

    @classmethod
    def is_compatible(
        cls, model: ModelProto, device: str = _DEFAULT, **options: Any
    ) -> bool:
        """Whether a model can be loaded."""
        try:
            cls.prepare(model, device, **options)
        except GinghamError:
            return False
        return True

    @classmethod
    def prepare(
        cls, model: ModelProto, device: str = _DEFAULT, **options: Any
    ) -> Prepared:
        """A model that is ready to be run; the options are those of `load`."""
        name = None if device == _DEFAULT else device
        return Prepared(load(model, device=name, **options))

    @classmethod
    def run_model(
        cls, model: ModelProto, inputs: Any, device: str = _DEFAULT, **options: Any
    ) -> tuple[Any, ...]:
        """The outputs of a model."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = _DEFAULT,
        outputs_info: Sequence[Any] | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """The outputs of one node; `opset_version` is that of its domain."""
        version = options.pop("opset_version", None)
        model = _model_of(node, [*inputs], version)
        return cls.run_model(model, [*inputs], device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether there is such a device."""
        return device == _DEFAULT or any(each.name == device for each in devices())


def _model_of(
    node: NodeProto, inputs: Sequence[Any], version: int | None
) -> ModelProto:
    """The model of a node whose inputs are such arrays."""
    import numpy as np
    from onnx import defs

    names = [name for name in node.input if name]
    given = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in zip(names, map(np.asarray, inputs), strict=True)
    ]
    newest = defs.onnx_opset_version() if not node.domain else 1
    opset = helper.make_opsetid(node.domain, version or newest)
    schema = defs.get_schema(node.op_type, opset.version, node.domain)
    types = infer_node_outputs(
        schema, node, {each.name: each.type for each in given}, opset_imports=[opset]
    )
    wanted = [helper.make_value_info(name, type) for name, type in types.items()]
    graph = helper.make_graph([node], "node", given, wanted)
    return helper.make_model(graph, opset_imports=[opset])


prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
is_compatible = Backend.is_compatible
