"""Operations that move elements and change shapes, beside NumPy."""

from __future__ import annotations

import numpy as np
from operation_checks import Cases, check, integers, run

from gingham import op


def test_shapes() -> None:
    x = integers(2, 3, 4)
    check(
        {
            "reshape": (lambda x: op.reshape(x, -1, 0, 2), x.reshape(4, 3, 2)),
            "list": (lambda x: op.reshape(x, [6, 4]), x.reshape(6, 4)),
            "flatten": (lambda x: op.flatten(x, 1), x.reshape(2, 12)),
            "all": (op.flatten, x.ravel()),
            "unflatten": (
                lambda x: op.unflatten(x, -1, [2, -1]),
                x.reshape(2, 3, 2, 2),
            ),
            "unsqueeze": (
                lambda x: op.unsqueeze(x, (0, -1)),
                np.expand_dims(x, (0, -1)),
            ),
            "squeeze": (
                lambda x: op.squeeze(op.reshape(x, 1, 6, 1, 4)),
                x.reshape(6, 4),
            ),
            "one": (
                lambda x: op.squeeze(op.reshape(x, 1, 6, 1, 4), -2),
                x.reshape(1, 6, 4),
            ),
            "transpose": (op.transpose, x.T),
            "order": (lambda x: op.transpose(x, (1, -1, 0)), x.transpose(1, 2, 0)),
            "swapaxes": (lambda x: op.swapaxes(x, 0, -1), x.swapaxes(0, -1)),
            "moveaxis": (lambda x: op.moveaxis(x, 0, -1), np.moveaxis(x, 0, -1)),
            "axes": (
                lambda x: op.moveaxis(x, (0, 1), (-1, 0)),
                np.moveaxis(x, (0, 1), (-1, 0)),
            ),
        },
        x,
    )


def test_broadcasting() -> None:
    x, y = integers(3, 1), integers(4)
    check(
        {
            "to": (
                lambda x, y: op.broadcast_to(x, (2, 3, 4)),
                np.broadcast_to(x, (2, 3, 4)),
            ),
            "kept": (
                lambda x, y: op.broadcast_to(x, (2, -1, 4)),
                np.broadcast_to(x, (2, 3, 4)),
            ),
            "both ways": (
                lambda x, y: op.broadcast_to(y, (3, 1)),
                np.broadcast_to(y, (3, 4)),
            ),
            "tensors": (op.broadcast_tensors, np.broadcast_arrays(x, y)),
        },
        x,
        y,
    )


def test_joining_and_splitting() -> None:
    x, y = integers(2, 3, 4), integers(2, 5, 4, seed=1)
    check(
        {
            "concatenate": (
                lambda x, y: op.concatenate([x, y, x], -2),
                np.concatenate([x, y, x], -2),
            ),
            "one": (lambda x, y: op.concatenate([x]), x),
            "stack": (lambda x, y: op.stack([x, x * 2], -1), np.stack([x, x * 2], -1)),
            "split": (lambda x, y: op.split(y, 2, 1), [y[:, :3], y[:, 3:]]),
            "sizes": (
                lambda x, y: op.split(y, [1, 3, 1], 1),
                [y[:, :1], y[:, 1:4], y[:, 4:]],
            ),
            "unstack": (lambda x, y: op.unstack(x, 1), [x[:, i] for i in range(3)]),
            "select": (lambda x, y: op.select_index(x, -2, 2), x[:, :, -2]),
        },
        x,
        y,
    )


def test_negative_zero_and_nan_are_kept() -> None:
    x = np.array([-0.0, np.nan, np.inf], np.float32)
    joined = np.asarray(run(lambda x: op.concatenate([x, x]), x))
    np.testing.assert_array_equal(np.signbit(joined[[0, 3]]), [True, True])
    np.testing.assert_array_equal(joined, np.concatenate([x, x]))


def test_slices() -> None:
    x = integers(5, 6, 7)
    check(
        {
            "steps": (
                lambda x: op.slice(
                    x, [-1, -1], [None, -5], axes=[2, 1], steps=[-2, -1]
                ),
                x[:, -1:-5:-1, -1::-2],
            ),
            "beyond": (
                lambda x: op.slice(x, [1, -100], [100, 3], axes=[0, 2]),
                x[1:100, :, -100:3],
            ),
            "first axes": (lambda x: op.slice(x, [1, 2], [4, -1]), x[1:4, 2:-1]),
            "one": (lambda x: op.slice(x, 2, None, steps=2), x[2::2]),
            "flip": (lambda x: op.flip(x, (0, -1)), np.flip(x, (0, -1))),
            "flip all": (op.flip, np.flip(x)),
            "roll": (lambda x: op.roll(x, -11), np.roll(x, -11)),
            "roll axes": (
                lambda x: op.roll(x, (1, -5), (0, 2)),
                np.roll(x, (1, -5), (0, 2)),
            ),
            "tile": (lambda x: op.tile(x, (2, 1, 1, 3)), np.tile(x, (2, 1, 1, 3))),
            "tile last": (lambda x: op.tile(x, 2), np.tile(x, 2)),
            "repeat": (lambda x: op.repeat(x, 3, -2), np.repeat(x, 3, -2)),
            "repeat all": (lambda x: op.repeat(x, 2), np.repeat(x, 2)),
        },
        x,
    )


def test_pads() -> None:
    x = integers(4, 5)
    pads = [(1, 0), (2, 3)]
    cases: Cases = {
        "constant": (
            lambda x: op.pad(x, pads, value=2.5),
            np.pad(x, pads, constant_values=2.5),
        ),
        "zeros": (lambda x: op.pad(x, 1), np.pad(x, 1)),
        "negative": (
            lambda x: op.pad(x, [(-1, 1), (2, -2)], value=-1),
            np.pad(x[1:, :-2], [(0, 1), (2, 0)], constant_values=-1),
        ),
        "axes": (lambda x: op.pad(x, 2, axes=[-1]), np.pad(x, [(0, 0), (2, 2)])),
        "reflect": (
            lambda x: op.pad(x, pads, "reflect"),
            np.pad(x, pads, "reflect"),
        ),
        "symmetric": (
            lambda x: op.pad(x, pads, "symmetric"),
            np.pad(x, pads, "symmetric"),
        ),
        "edge": (lambda x: op.pad(x, pads, "edge"), np.pad(x, pads, "edge")),
        "wrap": (lambda x: op.pad(x, pads, "wrap"), np.pad(x, pads, "wrap")),
    }
    check(cases, x)


def test_blocks_of_images() -> None:
    x = integers(2, 12, 3, 4)
    blocks = x.reshape(2, 2, 2, 3, 3, 4)
    by_depth = blocks.transpose(0, 3, 4, 1, 5, 2).reshape(2, 3, 6, 8)
    columns = x.reshape(2, 3, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3)
    by_column = columns.reshape(2, 3, 6, 8)
    check(
        {
            "DCR": (lambda x: op.depth_to_space(x, 2), by_depth),
            "CRD": (lambda x: op.depth_to_space(x, 2, "CRD"), by_column),
            "shuffle": (lambda x: op.pixel_shuffle(x, 2), by_column),
            "back": (lambda x: op.space_to_depth(op.depth_to_space(x, 2), 2), x),
            "unshuffle": (lambda x: op.pixel_unshuffle(op.pixel_shuffle(x, 2), 2), x),
            "last": (
                lambda x: op.depth_to_space(
                    op.moveaxis(x, 1, -1), 2, channels_last=True
                ),
                np.moveaxis(by_depth, 1, -1),
            ),
        },
        x,
    )
