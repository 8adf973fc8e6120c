"""Options of the test run."""

import os
import signal
from pathlib import Path

# A run in the background of a shell, or under nohup, is born deaf to Ctrl-C or to a hangup, and hands that on to
# whatever it starts; tests send both.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_WORKER = os.environ.get("PYTEST_XDIST_WORKER")
if _WORKER:
    # Numba numbers the compiled forms of a function in an index that two processes can overwrite for each other: one
    # may then be handed the other's code. Each process that runs tests, with all it starts, has a cache of its own.
    _CACHES = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1] / ".numba_cache"
    os.environ["NUMBA_CACHE_DIR"] = str(Path(_CACHES) / _WORKER)


def pytest_addoption(parser):
    parser.addoption("--pictures", action="store_true", help="write the page's pictures into docs/images/studio")
