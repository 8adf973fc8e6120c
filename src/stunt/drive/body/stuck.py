"""Limbs that are stuck: noticed, and freed by a detour (the paper's fig. 9 leaves them there).

A servo takes the shortest turn, and that may lead through the body's own chest or legs: the arm stays behind the back.
A limb that touches something, is far from its target and has stopped coming nearer, while the rest follows, is led
outward first, away from the trunk, and from there back into the clip. Where that does not help, the next way is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.core.renumbered import Renumbered
from stunt.control.servo.memory import ServoTargets
from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.body_motion import each_row
from stunt.maths import rotations
from stunt.maths.rotations import Floats

LOOK_HZ: Final = 15.0
FAR_DEG: Final = 30.0
"""A bone farther from its target than this may be stuck [°]."""
SLOW_DEG: Final = 15.0
"""It is stuck if it comes nearer by less than this per second [°/s]."""
PATIENCE: Final = 0.5
"""How long it must be so [s]."""
OUT, BACK = 0.45, 0.5  # seconds of the detour: away from the body, and back into the clip
_WAYS = {  # where a limb is led, in the root's frame with its side to the left: ahead, outward, up
    "arm": ((0.0, 0.9, -0.4), (0.7, 0.6, 0.2), (-0.6, 0.7, -0.5), (0.0, 0.6, 0.8)),
    "leg": ((0.1, 0.5, -0.9), (0.5, 0.3, -0.8), (-0.4, 0.4, -0.8)),
}


@dataclass(frozen=True)
class Limb:
    """An arm or a leg.

    Attributes:
        name: As in `l_arm`.
        kind: `arm` or `leg`.
        side: 1 on the left, −1 on the right.
        bones: Its bodies from the trunk outward, counted from the root's.
    """

    name: str
    kind: str
    side: float
    bones: tuple[int, ...]


def limbs_of(model: mujoco.MjModel, character: Character) -> list[Limb]:
    """Return the limbs of a character whose bodies have Stunt's names."""
    root, found = character.root_body, []
    for side, sign in (("l_", 1.0), ("r_", -1.0)):
        for kind, first in (("arm", "upper_arm"), ("leg", "thigh")):
            body = character.bodies.get(f"{side}{first}")
            if body is not None:
                found.append(Limb(f"{side}{kind}", kind, sign, tuple(b - root for b in _below(model, body))))
    return found


def _below(model: mujoco.MjModel, body: int) -> list[int]:
    found = [body]
    for other in range(body + 1, model.nbody):
        if int(model.body_parentid[other]) in found:
            found.append(other)
    return found


class StuckLimbs:
    """Crew that notices stuck limbs of one tracked character and frees them.

    Attributes:
        log: What happened, as events of the take: `stuck` and `freed`.
    """

    def __init__(self, actor: BodyActor) -> None:
        """Watch a character; one that is stunned or down, or follows no clip, is left alone."""
        self.actor = actor
        self.log: list[dict[str, Any]] = []
        self._limbs = limbs_of(actor.stage.model, actor.character)
        self._since: dict[str, tuple[float, float]] = {}  # limb → since when it is stuck, its error then [°]
        self._tries: dict[str, int] = {}
        self._busy: dict[str, float] = {}  # limb → until when its detour lasts [s]
        self._due = actor.stage.tick
        actor.attend(self)

    def due(self) -> int | None:
        """Return when to look next; never while it follows nothing."""
        return self._due if self.actor.follows else None

    def act(self) -> None:
        """Look at every limb."""
        stage = self.actor.stage
        self._due = stage.tick + max(1, round(1.0 / (LOOK_HZ * stage.step_time)))
        if self.actor.broken_for > 0.0 or self.actor.weakened or self.actor.low:
            self._since.clear()
            return
        errors, touching = bone_errors(self.actor), touched_bodies(self.actor)
        for limb in self._limbs:
            if stage.time >= self._busy.get(limb.name, -1.0):
                self._look(limb, float(errors[list(limb.bones[:2])].max()), not touching.isdisjoint(limb.bones))

    def _look(self, limb: Limb, error: float, touches: bool) -> None:
        now = self.actor.stage.time
        if error < FAR_DEG:
            self._since.pop(limb.name, None)
            if self._tries.pop(limb.name, 0):
                self._note("freed", limb, error)
            return
        since, before = self._since.setdefault(limb.name, (now, error))
        if before - error > SLOW_DEG * max(now - since, 1.0 / LOOK_HZ):
            self._since[limb.name] = now, error  # it is coming
        elif touches and now - since >= PATIENCE:
            self._free(limb, error)

    def _free(self, limb: Limb, error: float) -> None:
        tries = self._tries.get(limb.name, 0)
        self._tries[limb.name] = tries + 1
        ways = _WAYS[limb.kind]
        ahead, outward, up = ways[tries % len(ways)]
        if tries == 0:
            self._note("stuck", limb, error)
        lead_out(self.actor, limb, np.array([ahead, limb.side * outward, up]))
        self._busy[limb.name] = self.actor.stage.time + OUT + BACK
        self._since.pop(limb.name, None)

    def _note(self, kind: str, limb: Limb, error: float) -> None:
        stage, who = self.actor.stage, self.actor.character.name
        self.log.append({"kind": kind, "time": stage.time, "character": who, "limb": limb.name, "error_deg": error})

    def move(self, by: Renumbered) -> bool:
        """Go on, if whom it watches does."""
        return self.actor.character.name in self.actor.stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return list(self.log), dict(self._since), dict(self._tries), dict(self._busy), self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        log, since, tries, busy, self._due = state
        self.log[:] = log
        self._since, self._tries, self._busy = dict(since), dict(tries), dict(busy)


