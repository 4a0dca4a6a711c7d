"""Running a module given as text on the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.targets.reference import interpret

Array: TypeAlias = npt.NDArray[Any]


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


@pytest.fixture
def run() -> Callable[..., list[Array]]:
    """`run(text, *inputs)`: the results of `@main` of a module."""

    def run_text(text: str, *inputs: Array) -> list[Array]:
        return interpret(parse(text), inputs)

    return run_text


@pytest.fixture
def parsed() -> Callable[[str], ModuleOp]:
    """`parsed(text)`: the verified module."""
    return parse


@pytest.fixture
def random(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that differ from test to test, and are the same in every run."""
    return np.random.default_rng(list(request.node.nodeid.encode()))
