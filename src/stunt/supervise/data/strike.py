"""Strikes that meet what they are for: a limb's end brought to a point by inverse kinematics, at a pace (P2, §3).

A clip knows nothing of where the ball lies. Around the moment at which the limb's end is fastest, its path is moved so
that it goes through the point, by turning the limb's own joints by damped least squares; and the clip is played faster
there, if the end is to be faster. Both fade in and out over a third of a second, the rest of the clip is as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import Layout, own_slices
from stunt.errors import NOWHERE, Place
from stunt.keys import ANGLE, MOMENT, Number, Vector, Word, key, spec
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.aim import aim_point
from stunt.stage.loop import StageLoop
from stunt.stage.props import ORIGIN, XYZ, Vector3

FPS: Final = 240.0
"""Frames per second of a strike: its end is fast."""
FADE: Final = 0.35
"""How long before and after the blow the limb is led [s]."""
TURN: Final = 0.12
"""How long before and after the blow its end's path is bent to rise as told [s]."""
LINKS: Final = 2
"""How many links of the limb are turned: upper and lower one; the end itself keeps its turn in them."""
LEANS: Final = (1.0, 1.0, 0.4, 0.2, 0.15, 0.1)
"""And how readily, where the trunk may lean with it: link by link from the end inward."""
LEANT: Final = 1.0
"""How far each of them turns then at most, as readily as it does [rad]."""
STEPPED: Final = 0.5
"""Share of the way to the point, over the ground, that the whole body goes on its way to the blow."""
_EASE = 0.02  # of the least squares [m]
_ROUNDS = 12
_FARTHEST = 0.2  # how far a joint may turn in one round [rad]


@spec("a strike")
class StrikeSpec:
    """What a clip's blow is to meet, where it is when the performance begins."""

    by: str = key(kind=Word("a body"), name="with", help="which end of a limb, such as `r_foot`")
    at: str = key(kind=Word("a prop, a body `bob/thorax` or a site"), help="what it is to meet")
    pace: float | None = key(default=None, kind=Number(0.5, 30.0, unit="m/s"), help="how fast; else as in the clip")
    off: Vector3 = key(default=ORIGIN, kind=Vector(unit="m", says=XYZ), help="how far from its centre to aim")
    rise: float | None = key(default=None, kind=ANGLE, help="how its end's path rises there; else as in the clip")
    when: float | None = key(default=None, kind=MOMENT, help="when in the clip; else where that end is fastest")
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, eq=False)
class _StrikingLimb:
    """A limb: whose, its end, and the degrees of freedom that lead it."""

    stage: StageLoop
    character: Character
    end: int
    dofs: NDArray[np.intp]
    ease: Floats  #: How readily each of them turns
    scratch: mujoco.MjData

    @staticmethod
    def of(
        stage: StageLoop, character: Character, name: str, place: Place, leans: Sequence[float] = (1.0,) * LINKS
    ) -> _StrikingLimb:
        body = character.body(name, place)
        ease = np.zeros(stage.model.nbody)
        above = int(stage.model.body_parentid[body])
        for share in leans:
            if above != character.root_body:
                ease[above] = share
                above = int(stage.model.body_parentid[above])
        scratch = mujoco.MjData(stage.model)
        scratch.qpos[:] = stage.data.qpos
        dofs = np.flatnonzero(ease[stage.model.dof_bodyid])
        return _StrikingLimb(stage, character, body, dofs, ease[stage.model.dof_bodyid][dofs], scratch)

    def middle(self) -> Floats:
        """Return where its end's middle is, in the end's own frame [m]."""
        return np.asarray(self.stage.model.body_ipos[self.end])

    def path(self, qpos: Floats) -> Floats:
        """Return where its end's middle is in frames [m], (F, 3)."""
        number = self.end - self.character.root_body
        places, turns = pose_frames(self.stage.model, self.character, qpos)
        return np.asarray(places[:, number] + rotations.rotate(turns[:, number], self.middle()))

    def led(self, qpos: Floats, point: Floats) -> Floats:
        """Return own coordinates with the end at a point, as near as the limb gets, out of the floor, (nq,)."""
        model, data, own = self.stage.model, self.scratch, own_slices(self.character)[0]
        data.qpos[own] = qpos
        jacobian, change, wanted = np.zeros((3, model.nv)), np.zeros(model.nv), point.copy()
        for _ in range(_ROUNDS):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            here = data.xpos[self.end] + data.xmat[self.end].reshape(3, 3) @ self.middle()
            wanted[2] = max(wanted[2], here[2] + self._below(data))
            mujoco.mj_jac(model, data, jacobian, None, here, self.end)
            part = jacobian[:, self.dofs] * self.ease
            turn = self.ease * (part.T @ np.linalg.solve(part @ part.T + _EASE**2 * np.eye(3), wanted - here))
            change[self.dofs] = turn * min(1.0, _FARTHEST / max(float(np.abs(turn).max()), 1e-9))
            mujoco.mj_integratePos(model, data.qpos, change, 1.0)
        return np.asarray(data.qpos[own].copy())

    def _below(self, data: mujoco.MjData) -> float:
        """Return how far its end, or what is beyond it, is below the ground [m]; negative: above."""
        model, found = self.stage.model, [-np.inf]
        for geom in self.character.geoms:
            body = int(model.geom_bodyid[geom])
            if body == self.end or int(model.body_parentid[body]) == self.end:
                middle = data.geom_xpos[geom] + data.geom_xmat[geom].reshape(3, 3) @ model.geom_aabb[geom, :3]
                half = np.abs(data.geom_xmat[geom].reshape(3, 3)[2]) @ model.geom_aabb[geom, 3:]
                found.append(self.stage.scene.characters[self.character.name].at[2] + half - middle[2])
        return float(max(found))


