"""The engine's warnings go to Python's logging, not into a file in whatever folder the user happens to be."""

from __future__ import annotations

import logging

import mujoco

_LOG = logging.getLogger("stunt.engine")
_LOG.addHandler(logging.NullHandler())


def route_warnings() -> None:
    """Send the engine's warnings to the logger `stunt.engine`, unless the user has a handler of their own."""
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_warn)


def _warn(message: str) -> None:
    _LOG.warning("%s", message)
