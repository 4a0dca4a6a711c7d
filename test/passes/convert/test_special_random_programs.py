"""Random programs of views, coordinates, gathers and scatters between other ops.

All tensors of a program have as many elements, in some shape of theirs, so that
anything may follow anything; the interest is in memory that is seen through several
views. NumPy computes each statement as it is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import special_definitions as definition
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from special_programs import check, type_of

Array = NDArray[Any]

SHAPES = ((24,), (4, 6), (6, 4), (2, 3, 4), (24, 1), (1, 8, 3))


class RandomProgram:
    """Statements of the `tile` dialect, and what each value is."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
        self.inputs: dict[str, Array] = {
            "x": random.integers(-4, 5, self._shape()).astype(np.float32),
            "y": random.integers(-4, 5, self._shape()).astype(np.float32),
            "i": random.integers(-2, 9, (24,)).astype(np.int32),
        }
        self.values = {name: self.inputs[name] for name in ("x", "y")}
        self.lines: list[str] = []
        statements = (
            self._reshape,
            self._sum,
            self._coordinates,
            self._transposition,
            self._gather,
            self._scatter,
        )
        for _ in range(data.draw(st.integers(1, 7), label="statements")):
            data.draw(st.sampled_from(statements))()

    def outputs(self) -> dict[str, Array]:
        """Some of the values; a function returns no value twice."""
        names = st.lists(st.sampled_from([*self.values]), unique=True, min_size=1)
        chosen = self._data.draw(names, label="outputs")
        return {name: self.values[name] for name in chosen}

    def _shape(self) -> tuple[int, ...]:
        return self._data.draw(st.sampled_from(SHAPES))

    def _value(self) -> str:
        return self._data.draw(st.sampled_from([*self.values]))

    def _add(self, text: str, value: Array) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"%{name} = {text}")
        self.values[name] = np.ascontiguousarray(value)
        return name

    def _reshape(self, name: str | None = None, shape: Any = None) -> str:
        name = self._value() if name is None else name
        shape = self._shape() if shape is None else shape
        result = self.values[name].reshape(shape)
        sizes = ", ".join(map(str, shape))
        types = f"{type_of(self.values[name])} -> {type_of(result)}"
        return self._add(f"tile.reshape %{name} -> [{sizes}] : {types}", result)

    def _sum(self) -> None:
        first, second = self._value(), self._value()
        if self.values[first].shape != self.values[second].shape:
            second = self._reshape(second, self.values[first].shape)
        result = self.values[first] + self.values[second]
        self._add(f"eltwise.add %{first}, %{second} : {type_of(result)}", result)

    def _coordinates(self) -> None:
        shape = self._shape()
        axis = self._data.draw(st.integers(0, len(shape) - 1))
        places = np.indices(shape, np.int32)[axis]
        name = f"v{len(self.lines)}"
        self.lines.append(f"%{name} = tile.index {axis} : {type_of(places)}")
        result = places.astype(np.float32)
        types = f"{type_of(places)} to {type_of(result)}"
        self._add(f"eltwise.cast %{name} : {types}", result)

    def _transposition(self) -> None:
        name = self._reshape(None, (4, 6))
        source = self.values[name]
        self._add(
            f"tile.contract assign over [a : 6, b : 4] %{name}[b, a] "
            f"-> [a : 6, b : 4] : ({type_of(source)}) -> tensor<6x4xf32>",
            source.T,
        )

    def _gather(self) -> None:
        name = self._reshape(None, (24,))
        zero = self._data.draw(st.booleans())
        result = definition.gather(self.values[name], self.inputs["i"], zero=zero)
        options = "out_of_bounds zero" if zero else ""
        self._add(
            f"tile.gather %{name}, %i {options} "
            ": (tensor<24xf32>, tensor<24xsi32>) -> tensor<24xf32>",
            result,
        )

    def _scatter(self) -> None:
        updates, base = self._reshape(None, (24,)), self._reshape(None, (24,))
        mode = self._data.draw(st.sampled_from(["normal", "update_slice"]))
        arrays = self.values[updates], self.inputs["i"]
        if mode == "normal":
            result = definition.scatter_add(*arrays, 24)
        else:
            result = definition.scatter_update(*arrays, self.values[base])
        self._add(
            f"tile.scatter %{updates}, %i, %{base} mode {mode} "
            ": (tensor<24xf32>, tensor<24xsi32>, tensor<24xf32>) -> tensor<24xf32>",
            result,
        )


@settings(max_examples=40)
@given(data=st.data())
def test_random_programs(data: st.DataObject) -> None:
    program = RandomProgram(data)
    outputs = program.outputs()
    level = data.draw(st.sampled_from(["lowered", "stripe", "opencl"]), label="level")
    check("\n".join(program.lines), program.inputs, outputs, level)