def striking(stage: StageLoop, name: str, motion: BodyMotion, strike: StrikeSpec) -> BodyMotion:
    """Return a motion whose blow meets what it is for, played from where its character stands now."""
    character = stage.character(name)
    layout, limb = Layout.of(character), _StrikingLimb.of(stage, character, strike.by, strike.place)
    here = stage.data.qpos[own_slices(character)[0]]
    heading = float(rotations.heading(here[3:7]))
    placed = _resampled(layout, motion.placed((float(here[0]), float(here[1])), heading), np.ones(1))
    speed = _speeds(limb.path(placed.qpos))
    first = FADE * FPS if FADE * FPS < len(speed) - 1 else 0.0
    blow = round(strike.when * FPS) if strike.when is not None else int(first) + int(np.argmax(speed[int(first) :]))
    if strike.pace is not None:
        quicker = 1.0 + (strike.pace / max(float(speed[blow]), 0.1) - 1.0) * _faded(len(placed.qpos), blow)
        # So many frames of it there are up to the blow when they are passed through as quickly as that.
        placed, blow = _resampled(layout, placed, quicker), round(float(np.sum(1.0 / quicker[:blow])))
    target, _ = aim_point(stage, strike.at, stage.data, strike.place)
    away = (target + np.asarray(strike.off) - limb.path(placed.qpos)[blow]) * [1.0, 1.0, 0.0]
    ease = np.clip(np.arange(len(placed.qpos)) / max(blow - FADE * FPS, 1.0), 0.0, 1.0)
    shifted = placed.qpos.copy()
    shifted[:, :3] += (ease * ease * (3.0 - 2.0 * ease))[:, None] * STEPPED * away
    placed = replace(placed, qpos=shifted)
    path, share = limb.path(placed.qpos), _faded(len(placed.qpos), blow)
    if strike.rise is not None:
        path = path + _redirected(path, blow, strike)
    away = target + np.asarray(strike.off) - path[blow]
    leads = zip(placed.qpos, path, share, strict=True)
    led = np.asarray([limb.led(pose, way + part * away) if part > 0.0 else pose for pose, way, part in leads])
    x, y = motion.qpos[0, :2].tolist()
    return replace(placed, qpos=led).placed((x, y), motion.heading)


def brought(
    stage: StageLoop, name: str, end: str, frames: Floats, blow: float, point: Floats, fps: float, farthest: float
) -> Floats:
    """Return frames in which a limb's end comes to a point, the trunk leaning with it, as it is where it goes.

    Args:
        stage: Where.
        name: Who.
        end: Which end, such as `l_hand`.
        frames: Own coordinates, (F, nq).
        blow: In which frame it is to be there; it may lie before the first one.
        point: Where [m], (3,).
        fps: Of the frames.
        farthest: Where the end would have to be led further than this nothing is changed [m].
    """
    character = stage.character(name)
    limb, layout = _StrikingLimb.of(stage, character, end, NOWHERE, LEANS), Layout.of(character)
    pose, share = frames[int(np.clip(round(blow), 0, len(frames) - 1))][None], _faded(len(frames), blow, FADE, fps)
    if float(np.linalg.norm(point - limb.path(pose)[0])) > farthest:
        return frames
    # Turned as far as is needed then, and before and after it less: no joint has to hurry, however far the arm reaches.
    turn = layout.difference(limb.led(pose[0], point)[None], pose)
    own = limb.dofs - own_slices(character)[1].start
    turn[:, own] = np.clip(turn[:, own], -LEANT * limb.ease, LEANT * limb.ease)
    return np.asarray(layout.moved(frames, share[:, None] * turn))


def _redirected(path: Floats, blow: int, strike: StrikeSpec) -> Floats:
    """Return what is added to a path so that at the blow it rises as told, at its pace, (F, 3)."""
    assert strike.rise is not None
    before = np.gradient(path, 1.0 / FPS, axis=0)[blow]
    along = before * [1.0, 1.0, 0.0] / max(float(np.linalg.norm(before[:2])), 1e-9)
    wanted = np.cos(strike.rise) * along + np.sin(strike.rise) * np.array([0.0, 0.0, 1.0])
    change = wanted * (strike.pace or float(np.linalg.norm(before))) - before
    since = (np.arange(len(path)) - blow) / FPS
    return np.asarray((since * _faded(len(path), blow, TURN))[:, None] * change)


def _speeds(path: Floats) -> Floats:
    return np.asarray(np.linalg.norm(np.gradient(path, 1.0 / FPS, axis=0), axis=1))


def _faded(count: int, blow: float, seconds: float = FADE, fps: float = FPS) -> Floats:
    """Return 1 at the blow, fading to 0 before and after it, (count,)."""
    off = np.clip(np.abs(np.arange(count) - blow) / (seconds * fps), 0.0, 1.0)
    return np.asarray(np.cos(0.5 * np.pi * off) ** 2)


def _resampled(layout: Layout, motion: BodyMotion, quicker: Floats) -> BodyMotion:
    """Return a motion at `FPS`, played so many times as fast, frame by frame of it."""
    last = len(motion.qpos) - 1
    rate, times, now = np.broadcast_to(quicker, (last + 1,)), [], 0.0
    while now < last:
        times.append(now)
        now += motion.fps / FPS * float(rate[int(now)])
    low = np.asarray(times, int)
    one, two = motion.qpos[low], motion.qpos[low + 1]
    share = (np.asarray(times) - low)[:, None]
    return replace(motion, fps=FPS, qpos=layout.moved(one, share * layout.difference(two, one)))
