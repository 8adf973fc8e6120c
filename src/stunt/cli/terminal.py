"""What the command line prints: results on the standard output, everything else on the standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from stunt.errors import brief

_PIPE_WIDTH = 110  # columns of a table that goes to a file or another program


class _Screen(Console):
    """A console that lets the command line decide what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Pass the error on."""
        raise BrokenPipeError


def screen(*, errors: bool = False) -> Console:
    """Return the console for results, or the one for everything else."""
    stream = sys.stderr if errors else sys.stdout
    width = None if _is_terminal(stream) or os.environ.get("COLUMNS") else _PIPE_WIDTH
    return _Screen(file=stream, width=width, highlight=False, soft_wrap=False)


def say(kind: str, sentence: str) -> None:
    """Print one line such as `error: …` on the standard error."""
    line = brief(" ".join(sentence.splitlines()))
    # Where nobody listens (a terminal that was closed, a full disk), there is nobody to complain to.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{kind}: {line}\n" if kind else f"{line}\n")
        sys.stderr.flush()


def write(text: str) -> None:
    """Print text on the standard output, as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()


def speaks_unicode() -> bool:
    """Tell whether the standard output takes every character."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"


def open_streams() -> None:
    """Put nowhere in place of standard streams that are closed, as services and cron jobs close them.

    Otherwise the next file that is opened would get a stream's number, and what is printed would go into it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            with contextlib.suppress(OSError):
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != number:
                    os.dup2(nowhere, number)
                    os.close(nowhere)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


def forgive_encoding() -> None:
    """Let characters a terminal cannot show become question marks instead of errors."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            with contextlib.suppress(ValueError, OSError):  # closed, or full of what was printed before
                stream.reconfigure(errors="replace")


def give_up_output() -> None:
    """Point the standard output nowhere, so that nothing complains at exit about a reader who went away."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def progress_bar(title: str, seconds: float, *, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Show a bar on the standard error while a performance runs; where that is no terminal, one line.

    Args:
        title: What is performed.
        seconds: How long it lasts [s].
        quiet: Show nothing.

    Yields:
        What to call with the simulated time [s].
    """
    if not quiet and not _is_terminal(sys.stderr):
        say("", f"performing {title}: {seconds:.2f} s")
    with _bar(f"performing {title}", seconds, "{task.completed:.1f} of {task.total:.1f} s", quiet) as show:
        yield show


def share_bar(title: str, *, quiet: bool) -> contextlib.AbstractContextManager[Callable[[float], None]]:
    """Show a bar while something is made; where there is no terminal, nothing. Gives what to tell the share, 0 to 1."""
    return _bar(title, 1.0, "{task.percentage:.0f} %", quiet)


@contextlib.contextmanager
def _bar(title: str, total: float, shown: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    if quiet or not _is_terminal(sys.stderr):
        yield lambda done: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn(shown), TimeRemainingColumn())
    with Progress(*columns, console=screen(errors=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextlib.contextmanager
def waiting(what: str, *, quiet: bool) -> Iterator[None]:
    """Show a spinner on the standard error while something takes a while; nothing where that is no terminal."""
    if quiet or not _is_terminal(sys.stderr):
        yield
        return
    with screen(errors=True).status(what):
        yield


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (ValueError, AttributeError, OSError):  # a closed stream
        return False
