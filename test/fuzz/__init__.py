"""Random input for everything that reads some: texts, IR, pipelines, files.

    python -m test.fuzz --seconds 60 --seed 1

Whatever is given, a command ends with status 0 or with 1 and an error, within ten
seconds of one core and 2 GiB; no internal error, no traceback, no character that a
terminal obeys, no pass that changes what a program computes, and what is printed is
read again. What does not hold is written to a folder, made small, with a command that
shows it. Those that were found are kept in `regressions/`.
"""
