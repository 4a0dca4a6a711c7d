"""The calls of `bench.soak`, each with the result that it has alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gingham

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Job = Callable[[int], Sequence[Array]]

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
CHAIN = """function (X[M, M]) -> (Z) {
  A[i, j : M, M] = +(X[i, k] * X[k, j]);
  B[i, j : M, M] = +(A[k, i] * A[j, k]);
  Z = exp(-B * B) + X;
}"""
SOFTMAX = """function (X[M, N]) -> (Y) {
  L[i, 0 : M, 1] = >(X[i, j]);
  E = exp(X - L);
  S[i, 0 : M, 1] = +(E[i, j]);
  Y = E / S;
}"""
CONVOLUTION = """function (I[N, X, C], K[W, C, D]) -> (O) {
  O[n, x, d : N, X - W + 1, D] = +(I[n, x + w, c] * K[w, c, d]);
}"""
TWO = "function (X[N]) -> (S, Y) { S[] = +(X[i]); Y = X * X + 1; }"
LAYER = """function (I[M, N], K[N, L]) -> (O) {
  S[n : N] = +(K[n, l]);
  O = I * S;
}"""
STEP = "function (T) -> (N) { N = T + 1; }"


class Jobs:
    """Calls by name, for seeds below `seeds`."""

    seeds = 6

    def __init__(self, devices: Sequence[str]) -> None:
        self._here, self._there = _two_devices(devices)
        self._compile()
        self._context = gingham.plaidml.Context()
        self._device = gingham.plaidml.Device(self._context, self._here.name)
        self._scale = gingham.plaidml.Function("function (X, F) -> (Y) { Y = X * F; }")
        self._shared = _tensor(self._context, self._device, _numbers(0, 40, 40))
        jobs: Sequence[Job] = (
            self._numpy,
            self._numpy_out,
            self._arrays,
            self._arrays_out,
            self._chain,
            self._two_results,
            self._dropped,
            self._constants,
            self._across,
            self._einsum,
            self._plaidml,
            self._views,
        )
        self._jobs = {job.__name__.strip("_"): job for job in jobs}
        self.names = list(self._jobs)
        self._expected = {
            (name, seed): [part.copy() for part in job(seed)]
            for name, job in self._jobs.items()
            for seed in range(self.seeds)
        }

    def check(self, name: str, seed: int) -> str | None:
        """Call once more: None where it gives the same bits."""
        results = self._jobs[name](seed)
        for number, (result, expected) in enumerate(
            zip(results, self._expected[name, seed], strict=True)
        ):
            if result.shape != expected.shape or result.dtype != expected.dtype:
                return f"result {number} has another type"
            if result.tobytes() != expected.tobytes():
                return f"result {number} has other bits"
        return None

    def _compile(self) -> None:
        here, there = self._here, self._there
        self._product = gingham.compile(PRODUCT, device=here)
        self._product_there = gingham.compile(PRODUCT, device=there)
        self._powers = gingham.compile(CHAIN, device=here)
        self._softmax = gingham.compile(SOFTMAX, device=here)
        self._softmax_there = gingham.compile(SOFTMAX, device=there)
        self._convolution = gingham.compile(CONVOLUTION, device=here)
        self._two = gingham.compile(TWO, device=here)
        self._layer = gingham.compile(LAYER, device=here, constants=["K"])
        self._step = gingham.compile(STEP, device=here)

    # Each is a job

    def _numpy(self, seed: int) -> Sequence[Array]:
        image, kernel = _numbers(seed, 2, 30 + seed, 5), _numbers(seed, 3, 5, 7)
        return [self._convolution(image, kernel), self._powers(_numbers(seed, 33, 33))]

    def _numpy_out(self, seed: int) -> Sequence[Array]:
        import numpy as np

        x = _numbers(seed, 17, 65)
        out = np.empty_like(x)
        return [self._softmax(x, out=out)]

    def _arrays(self, seed: int) -> Sequence[Array]:
        a = gingham.asarray(_numbers(seed, 20 + seed, 31), self._here)
        b = gingham.asarray(_numbers(seed, 31, 18), self._here)
        return [self._product(a, b).numpy()]

    def _arrays_out(self, seed: int) -> Sequence[Array]:
        import numpy as np

        x = gingham.asarray(_numbers(seed, 50, 60), self._here)
        out = gingham.asarray(np.empty((50, 60), np.float32), self._here)
        for _ in range(3):
            self._softmax(x, out=out)
            self._softmax(out, out=x)
        return [x.numpy(), out.numpy()]

    def _chain(self, seed: int) -> Sequence[Array]:
        x = gingham.asarray(_numbers(seed, 24, 24), self._here)
        for _ in range(4):
            x = self._softmax(self._product(x, self._powers(x)))
        return [x.numpy()]

    def _two_results(self, seed: int) -> Sequence[Array]:
        x = gingham.asarray(_numbers(seed, 1000 + 100 * seed), self._here)
        total, squares = self._two(x)
        with squares:
            return [total.numpy(), self._step(squares).numpy()]

    def _dropped(self, seed: int) -> Sequence[Array]:
        x = gingham.asarray(_numbers(seed, 40, 40), self._here, copy=True)
        for _ in range(8):
            self._powers(x)
        y = self._powers(x)
        del x
        return [y.numpy()]

    def _constants(self, seed: int) -> Sequence[Array]:
        weights = self._step(gingham.asarray(_numbers(seed, 12, 9), self._here))
        inputs = _numbers(seed, 8, 12)
        first = self._layer(inputs, weights)
        return [first.numpy(), self._layer(inputs, _numbers(seed + 1, 12, 9))]

    def _across(self, seed: int) -> Sequence[Array]:
        x = y = gingham.asarray(_numbers(seed, 30, 30), self._here)
        for step in range(4):
            y = self._softmax_there(x.to(self._there, True if step % 2 else None))
            z = self._product_there(y, y)
            x = self._softmax(z.to(self._here))
        return [x.numpy(), y.numpy()]

    def _einsum(self, seed: int) -> Sequence[Array]:
        a, b = _numbers(seed, 6, 8, 5), _numbers(seed, 6, 5, 4)
        x = gingham.asarray(a, self._here)
        product = gingham.einsum("bij,bjk->bik", x, b)
        return [product.numpy(), gingham.einsum("bij,bjk->ik", a, b, device=self._here)]

    def _plaidml(self, seed: int) -> Sequence[Array]:
        ctx, dev = self._context, self._device
        y = gingham.plaidml.Tensor(dev, gingham.plaidml.Shape(ctx, "float32", 40, 40))
        inputs = {"X": self._shared, "F": seed + 1}
        gingham.plaidml.run(ctx, self._scale, inputs, {"Y": y})
        for _ in range(3):
            gingham.plaidml.run(ctx, self._scale, {"X": y, "F": 0.5}, {"Y": y})
        return [y.as_ndarray(ctx)]

    def _views(self, seed: int) -> Sequence[Array]:
        ctx = self._context
        x = _tensor(ctx, self._device, _numbers(seed, 30))
        y = gingham.plaidml.Tensor(
            self._device, gingham.plaidml.Shape(ctx, "float32", 30)
        )
        gingham.plaidml.run(ctx, self._scale, {"X": x, "F": 3}, {"Y": y})
        with self._shared.mmap_current(ctx) as view:
            first = float(view[0])
        with y.mmap_current(ctx) as view:
            view[0] = first
            view.writeback()
        gingham.plaidml.run(ctx, self._scale, {"X": y, "F": 2}, {"Y": x})
        return [x.as_ndarray(ctx), y.as_ndarray(ctx)]


def _numbers(seed: int, *shape: int) -> Array:
    import numpy as np

    generator = np.random.default_rng([seed, *shape])
    return generator.standard_normal(shape, np.float32)


def _tensor(
    ctx: gingham.plaidml.Context, dev: gingham.plaidml.Device, array: Array
) -> gingham.plaidml.Tensor:
    tensor = gingham.plaidml.Tensor(
        dev, gingham.plaidml.Shape(ctx, "float32", *array.shape)
    )
    with tensor.mmap_discard(ctx) as view:
        view.copy_from_ndarray(array)
        view.writeback()
    return tensor


def _two_devices(names: Sequence[str]) -> tuple[gingham.Device, gingham.Device]:
    """Those of these names, else what there is: two devices, or one twice."""
    if names:
        found = [gingham.device(name) for name in names]
    else:
        default = gingham.default_device()
        others = [d for d in gingham.devices() if d.has_buffers]
        found = [default, *(d for d in others if d is not default and not d.failure())]
    return found[0], found[min(1, len(found) - 1)]
