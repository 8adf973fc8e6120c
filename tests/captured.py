"""Captured motion for tests: CMU clips from `../shared/mocap` where they are, else DeepMimic's in pybullet's wheel.

`STUNT_SHARED` names another folder than `../shared`. Both sets answer to the same names for what tests need
(`walk`, `punch` …); what each can be asked for was measured on it and stands beside it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("STUNT_SHARED") or Path(__file__).parents[2] / "shared")
MOCAP = SHARED / "mocap"


def _pybullet() -> Path:
    found = importlib.util.find_spec("pybullet_data")
    home = Path(found.origin).parent if found is not None and found.origin else Path("pybullet_data")
    return home / "data" / "motions"


PYBULLET = _pybullet()
"""Where pybullet's wheel keeps its motions; no folder where it is not installed."""


@dataclass(frozen=True)
class ClipSet:
    """A set of captured clips, and the bars of following them.

    Attributes:
        files: All clips, by the name they are judged under.
        roles: What tests ask for, and the beginning of the name of the clip that plays it.
        repeated: Clips of one round of a gait, and how long it is walked on [s].
        judged: Names of the clips the bars of tracking are about.
        in_place: Beginnings of the names of those that go nowhere: 0.15 m of drift.
        hard: Judged clips that may be off by 4° in the mean, where others may by 2°.
        weak: Judged clips that fall where joints have the tables' own strength.
        torque: Most mean root torque against tilt [m·g·h].
        off_path: Judged clips that may leave their path by more than a tenth of it, by what the root is held with.
        external: Most mean error in the external form [°], by role.
        equal_gains: Least error of equal gains per bone over the world-space servo's, at 0.25 to 4 times the gains.
        heading: How far a role may be off its heading [°] at a time [s] at which it stands on one foot.
    """

    files: Mapping[str, Path]
    roles: Mapping[str, str]
    judged: tuple[str, ...]
    in_place: tuple[str, ...]
    hard: frozenset[str]
    weak: frozenset[str]
    torque: float
    off_path: Mapping[str, frozenset[str]]
    external: Mapping[str, float]
    equal_gains: tuple[float, ...]
    heading: tuple[tuple[str, float, float], ...]
    repeated: Mapping[str, float] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """Return the clip that plays a role, or the first whose name begins so."""
        start = self.roles.get(name, name)
        return next(path for stem, path in sorted(self.files.items()) if stem.startswith(start))

    def lasts(self, name: str) -> float:
        """Return for how long a clip of one round is repeated [s]; 0 for one that is played as it is."""
        return next((seconds for stem, seconds in self.repeated.items() if self.files[stem] == self.path(name)), 0.0)

    def most_error(self, name: str) -> float:
        """Return by how much a clip may be off in the mean [°]."""
        return 4.0 if any(stem.startswith(self.roles.get(name, name)) for stem in self.hard) else 2.0


def _cmu() -> ClipSet:
    files = {path.stem: path for path in sorted((MOCAP / "cmu").glob("*.bvh"))}
    kinds = ("walk", "run", "jump", "kick", "punch", "cartwheel", "idle", "gesture", "dance")
    # Nothing holds the heading of the pirouette: `docs/p3.md` says what becomes of it, and why.
    pirouette = frozenset({"dance__05_11_modern_dance_pirouette"})
    return ClipSet(
        files,
        {
            "walk": "walk__07", "run": "run__09", "jump": "jump__16", "punch": "punch__79", "idle": "idle__140",
            "hard": "cartwheel", "get_up_front": "getup__140_01", "get_up_back": "getup__140_08",
            "punch_and_kick": "punch__141", "turn": "walk__16_17",
        },
        judged=tuple(stem for stem in files if stem.split("__")[0] in kinds),
        in_place=("gesture", "idle__140", "jump__13", "punch"),
        hard=frozenset({"cartwheel__49_06_cartwheel"}),
        weak=frozenset({"cartwheel__49_06_cartwheel"}),
        torque=0.2,
        off_path={"tilt": pirouette, "yaw": frozenset(), "force": frozenset()},
        external={"walk": 2.5, "run": 5.0, "jump": 1.5, "punch": 1.5, "idle": 1.5, "hard": 5.0},
        equal_gains=(2.0,) * 5,  # as in the paper
        heading=(("punch_and_kick", 0.6, 14.0), ("turn", 2.9, 12.0)),
    )  # fmt: skip


def _deepmimic() -> ClipSet:
    files = {path.stem.removeprefix("humanoid3d_"): path for path in sorted(PYBULLET.glob("humanoid3d_*.txt"))}
    # Held against tilt alone, the cartwheel, backflip, both spins and the second dance end in a fall: they are no bars.
    # Nobody stands still in this set; who punches stands on the spot.
    return ClipSet(
        files,
        {
            "idle": "punch", "hard": "kick", "get_up_front": "getup_facedown", "get_up_back": "getup_faceup",
            "punch_and_kick": "kick", "turn": "walk",
        },
        judged=("walk", "run", "jump", "punch", "kick", "dance_a"),
        in_place=(),
        hard=frozenset({"kick"}),
        weak=frozenset({"kick", "run"}),
        torque=0.25,
        off_path={
            "tilt": frozenset({"kick", "dance_a"}), "yaw": frozenset({"kick", "dance_a"}),
            "force": frozenset({"kick", "dance_a", "jump"}),
        },
        external={"walk": 2.5, "run": 5.0, "jump": 2.4, "punch": 2.1, "idle": 2.1, "hard": 6.0},
        equal_gains=(1.4, 1.25, 1.15, 1.0, 0.9),  # a body of few bones: little hangs on each joint
        # Of the kick only the wind-up is a bar: from 1 s on, on the same foot, its heading is lost (22° to 49°).
        heading=(("punch_and_kick", 0.5, 14.0), ("turn", 2.9, 12.0)),
        repeated={"walk": 4.0},
    )  # fmt: skip


CLIPS = _cmu() if (MOCAP / "cmu").is_dir() else _deepmimic()
needs_clips = pytest.mark.skipif(not CLIPS.files, reason="neither the CMU clips nor pybullet's motions are here")
