"""Processes that do for this one what it cannot, or should not, do by itself.

A process gets requests through its input, a line of JSON and what belongs to it, and
answers each by a line with a length, and so many bytes. It ends when its input does.
Those that have nothing to do end after a while.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

from ...cores import core_count
from ...free_memory import host_memory

if TYPE_CHECKING:
    from ..handles.handle import DeviceHandle

_MOST = 7
_MEMORY_OF_ONE = 512 << 20
"""What Intel's compiler takes, with what it needs for a large kernel."""
_IDLE_SECONDS = 20.0
_EXPECTED_SECONDS = 100.0
"""What they may have to wait until the passes are done."""
_STARTING_SECONDS = 60.0


class HelperProcess(ABC):
    """One process; for one thread at a time."""

    module: str
    """What it runs: a module that calls `serve`."""

    def __init__(self) -> None:
        """Raises OSError where no process can be started."""
        self.is_warm = False
        """Whether it has done something: its driver is there."""
        self.idle_since = 0.0
        self._has_begun = False
        self._process = subprocess.Popen(
            _command(self.module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # The package may have been found by what a program did to its path.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            # Ctrl-C is for this process, whose end is theirs.
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The number that the operating system has for it."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether there is no process any more."""
        return self._process.poll() is not None

    @abstractmethod
    def trial(self, device: DeviceHandle) -> bytes:
        """A small request that is answered by something, where the process works."""

    def begin(self, device: DeviceHandle) -> None:
        """Let it load its driver meanwhile. Raises OSError where it has ended."""
        if not self._has_begun:
            self._has_begun = True
            self._send([self.trial(device)])

    def warm_up(self, device: DeviceHandle) -> None:
        """Wait until its driver is there. Raises OSError where it is of no use."""
        if self.is_warm:
            return
        with self._ended_after(_STARTING_SECONDS):
            self.begin(device)
            if not self._received():
                raise BrokenPipeError
        self.is_warm = True

    def ask(self, *parts: bytes | memoryview, seconds: float | None = None) -> bytes:
        """The answer to a request.

        Raises OSError where the process has ended, TimeoutError where it was ended as
        it took longer than so many seconds.
        """
        with self._ended_after(seconds):
            self._send(parts)
            return self._received()

    @contextmanager
    def _ended_after(self, seconds: float | None) -> Generator[None]:
        """Let the process not take longer; where it does, TimeoutError is raised."""
        if seconds is None:
            yield
            return
        is_late = Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        limit = Timer(seconds, end)
        limit.daemon = True
        limit.start()
        try:
            yield
        except OSError as error:
            if is_late.is_set():
                raise TimeoutError from error
            raise
        finally:
            limit.cancel()
            limit.join()
        if is_late.is_set():
            # Its answer came, but it is gone.
            raise TimeoutError

    def _send(self, parts: Iterable[bytes | memoryview]) -> None:
        stream = self._process.stdin
        if stream is None:
            raise BrokenPipeError
        for part in parts:
            stream.write(part)
        stream.flush()

    def _received(self) -> bytes:
        stream = self._process.stdout
        if stream is None:
            raise BrokenPipeError
        head = stream.readline()
        if not head.strip().isdigit():
            raise BrokenPipeError
        size = int(head)
        answer = stream.read(size)
        if len(answer) != size:
            raise BrokenPipeError
        return answer

    def end(self) -> None:
        """End the process, which does nothing or is not worth waiting for."""
        with suppress(OSError):
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()


Kind = TypeVar("Kind", bound=HelperProcess)


class Helpers(Generic[Kind]):
    """The processes of one kind that this process has; for several threads."""

    def __init__(self, kind: Callable[[], Kind]) -> None:
        self._kind = kind
        self._lock = Lock()
        self._owner = os.getpid()
        self._idle: list[Kind] = []
        self._all: set[Kind] = set()
        self._starting = 0
        self._works = True
        self._timer: Timer | None = None

    @property
    def warm_count(self) -> int:
        """How many wait for something to build."""
        return sum(helper.is_warm for helper in self._idle)

    def take(self, *, warm: bool = False) -> Kind | None:
        """A helper that nobody else has; with `warm` only one that is there already.

        None where there are as many as the machine has cores, or memory, for.
        """
        with self._lock:
            if os.getpid() != self._owner:
                # What the parent of this process has is not ours.
                self._owner, self._idle, self._all = os.getpid(), [], set()
            while self._idle:
                helper = self._idle.pop()
                if not helper.has_ended:
                    return helper
                self._all.discard(helper)
                helper.end()
            count = len(self._all) + self._starting
            if warm or not self._works or not _has_room(count):
                return None
            self._starting += 1
        try:
            return self._started()
        finally:
            with self._lock:
                self._starting -= 1

    def _started(self) -> Kind | None:
        try:
            helper = self._kind()
        except OSError:
            self._works = False
            return None
        with self._lock:
            if not self._all:
                atexit.register(self.end_all)
            self._all.add(helper)
        return helper

    def expect(self, device: DeviceHandle) -> None:
        """Start one for each other core: there will be much for them to do soon."""
        taken: list[Kind] = []
        while len(taken) < core_count() - 1 and (helper := self.take()) is not None:
            try:
                helper.begin(device)
            except (OSError, ValueError):
                self.lose(helper)
                break
            taken.append(helper)
        for helper in taken:
            self.give_back(helper, _EXPECTED_SECONDS)

    def give_back(self, helper: Kind, seconds: float = 0.0) -> None:
        """Let others have it, who may take so long until they ask for it."""
        helper.idle_since = time.monotonic() + seconds
        with self._lock:
            self._idle.append(helper)
            self._watch()

    def lose(self, helper: Kind) -> None:
        """Let go of one that does not work.

        Where one has not come as far as its first answer, no more are started.
        """
        self._works = self._works and helper.is_warm
        self._end([helper])

    def end_idle(self, seconds: float = 0.0) -> None:
        """End those that have had nothing to do for so long."""
        latest = time.monotonic() - seconds
        with self._lock:
            self._timer = None
            gone = [each for each in self._idle if each.idle_since <= latest]
            self._idle = [each for each in self._idle if each.idle_since > latest]
            self._watch()
        self._end(gone)

    def end_all(self) -> None:
        """End all, whatever they do."""
        with self._lock:
            self._idle = []
            everyone = [*self._all] if os.getpid() == self._owner else []
        self._end(everyone)

    def _end(self, gone: Sequence[Kind]) -> None:
        with self._lock:
            self._all.difference_update(gone)
        for helper in gone:
            helper.end()

    def _watch(self) -> None:
        """See to it that idle ones end; the lock is held."""
        if self._timer is None and self._idle:
            self._timer = Timer(_IDLE_SECONDS, self.end_idle, [_IDLE_SECONDS / 2])
            self._timer.daemon = True
            self._timer.start()


def _command(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def _has_room(count: int) -> bool:
    """Whether one more than these is of use."""
    is_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    if not is_python or count >= max(1, min(_MOST, core_count() - 1)):
        return False
    memory = host_memory()
    return memory is None or memory.available > 2 * _MEMORY_OF_ONE


def serve(answered: Callable[[bytes, BinaryIO], bytes]) -> None:
    """Answer the requests to this process until there are no more.

    `answered` gets the line of a request, and reads what belongs to it.
    """
    # A driver may print.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answer_all(answered, sys.stdin.buffer, answers)


def answer_all(
    answered: Callable[[bytes, BinaryIO], bytes], requests: BinaryIO, answers: BinaryIO
) -> None:
    """As `serve`, from and to streams."""
    for line in requests:
        answer = answered(line, requests)
        answers.write(b"%d\n" % len(answer) + answer)
        answers.flush()
