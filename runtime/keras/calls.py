"""The call of a model, compiled for each kind of arguments that it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import keras
import torch
from keras.src.backend.common.stateless_scope import in_stateless_scope
from torch._functorch.aot_autograd import aot_function
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext, tracing
from torch._subclasses import FakeTensorMode
from torch.utils import _pytree as trees

from ..options import CompileOptions
from ..torch.backend import decompositions
from ..torch.compiled import CompiledGraph
from ..torch.notes import note
from .randomness import drawn_outside


class CompiledCall:
    """What stands for the `call` of a model; `original` is that of Keras."""

    def __init__(
        self, model: Any, original: Callable[..., Any], options: CompileOptions
    ) -> None:
        self.original = original
        self._model = model
        self._options = options
        self._known: dict[Any, _Traced | None] = {}
        """None for arguments that Keras has to run."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the model gives for these arguments."""
        leaves, structure = trees.tree_flatten((arguments, named))
        if not _are_concrete(leaves) or in_stateless_scope():
            return self.original(*arguments, **named)
        kind = structure, tuple(map(_kind, leaves)), torch.is_grad_enabled()
        tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
        if kind not in self._known:
            try:
                traced = _Traced(self, structure, leaves)
                results = traced.run(tensors)
            except Exception as problem:
                # Whatever Python a model has may meet tensors that have no numbers.
                reason = str(problem).strip().split("\n")[0]
                note({f"the model '{self._model.name}'"}, reason[:300])
                self._known[kind] = None
            else:
                self._known[kind] = traced
                return results
        known = self._known[kind]
        if known is None:
            return self.original(*arguments, **named)
        return known.run(tensors)

    @property
    def model(self) -> Any:
        """The model that it is of."""
        return self._model

    @property
    def options(self) -> CompileOptions:
        """How it is compiled."""
        return self._options


def _are_concrete(leaves: Sequence[Any]) -> bool:
    """Whether there are tensors, and only such that have numbers."""
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    fake = torch._subclasses.FakeTensor
    return (
        bool(tensors)
        and not any(
            isinstance(each, fake | keras.KerasTensor) or each.device.type == "meta"
            for each in tensors
        )
        and not any(isinstance(each, keras.KerasTensor) for each in leaves)
    )


def _kind(leaf: Any) -> Any:
    """What of an argument a call is compiled for."""
    if isinstance(leaf, torch.Tensor):
        return leaf.shape, leaf.dtype, leaf.requires_grad
    return leaf


class _Untraceable(Exception):
    """A model that does more than a graph of tensors says."""


class _Traced:
    """The call of a model for one kind of arguments, as graphs of PyTorch."""

    def __init__(
        self, call: CompiledCall, structure: Any, leaves: Sequence[Any]
    ) -> None:
        self._call = call
        self._structure = structure
        self._leaves = [None if isinstance(x, torch.Tensor) else x for x in leaves]
        self._places = [n for n, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        self._random = drawn_outside(call.model)
        seeds = {id(each) for layer in self._random for each in layer.variables}
        self._variables = [v for v in call.model.variables if id(v) not in seeds]
        self._changed: list[Any] = []
        self._results: Any = None
        graph = partial(_graph, options=call.options, constants=())
        kept = range(len(self._variables))
        self._function = aot_function(
            self._computed,
            fw_compiler=graph,
            bw_compiler=graph,
            inference_compiler=partial(_graph, options=call.options, constants=kept),
            partition_fn=min_cut_rematerialization_partition,
            decompositions=dict(decompositions()),
        )

    def _computed(self, values: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
        """The outputs of the model, and the new values of variables that it changes."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        arguments, named = trees.tree_unflatten(leaves, self._structure)
        pairs = [*zip(self._variables, values, strict=True)]
        scope = keras.StatelessScope(pairs, collect_losses=True)
        with scope, _outside(self._random):
            outputs = self._call.original(*arguments, **named)
        found, self._results = trees.tree_flatten(outputs)
        if scope.losses:
            raise _Untraceable("it adds losses while it is called")
        if any(getattr(each, "_keras_mask", None) is not None for each in found):
            raise _Untraceable("its results are masked")
        news = [(v, scope.get_current_value(v), old) for v, old in pairs]
        self._changed = [v for v, new, old in news if new is not old]
        return [*found, *(new for _, new, old in news if new is not old)]

    def run(self, tensors: Sequence[Any]) -> Any:
        """The results of the model; its variables are changed as it says."""
        values = [variable.value for variable in self._variables]
        with _tracing():
            found = self._function(values, tensors)
        count = len(found) - len(self._changed)
        for variable, value in zip(self._changed, found[count:], strict=True):
            variable.assign(value.detach())
        return trees.tree_unflatten(found[:count], self._results)


def _tracing() -> Any:
    """In here layers may use tensors that are no variables, such as means of data."""
    return tracing(TracingContext(FakeTensorMode(allow_non_fake_inputs=True)))


def _graph(
    module: Any, example_inputs: Sequence[Any], options: CompileOptions, constants: Any
) -> CompiledGraph:
    return CompiledGraph(module, options, constants)


@contextmanager
def _outside(layers: Sequence[Any]) -> Iterator[None]:
    """In here layers that draw random numbers leave that to a function of PyTorch's."""
    for layer in layers:
        layer.enter()
    try:
        yield
    finally:
        for layer in layers:
            layer.leave()
