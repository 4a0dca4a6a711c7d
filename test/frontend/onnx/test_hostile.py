"""Models from strangers: each ends in one error that names the node or tensor."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import (
    INT64,
    branch,
    floats,
    helper,
    integers,
    model,
    node,
    onnx,
    value,
)

import gingham
from gingham.errors import GinghamError
from gingham.limits import MOST_GRAPHS

DATA = np.arange(6, dtype=np.float32)


def load(source: Any) -> Any:
    return gingham.onnx.load(source, device="reference")


def refused(source: Any, *inputs: Any) -> str:
    """The message with which a model is refused, when it is loaded or called."""
    with pytest.raises(GinghamError) as caught:
        load(source)(*inputs)
    return caught.value.message


def with_external(folder: Path, **entries: str) -> str:
    """A model in a file whose weights lie in another one."""
    whole = model(
        [node("Add", ["x", "w"], ["y"])], [value("x", [6])], [value("y", [6])]
    )
    weights = whole.graph.initializer.add()
    weights.name, weights.data_type = "w", 1
    weights.dims.append(6)
    weights.data_location = 1
    for key, entry in entries.items():
        weights.external_data.add(key=key, value=entry)
    path = folder / "model.onnx"
    path.write_bytes(whole.SerializeToString())
    return str(path)


class TestExternalData:
    def test_beside_the_model(self, tmp_path: Path) -> None:
        (tmp_path / "parts").mkdir()
        DATA.tofile(tmp_path / "parts" / "w.bin")
        path = with_external(tmp_path, location="parts/w.bin")
        assert load(path)(DATA).tolist() == (DATA * 2).tolist()

    def test_from_an_offset(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(b"x" * 8 + DATA.tobytes() + b"y")
        path = with_external(tmp_path, location="w.bin", offset="8", length="24")
        assert load(path)(DATA).tolist() == (DATA * 2).tolist()

    @pytest.mark.parametrize(
        "location", ["../w.bin", "a/../../w.bin", "{outside}", "", ".", "w.bin\0"]
    )
    def test_outside_of_the_folder(self, tmp_path: Path, location: str) -> None:
        inner = tmp_path / "inner"
        inner.mkdir()
        DATA.tofile(tmp_path / "w.bin")
        location = location.format(outside=tmp_path / "w.bin")
        assert "'w'" in refused(with_external(inner, location=location))

    @pytest.mark.parametrize("make", [os.symlink, os.link])
    def test_links(self, tmp_path: Path, make: Any) -> None:
        secret = tmp_path / "secret.bin"
        DATA.tofile(secret)
        inner = tmp_path / "inner"
        inner.mkdir()
        make(secret, inner / "w.bin")
        assert "'w'" in refused(with_external(inner, location="w.bin"))

    def test_a_folder_that_is_a_link(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        DATA.tofile(outside / "w.bin")
        inner = tmp_path / "inner"
        inner.mkdir()
        (inner / "parts").symlink_to(outside)
        assert "'w'" in refused(with_external(inner, location="parts/w.bin"))

    def test_no_files(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for location in ("pipe", "missing", "."):
            assert "'w'" in refused(with_external(tmp_path, location=location))

    @pytest.mark.parametrize(
        "entries",
        [
            {"offset": "1"},
            {"offset": "-4"},
            {"offset": "9" * 30},
            {"length": "20"},
            {"length": "1e3"},
            {"mode": "w"},
        ],
    )
    def test_wrong_entries(self, tmp_path: Path, entries: dict[str, str]) -> None:
        DATA.tofile(tmp_path / "w.bin")
        path = with_external(tmp_path, location="w.bin", **entries)
        assert "'w'" in refused(path)

    def test_of_a_model_without_a_file(self, tmp_path: Path) -> None:
        path = Path(with_external(tmp_path, location="w.bin"))
        assert "'w'" in refused(path.read_bytes())
        assert "'w'" in refused(onnx.load(str(path), load_external_data=False))


class TestSizes:
    @pytest.mark.parametrize("dims", [[2**40, 2**40], [2**62, 4], [-1], [10**9, 10]])
    def test_of_an_initializer_without_data(self, dims: list[int]) -> None:
        whole = model(
            [node("Add", ["x", "w"], ["y"])], [value("x", [1])], [value("y", None)]
        )
        weights = whole.graph.initializer.add(name="w", data_type=1)
        weights.dims.extend(dims)
        assert "'w'" in refused(whole)

    def test_of_data_that_are_not_as_many(self) -> None:
        whole = model(
            [node("Add", ["x", "w"], ["y"])],
            [value("x", [6])],
            [value("y", [6])],
            {"w": DATA},
        )
        whole.graph.initializer[0].raw_data = b"12345"
        assert "takes 24 bytes, and has 5" in refused(whole)

    @pytest.mark.parametrize(
        ("op", "inputs"),
        [
            ("ConstantOfShape", {"s": integers([2**34])}),
            ("Expand", {"a": floats([1]), "s": integers([10**5, 10**5])}),
            ("Tile", {"a": floats([1]), "s": integers([10**10])}),
            ("Range", {"a": integers(0), "b": integers(10**12), "c": integers(1)}),
            (
                "OneHot",
                {"a": integers([0]), "d": integers(10**12), "v": floats([0, 1])},
            ),
            ("Pad", {"a": floats([1]), "s": integers([10**12, 0])}),
            ("Upsample", {"a": floats([[1]]), "s": floats([1e6, 1e6])}),
        ],
    )
    def test_of_results(self, op: str, inputs: dict[str, Any]) -> None:
        whole = model(
            [node(op, list(inputs), ["big"])],
            [],
            [value("big", None, INT64 if op == "Range" else 1)],
            inputs,
            opset=9 if op == "Upsample" else 21,
        )
        message = refused(whole)
        assert "the_big" in message
        assert "bytes" in message

    def test_that_double(self) -> None:
        names = ["x", *(f"t{n}" for n in range(40))]
        nodes = [
            node("Concat", [before, before], [after], axis=0)
            for before, after in pairwise(names)
        ]
        whole = model(nodes, [value("x", [1])], [value("t39", None)])
        assert "bytes" in refused(whole, floats([1]))


def nested(depth: int) -> Any:
    """A model with If in If in If."""
    inner = branch([node("Identity", ["x"], ["o"])], [value("o", [1])])
    graph = inner
    for _ in range(depth):
        outer = onnx.GraphProto(name="g")
        choice = outer.node.add(op_type="If", name="choice", input=["c"])
        choice.output.append("o")
        choice.attribute.add(name="then_branch", type=5).g.CopyFrom(graph)
        choice.attribute.add(name="else_branch", type=5).g.CopyFrom(inner)
        outer.output.append(value("o", [1]))
        graph = outer
    graph.input.extend([value("x", [1]), value("c", [], 9)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


class TestStructure:
    def test_graphs_in_graphs(self) -> None:
        whole = nested(MOST_GRAPHS + 5)
        assert "node 'choice'" in refused(whole)
        assert "node 'choice'" in refused(whole.SerializeToString())
        assert "no model of ONNX" in refused(nested(200).SerializeToString())

    def test_functions_that_multiply(self) -> None:
        functions = [
            helper.make_function(
                "own",
                f"f{n}",
                ["a"],
                ["b"],
                [
                    helper.make_node(f"f{n + 1}", ["a"], ["m"], domain="own"),
                    helper.make_node(f"f{n + 1}", ["m"], ["b"], domain="own"),
                ],
                [helper.make_opsetid("own", 1)],
            )
            for n in range(20)
        ]
        functions.append(
            helper.make_function(
                "own",
                "f20",
                ["a"],
                ["b"],
                [helper.make_node("Relu", ["a"], ["b"])],
                [helper.make_opsetid("", 21)],
            )
        )
        whole = model(
            [helper.make_node("f0", ["x"], ["y"], domain="own")],
            [value("x", [1])],
            [value("y", [1])],
            functions=functions,
            domains={"own": 1},
        )
        assert "more than 100000 nodes" in refused(whole)

    def test_a_function_that_calls_itself(self) -> None:
        again = helper.make_function(
            "own",
            "again",
            ["a"],
            ["b"],
            [helper.make_node("again", ["a"], ["b"], domain="own")],
            [helper.make_opsetid("own", 1)],
        )
        whole = model(
            [helper.make_node("again", ["x"], ["y"], domain="own")],
            [value("x", [1])],
            [value("y", [1])],
            functions=[again],
            domains={"own": 1},
        )
        assert "'again' calls itself" in refused(whole)

    def test_a_cycle(self) -> None:
        nodes = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
        message = refused(model(nodes, [value("x", [1])], [value("b", [1])]))
        assert "the_a" in message

    @pytest.mark.parametrize(
        ("op", "domain", "text"),
        [
            ("Convolution", "", "no operator 'Convolution'"),
            ("Conv", "of.nobody", "of.nobody"),
            ("Rellu", "", "no operator 'Rellu'"),
        ],
    )
    def test_unknown_operators(self, op: str, domain: str, text: str) -> None:
        wrong = helper.make_node(op, ["x"], ["y"], name="mine", domain=domain)
        message = refused(model([wrong], [value("x", [1])], [value("y", [1])]))
        assert text in message
        assert "mine" in message

    @pytest.mark.parametrize("version", [0, 999])
    def test_unknown_versions(self, version: int) -> None:
        whole = model(
            [node("Relu", ["x"], ["y"])], [value("x", [1])], [value("y", [1])]
        )
        whole.opset_import[0].version = version
        assert f"version {version}" in refused(whole)

    def test_an_unknown_format(self) -> None:
        whole = model(
            [node("Relu", ["x"], ["y"])], [value("x", [1])], [value("y", [1])]
        )
        whole.ir_version = 99
        assert "version 99" in refused(whole)

    def test_wrong_types(self) -> None:
        whole = model(
            [node("Add", ["x", "i"], ["y"])],
            [value("x", [1]), value("i", [1], INT64)],
            [value("y", [1])],
        )
        assert "the_y" in refused(whole, floats([1]), integers([1]))

    def test_an_output_that_nothing_computes(self) -> None:
        whole = model(
            [node("Relu", ["x"], ["y"])], [value("x", [1])], [value("z", [1])]
        )
        assert "z" in refused(whole, floats([1]))


WRONG_ATTRIBUTES: list[tuple[str, list[tuple[int, ...]], dict[str, Any]]] = [
    ("Conv", [(1, 1, 5, 5), (1, 1, 3, 3)], {"strides": [0, 1]}),
    ("Conv", [(1, 1, 5, 5), (1, 1, 3, 3)], {"dilations": [1, -1]}),
    ("Conv", [(1, 1, 5, 5), (1, 1, 3, 3)], {"group": 0}),
    ("Conv", [(1, 3, 5, 5), (4, 1, 3, 3)], {"group": 2}),
    ("Conv", [(1, 1, 5, 5), (1, 1, 9, 9)], {}),
    ("Conv", [(1, 1, 5, 5), (1, 1, 3, 3)], {"auto_pad": "SIDEWAYS"}),
    ("MaxPool", [(1, 1, 5, 5)], {"kernel_shape": [0, 0]}),
    ("MaxPool", [(1, 1, 5, 5)], {"kernel_shape": [2]}),
    ("AveragePool", [(1, 1, 5, 5)], {"kernel_shape": [2, 2], "pads": [1, 2]}),
    ("Transpose", [(2, 3)], {"perm": [0, 5]}),
    ("Transpose", [(2, 3)], {"perm": [0, 0]}),
    ("Concat", [(2, 3), (2, 3)], {"axis": 7}),
    ("Concat", [(2, 3), (4, 5)], {"axis": 0}),
    ("Flatten", [(2, 3)], {"axis": 9}),
    ("Softmax", [(2, 3)], {"axis": -9}),
    ("ArgMax", [(2, 3)], {"axis": 4}),
    ("Gemm", [(2, 3), (4, 5)], {}),
    ("MatMul", [(2, 3), (4, 5)], {}),
    ("Einsum", [(2, 3)], {"equation": "ij,jk->ik"}),
    ("Einsum", [(2, 3)], {"equation": "i->"}),
    ("DepthToSpace", [(1, 5, 2, 2)], {"blocksize": 2}),
    ("DepthToSpace", [(1, 3, 2, 2)], {"blocksize": 0}),
    ("LRN", [(1, 3, 2, 2)], {"size": -1}),
    ("GroupNormalization", [(1, 4, 2), (4,), (4,)], {"num_groups": 3}),
    ("Cast", [(2,)], {"to": 99}),
    ("Add", [(2, 3), (4, 5)], {}),
]


@pytest.mark.parametrize(("op", "shapes", "attributes"), WRONG_ATTRIBUTES)
def test_wrong_attributes_and_shapes(
    op: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]
) -> None:
    names = [f"x{n}" for n in range(len(shapes))]
    whole = model(
        [node(op, names, ["y"], **attributes)],
        [value(name, shape) for name, shape in zip(names, shapes, strict=True)],
        [value("y", None, INT64 if op == "ArgMax" else 1)],
    )
    message = refused(whole, *(np.ones(shape, np.float32) for shape in shapes))
    assert "the_y" in message


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 50, b"not a model", bytes(range(99)), b"\x08\x0a" * 40]
)
def test_no_model(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    refused(str(path))
    refused(content)


def test_no_file(tmp_path: Path) -> None:
    assert "cannot read" in refused(str(tmp_path / "missing.onnx"))
    assert "cannot read" in refused(str(tmp_path))
    with pytest.raises(GinghamError, match="expected a model, got int"):
        load(7)


def test_damaged_models_are_refused_or_run() -> None:
    """Bytes of a model that are changed at random end in an error, or in a result."""
    whole = model(
        [
            node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
            node("Relu", ["c"], ["r"]),
            node("Reshape", ["r", "s"], ["y"]),
        ],
        [value("x", [1, 1, 4, 4])],
        [value("y", [1, 16])],
        {"w": np.ones((1, 1, 3, 3), np.float32), "s": integers([1, -1])},
    )
    content = whole.SerializeToString()
    generator = np.random.default_rng(5)
    image = np.ones((1, 1, 4, 4), np.float32)
    outcomes = {"refused": 0, "run": 0}
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(generator.integers(1, 4)):
            damaged[generator.integers(len(damaged))] = generator.integers(256)
        try:
            load(bytes(damaged))(image)
            outcomes["run"] += 1
        except GinghamError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10
