"""Tuning by measurement: which of the model's best decisions is fastest on a device.

`tune` takes the blocks of a program one by one, lets the cost model name the decisions
that it holds for the best, measures each in a child process, and keeps the results in a
file of records. From then on the compiler takes the fastest wherever it meets such a
block: see `stripe-recall`.

`plan` finds what to measure, `jobs` says it in texts, `children` has it measured by
`child`, and `session` asks and keeps the answers.
"""

from .session import Progress, Settings, Tuning, tune

__all__ = ["Progress", "Settings", "Tuning", "tune"]
