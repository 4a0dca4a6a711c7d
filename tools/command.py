"""What the commands share: how errors and closed pipes end them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from ..errors import GinghamError


class ArgumentParser(argparse.ArgumentParser):
    """Reports wrong options as all other errors are reported."""

    def error(self, message: str) -> NoReturn:
        raise GinghamError(message, hint=f"`{self.prog} --help` lists the options")


def run_command(body: Callable[[], int]) -> int:
    """The exit status of `body`; after an error, which is printed, 1."""
    try:
        status = body()
        sys.stdout.flush()
        return status
    except GinghamError as error:
        print(error.render(), file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has seen enough, and nothing more can be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
