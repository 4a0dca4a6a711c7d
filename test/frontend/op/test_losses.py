"""Losses and distances, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import (
    Cases,
    Operation,
    any_function,
    check,
    check_slopes,
    normals,
)

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


def _cases(pairs: dict[str, tuple[Operation, Operation]], *arrays: Any) -> Cases:
    tensors = [torch.tensor(array) for array in arrays]
    return {
        name: (operation, np.asarray(any_function(reference)(*tensors)))
        for name, (operation, reference) in pairs.items()
    }


@pytest.mark.parametrize("how", ["mean", "sum", "none"])
def test_losses(how: str) -> None:
    x, t, w = normals(4, 5), normals(4, 5, seed=1), np.abs(normals(5))
    pairs: dict[str, tuple[Operation, Operation]] = {
        "mse": (
            lambda x, t, w: op.mse_loss(x, t, how),
            lambda x, t, w: F.mse_loss(x, t, reduction=how),
        ),
        "l1": (
            lambda x, t, w: op.l1_loss(x, t, how),
            lambda x, t, w: F.l1_loss(x, t, reduction=how),
        ),
        "huber": (
            lambda x, t, w: op.huber_loss(x, t, how, 0.3),
            lambda x, t, w: F.huber_loss(x, t, how, 0.3),
        ),
        "smooth": (
            lambda x, t, w: op.smooth_l1_loss(x, t, how, 0.3),
            lambda x, t, w: F.smooth_l1_loss(x, t, reduction=how, beta=0.3),
        ),
        "margin": (
            lambda x, t, w: op.soft_margin_loss(x, op.sign(t), how),
            lambda x, t, w: F.soft_margin_loss(x, t.sign(), reduction=how),
        ),
        "entropy": (
            lambda x, t, w: op.binary_cross_entropy(
                op.sigmoid(x), op.sigmoid(t), w, how
            ),
            lambda x, t, w: F.binary_cross_entropy(
                x.sigmoid(), t.sigmoid(), w.expand(4, 5), reduction=how
            ),
        ),
        "logits": (
            lambda x, t, w: op.binary_cross_entropy_with_logits(
                x, op.sigmoid(t), w, how, w
            ),
            lambda x, t, w: F.binary_cross_entropy_with_logits(
                x, t.sigmoid(), w, reduction=how, pos_weight=w
            ),
        ),
        "kl": (
            lambda x, t, w: op.kl_div(x, op.softmax(t), how),
            lambda x, t, w: _kl_div(x, t.softmax(-1), how),
        ),
    }
    check(_cases(pairs, x, t, w), x, t, w, tolerance=1e-6)


def _kl_div(x: Any, t: Any, how: str) -> Any:
    """Without torch's warning that it means something else by the mean."""
    loss = F.kl_div(x, t, reduction="none")
    return loss if how == "none" else getattr(loss, how)()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("how", ["mean", "sum", "none"])
def test_classes(how: str, smoothing: float) -> None:
    x, w = normals(4, 5), np.abs(normals(5))
    classes = np.array([1, 0, 4, 2])
    images, of_pixels = (
        normals(2, 5, 3),
        np.random.default_rng(0).integers(0, 5, (2, 3)),
    )
    pairs: dict[str, tuple[Operation, Operation]] = {
        "nll": (
            lambda x, c, w, i, p: op.nll_loss(x, c, w, 2, how),
            lambda x, c, w, i, p: F.nll_loss(x, c, w, ignore_index=2, reduction=how),
        ),
        "classes": (
            lambda x, c, w, i, p: op.cross_entropy(x, c, w, 2, how, smoothing),
            lambda x, c, w, i, p: F.cross_entropy(
                x, c, w, None, 2, reduction=how, label_smoothing=smoothing
            ),
        ),
        "probabilities": (
            lambda x, c, w, i, p: op.cross_entropy(
                x, op.softmax(-x), w, reduction=how, label_smoothing=smoothing
            ),
            lambda x, c, w, i, p: F.cross_entropy(
                x, (-x).softmax(-1), w, reduction=how, label_smoothing=smoothing
            ),
        ),
        "pixels": (
            lambda x, c, w, i, p: op.cross_entropy(i, p, reduction=how),
            lambda x, c, w, i, p: F.cross_entropy(i, p, reduction=how),
        ),
        "one": (
            lambda x, c, w, i, p: op.cross_entropy(
                op.select_index(x, 0), op.select_index(c, 0), reduction=how
            ),
            lambda x, c, w, i, p: F.cross_entropy(x[0], c[0], reduction=how),
        ),
    }
    arrays = (x, classes, w, images, of_pixels)
    check(_cases(pairs, *arrays), *arrays, tolerance=1e-6)


def test_large_logits_have_a_loss() -> None:
    x = np.array([-200, 200], np.float32)
    cases: Cases = {
        "logits": (
            lambda x: op.binary_cross_entropy_with_logits(x, 1.0, reduction="none"),
            np.array([200, 0], np.float32),
        ),
        "certain": (
            lambda x: op.binary_cross_entropy(op.sigmoid(x), 0.0, reduction="none"),
            np.array([0, 100], np.float32),
        ),
        "limited": (
            lambda x: op.binary_cross_entropy(
                op.sigmoid(x), 0.0, reduction="none", epsilon=0.125
            ),
            np.log(np.array([8 / 7, 8])).astype(np.float32),
        ),
    }
    check(cases, x, tolerance=1e-6)


def test_distances() -> None:
    x, y = normals(2, 4, 5), normals(2, 3, 5)
    pairs: dict[str, tuple[Operation, Operation]] = {
        f"cdist {p}": (_cdist(p), _cdist_of_torch(p)) for p in (1.0, 2.0, 3.0)
    }
    pairs["largest"] = (_cdist(float("inf")), _cdist_of_torch(float("inf")))
    pairs["cosine"] = (
        lambda x, y: op.cosine_similarity(x, x * 2.0 + 1.0, -1),
        lambda x, y: F.cosine_similarity(x, x * 2 + 1, -1),
    )
    pairs["pairs"] = (
        lambda x, y: op.pairwise_distance(x, x * x),
        lambda x, y: F.pairwise_distance(x, x * x),
    )
    check(_cases(pairs, x, y), x, y, tolerance=1e-5)


def _cdist(p: float) -> Operation:
    return lambda x, y: op.cdist(x, y, p)


def _cdist_of_torch(p: float) -> Operation:
    return lambda x, y: torch.cdist(x, y, p)


def test_gradients() -> None:
    classes = np.array([1, 0, 4, 2])
    pairs: dict[str, tuple[Operation, Operation]] = {
        "classes": (
            lambda x: op.cross_entropy(x, classes),
            lambda x: F.cross_entropy(x, torch.tensor(classes)),
        ),
        "huber": (
            lambda x: op.huber_loss(x, 0.5),
            lambda x: F.huber_loss(x, 0 * x + 0.5),
        ),
        "logits": (
            lambda x: op.binary_cross_entropy_with_logits(x, 0.25),
            lambda x: F.binary_cross_entropy_with_logits(x, 0 * x.detach() + 0.25),
        ),
    }
    check_slopes(pairs, normals(4, 5))
