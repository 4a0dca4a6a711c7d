"""Who may use a resource now: views and runs, each in the order in which it asked.

A claim names resources that it reads or writes. It is granted when no earlier claim
that is still there writes what it reads, or uses what it writes; so those who only read
share. All resources of a claim are asked for at once, hence two claims never wait for
each other. What can wait for itself is a thread that holds something; `Claim.wait`
finds that out and raises `WouldDeadlock`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping


class WouldDeadlock(Exception):
    """What a thread wants to wait for waits for what the thread itself holds."""

    def __init__(self, held: Claim) -> None:
        super().__init__(f"waits for {held.name}")
        self.held = held


class Resource:
    """Something that is used by one claim at a time, or by many that read it."""

    def __init__(self) -> None:
        self.queue: list[Claim] = []
        """The claims that are not released, in order."""


class Claim:
    """The wish to use resources: `uses` says of each whether it is written.

    `holder` is the thread that can release it, None for a run, which releases itself.
    `on_grant` is called once, in the thread that makes it possible.
    """

    def __init__(
        self,
        name: str,
        uses: Mapping[Resource, bool],
        on_grant: Callable[[], None],
        holder: int | None = None,
    ) -> None:
        self.name = name
        self.holder = holder
        self.is_granted = False
        self._uses = dict(uses)
        self._on_grant = on_grant
        self._changed = threading.Condition(_lock)

    def enter(self) -> None:
        """Stand in line, behind all that is there already.

        Raises WouldDeadlock, and leaves again, if the running thread holds one of the
        resources.
        """
        with _lock:
            mine = threading.get_ident()
            for other in self._before(self._uses):
                if other.is_granted and other.holder == mine:
                    raise WouldDeadlock(other)
            for resource in self._uses:
                resource.queue.append(self)
            granted = self._grant_if_possible()
        if granted:
            self._on_grant()

    def wait(self) -> None:
        """Block until it is granted.

        Raises WouldDeadlock, and releases it, if that would be never.
        """
        mine = threading.get_ident()
        with _lock:
            _waiting[mine] = self
            try:
                while not self.is_granted:
                    held = self._held_by(mine, set())
                    if held is not None:
                        granted = self._leave()
                        break
                    self._changed.wait()
                else:
                    return
            finally:
                del _waiting[mine]
        for claim in granted:
            claim.granted()
        raise WouldDeadlock(held)

    def release(self) -> None:
        """Let those behind have their turn."""
        with _lock:
            granted = self._leave()
        for claim in granted:
            claim.granted()

    def granted(self) -> None:
        """Tell the one who asked."""
        self._on_grant()

    def waits_for_a_holder(self) -> bool:
        """Whether it can not be granted before some thread releases what it holds."""
        with _lock:
            return not self.is_granted and self._held_by(None, set()) is not None

    # With the lock held

    def _before(self, uses: Mapping[Resource, bool]) -> list[Claim]:
        """The claims that this one has to wait for."""
        found: list[Claim] = []
        for resource, writes in uses.items():
            for other in resource.queue:
                if other is self:
                    break
                if writes or other._uses[resource]:
                    found.append(other)
        return found

    def _grant_if_possible(self) -> bool:
        if self.is_granted or self._before(self._uses):
            return False
        self.is_granted = True
        self._changed.notify_all()
        return True

    def _leave(self) -> list[Claim]:
        """Leave all lines: the claims that this grants."""
        followers: dict[Claim, None] = {}
        for resource in self._uses:
            if self in resource.queue:
                resource.queue.remove(self)
                # Those behind the first that writes still wait for it.
                for other in resource.queue:
                    followers[other] = None
                    if other._uses[resource]:
                        break
        # What was used may go, though this claim is still known to somebody.
        self._uses = {}
        return [claim for claim in followers if claim._grant_if_possible()]

    def _held_by(self, thread: int | None, seen: set[Claim]) -> Claim | None:
        """A claim that this one waits for and `thread` holds; None is any thread.

        A thread that waits holds up those who wait for what it holds.
        """
        pending: list[Claim] = [self]
        while pending:
            claim = pending.pop()
            if claim in seen:
                continue
            seen.add(claim)
            for other in claim._before(claim._uses):
                if other.holder is not None and other.is_granted:
                    if thread is None or other.holder == thread:
                        return other
                    if other.holder in _waiting:
                        pending.append(_waiting[other.holder])
                pending.append(other)
        return None


_lock = threading.Lock()
_waiting: dict[int, Claim] = {}
"""What each thread that is blocked waits for."""
