"""`ModelFunction`: a model of ONNX as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...frontend.onnx.folding import with_folded_norms
from ...suggestions import did_you_mean
from ..devices import chosen_device, default_device
from ..options import CompileOptions
from ..profiling.starting import new_profile, required_profile
from .given import checked_inputs
from .graphs import source_of
from .report import ModelExplanation, Report
from .session import Session

if TYPE_CHECKING:
    from ...frontend.onnx.model import Model
    from ..device import Device
    from ..function import Function
    from ..profiling.profile import Profile


class ModelFunction:
    """A model of ONNX as a function of arrays: see `load`.

    May be called from several threads.
    """

    def __init__(self, model: Model, options: CompileOptions) -> None:
        if options.fast_math:
            model = with_folded_norms(model)
        self._model = model
        self._options = options
        self._profile = new_profile() if options.profile else None
        self._session = Session(
            source_of(model), options, self._profile, keeps_plans=True
        )
        self.input_names = model.input_names
        """The inputs that a call gives, in order."""
        self.output_names = model.output_names
        """The outputs, in order."""

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        return f"<gingham.onnx model ({inputs}) -> ({outputs})>"

    @property
    def device(self) -> Device:
        """Where it runs: the device it was loaded for, else the default device."""
        return chosen_device(self._options.device) or default_device()

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run the model: its output as an array, several as a tuple.

        Inputs are arrays of NumPy or of a device, or what `numpy.asarray` takes, by
        position or by name; a sequence of ONNX is a list of arrays, an optional may be
        None. Where an input is a `gingham.Array`, so are the outputs that the device
        computes.

        Raises GinghamError for inputs that do not fit the model.
        """
        results = self.run(self._in_order(inputs, named))
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs for all inputs, in order."""
        return self._session.run(checked_inputs(self._model, inputs))

    def _in_order(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        names = self.input_names
        if len(inputs) > len(names):
            raise GinghamError(
                f"the model has {len(names)} input(s) ({', '.join(names)}), got "
                f"{len(inputs)}"
            )
        given = dict(zip(names, inputs, strict=False))
        for name, value in named.items():
            if name not in names:
                raise GinghamError(
                    f"the model has no input '{name}'",
                    hint=did_you_mean(name, names)
                    or f"its inputs are {', '.join(names) or 'none'}",
                )
            if name in given:
                raise GinghamError(f"input '{name}' is given twice")
            given[name] = value
        for name in names:
            if name not in given:
                raise GinghamError(f"missing input '{name}'")
        return [given[name] for name in names]

    @property
    def profile(self) -> Profile:
        """What calls have cost so far, of a model loaded with `profile=True`."""
        return required_profile(self._profile)

    def report(self, *inputs: Any, **named: Any) -> Report:
        """What runs where for such inputs: the programs, and what the host does.

        Printed, it is a list. The model is run once for inputs that are new.
        """
        return self.report_of(self._in_order(inputs, named))

    def report_of(self, inputs: Sequence[Any]) -> Report:
        """As `report`, for all inputs in order."""
        return Report(self._session.path(checked_inputs(self._model, inputs)))

    def ir(self, *inputs: Any, stage: str = "tile", **named: Any) -> str:
        """The IR of its programs for such inputs: see `gingham.Function.ir`."""
        report = self.report(*inputs, **named)
        return report.texts(lambda program, given: program.ir(*given, stage=stage))

    def source(self, *inputs: Any, **named: Any) -> str:
        """The kernels for such inputs as text: see `gingham.Function.source`."""
        report = self.report(*inputs, **named)
        return report.texts(lambda program, given: program.source(*given))

    def memory(self, *inputs: Any, **named: Any) -> str:
        """The device memory that its programs need: see `gingham.Function.memory`."""
        report = self.report(*inputs, **named)
        return report.texts(lambda program, given: program.memory(*given))

    def explain(self, *inputs: Any, count: int = 10, **named: Any) -> ModelExplanation:
        """What runs where, and what was decided for each program, and why.

        See `gingham.Function.explain`.
        """
        return ModelExplanation(self.report(*inputs, **named), count)

    def programs(self, *inputs: Any, **named: Any) -> list[Function]:
        """The programs that it is compiled to for such inputs, in order."""
        return self.report(*inputs, **named).programs
