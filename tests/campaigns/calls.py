"""Fault injection: an action in a child process whose n-th call to the system fails, or is the last thing it does."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

CALLS = (
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.scandir", "os.listdir",
    "os.link", "os.symlink", "shutil.rmtree", "shutil.copyfile", "tempfile.mkstemp", "tempfile.mkdtemp", "fcntl.flock",
)  # fmt: skip
"""What Python announces before it asks the system for it, as far as it touches files."""
KILLED = 77
RAISED = 78


class Fault:
    """Counts calls; at the n-th it ends the process, or lets the call fail."""

    def __init__(self, number: int, how: str) -> None:
        """Wait for the n-th call; `how` is `kill` or the name of an error such as `ENOSPC`."""
        self.number, self.how, self.count, self.armed = number, how, 0, False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Hear of a call (an audit hook)."""
        if not self.armed or event not in CALLS:
            return
        if event == "open" and isinstance(args[0], str) and args[0].endswith((".py", ".pyc", ".so")):
            return  # an import
        self.count += 1
        if self.count == self.number:
            if self.how == "kill":
                os._exit(KILLED)
            code = getattr(errno, self.how)
            raise OSError(code, os.strerror(code))


def with_fault(action: Callable[[], None], number: int, how: str, expected: tuple[type[BaseException], ...]) -> int:
    """Run an action in a child; return its exit code: 0 done, `KILLED`, `RAISED` an expected error, 1 another."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fault = Fault(number, how)
            sys.addaudithook(fault)
            fault.armed = True
            action()
            fault.armed = False
            code = 0 if fault.count < number else RAISED
        except expected:
            code = RAISED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def at_each_call(
    prepare: Callable[[], None],
    action: Callable[[], None],
    check: Callable[[int, int], None],
    how: str,
    expected: tuple[type[BaseException], ...],
) -> int:
    """Let each call of an action fail in turn.

    Args:
        prepare: Called before each try.
        action: What is tried, in a child process.
        check: Called after each with its number and exit code; complains by raising.
        how: `kill`, or the name of an error.
        expected: Errors by which the action may say that it failed.

    Returns:
        How many calls the action makes.
    """
    for number in range(1, 10_000):
        prepare()
        code = with_fault(action, number, how, expected)
        if code == 0:
            return number - 1
        check(number, code)
    raise AssertionError("it never came to an end")
