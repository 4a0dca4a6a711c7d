"""Pipelines: passes in random orders and with random options, validated one by one."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from random import Random
from typing import Any, Final, get_type_hints

from gingham.passes import get_all_passes
from gingham.targets.hardware import HARDWARE_NAMES
from gingham.tools.optimizer import driver

from .cases import Case, run_command

PROGRAMS: Final = (
    ("A[M, K], B[K, N]", "C", "C[i, j : M, N] = +(A[i, k] * B[k, j]);", "mk,kn"),
    (
        "A[M, K], B[K, N], C[N]",
        "R",
        "P[i, j : M, N] = +(A[i, k] * B[k, j]); Z = P + C; R = Z < 0 ? 0 : Z;",
        "mk,kn,n",
    ),
    (
        "X[M, N]",
        "Y",
        "T[i, 0 : M, 1] = >(X[i, j]); E = exp(X - T); S[i, 0 : M, 1] = +(E[i, j]);"
        " Y = E / S;",
        "mn",
    ),
    (
        "X[M, N]",
        "Y, V",
        "S[i : M] = +(X[i, j]); Y = S / N; V[i : M] = +(X[i, j] * X[i, j]);",
        "mn",
    ),
    ("I[N], F[K]", "O", "O[x : N] = +(I[x + k - 1] * F[k]);", "n,k"),
    ("I[N, M]", "O", "O[x, c : N / 2, M] = >(I[2*x + k, c]), k < 2;", "nm"),
    ("I[N]", "O", "O[i : N] = +(I[k]), i - k < N;", "n"),
    ("A[N], B[M]", "S", "S[] = +(A[i] * B[j]);", "n,m"),
    ("A[M, N]", "T", "T[j, i : N, M] = =(A[i, j]);", "mn"),
    ("A[N]", "I, V", "I = argsort(A, 0); V = gather(A, I);", "n"),
    ("V[N, M], I[K]", "G", "G = gather(V, as_int(I, 32));", "nm,k"),
    ("I[K], V[K, M], S[N, M]", "O", "O = scatter(as_int(I, 32), V, S);", "k,km,nm"),
    ("A[M, N]", "B", "C = A * 2 + 1; D = C / (A * A + 3); B = D - C;", "mn"),
    (
        "X[M, K], W[K, N]",
        "G",
        "P[i, j : M, N] = +(X[i, k] * W[k, j]); L[] = +(P[i, j] * P[i, j]);"
        " G = gradient(L, W);",
        "mk,kn",
    ),
    (
        "I[N, H, W, C], K[A, B, C, D]",
        "O",
        "O[n, y, x, d : N, H, W, D] ="
        " +(I[n, y + a - 1, x + b - 1, c] * K[a, b, c, d]);",
        "nhwc,abcd",
    ),
)
"""Inputs, outputs, statements, and letters for the sizes: alike ones are one size."""

_SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
_NUMBERS: Final = (
    0,
    1,
    1,
    2,
    2,
    3,
    4,
    4,
    7,
    8,
    8,
    16,
    16,
    32,
    64,
    128,
    256,
    512,
    4096,
    -1,
)
_LOWERED: Final = (
    "tile-expand-gather,tile-differentiate,tile-canonicalize,tile-flatten,"
    "tile-canonicalize,lower-tile-to-stripe"
)


class PipelineFuzzer:
    """Passes of all levels on programs of all kinds."""

    name = "pipelines"

    @cached_property
    def passes(self) -> dict[str, list[str]]:
        """The names of our passes by their level."""
        names = sorted(get_all_passes())
        levels = ("tile", "stripe", "opencl")
        return {level: [n for n in names if n.startswith(level)] for level in levels}

    def draw(self, random: Random) -> Case:
        """A program, sizes for it, and a pipeline that begins with their binding."""
        inputs, outputs, body, letters = random.choice(PROGRAMS)
        text = f"function ({inputs}) -> ({outputs}) {{ {body} }}"
        sizes = {letter: random.choice(_SIZES) for letter in letters}
        element = random.choice(("f32", "f32", "f32", "si32", "f16", "f64", "ui8"))
        types = [
            "x".join([*(str(sizes[letter]) for letter in each), element])
            for each in letters.split(",")
        ]
        quoted = ",".join(f'"{each}"' for each in types)
        parts = [f"tile-specialize{{arguments={quoted}}}"]
        if random.random() < 0.2:
            parts += self.some("tile", random, 4)
        parts.append(_LOWERED)
        parts += self.some("stripe", random, 8)
        if random.random() < 0.6:
            parts += ["stripe-map", "lower-stripe-to-opencl"]
            parts += self.some("opencl", random, 4)
        return Case({"case.tile": f"{text}\n".encode()}, (",".join(parts),))

    def some(self, level: str, random: Random, most: int) -> list[str]:
        """Some passes of a level, with options."""
        return [
            self.with_options(random.choice(self.passes[level]), random)
            for _ in range(random.randint(0, most))
        ]

    def with_options(self, name: str, random: Random) -> str:
        """A pass with values for some of its options."""
        pass_class = get_all_passes()[name]()
        types = get_type_hints(pass_class)
        options: list[str] = []
        for field in dataclasses.fields(pass_class):
            is_required = field.default is dataclasses.MISSING
            if field.name == "name" or not (is_required or random.random() < 0.5):
                continue
            value = _value(field.name, types[field.name], random)
            if value is not None:
                options.append(f"{field.name}={value}")
        return f"{name}{{{' '.join(options)}}}" if options else name

    def run(self, case: Case) -> None:
        """Run the pipeline, with the program run after each pass."""
        (pipeline,) = case.options
        run_command(
            driver.run, ["case.tile", "--validate-each", f"--pass-pipeline={pipeline}"]
        )


def _value(name: str, declared: Any, random: Random) -> str | None:
    """A text for an option of that type; None where it is not known what fits."""
    text = str(declared)
    if name == "hardware":
        return f'"{random.choice(HARDWARE_NAMES)}"'
    if declared is bool or text.startswith("bool"):
        return random.choice(("true", "false"))
    if "tuple[int" in text:
        return ",".join(
            str(random.choice(_NUMBERS)) for _ in range(random.randint(1, 4))
        )
    if "int" in text:
        return str(random.choice(_NUMBERS))
    return str(random.choice((0.0, 0.5, 1.0, 1e9, -1.0))) if "float" in text else None
