"""Walks through models that are kept on disk: right for other weights, and optional."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cache_folders import cache_folder
from onnx_models import floats, integers, model, node, value

from gingham.frontend.onnx import table
from gingham.runtime.cache.store import Store
from gingham.runtime.onnx.loading import load
from gingham.runtime.onnx.planner import Planner

_WEIGHTS = floats(np.arange(2048).reshape(32, 64) % 7)
X = floats(np.arange(64).reshape(2, 32) % 5)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with cache_folder(tmp_path, monkeypatch) as path:
        yield path


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[Planner]:
    """All walks that are made."""
    made: list[Planner] = []
    run = Planner.run

    def counted(self: Planner) -> list[Any]:
        made.append(self)
        return run(self)

    monkeypatch.setattr(Planner, "run", counted)
    return made


def plans(folder: Path) -> int:
    return sum(file.kind == "plan" for file in Store(folder, 1 << 30).files())


def layer(constants: Mapping[str, Any]) -> Any:
    """A product with weights, cut into rows, and a sum."""
    return model(
        [
            node("MatMul", ["x", "w"], ["y"]),
            node("Reshape", ["y", "sizes"], ["z"]),
            node("Add", ["z", "shift"], ["o"]),
        ],
        [value("x", [2, 32])],
        [value("o", None)],
        constants,
    )


def constants(**others: Any) -> dict[str, Any]:
    return {
        "w": _WEIGHTS,
        "sizes": integers([4, 32]),
        "shift": floats([0.5]),
    } | others


def test_a_second_process_does_not_walk(folder: Path, walks: list[Planner]) -> None:
    expected = load(layer(constants()))(X)
    assert (len(walks), plans(folder)) == (1, 1)
    function = load(layer(constants()))
    np.testing.assert_array_equal(function(X), expected)
    again = ((X + 1) @ _WEIGHTS).reshape(4, 32) + floats(0.5)
    np.testing.assert_allclose(function(X + 1), again)
    assert len(walks) == 1
    assert "MatMul" in str(function.report(X))
    assert "tile.contract" in function.ir(X)


@pytest.mark.parametrize(
    ("changed", "count"),
    [
        ({"w": _WEIGHTS + 1}, 1),
        ({"sizes": integers([8, 16])}, 2),
        ({"shift": floats([1.5])}, 2),
        ({"w": floats(np.ones((32, 32)))}, 2),
    ],
    ids=["weights", "sizes", "numbers", "types"],
)
def test_other_constants(
    walks: list[Planner], changed: dict[str, Any], count: int
) -> None:
    load(layer(constants()))(X)
    given = constants(**changed)
    if given["w"].shape == (32, 32):
        given["sizes"] = integers([4, 16])
    found = load(layer(given))(X)
    expected = (X @ given["w"]).reshape(given["sizes"]) + given["shift"]
    np.testing.assert_allclose(found, expected)
    assert len(walks) == count


def transposed(weights: Any) -> Any:
    return model(
        [node("Transpose", ["w"], ["t"]), node("MatMul", ["x", "t"], ["y"])],
        [value("x", [2, 64])],
        [value("y", None)],
        {"w": weights},
    )


def test_weights_that_the_walk_computes_with(walks: list[Planner]) -> None:
    x = floats(np.arange(128).reshape(2, 64) % 5)
    for count, weights in [(1, _WEIGHTS), (1, _WEIGHTS), (2, _WEIGHTS + 1)]:
        np.testing.assert_allclose(load(transposed(weights))(x), x @ weights.T)
        assert len(walks) == count


def test_what_depends_on_values_is_not_kept(folder: Path) -> None:
    whole = model(
        [node("Reshape", ["x", "sizes"], ["y"])],
        [value("x", [2, 32]), value("sizes", [2], 7)],
        [value("y", None)],
    )
    for sizes in ([4, 16], [8, 8]):
        assert load(whole)(X, integers(sizes)).shape == (*sizes,)
    assert plans(folder) == 0


def test_rows_of_others_are_heeded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = table.Row("", "Add", lambda node: node[0])
    monkeypatch.setitem(table.rows(), ("", "Add"), own)
    np.testing.assert_allclose(
        load(layer(constants()))(X), (X @ _WEIGHTS).reshape(4, 32)
    )
    assert plans(folder) == 0
