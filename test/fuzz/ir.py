"""IR: files of the lit tests with changes, verified, printed, read again and run."""

from __future__ import annotations

import re
from functools import cached_property
from random import Random

from gingham.tools import run
from gingham.tools.optimizer import driver

from .cases import ROOT, Case, Finding, run_command
from .mutations import mutated

_RUN = re.compile(r"^// (RUN|CHECK|[A-Z-]+).*$", re.MULTILINE)


class IrFuzzer:
    """Mutated .mlir of the tests."""

    name = "ir"

    @cached_property
    def corpus(self) -> list[str]:
        """The modules of the lit tests, without their commands."""
        texts: list[str] = []
        for path in sorted((ROOT / "test").rglob("*.mlir")):
            parts = re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)
            texts += [_RUN.sub("", part).strip() + "\n" for part in parts]
        return [text for text in texts if text.strip()]

    def draw(self, random: Random) -> Case:
        """A mutated module."""
        text = mutated(random.choice(self.corpus), self.corpus, random)
        options = random.choice(
            ((), (), ("--allow-unregistered-dialect",), ("--split-input-file",))
        )
        content = text.encode(errors="surrogatepass")
        return Case({"case.mlir": content}, options)

    def run(self, case: Case) -> None:
        """Read, verify and print it; what was printed again; run `@main`."""
        options = case.options
        status, text = run_command(driver.run, ["case.mlir", *options])
        if status:
            return
        for form in ((), ("--print-op-generic",), ("--print-debuginfo",)):
            check_round_trip(form, options)
        if "@main" in text:
            run_command(run.main, ["case.mlir", "--device=reference"])


def check_round_trip(form: tuple[str, ...], options: tuple[str, ...]) -> None:
    """What is printed of `case.mlir` is read again, and printed in the same way.

    Not at once: values may get other names when names have been lost.
    """
    arguments = [*options, *form]
    _, text = run_command(driver.run, ["case.mlir", *arguments])
    kind = f"round trip {' '.join(form)}".strip()
    before = ""
    for _ in range(3):
        before = text
        with open("printed.mlir", "w", encoding="utf-8") as file:
            file.write(before)
        try:
            status, text = run_command(driver.run, ["printed.mlir", *arguments])
        except Finding as finding:
            raise Finding(kind, finding.message) from finding
        if status:
            raise Finding(kind, f"this is not read again:\n{before}")
        if text == before:
            return
    raise Finding(kind, f"{before}\n{text}")
