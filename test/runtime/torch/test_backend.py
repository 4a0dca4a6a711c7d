"""`torch.compile(model, backend="gingham")` does what PyTorch does, or says it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from gingham.errors import GinghamError  # noqa: E402
from gingham.runtime.torch.backend import backend  # noqa: E402
from gingham.runtime.torch.notes import OperatorWarning  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend=backend, options=options)


def network() -> Any:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(8 * 16, 5),
    )


def agree(ours: Any, theirs: Any) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_it_is_found_by_its_name() -> None:
    assert "gingham" in torch._dynamo.list_backends()


def test_inference_with_batches_of_several_sizes() -> None:
    model = network().eval()
    fast = compiled(model)
    with torch.no_grad():
        for batch in (2, 5, 1, 5):
            x = torch.randn(batch, 3, 8, 8)
            agree(fast(x), model(x))


def test_a_weight_that_has_changed_is_seen() -> None:
    model = network().eval()
    fast, x = compiled(model), torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        before = fast(x)
        model[0].weight.mul_(-2)
        assert not torch.allclose(before, model(x))
        agree(fast(x), model(x))
        model.load_state_dict(network().state_dict())
        agree(fast(x), model(x))
        model[6].weight = nn.Parameter(torch.randn(5, 8 * 16))
        agree(fast(x), model(x))


def test_training_takes_the_same_steps() -> None:
    model = network().train()
    other = copy.deepcopy(model)
    losses = [_losses(each, each) for each in (other,)]
    losses.append(_losses(model, compiled(model)))
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    for ours, theirs in zip(model.buffers(), other.buffers(), strict=True):
        agree(ours, theirs)


def _losses(model: Any, call: Any) -> list[float]:
    """Those of six steps, with the same images and dropouts."""
    torch.manual_seed(7)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    losses: list[float] = []
    for _ in range(6):
        images, classes = torch.randn(8, 3, 8, 8), torch.randint(0, 5, (8,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(call(images), classes)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_images_with_channels_last_stay_so() -> None:
    model = network()[:3].eval()
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    with torch.no_grad():
        ours, theirs = compiled(model)(x), model(x)
    agree(ours, theirs)
    assert ours.stride() == theirs.stride()


def test_an_unknown_operator_runs_in_pytorch_and_is_named() -> None:
    def function(x: Any) -> Any:
        return torch.linalg.inv(x * 2 + 5 * torch.eye(3)) @ x + 1

    x = torch.randn(3, 3)
    with pytest.warns(OperatorWarning, match=r"aten\.linalg_inv_ex"):
        agree(compiled(function)(x), function(x))
    # Told once.
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error", OperatorWarning)
        agree(compiled(function)(x), function(x))


def test_random_numbers_are_those_of_pytorch() -> None:
    def function(x: Any) -> Any:
        return x + torch.rand(4) * torch.randn(4)

    x = torch.randn(4)
    torch.manual_seed(3)
    expected = function(x)
    torch.manual_seed(3)
    agree(compiled(function)(x), expected)


def test_tensors_without_elements_run_in_pytorch() -> None:
    def function(x: Any) -> Any:
        return torch.cat((x, x * 2)).relu()

    fast = compiled(function)
    for rows in (3, 4, 0, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OperatorWarning)
            x = torch.randn(rows, 2)
            agree(fast(x), function(x))


def test_inputs_that_are_changed_are_changed() -> None:
    def function(x: Any, total: Any) -> Any:
        total.add_(x)
        return total * 2

    x, ours, theirs = torch.randn(3), torch.zeros(3), torch.zeros(3)
    fast = compiled(function)
    for _ in range(2):
        agree(fast(x, ours), function(x, theirs))
    agree(ours, theirs)


def test_sizes_that_are_computed() -> None:
    def function(x: Any) -> Any:
        rows = x.shape[0]
        return x.reshape(rows * 2, -1).sum(0) * (rows // 2) + torch.arange(2) / rows

    fast = compiled(function)
    for rows in (2, 5, 8):
        x = torch.randn(rows, 4)
        agree(fast(x), function(x))


def test_options() -> None:
    fast = compiled(lambda x: torch.exp(x) + 1, device="reference", fast_math=True)
    agree(fast(torch.ones(3)), torch.ones(3).exp() + 1)
    with pytest.raises(GinghamError, match="no option 'devise'"):
        backend(None, [], options={"devise": "reference"})


def test_results_are_memory_of_their_own() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        return y, y.clone(), x

    x = torch.zeros(3)
    first, second, third = compiled(function)(x)
    first.mul_(5)
    assert second.tolist() == [1, 1, 1]
    assert third is x or third.data_ptr() == x.data_ptr()
    assert compiled(function)(x)[0].tolist() == [1, 1, 1]
