"""Gradients of what moves and reduces elements, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Operation, check_slopes, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


def test_moved_elements() -> None:
    pairs: dict[str, tuple[Operation, Operation]] = {
        "concatenate": (
            lambda x, y: op.concatenate([x, y, x], 1),
            lambda x, y: torch.cat([x, y, x], 1),
        ),
        "stack": (
            lambda x, y: op.stack([x, x * 2.0], -1),
            lambda x, y: torch.stack([x, x * 2], -1),
        ),
        "split": (
            lambda x, y: op.split(x, [1, 3, 2], 2)[1],
            lambda x, y: x.split([1, 3, 2], 2)[1],
        ),
        "slice": (
            lambda x, y: op.slice(x, [1, -1], [None, -5], (1, 2), (1, -2)),
            lambda x, y: x[:, 1:].flip(2)[:, :, 0:4:2],
        ),
        "roll": (lambda x, y: op.roll(x, 2, 1), lambda x, y: x.roll(2, 1)),
        "flip": (lambda x, y: op.flip(x, 1), lambda x, y: x.flip(1)),
        "tile": (lambda x, y: op.tile(x, (1, 2, 3)), lambda x, y: x.tile(1, 2, 3)),
        "repeat": (
            lambda x, y: op.repeat(x, 3, 1),
            lambda x, y: x.repeat_interleave(3, 1),
        ),
        "transpose": (
            lambda x, y: op.transpose(x, (2, 0, 1)) + 1.0,
            lambda x, y: x.permute(2, 0, 1) + 1,
        ),
        "broadcast": (
            lambda x, y: op.broadcast_to(op.slice(x, 0, 1, 1), (5, 2, 4, 6)),
            lambda x, y: x[:, :1].expand(5, 2, 4, 6),
        ),
        "tril": (lambda x, y: op.tril(x, 1), lambda x, y: x.tril(1)),
        "shuffle": (
            lambda x, y: (
                op.pixel_shuffle(op.unsqueeze(x, 0), 1)
                + op.pixel_shuffle(op.reshape(x, 1, 8, 2, 3), 2).reshape(1, 2, 4, 6)
            ),
            lambda x, y: x[None] + F.pixel_shuffle(x.reshape(1, 8, 2, 3), 2),
        ),
        "constant": (
            lambda x, y: op.pad(x, [(1, 2), (-1, 3)], value=2.0, axes=(1, 2)),
            lambda x, y: F.pad(x, (-1, 3, 1, 2), value=2.0),
        ),
        "reflect": (
            lambda x, y: op.pad(x, [(2, 1)], "reflect", axes=[2]),
            lambda x, y: F.pad(x, (2, 1), "reflect"),
        ),
        "edge": (
            lambda x, y: op.pad(x, [(2, 1)], "edge", axes=[2]),
            lambda x, y: F.pad(x, (2, 1), "replicate"),
        ),
        "wrap": (
            lambda x, y: op.pad(x, [(2, 1)], "wrap", axes=[2]),
            lambda x, y: F.pad(x, (2, 1), "circular"),
        ),
        "where": (
            lambda x, y: op.where(x > 0.0, x, op.clip(x, -0.5)),
            lambda x, y: torch.where(x > 0, x, x.clip(-0.5)),
        ),
    }
    check_slopes(pairs, normals(2, 4, 6), normals(2, 1, 6))


def test_reduced_elements() -> None:
    pairs: dict[str, tuple[Operation, Operation]] = {
        "sum": (lambda x: op.sum(x, (0, -1)), lambda x: x.sum((0, -1))),
        "mean": (lambda x: op.mean(x, 1, True), lambda x: x.mean(1, True)),
        "max": (lambda x: op.max(x, (0, 2)), lambda x: x.amax((0, 2))),
        "min": (lambda x: op.min(x), lambda x: x.amin()),
        "prod": (lambda x: op.prod(x, 1), lambda x: x.prod(1)),
        "var": (lambda x: op.var(x, 1, 1), lambda x: x.var(1)),
        "std": (lambda x: op.std(x, (0, 2)), lambda x: x.std((0, 2), correction=0)),
        "logsumexp": (lambda x: op.logsumexp(x, 1), lambda x: x.logsumexp(1)),
        "l1": (lambda x: op.l1_norm(x, 1), lambda x: x.norm(1, 1)),
        "norm": (lambda x: op.norm(x, 3, 2), lambda x: x.norm(3, 2)),
        "cumsum": (lambda x: op.cumsum(x, 1), lambda x: x.cumsum(1)),
        "reverse": (
            lambda x: op.cumsum(x, 2, reverse=True),
            lambda x: x.flip(2).cumsum(2).flip(2),
        ),
        "long": (
            lambda x: op.cumsum(op.flatten(op.tile(x, (1, 1, 3)))),
            lambda x: x.tile(1, 1, 3).flatten().cumsum(0),
        ),
        "cumprod": (lambda x: op.cumprod(x, 1), lambda x: x.cumprod(1)),
        "matmul": (
            lambda x: op.matmul(op.unsqueeze(x, 1), op.swapaxes(x, 1, 2)),
            lambda x: x[:, None] @ x.swapaxes(1, 2),
        ),
    }
    check_slopes(pairs, normals(2, 4, 6), tolerance=1e-4)


def test_elements_at_positions() -> None:
    cells = np.array([[0, 1], [1, -1], [0, 1]])
    places = torch.tensor(cells)
    pairs: dict[str, tuple[Operation, Operation]] = {
        "gather": (
            lambda x, u: op.gather_nd(x, cells),
            lambda x, u: x[places[:, 0], places[:, 1]],
        ),
        "add": (
            lambda x, u: op.scatter_nd(x, cells, u, "add"),
            lambda x, u: x.index_put((places[:, 0], places[:, 1]), u, True),
        ),
        "put": (
            lambda x, u: op.scatter_nd(x, cells[:2], op.slice(u, 0, 2)),
            lambda x, u: x.index_put((places[:2, 0], places[:2, 1]), u[:2]),
        ),
        "index_add": (
            lambda x, u: op.index_add(x, 1, cells[:, 0], op.unsqueeze(u, 0)),
            lambda x, u: x.index_add(1, places[:, 0], u[None].expand(2, 3, 5)),
        ),
        "distance": (
            lambda x, u: op.cdist(x, u),
            lambda x, u: ((x[:, :, None] - u) ** 2).sum(-1).sqrt(),
        ),
        "glu": (lambda x, u: op.glu(x, 1), lambda x, u: F.glu(x, 1)),
    }
    check_slopes(pairs, normals(2, 4, 5), normals(3, 5))
