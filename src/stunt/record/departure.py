"""Whether two takes are the same bits; if not, where they part, by how much, and what differs about the machines.

Same script, same seed, same machine: the same bits. Another processor may multiply and add in one rounding where the
first took two, another engine may solve contacts otherwise: takes then part at some frame, at first by a rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from stunt.record.take import Take

_LATER = 1.0  # seconds after the parting at which it is measured once more


@dataclass(frozen=True)
class Departure:
    """Where two takes part.

    Attributes:
        time: The first frame that differs [s].
        what: Whose position differs most in it: a character's joint, a prop, or a number of `qpos`.
        first: By how much, there [m or rad].
        later: By how much any position differs a second later, or at the end [m or rad].
        largest: By how much any position differs anywhere.
        frames: How many frames each take has.
    """

    time: float
    what: str
    first: float
    later: float
    largest: float
    frames: tuple[int, int]

    def __str__(self) -> str:
        ends = "" if self.frames[0] == self.frames[1] else f"; they have {self.frames[0]} and {self.frames[1]} frames"
        if not self.first:
            return f"the takes part at {self.time:.4f} s, not in a position{ends}."
        return (
            f"the takes part at {self.time:.4f} s: {self.what} by {self.first:.3g}, {self.later:.3g} a second later, "
            f"{self.largest:.3g} at most{ends}."
        )


def departure(take: Take, other: Take) -> Departure | None:
    """Return where two takes of one performance part; None where positions and velocities are the same bits."""
    frames = len(take.time), len(other.time)
    count = min(frames)
    if take.qpos.shape[1:] != other.qpos.shape[1:] or take.qvel.shape[1:] != other.qvel.shape[1:]:
        return Departure(0.0, "the cast", np.inf, np.inf, np.inf, frames)
    same = np.ones(count, bool)
    for name in ("time", "qpos", "qvel"):
        one, two = getattr(take, name)[:count], getattr(other, name)[:count]
        same &= (one == two).reshape(count, -1).all(axis=1)
    if same.all() and frames[0] == frames[1]:
        return None
    if same.all():
        return Departure(float(take.time[count - 1]) if count else 0.0, "", 0.0, 0.0, 0.0, frames)
    first = int(np.argmin(same))
    gap = np.abs(take.qpos[:count] - other.qpos[:count])
    later = min(int(np.searchsorted(take.time[:count], take.time[first] + _LATER)), count - 1)
    column = int(np.argmax(gap[first]))
    return Departure(
        float(take.time[first]), name_of(take, column), float(gap[first].max()), float(gap[later].max()),
        float(gap.max()), frames,
    )  # fmt: skip


def name_of(take: Take, column: int) -> str:
    """Return whose position a column of `qpos` is."""
    for member in take.cast.characters.values():
        for joint in member.joints.values():
            width = {"ball": 4, "free": 7}.get(joint.kind, 1)
            if joint.qpos <= column < joint.qpos + width:
                return f"{member.name}/{joint.name}"
        if member.root_qpos is not None and member.root_qpos <= column < member.root_qpos + 7:
            return f"the root of {member.name}"
    return f"qpos[{column}]"


def other_machine(take: Take, other: Take) -> list[str]:
    """Return in sentences what differs about how two takes were made."""
    one, two = dict(take.meta.get("machine") or {}), dict(other.meta.get("machine") or {})
    one |= {key: take.meta.get(key) for key in ("stunt", "mujoco", "seed", "physics_hz", "control_hz")}
    two |= {key: other.meta.get(key) for key in ("stunt", "mujoco", "seed", "physics_hz", "control_hz")}
    found = []
    for key in sorted({*one, *two}):
        if one.get(key) != two.get(key):
            found.append(f"{key}: {_told(one.get(key), two.get(key))} there, {_told(two.get(key), one.get(key))} here")
    return found


def _told(value: Any, other: Any) -> str:
    """Say a value; of a list of features only what the other has not."""
    if isinstance(value, list):
        more = [str(item) for item in value if not isinstance(other, list) or item not in other]
        return ", ".join(more) or "nothing more"
    return "unknown" if value is None else str(value)


@cache
def machine() -> Mapping[str, Any]:
    """Return what of this machine may change the bits of a take: processor, its features, and who computes."""
    import platform

    import llvmlite.binding as llvm
    import numba

    try:
        features = sorted(name for name, there in llvm.get_host_cpu_features().items() if there)
    except RuntimeError:  # a processor that does not say
        features = []
    return {
        "system": f"{platform.system()} {platform.machine()}", "cpu": llvm.get_host_cpu_name(), "features": features,
        "numba": numba.__version__, "numpy": np.__version__, "python": platform.python_version(),
    }  # fmt: skip
