"""`--explain`: what passes decide, and by which figures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO

from xdsl.dialects.builtin import ModuleOp

from ...passes.stripe.decide.explain import Explainer
from ..command import show
from .instruments import Instrument
from .pipeline import Step


@dataclass
class DecisionPrinter(Instrument):
    """Prints the decisions of a pipeline when it has run, as a table or as JSON."""

    stream: IO[str]
    format: str
    explainer: Explainer = field(default_factory=Explainer)

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """Note the decisions that this pass is going to apply, and may drop."""
        self.explainer.before(step.module_pass, module)

    def finish(self, module: ModuleOp) -> None:
        """Print all decisions that were noted, those of the last pass included."""
        explanation = self.explainer.explanation
        if self.format == "json":
            text = json.dumps(explanation.as_json(), indent=2)
        else:
            text = str(explanation)
        show(text, file=self.stream)
