"""Who may use a resource now: views and runs, each in the order in which it asked.

A claim names resources that it reads or writes. It is granted when no earlier claim
that is still there writes what it reads, or uses what it writes; so those who only read
share. All resources of a claim are asked for at once, hence two claims never wait for
each other. What can wait for itself is a thread that holds something; `Claim.wait`
finds that out and raises `WouldDeadlock`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping


class WouldDeadlock(Exception):
    """What a thread wants to wait for waits for what the thread itself holds."""

    def __init__(self, held: Claim) -> None:
        super().__init__(f"waits for {held.name}")
        self.held = held


class Resource:
    """Something that is used by one claim at a time, or by many that read it."""

    def __init__(self) -> None:
        self._first: _Batch | None = None
        self._last: _Batch | None = None

    @property
    def queue(self) -> list[Claim]:
        """The claims that are not released, in order."""
        claims: list[Claim] = []
        group = self._first
        while group is not None:
            claims += group.claims
            group = group.after
        return claims

    # With the lock held

    @property
    def first(self) -> _Batch | None:
        """Those whose turn it is."""
        return self._first

    def join(self, claim: Claim, writes: bool) -> _Batch:
        """Stand in line: the group that the claim is in now."""
        last = self._last
        if last is None or writes or last.writes:
            last = _Batch(writes, self._last)
            if self._last is None:
                self._first = last
            else:
                self._last.after = last
            self._last = last
        last.claims[claim] = None
        return last

    def leave(self, claim: Claim, group: _Batch) -> Iterable[Claim]:
        """Leave the line: the claims that may have their turn now."""
        del group.claims[claim]
        if group.claims:
            return ()
        before, after = group.before, group.after
        if before is None:
            self._first = after
        else:
            before.after = after
        if after is None:
            self._last = before
        else:
            after.before = before
        if before and after and not before.writes and not after.writes:
            self._merge(before, after)
        return () if self._first is None else tuple(self._first.claims)

    def _merge(self, group: _Batch, other: _Batch) -> None:
        """Let two groups that only read, with nobody between any more, be one."""
        for claim in other.claims:
            group.claims[claim] = None
            claim.moved(self, group)
        group.after = other.after
        if other.after is None:
            self._last = group
        else:
            other.after.before = group


class _Batch:
    """Claims that have their turn together: one that writes, or several that read."""

    __slots__ = ("after", "before", "claims", "writes")

    def __init__(self, writes: bool, before: _Batch | None) -> None:
        self.writes = writes
        self.claims: dict[Claim, None] = {}
        self.before = before
        self.after: _Batch | None = None


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
        self._groups: dict[Resource, _Batch] = {}
        self._on_grant = on_grant
        self._changed = threading.Condition(_lock)

    def enter(self) -> None:
        """Stand in line, behind all that is there already.

        Raises WouldDeadlock, and leaves again, if the running thread holds one of the
        resources.
        """
        with _lock:
            self._refuse_if_held(threading.get_ident())
            for resource, writes in self._uses.items():
                self._groups[resource] = resource.join(self, writes)
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

    def moved(self, resource: Resource, group: _Batch) -> None:
        """Know the group that it is in now."""
        self._groups[resource] = group

    def _refuse_if_held(self, thread: int) -> None:
        """Raise WouldDeadlock if the thread holds what this has to wait for."""
        for resource, writes in self._uses.items():
            group = resource.first
            if group is None or not (writes or group.writes):
                continue
            for other in group.claims:
                if other.is_granted and other.holder == thread:
                    raise WouldDeadlock(other)

    def _before(self) -> Iterator[Claim]:
        """Claims before it: those whose turn it is, who mostly hold all others up.

        Then those just before it; all others are before these.
        """
        for resource, group in self._groups.items():
            if group.before is None:
                continue
            if resource.first is not None:
                yield from resource.first.claims
            yield from group.before.claims

    def _grant_if_possible(self) -> bool:
        if self.is_granted:
            return False
        if any(each.first is not group for each, group in self._groups.items()):
            return False
        self.is_granted = True
        self._changed.notify_all()
        return True

    def _leave(self) -> list[Claim]:
        """Leave all lines: the claims that this grants."""
        followers: dict[Claim, None] = {}
        for resource, group in self._groups.items():
            followers.update(dict.fromkeys(resource.leave(self, group)))
        # What was used may go, though this claim is still known to somebody.
        self._uses, self._groups = {}, {}
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
            for other in claim._before():
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
