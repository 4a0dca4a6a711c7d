"""Chains and parts of networks, where it pays to keep values near."""

from __future__ import annotations

from .case import Case, dimensions


def multiply_add(elements: int) -> Case:
    """One multiplication and one addition of each element."""
    shape = (elements,)
    return Case(
        f"a * b + c, {elements} elements",
        "fused",
        "function (A[N], B[N], C[N]) -> (Y) { Y = A * B + C; }",
        {"A": shape, "B": shape, "C": shape},
        {"Y": shape},
        "multiply_add",
    )


def negation(elements: int) -> Case:
    """What a copy takes: one number is read for each that is written."""
    shape = (elements,)
    return Case(
        f"-a, {elements} elements",
        "fused",
        "function (A[N]) -> (Y) { Y = -A; }",
        {"A": shape},
        {"Y": shape},
        "negation",
        tolerance=0.0,
    )


def chain(elements: int, calls: int) -> Case:
    """Calls of a small function, each with the result of the one before."""
    shape = (elements,)
    return Case(
        f"{calls} calls of x * a + b, {elements} elements",
        "chains",
        "function (X[N], A[N], B[N]) -> (Y) { Y = X * A + B; }",
        {"X": shape, "A": shape, "B": shape},
        {"Y": shape},
        "chain",
        {"calls": calls},
    )


def gelu(elements: int) -> Case:
    """An element-wise chain: the tanh form of gelu, of `a * b + c`."""
    shape = (elements,)
    return Case(
        f"gelu(a * b + c), {elements} elements",
        "fused",
        "function (A[N], B[N], C[N]) -> (Y) {"
        " X = A * B + C;"
        " Y = 0.5 * X * (1.0 + tanh(0.7978846 * X * (1.0 + 0.044715 * X * X))); }",
        {"A": shape, "B": shape, "C": shape},
        {"Y": shape},
        "gelu",
    )


def attention(heads: int, length: int, width: int) -> Case:
    """Scaled dot-product attention of each head."""
    shape = (heads, length, width)
    return Case(
        f"attention {dimensions(*shape)}",
        "fused",
        "function (Q[H, L, D], K[H, M, D], V[H, M, D]) -> (O) {"
        " S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);"
        f" T = S * {width**-0.5};"
        " Top[h, q, 0 : H, L, 1] = >(T[h, q, k]);"
        " E = exp(T - Top);"
        " Sum[h, q, 0 : H, L, 1] = +(E[h, q, k]);"
        " P = E / Sum;"
        " O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]); }",
        {"Q": shape, "K": shape, "V": shape},
        {"O": shape},
        "attention",
        by_rows=("Q", "K", "V"),
        flops=4.0 * heads * length * length * width,
    )


def bottleneck(size: int, wide: int, narrow: int) -> Case:
    """A block of a residual network: 1x1, 3x3 and 1x1 convolutions and the input."""
    return Case(
        f"bottleneck {wide}-{narrow} at {size}",
        "fused",
        "function (I[N, X, Y, C], K1[C, D], B1[D], K2[KX, KY, D, D2], B2[D2],"
        " K3[D2, C3], B3[C3]) -> (O) {"
        " A1[n, x, y, d : N, X, Y, D] = +(I[n, x, y, c] * K1[c, d]);"
        " P1 = A1 + B1; R1 = (P1 > 0.0 ? P1 : 0.0);"
        " A2[n, x, y, d : N, X, Y, D2] ="
        " +(R1[n, x + i - 1, y + j - 1, c] * K2[i, j, c, d]);"
        " P2 = A2 + B2; R2 = (P2 > 0.0 ? P2 : 0.0);"
        " A3[n, x, y, c : N, X, Y, C3] = +(R2[n, x, y, d] * K3[d, c]);"
        " P3 = A3 + B3 + I; O = (P3 > 0.0 ? P3 : 0.0); }",
        {
            "I": (1, size, size, wide),
            "K1": (wide, narrow),
            "B1": (narrow,),
            "K2": (3, 3, narrow, narrow),
            "B2": (narrow,),
            "K3": (narrow, wide),
            "B3": (wide,),
        },
        {"O": (1, size, size, wide)},
        "bottleneck",
        constants=("K1", "B1", "K2", "B2", "K3", "B3"),
        flops=2.0 * size * size * (2 * wide * narrow + 9 * narrow * narrow),
    )


def lstm_cell(batch: int, inputs: int, hidden: int) -> Case:
    """One step of a long short-term memory: the new output and the new state."""
    gates = " ".join(
        f"{name}[b, h : B, H] = =(G[b, {number}, h]);"
        for number, name in enumerate(("GI", "GF", "GG", "GO"))
    )
    return Case(
        f"LSTM cell {dimensions(batch, inputs, hidden)}",
        "fused",
        "function (X[B, N], S[B, H], C[B, H], W[N, G4, H], U[H, G4, H], Bias[G4, H])"
        " -> (NewS, NewC) {"
        " XW[b, g, h : B, G4, H] = +(X[b, n] * W[n, g, h]);"
        " SU[b, g, h : B, G4, H] = +(S[b, n] * U[n, g, h]);"
        f" G = XW + SU + Bias; {gates}"
        " NewC = 1.0 / (1.0 + exp(-GF)) * C + 1.0 / (1.0 + exp(-GI)) * tanh(GG);"
        " NewS = 1.0 / (1.0 + exp(-GO)) * tanh(NewC); }",
        {
            "X": (batch, inputs),
            "S": (batch, hidden),
            "C": (batch, hidden),
            "W": (inputs, 4, hidden),
            "U": (hidden, 4, hidden),
            "Bias": (4, hidden),
        },
        {"NewS": (batch, hidden), "NewC": (batch, hidden)},
        "lstm_cell",
        constants=("W", "U", "Bias"),
        flops=8.0 * batch * hidden * (inputs + hidden),
    )


FUSED = (
    multiply_add(2**24),
    gelu(2**24),
    attention(8, 1024, 64),
    bottleneck(56, 256, 64),
    lstm_cell(64, 512, 512),
)
