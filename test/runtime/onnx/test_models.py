"""Models as functions: calls, sizes, values that sizes depend on, the host."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import INT64, branch, helper, model, node, onnx, value

import gingham
from gingham.errors import GinghamError


def load(whole: Any, **options: Any) -> Any:
    return gingham.onnx.load(whole, device="reference", **options)


def perceptron() -> Any:
    """Relu(x @ w + b) for any number of rows."""
    weights = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    return model(
        [
            node("MatMul", ["x", "w"], ["p"]),
            node("Add", ["p", "b"], ["s"]),
            node("Relu", ["s"], ["y"]),
        ],
        [value("x", ["n", 4])],
        [value("y", ["n", 3])],
        {"w": weights, "b": np.float32([1, 2, 3])},
    )


def expected(x: Any) -> Any:
    weights = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    return np.maximum(x @ weights + np.float32([1, 2, 3]), 0)


class TestCalls:
    def test_by_position_and_by_name(self, tmp_path: Path) -> None:
        path = tmp_path / "perceptron.onnx"
        onnx.save(perceptron(), path)
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        for source in (str(path), path, path.read_bytes(), perceptron()):
            function = load(source)
            assert function.input_names == ["x"]
            assert function.output_names == ["y"]
            assert np.array_equal(function(x), expected(x))
            assert np.array_equal(function(x=x), expected(x))

    def test_one_program_for_each_size(self) -> None:
        function = load(perceptron())
        for rows in (2, 5, 2):
            x = np.ones((rows, 4), np.float32)
            assert np.array_equal(function(x), expected(x))
            assert len(function.programs(x)) == 1

    def test_arrays_of_a_device(self) -> None:
        function = gingham.onnx.load(perceptron())
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        result = function(gingham.asarray(x, device=function.device))
        assert isinstance(result, gingham.Array)
        assert np.array_equal(np.asarray(result), expected(x))

    def test_in_several_threads(self) -> None:
        function = load(perceptron())
        results: dict[int, Any] = {}

        def call(rows: int) -> None:
            results[rows] = function(np.ones((rows, 4), np.float32))

        threads = [threading.Thread(target=call, args=(n % 3 + 1,)) for n in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for rows, result in results.items():
            assert np.array_equal(result, expected(np.ones((rows, 4), np.float32)))

    @pytest.mark.parametrize(
        ("arguments", "named", "text"),
        [
            ([], {}, "missing input 'x'"),
            ([1, 2], {}, r"1 input\(s\) \(x\), got 2"),
            ([], {"z": 1}, "no input 'z'"),
            ([np.ones((2, 4))], {}, "elements of type float32, got float64"),
            (
                [np.ones((2, 5), np.float32)],
                {},
                "axis 1 of input 'x' has size 4, got 5",
            ),
            ([np.ones(4, np.float32)], {}, "input 'x' has 2 axes, got 1"),
            ([None], {}, "input 'x' is a tensor"),
        ],
    )
    def test_wrong_inputs(self, arguments: Any, named: Any, text: str) -> None:
        with pytest.raises(GinghamError, match=text):
            load(perceptron())(*arguments, **named)

    def test_sizes_of_one_name_are_one(self) -> None:
        whole = model(
            [node("Add", ["a", "b"], ["y"])],
            [value("a", ["n"]), value("b", ["n"])],
            [value("y", ["n"])],
        )
        with pytest.raises(GinghamError, match=r"axis 0 of input 'b' has size 2 \(n\)"):
            load(whole)(np.ones(2, np.float32), np.ones(1, np.float32))

    def test_weights_stand_in_no_kernel(self) -> None:
        function = load(perceptron())
        x = np.ones((2, 4), np.float32)
        assert "%w: tensor<4x3xf32>" in function.ir(x)
        assert "__kernel" in function.source(x)


class TestValues:
    def test_sizes_by_the_values_of_inputs(self) -> None:
        whole = model(
            [node("Reshape", ["x", "s"], ["r"]), node("Neg", ["r"], ["y"])],
            [value("x", [12]), value("s", [2], INT64)],
            [value("y", ["a", "b"])],
        )
        function = load(whole)
        x = np.arange(12, dtype=np.float32)
        for shape in ([3, 4], [2, 6], [3, 4], [-1, 1]):
            result = function(x, np.int64(shape))
            assert np.array_equal(result, -x.reshape(shape))

    def test_sizes_by_what_is_computed(self) -> None:
        """How many elements are taken is known only when the maximum is."""
        whole = model(
            [
                node("ReduceMax", ["x"], ["m"], keepdims=1),
                node("Cast", ["m"], ["k"], to=INT64),
                node("TopK", ["x", "k"], ["t", "i"]),
                node("Neg", ["t"], ["y"]),
            ],
            [value("x", [5])],
            [value("y", ["k"])],
        )
        function = load(whole)
        for x in ([3, 1, 2, 0, 1], [1, 1, 0, 1, 0], [3, 0, 0, 0, 3]):
            result = function(np.float32(x))
            assert result.tolist() == [-each for each in sorted(x)[::-1][: max(x)]]

    def test_nothing_at_all(self) -> None:
        whole = model(
            [
                node("Concat", ["x", "x"], ["c"], axis=0),
                node("ReduceSum", ["c"], ["s"], keepdims=0),
                node("Add", ["s", "x2"], ["y"]),
            ],
            [value("x", ["n"]), value("x2", [2])],
            [value("y", [2])],
        )
        function = load(whole)
        for count in (0, 3):
            result = function(np.ones(count, np.float32), np.float32([1, 2]))
            assert result.tolist() == [1 + 2 * count, 2 + 2 * count]

    def test_initializers_that_are_inputs_are_constants(self) -> None:
        whole = perceptron()
        whole.graph.input.extend([value("w", [4, 3]), value("b", [3])])
        whole.ir_version = 3
        function = load(whole)
        assert function.input_names == ["x"]
        x = np.ones((1, 4), np.float32)
        assert np.array_equal(function(x), expected(x))

    def test_weights_of_few_elements(self) -> None:
        sparse = helper.make_sparse_tensor(
            helper.make_tensor("w", 1, [2], [5, 7]),
            helper.make_tensor("i", INT64, [2], [1, 4]),
            [2, 3],
        )
        whole = model(
            [node("Add", ["x", "w"], ["y"])], [value("x", [2, 3])], [value("y", [2, 3])]
        )
        whole.graph.sparse_initializer.append(sparse)
        result = load(whole)(np.zeros((2, 3), np.float32))
        assert result.tolist() == [[0, 5, 0], [0, 7, 0]]


class TestHost:
    def whole(self) -> Any:
        """The elements that differ, squared, which only the host finds."""
        return model(
            [
                node("Add", ["x", "x"], ["d"]),
                node("Unique", ["d"], ["u"], name="different"),
                node("Mul", ["u", "u"], ["y"]),
            ],
            [value("x", [5])],
            [value("y", ["n"])],
        )

    def test_one_warning_names_node_and_reason(self) -> None:
        function = load(self.whole())
        x = np.float32([1, 2, 1, 3, 2])
        with pytest.warns(
            gingham.onnx.HostWarning, match="'different'.*no row"
        ) as seen:
            result = function(x)
        assert len(seen) == 1
        assert result.tolist() == [4, 16, 36]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert function(np.float32([1, 1, 1, 1, 1])).tolist() == [4]
            assert function(x).tolist() == [4, 16, 36]

    def test_the_report_tells(self) -> None:
        function = load(self.whole())
        x = np.float32([1, 2, 1, 3, 2])
        with pytest.warns(gingham.onnx.HostWarning):
            report = function.report(x)
        assert len(report.programs) == 2
        (step,) = report.host_steps
        assert "different" in step.label
        assert "host: node 'different' (Unique)" in str(report)
        assert "host: node 'different'" in str(function.explain(x))
        assert function.explain(x).as_json()["host"][0]["reason"]

    def test_what_is_wrong_names_the_node(self) -> None:
        whole = model(
            [node("Gather", ["x", "i"], ["g"]), node("Unique", ["g"], ["y"])],
            [value("x", [2]), value("i", [1], INT64)],
            [value("y", ["n"])],
        )
        function = load(whole)
        with pytest.warns(gingham.onnx.HostWarning):
            assert function(np.float32([5, 6]), np.int64([1])).tolist() == [6]

    def test_text_and_sequences(self) -> None:
        whole = model(
            [
                node("SplitToSequence", ["x"], ["s"], keepdims=0),
                node("SequenceAt", ["s", "n"], ["e"]),
                node("Neg", ["e"], ["y"]),
            ],
            [value("x", [3, 2]), value("n", [], INT64)],
            [value("y", [2])],
        )
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        with pytest.warns(gingham.onnx.HostWarning):
            assert load(whole)(x, np.int64(1)).tolist() == [-2, -3]


class TestControl:
    def test_branches_by_a_condition_that_is_computed(self) -> None:
        choice = helper.make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=branch([node("Add", ["x", "x"], ["o"])], [value("o", [2])]),
            else_branch=branch([node("Neg", ["x"], ["o"])], [value("o", [2])]),
        )
        whole = model(
            [
                node("ReduceSum", ["x"], ["s"], keepdims=0),
                node("Greater", ["s", "zero"], ["c"]),
                choice,
            ],
            [value("x", [2])],
            [value("y", [2])],
            {"zero": np.float32(0)},
        )
        function = load(whole)
        assert function(np.float32([1, 2])).tolist() == [2, 4]
        assert function(np.float32([1, -2])).tolist() == [-1, 2]
        assert function(np.float32([3, 2])).tolist() == [6, 4]

    def loop(self, condition: str) -> Any:
        """Doubles x up to n times, and collects."""
        body = branch(
            [
                node("Add", ["v", "v"], ["v_out"]),
                node("ReduceSum", ["v_out"], ["sum"], keepdims=0),
                node("Less", ["sum", "limit"], ["less"]),
                node("Identity", [condition], ["go_on"]),
                node("Mul", ["v_out", "factor"], ["each"]),
            ],
            [value("go_on", [], 9), value("v_out", [2]), value("each", [2])],
            [value("i", [], INT64), value("go", [], 9), value("v", [2])],
        )
        return model(
            [
                helper.make_node(
                    "Loop", ["n", ""], ["last", "all"], name="again", body=body
                )
            ],
            [value("x", [2]), value("n", [], INT64), value("factor", [2])],
            [value("last", [2]), value("all", ["t", 2])],
            {"limit": np.float32(50)},
        )

    def run(self, whole: Any, count: int) -> Any:
        whole.graph.node[0].input.append("x")
        x, factor = np.float32([1, 2]), np.float32([1, 10])
        return load(whole)(x, np.int64(count), factor)

    def test_few_steps_are_copies(self) -> None:
        last, every = self.run(self.loop("go"), 3)
        assert last.tolist() == [8, 16]
        assert every.tolist() == [[2, 40], [4, 80], [8, 160]]

    def test_no_step(self) -> None:
        last, every = self.run(self.loop("go"), 0)
        assert last.tolist() == [1, 2]
        assert every.shape == (0, 2)

    def test_a_condition_that_depends_on_steps(self) -> None:
        with pytest.warns(gingham.onnx.HostWarning, match="again"):
            last, every = self.run(self.loop("less"), 100)
        assert last.tolist() == [32, 64]
        assert len(every) == 5

    def test_scans_backward_and_forward(self) -> None:
        body = branch(
            [node("Add", ["s", "e"], ["s_out"]), node("Neg", ["s_out"], ["each"])],
            [value("s_out", [2]), value("each", [2])],
            [value("s", [2]), value("e", [2])],
        )
        for backward in (0, 1):
            for length in (3, 100):
                scan = helper.make_node(
                    "Scan",
                    ["start", "x"],
                    ["last", "all"],
                    num_scan_inputs=1,
                    scan_input_directions=[backward],
                    body=body,
                )
                whole = model(
                    [scan],
                    [value("start", [2]), value("x", [length, 2])],
                    [value("last", [2]), value("all", [length, 2])],
                )
                x = np.arange(2 * length, dtype=np.float32).reshape(length, 2)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", gingham.onnx.HostWarning)
                    last, every = load(whole)(np.float32([1, 1]), x)
                steps = np.cumsum(x[::-1] if backward else x, 0) + 1
                assert np.array_equal(last, steps[-1])
                assert np.array_equal(every, -steps)

    def test_functions_of_the_model(self) -> None:
        scaled = helper.make_function(
            "own",
            "scaled",
            ["a"],
            ["b"],
            [
                onnx.parser.parse_node("f = Constant<value_float: float = @factor>()"),
                helper.make_node("Mul", ["a", "f"], ["b"]),
            ],
            [helper.make_opsetid("", 21)],
            ["factor"],
        )
        whole = model(
            [
                helper.make_node("scaled", ["x"], ["m"], domain="own", factor=2.0),
                helper.make_node("scaled", ["m"], ["y"], domain="own", factor=5.0),
            ],
            [value("x", [2])],
            [value("y", [2])],
            functions=[scaled],
            domains={"own": 1},
        )
        assert load(whole)(np.float32([1, 2])).tolist() == [10, 20]


def normalized(more: Any = ()) -> Any:
    """A batch normalisation of a convolution."""
    generator = np.random.default_rng(3)
    constants = {
        "w": generator.normal(size=(4, 2, 3, 3)),
        "b": generator.normal(size=4),
        "scale": generator.uniform(0.5, 2, 4),
        "shift": generator.normal(size=4),
        "mean": generator.normal(size=4),
        "variance": generator.uniform(0.5, 2, 4),
    }
    norm = ["c", "scale", "shift", "mean", "variance"]
    return model(
        [
            node("Conv", ["x", "w", "b"], ["c"]),
            node("BatchNormalization", norm, ["n"], epsilon=0.1),
            node("Relu", ["n"], ["y"]),
            *more,
        ],
        [value("x", [1, 2, 6, 6])],
        [value(each.output[0], [1, 4, 4, 4]) for each in (node("", [], ["y"]), *more)],
        {name: array.astype(np.float32) for name, array in constants.items()},
    )


class TestBatchNormalization:
    def test_goes_into_weights_with_fast_math(self) -> None:
        x = np.random.default_rng(4).normal(size=(1, 2, 6, 6)).astype(np.float32)
        plain, fast = load(normalized()), load(normalized(), fast_math=True)
        assert np.allclose(plain(x), fast(x), atol=1e-5)
        assert "variance" in plain.ir(x)
        assert "variance" not in fast.ir(x)

    def test_stays_where_the_convolution_is_used_elsewhere(self) -> None:
        x = np.ones((1, 2, 6, 6), np.float32)
        whole = normalized([node("Neg", ["c"], ["z"])])
        fast = load(whole, fast_math=True)
        assert "variance" in fast.ir(x)
        for got, want in zip(fast(x), load(whole)(x), strict=True):
            assert np.array_equal(got, want)


class TestBackend:
    def test_models_and_nodes(self) -> None:
        backend = gingham.onnx.Backend
        x = np.float32([[1, 2, 3, 4]])
        prepared = backend.prepare(perceptron(), "reference")
        assert np.array_equal(prepared.run([x]).y, expected(x))
        assert np.array_equal(prepared.run({"x": x})["y"], expected(x))
        (result,) = backend.run_model(perceptron(), [x], "reference")
        assert np.array_equal(result, expected(x))
        (result,) = gingham.onnx.run_node(node("Neg", ["a"], ["b"]), [x], "reference")
        assert np.array_equal(result, -x)

    def test_devices(self) -> None:
        assert gingham.onnx.supports_device("CPU")
        assert gingham.onnx.supports_device("reference")
        assert not gingham.onnx.supports_device("CUDA")

    def test_compatible(self) -> None:
        wrong = model(
            [node("Rellu", ["x"], ["y"])], [value("x", [1])], [value("y", [1])]
        )
        assert gingham.onnx.is_compatible(perceptron())
        assert not gingham.onnx.is_compatible(wrong)
