"""Random programs mean the same after any passes in any order.

See `random_blocks` for what they are.
"""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st
from random_blocks import INPUT, ProgramText
from stripe_programs import CONTEXT, PASSES, choose_tiles, run
from xdsl.parser import Parser

from gingham.errors import GinghamError
from gingham.targets.reference import interpret


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_random_programs(seed: int) -> None:
    random = Random(seed)
    text = str(ProgramText(random))
    note(text)
    module = Parser(CONTEXT, text).parse_module()
    module.verify()
    inputs = [np.random.default_rng(seed).integers(-4, 5, INPUT).astype(np.float64)]
    expected = interpret(module, inputs)
    if random.random() < 0.5:
        choose_tiles(module, random)
    for name in [random.choice(PASSES) for _ in range(random.randint(1, 7))]:
        note(name)
        try:
            run(module, name)
        except GinghamError as error:
            note(str(error))
            if name == "stripe-tile":
                return
            raise
        module.verify()
        for got, wanted in zip(interpret(module, inputs), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
