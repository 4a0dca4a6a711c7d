"""The order in which claims are granted, and waits that would never end."""

from __future__ import annotations

import random
import threading

import pytest

from gingham.runtime.claims import Claim, Resource, WouldDeadlock


class Journal:
    """Claims by name, and which of them were granted, in order."""

    def __init__(self) -> None:
        self.granted: list[str] = []

    def claim(
        self, name: str, *uses: tuple[Resource, bool], holder: int | None = None
    ) -> Claim:
        claim = Claim(name, dict(uses), lambda: self.granted.append(name), holder)
        claim.enter()
        return claim


def test_readers_share_and_writers_do_not() -> None:
    journal, a = Journal(), Resource()
    first = journal.claim("read 1", (a, False))
    second = journal.claim("read 2", (a, False))
    write = journal.claim("write", (a, True))
    third = journal.claim("read 3", (a, False))
    assert journal.granted == ["read 1", "read 2"]
    first.release()
    assert not write.is_granted
    second.release()
    assert journal.granted == ["read 1", "read 2", "write"]
    assert not third.is_granted
    write.release()
    assert journal.granted[-1] == "read 3"
    third.release()
    third.release()
    assert a.queue == []


def test_all_resources_are_granted_at_once() -> None:
    journal, a, b = Journal(), Resource(), Resource()
    first = journal.claim("a", (a, True))
    both = journal.claim("both", (a, True), (b, True))
    last = journal.claim("b", (b, True))
    # It stands behind `both`, though nobody uses b: else `both` might never start.
    assert journal.granted == ["a"]
    first.release()
    assert journal.granted == ["a", "both"]
    both.release()
    assert last.is_granted


def test_a_claim_that_gives_up_is_no_obstacle() -> None:
    journal, a = Journal(), Resource()
    first = journal.claim("first", (a, True))
    second = journal.claim("second", (a, True))
    third = journal.claim("third", (a, True))
    second.release()
    first.release()
    assert third.is_granted
    assert journal.granted == ["first", "third"]


def test_readers_meet_when_who_stood_between_them_gives_up() -> None:
    journal, a = Journal(), Resource()
    first = journal.claim("read 1", (a, False))
    write = journal.claim("write", (a, True))
    second = journal.claim("read 2", (a, False))
    third = journal.claim("write 2", (a, True))
    assert journal.granted == ["read 1"]
    write.release()
    assert journal.granted == ["read 1", "read 2"]
    assert a.queue == [first, second, third]
    fourth = journal.claim("read 3", (a, False))
    third.release()
    assert journal.granted == ["read 1", "read 2", "read 3"]
    for claim in (second, first, fourth):
        claim.release()
    assert a.queue == []


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_claims_and_releases(seed: int) -> None:
    """Against the definition: granted if no earlier one writes, or is written to."""
    generator = random.Random(seed)
    journal = Journal()
    resources = [Resource() for _ in range(3)]
    live: list[tuple[Claim, dict[Resource, bool]]] = []
    for step in range(200):
        if generator.random() < 0.55 or not live:
            chosen = generator.sample(resources, generator.randint(1, 3))
            uses = {each: generator.random() < 0.4 for each in chosen}
            live.append((journal.claim(str(step), *uses.items()), uses))
        else:
            live.pop(generator.randrange(len(live)))[0].release()
        for number, (claim, uses) in enumerate(live):
            conflicts = any(
                writes or earlier[resource]
                for _, earlier in live[:number]
                for resource, writes in uses.items()
                if resource in earlier
            )
            assert claim.is_granted is not conflicts
    assert len(journal.granted) == len(set(journal.granted))


def test_waiting_for_oneself() -> None:
    journal, a, b = Journal(), Resource(), Resource()
    me = threading.get_ident()
    held = journal.claim("held", (a, True), holder=me)
    with pytest.raises(WouldDeadlock) as raised:
        journal.claim("again", (a, False), holder=me)
    assert raised.value.held is held
    # A thread cannot stand behind itself; another one may stand there for it.
    uses = [(b, True), (a, False)]
    made: list[Claim] = []
    other = threading.Thread(target=lambda: made.append(journal.claim("run", *uses)))
    other.start()
    other.join()
    (run,) = made
    assert run.waits_for_a_holder()
    view = journal.claim("view", (b, True), holder=me)
    with pytest.raises(WouldDeadlock, match="held"):
        view.wait()
    held.release()
    run.release()
    assert a.queue == b.queue == []
    assert journal.granted == ["held", "run"]
