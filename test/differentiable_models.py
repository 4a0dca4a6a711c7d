"""Tile programs that people train, each with the inputs of one step and a loss `L`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from gradients import Array


@dataclass(frozen=True)
class Model:
    """A program of one loss; `trained` are the inputs to differentiate by."""

    header: str
    body: str
    inputs: Callable[[np.random.Generator], list[Array]]
    trained: tuple[str, ...]
    torch: str = ""
    """The body of a Python function of the inputs, `F` being `torch.nn.functional`."""
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        declared = self.header.split("]") if "]" in self.header else [self.header]
        names = [part.strip(" ,").partition("[")[0] for part in declared]
        object.__setattr__(self, "names", tuple(name for name in names if name))

    @property
    def text(self) -> str:
        """The program without gradients."""
        return f"function ({self.header}) -> (L) {{\n{self.body}\n}}"

    @property
    def with_gradients(self) -> str:
        """The program with the gradients by the trained inputs as further outputs."""
        results = [f"D{name}" for name in self.trained]
        statements = "\n".join(f"  D{n} = gradient(L, {n});" for n in self.trained)
        outputs = ", ".join(["L", *results])
        return (
            f"function ({self.header}) -> ({outputs}) {{\n{self.body}\n{statements}\n}}"
        )


def normal(*shape: int) -> Callable[[np.random.Generator], Array]:
    return lambda random: np.asarray(random.normal(size=shape) * 0.7)


def uniform(*shape: int) -> Callable[[np.random.Generator], Array]:
    return lambda random: np.asarray(random.uniform(0.3, 1.7, size=shape))


def one_hot(*shape: int) -> Callable[[np.random.Generator], Array]:
    return lambda random: np.eye(shape[1])[random.integers(0, shape[1], shape[0])]


def numbers(below: int, *shape: int) -> Callable[[np.random.Generator], Array]:
    return lambda random: random.integers(0, below, shape).astype(np.int32)


def each(
    *makers: Callable[[np.random.Generator], Array],
) -> Callable[[np.random.Generator], list[Array]]:
    return lambda random: [make(random) for make in makers]


MODELS: dict[str, Model] = {
    "perceptron": Model(
        "X[N, D], W1[D, H], B1[H], W2[H, C], B2[C], T[N, C]",
        """
  Y1[i, j : N, H] = +(X[i, k] * W1[k, j]);
  A = tanh(Y1 + B1);
  Y2[i, j : N, C] = +(A[i, k] * W2[k, j]);
  E = sigmoid(Y2 + B2) - T;
  S = E * E;
  L[] = +(S[i, j]);""",
        each(
            normal(5, 4), normal(4, 6), normal(6), normal(6, 3), normal(3), normal(5, 3)
        ),
        ("X", "W1", "B1", "W2", "B2"),
        "return ((torch.sigmoid(torch.tanh(X @ W1 + B1) @ W2 + B2) - T) ** 2).sum()",
    ),
    "convolution": Model(
        "X[N, H, W, CI], K[KH, KW, CI, CO], B[CO]",
        """
  O[n, x, y, c : N, (H + 1) / 2, (W + 1) / 2, CO] =
      +(X[n, 2 * x + i - 1, 2 * y + j - 1, d] * K[i, j, d, c]);
  R = relu(O + B);
  P[n, x, y, c : N, (H + 1) / 4, (W + 1) / 4, CO] =
      >(R[n, 2 * x + i, 2 * y + j, c]), i < 2, j < 2;
  S = P * P;
  L[] = +(S[n, x, y, c]);""",
        each(normal(2, 9, 7, 2), normal(3, 3, 2, 3), normal(3)),
        ("X", "K", "B"),
        "O = F.conv2d(X.permute(0, 3, 1, 2), K.permute(3, 2, 0, 1), B, 2, 1)\n"
        "return (F.max_pool2d(F.relu(O), 2) ** 2).sum()",
    ),
    "cross_entropy": Model(
        "X[N, C], T[N, C]",
        """
  M[i, 0 : N, 1] = >(X[i, j]);
  E = exp(X - M);
  S[i, 0 : N, 1] = +(E[i, j]);
  P = (X - M - log(S)) * T;
  Q[] = +(P[i, j]);
  L = -Q;""",
        each(normal(6, 4), one_hot(6, 4)),
        ("X",),
        "return F.cross_entropy(X, T, reduction='sum')",
    ),
    "layer_norm": Model(
        "X[N, D], G[D], B[D], T[N, D]",
        """
  M[i, 0 : N, 1] = +(X[i, j]);
  C = X - M / D;
  C2 = C * C;
  V[i, 0 : N, 1] = +(C2[i, j]);
  Y = C / sqrt(V / D + 0.00001) * G + B;
  Z = Y * T;
  L[] = +(Z[i, j]);""",
        each(normal(5, 7), normal(7), normal(7), normal(5, 7)),
        ("X", "G", "B"),
        "return (F.layer_norm(X, (X.shape[1],), G, B) * T).sum()",
    ),
    "attention": Model(
        "Q[N, D], K[M, D], V[M, E], T[N, E]",
        """
  S0[i, j : N, M] = +(Q[i, d] * K[j, d]);
  S = S0 / sqrt(D * 1.0);
  H[i, 0 : N, 1] = >(S[i, j]);
  P = exp(S - H);
  Z[i, 0 : N, 1] = +(P[i, j]);
  A = P / Z;
  O[i, e : N, E] = +(A[i, j] * V[j, e]);
  U = O * T;
  L[] = +(U[i, e]);""",
        each(normal(4, 3), normal(6, 3), normal(6, 5), normal(4, 5)),
        ("Q", "K", "V"),
        "return (F.scaled_dot_product_attention(Q, K, V) * T).sum()",
    ),
    "lstm_cell": Model(
        "X[N, D], H[N, S], C[N, S], W[D, G], U[S, G], B[G]",
        """
  XW[i, j : N, G] = +(X[i, k] * W[k, j]);
  HU[i, j : N, G] = +(H[i, k] * U[k, j]);
  A = XW + HU + B;
  AI[i, j : N, S] = =(A[i, j]);
  AF[i, j : N, S] = =(A[i, j + S]);
  AG[i, j : N, S] = =(A[i, j + 2 * S]);
  AO[i, j : N, S] = =(A[i, j + 3 * S]);
  C2 = sigmoid(AF) * C + sigmoid(AI) * tanh(AG);
  H2 = sigmoid(AO) * tanh(C2);
  R = H2 * H2 + C2;
  L[] = +(R[i, j]);""",
        each(
            normal(3, 4),
            normal(3, 5),
            normal(3, 5),
            normal(4, 20),
            normal(5, 20),
            normal(20),
        ),
        ("X", "H", "C", "W", "U", "B"),
        "h, c = torch.lstm_cell(X, (H, C), W.T, U.T, B, torch.zeros_like(B))\n"
        "return (h * h + c).sum()",
    ),
    "embedding": Model(
        "E[V, D], I[N, M], W[D]",
        """
  R = gather(E, I) * W;
  Q = R * R;
  L[] = +(Q[n, m, d]);""",
        each(normal(7, 3), numbers(7, 4, 2), normal(3)),
        ("E", "W"),
        "return ((F.embedding(I.long(), E) * W) ** 2).sum()",
    ),
    "geometric_mean": Model(
        "X[N, M]",
        """
  P[i : N] = *(X[i, j]);
  Y = pow(P, 1.0 / M);
  L[] = +(Y[i]);""",
        each(uniform(4, 5)),
        ("X",),
        "return (X.prod(1) ** (1 / X.shape[1])).sum()",
    ),
}