def bone_errors(actor: BodyActor) -> Floats:
    """Return how far each bone is from its target now, seen from the root [°], (bodies,); the root's is 0."""
    data, first = actor.stage.data, actor.character.root_body
    rows = actor.rows
    assert rows is not None  # it follows a clip
    frame = int(np.clip((actor.stage.time - actor.started) * rows.fps, 0, len(rows.turns) - 1))
    count = rows.turns.shape[1]
    seen = rotations.multiply(rotations.conjugate(data.xquat[first]), data.xquat[first : first + count])
    dots = np.abs((seen * rows.turns[frame]).sum(axis=-1)).clip(0.0, 1.0)
    dots[0] = 1.0
    return np.asarray(np.degrees(2.0 * np.arccos(dots)))


def touched_bodies(actor: BodyActor) -> set[int]:
    """Return the bodies of a character that touch anything, themselves too, counted from the root's."""
    model, data, first = actor.stage.model, actor.stage.data, actor.character.root_body
    pairs = data.contact.geom[: data.ncon][np.asarray(data.contact.dist[: data.ncon]) <= 0.0]
    own = model.geom_bodyid[pairs.ravel()] - first
    return set(own[(own >= 0) & (own < len(actor.character.bodies))].tolist())


def lead_out(actor: BodyActor, limb: Limb, way: Floats) -> None:
    """Lead a limb from where it is outward, stretched along a way seen from the root, and back into the clip.

    Joint by joint: an elbow that is stretched and bent again turns no other way than elbows do.
    """
    model, data, first = actor.stage.model, actor.stage.data, actor.character.root_body
    bones = list(limb.bones)
    upright = rotations.from_rotation_vector([0.0, 0.0, float(rotations.heading(data.xquat[first]))])
    seen_way = rotations.rotate(rotations.multiply(rotations.conjugate(data.xquat[first]), upright), way)
    bodies = [first + bone for bone in bones]
    above = [int(body) - first for body in model.body_parentid[bodies]]
    links = [bones.index(bone) if bone in bones else -1 for bone in above]
    now = _by_joint(rotations.multiply(rotations.conjugate(data.xquat[first]), data.xquat[bodies]), links)
    out = model.body_quat[bodies].copy()  # straight, as in the reference stance
    out[0] = rotations.multiply(_turn_to(rotations.rotate(now[0], _axis(model, first + bones[0])), seen_way), now[0])
    if limb.kind == "leg":
        out[2:] = now[2:]  # a foot is no link of the leg's stretch
    rows = actor.rows
    assert rows is not None  # it follows a clip
    start = int(np.clip(np.ceil((actor.stage.time - actor.started) * rows.fps), 0, len(rows.turns) - 1))
    rows = extended(rows, start + round((OUT + BACK) * rows.fps) + 2)
    turns = rows.turns.copy()
    leave, home = round(OUT * rows.fps), round(BACK * rows.fps)
    for k in range(leave + home):
        if k < leave:
            mixed = rotations.slerp(now, out, np.full(len(bones), _ease(k / leave)))
        else:
            clip = _by_joint(rows.turns[start + k, bones], links)
            mixed = rotations.slerp(out, clip, np.full(len(bones), _ease((k - leave) / home)))
        turns[start + k, bones] = _from_joints(mixed, links)
    actor.change_rows(replace(rows, turns=turns))


def _by_joint(turns: Floats, links: list[int]) -> Floats:
    """Return orientations of bones, (bones, 4), seen from the one each hangs on; −1: as they are."""
    result = turns.copy()
    for bone, above in enumerate(links):
        if above >= 0:
            result[bone] = rotations.multiply(rotations.conjugate(turns[above]), turns[bone])
    return result


def _from_joints(turns: Floats, links: list[int]) -> Floats:
    """Return what `_by_joint` came from; whatever a bone hangs on comes before it."""
    result = turns.copy()
    for bone, above in enumerate(links):
        if above >= 0:
            result[bone] = rotations.multiply(result[above], turns[bone])
    return result


def extended(rows: ServoTargets, frames: int) -> ServoTargets:
    """Return rows that last at least so many frames, the last one held."""
    more = frames - len(rows.turns)
    if more <= 0:
        return rows
    return each_row(rows, lambda value: np.concatenate([value, np.repeat(value[-1:], more, axis=0)]))


def _axis(model: mujoco.MjModel, body: int) -> Floats:
    """Return along what a bone lies, in its own frame, (3,)."""
    children = [b for b in range(body + 1, model.nbody) if int(model.body_parentid[b]) == body]
    along = model.body_pos[children[0]] if children else model.body_ipos[body]
    return np.asarray(along / max(float(np.linalg.norm(along)), 1e-9))


def _turn_to(old: Floats, new: Floats) -> Floats:
    """Return the shortest turn from one direction to another, (4,)."""
    a, b = old / np.linalg.norm(old), new / np.linalg.norm(new)
    return rotations.normalise(np.array([max(1.0 + float(a @ b), 1e-6), *np.cross(a, b)]))


def _ease(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)
