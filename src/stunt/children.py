"""What other people's compiled code makes of a file from anywhere: tried in a child, bounded in time and memory.

A damaged file may crash, hang or fill the process that reads it: an FBX or USD library, the physics engine, the runner
of networks. Here that is a child process, which hands back bytes, or the sentence in which it refuses the file.

    answer = apart("stunt.room.module:function", "a word", data=b"what it reads")

The function is called in the child with the data and the words, says with `allow` how much memory it needs, and
returns bytes or raises `Refused`.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

SECONDS: Final = 8
"""Of processor that a child may take, unless its caller or the size of its file allow more."""
MEMORY: Final = 4 * 2**30
"""Address space at most [bytes]: libraries reserve more than they use."""
SPARE: Final = 512 * 2**20
UNPACKED: Final = 32
"""What a file may take [bytes]: so much, and so many times its size; a small one that asks for gigabytes is damaged."""
_REFUSED: Final = 4
_LATE: Final = (-signal.SIGXCPU, -signal.SIGKILL) if hasattr(signal, "SIGXCPU") else ()
_GREEDY: Final = "it asks for more memory than a file of its size needs"


class Refused(ValueError):
    """What a child has to say against a file."""


class Died(RuntimeError):
    """A child that did not survive a file, or did not come to an end with it: says which, as 'does not …'."""


def apart(task: str, *words: str, data: bytes = b"", seconds: int = SECONDS) -> bytes:
    """Return what a function makes of data and words in a child process.

    Args:
        task: The function, as `module:name`.
        words: It is called with after the data.
        data: What it reads.
        seconds: Of processor it may take.

    Raises:
        Refused: It refused them.
        Died: It did not survive them.
    """
    try:
        done = started([task, str(seconds), *words], data, seconds)
    except subprocess.TimeoutExpired:
        raise Died("does not come to an end with it") from None
    if done.returncode == _REFUSED:
        raise Refused(done.stdout.decode(errors="replace") or _GREEDY)
    if done.returncode != 0:
        late = done.returncode in _LATE
        raise Died("does not come to an end with it" if late else "does not survive it")
    return done.stdout


def started(words: list[str], data: bytes, seconds: int) -> subprocess.CompletedProcess[bytes]:
    """Start a child, and wait for its end (campaigns put something quicker in place of this)."""
    command = [sys.executable, "-P", "-m", __spec__.name, *words]
    environment = {**os.environ, "PXR_WORK_THREAD_LIMIT": "1"}  # threads take memory, too, and more on larger machines
    limit = 6 * seconds  # on the wall: a busy machine gives a child a sixth of a processor and less
    return subprocess.run(command, input=data, capture_output=True, timeout=limit, check=False, env=environment)


def bound(seconds: int) -> None:
    """Limit this process, a child."""
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow(more: int) -> None:
    """Let this process, a child, take so many bytes from now on, and no more; called again, what was said is void."""
    try:
        import resource
    except ImportError:
        return
    if os.path.exists("/proc/self/statm"):
        has = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (min(has + more, MEMORY), resource.RLIM_INFINITY))


def answered(words: list[str], data: bytes) -> tuple[int, bytes]:
    """Do what a child is there for: return its exit code, and what it answers."""
    task, _, *rest = words
    module, _, name = task.partition(":")
    try:
        return 0, getattr(importlib.import_module(module), name)(data, *rest)
    except Refused as error:
        return _REFUSED, str(error).encode()
    except MemoryError:
        return _REFUSED, b""


def _main(words: list[str]) -> int:
    bound(int(words[1]))
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what libraries print is no answer
        code, said = answered(words, sys.stdin.buffer.read())
        answers.write(said)
    return code


if __name__ == "__main__":
    from stunt import children  # whose `Refused` is the one that readers raise

    sys.exit(children._main(sys.argv[1:]))
