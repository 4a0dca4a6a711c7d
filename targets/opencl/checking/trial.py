"""Builds of a program are tried until one gives what it should."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....errors import GinghamError, warn
from ...reference import UnknownOperationError
from ..compiled import CompiledCode
from ..executor import OpenCLExecutable
from .builds import safe_builds, unoptimised
from .expectation import Expectation, Mismatch, expectation
from .opinion import Opinion
from .rehearsal import replacement
from .reproducer import write_reproducer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...backend import Executable, Subject
    from ..devices.device import OpenCLDevice

    Array = NDArray[Any]

_ROUNDING = 1e-3
"""What all builds are off by is rounding up to this, relative to the largest value."""


class WrongKernelWarning(UserWarning):
    """A device's compiler has made a kernel wrong, and another build is used."""


def ending(
    subject: Subject,
    device: OpenCLDevice,
    code: CompiledCode,
    inputs: Sequence[Array],
) -> CompiledCode:
    """The code, or a safer build where its kernels are found never to end.

    Warns of those.
    """
    found = replacement(device, code, inputs)
    if found is None:
        return code
    message = f"'{subject.title}': its kernels {found.fault} on {_described(device)}"
    shown = write_reproducer(device, code, message, subject.lowered, inputs)
    warn(
        f"{message}; kernels built {found.how} end, and are used instead\n{shown}",
        WrongKernelWarning,
    )
    return found.code


def tried(
    subject: Subject,
    device: OpenCLDevice,
    code: CompiledCode,
    inputs: Sequence[Array],
    results: Sequence[Array],
    attempt: Callable[[CompiledCode], Sequence[Array]],
) -> None:
    """Check results of some code; where they are wrong, have a safer build attempted.

    `attempt` runs other code on the same inputs from now on; what it ran last is right
    when this returns. Warns of a wrong build. Raises GinghamError where all are wrong.
    """
    trial = _Trial(subject, device, code, inputs)
    found = trial.mismatch(results)
    if found is None:
        subject.keep(replace(code, is_checked=True))
        return
    wrong = [found]
    for how, build in safe_builds(code, device):
        again = attempt(build)
        other = trial.mismatch(again)
        if other is None:
            subject.keep(replace(build, is_checked=True))
            warn(trial.warning(found, how), WrongKernelWarning)
            return
        wrong.append(other)
    if trial.is_rounding(wrong):
        attempt(code)
        subject.keep(replace(code, is_checked=True))
        return
    raise trial.error(found)


class _Trial:
    """A program on the inputs of its first call."""

    def __init__(
        self,
        subject: Subject,
        device: OpenCLDevice,
        code: CompiledCode,
        inputs: Sequence[Array],
    ) -> None:
        self._subject = subject
        self._device = device
        self._code = code
        self._inputs = inputs
        self._expectation = self._expect()
        self._opinions: dict[str, Opinion | None] = {}

    def _expect(self) -> Expectation:
        subject = self._subject
        try:
            module = subject.flattened()
            return expectation(module, self._inputs, fast_math=subject.fast_math)
        except UnknownOperationError as error:
            every = range(len(subject.output_names))
            return Expectation((), dict.fromkeys(every, error.message))

    def mismatch(self, results: Sequence[Array]) -> Mismatch | None:
        """A cell of the results that is wrong, if there is one."""
        found = self._expectation.mismatch(results)
        unknown = self._expectation.unknown
        if found is not None or not unknown:
            return found
        # Who agrees with one of two is not alone.
        for ask in (self._another_compiler, self._unoptimised):
            opinion = self._opinion_by(ask)
            if opinion is not None:
                found = opinion.disagreement(results, unknown)
                if found is None:
                    break
        return found

    def _opinion_by(self, ask: Callable[[], Executable | None]) -> Opinion | None:
        name = ask.__name__
        if name not in self._opinions:
            asked = ask()
            given = None if asked is None else Opinion(asked, self._inputs)
            self._opinions[name] = given
        return self._opinions[name]

    def _another_compiler(self) -> Executable | None:
        """The same kernels as another compiler builds them, where one can."""
        return self._subject.second_opinion()

    def _unoptimised(self) -> Executable:
        """The same kernels, built as they are written."""
        return OpenCLExecutable(unoptimised(self._code, self._device), self._device)

    def is_rounding(self, wrong: Sequence[Mismatch]) -> bool:
        """Whether all builds are off by little, in the same cell and by the same."""
        first = wrong[0]
        scale = max(
            (e.scale for e in self._expectation.outputs if e.output == first.output),
            default=0.0,
        )
        return all(
            each.cell == first.cell
            and each.output == first.output
            and each.distance <= _ROUNDING * scale
            for each in wrong
        )

    def warning(self, found: Mismatch, how: str) -> str:
        """What the user is told of a wrong build."""
        return (
            f"{self._described(found)}; kernels built {how} are right, and are used "
            f"instead\n{self._reproducer(found)}"
        )

    def error(self, found: Mismatch) -> GinghamError:
        """What the user is told where every build is wrong."""
        return GinghamError(
            f"{self._described(found)}, whether or not the device's compiler optimises",
            hint=f"{self._reproducer(found)}\nGINGHAM_DEVICE=reference runs it slowly",
        )

    def _described(self, found: Mismatch) -> str:
        device, subject = self._device, self._subject
        name = subject.output_names[found.output]
        cell = ", ".join(map(str, found.cell))
        unknown = self._expectation.unknown.get(found.output)
        source = f"; so it is by other compilers ({unknown})" if unknown else ""
        return (
            f"'{subject.title}': {name}[{cell}] is {found.got} on "
            f"{_described(device)}, but it should be {found.wanted}, up to "
            f"{found.tolerance:.1e}{source}"
        )

    def _reproducer(self, found: Mismatch) -> str:
        return write_reproducer(
            self._device,
            self._code,
            self._described(found),
            self._subject.lowered,
            self._inputs,
        )


def _described(device: OpenCLDevice) -> str:
    version = device.details.driver_version
    return f"{device.name} ({device.description}, driver {version})"
