"""The pages of the site in the order of its navigation, by headings."""

from __future__ import annotations

HOME = "README"

NAVIGATION: dict[str, tuple[str, ...]] = {
    "Begin": ("docs/index", "docs/tutorial"),
    "The language": (
        "docs/language",
        "docs/edsl",
        "docs/operations",
        "docs/networks",
        "docs/einsum",
        "docs/special-functions",
        "docs/gradients",
        "docs/semantics",
    ),
    "Running programs": (
        "docs/onnx",
        "docs/torch",
        "docs/keras",
        "docs/arrays",
        "docs/calling",
        "docs/cache",
        "docs/placement",
        "docs/profiling",
        "docs/checking",
        "docs/accuracy",
        "docs/settings",
        "docs/plaidml",
    ),
    "The compiler": (
        "ARCHITECTURE",
        "docs/fusion",
        "docs/cost-model",
        "docs/tuning",
        "docs/schedules",
        "docs/work-groups",
        "docs/gpu",
        "docs/benchmarks",
    ),
    "Changing it": (
        "docs/write-your-own-pass",
        "docs/extend",
        "docs/backends",
        "CONTRIBUTING",
    ),
    "Reference": (
        "docs/functions",
        "docs/onnx-operators",
        "docs/torch-operators",
        "docs/dialects",
        "docs/passes",
        "docs/hardware",
        "docs/errors",
        "docs/limits",
        "docs/glossary",
    ),
    "Project": ("CHANGELOG", "SECURITY"),
}
"""Paths from the root of the repository, without the suffix `.md`."""


def contents() -> str:
    """The navigation as tables of contents in MyST, for the end of the home page."""
    return "".join(
        f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n"
        + "\n".join(f"/{page}" for page in pages)
        + "\n```"
        for caption, pages in NAVIGATION.items()
    )
