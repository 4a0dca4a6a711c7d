import gc
import subprocess
import sys
import weakref
from collections.abc import Generator

import pytest

from gingham.garbage import collect_young, rare_collections


@pytest.fixture(autouse=True)
def usual_thresholds() -> Generator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_rarely_until_the_last_user_leaves() -> None:
    with rare_collections():
        rare = gc.get_threshold()
        with rare_collections():
            pass
        assert gc.get_threshold() == rare
    assert rare[0] > 100 * 700
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_brings_the_thresholds_back() -> None:
    with pytest.raises(ValueError, match="wrong"), rare_collections():
        raise ValueError("wrong")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("young", [0, 10_000_000])
def test_what_a_program_has_chosen_stays(young: int) -> None:
    gc.set_threshold(young, 100, 100)
    with rare_collections():
        assert gc.get_threshold() == (young, 100, 100)
        gc.set_threshold(900)
    assert gc.get_threshold()[0] == 900


@pytest.mark.parametrize("call", ["", "skip_last_search()"])
def test_a_command_ends_without_a_search(call: str) -> None:
    program = f"""
from gingham.garbage import skip_last_search
class Found:
    def __init__(self): self.itself = self
    def __del__(self): print("found")
Found()
{call}
"""
    run = [sys.executable, "-c", program]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert printed == ("" if call else "found\n")


@pytest.mark.parametrize(("young", "is_found"), [(10_000, True), (0, False)])
def test_what_is_new_is_searched_when_there_is_time(young: int, is_found: bool) -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    gc.set_threshold(young, 100, 100)
    circle = weakref.ref(Circle())
    collect_young()
    assert (circle() is None) == is_found
