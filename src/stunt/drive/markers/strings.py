"""A body under capture markers: strings that are solved together pull it, and its own muscles go along."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.control.core.renumbered import Renumbered
from stunt.control.strings.memory import StringsProgram, Strung
from stunt.drive.markers.fit import MarkerFit
from stunt.drive.motion.layout import own_slices
from stunt.drive.motion.sole_hold import friction_of
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop

STRENGTH: Final = 0.5
"""What a string of several holds, of the body's weight, where nobody says."""
FIGHTING: Final = 2.0
"""Strings pull against each other if their forces come to more than so many times what they come to together."""
_SLACK: Final = 0.05
"""Forces below this share of the weight are nobody's fight."""


class OnMarkers:
    """One character on the strings of its markers.

    Attributes:
        character: Who.
        strung: What it is to do.
        names: Of the sites its strings are fastened to.
        fit: The body fitted to the markers.
    """

    def __init__(
        self, stage: StageLoop, character: Character, names: list[str], fit: MarkerFit, *, start: float,
        settling: float, strength: float | None, taken: Collection[str],
    ) -> None:  # fmt: skip
        """Fasten the strings.

        Args:
            stage: Where.
            character: Who.
            names: Sites, one for each of the fit's markers.
            fit: What it is to do.
            start: When the first frame falls [s].
            settling: How fast it closes in on it [s].
            strength: Largest force of a string [N]; None is half the body's weight.
            taken: Joints that others move.
        """
        self._stage, self.character, self.names, self.fit = stage, character, names, fit
        model, own = stage.model, own_slices(character)[0]
        velocities = _rates(model, fit.qpos, fit.fps)
        dofs = _own_dofs(character)
        accelerations = np.gradient(velocities, 1.0 / fit.fps, axis=0) if len(velocities) > 1 else 0.0 * velocities
        soles = sole_geoms(model, character) if character.root is not None else []
        sites = [character.sites[name] for name in names]
        self.strung = Strung(
            fit.fps, start, fit.qpos[:, own].copy(), velocities[:, dofs], accelerations[:, dofs], sites, fit.markers,
            fit.offsets, muscles_of(character, sites, taken),
            STRENGTH * character.mass * 9.81 if strength is None else strength, settling, soles,
            _grip(model, character, soles, fit.qpos[:, own], fit.fps),
        )  # fmt: skip
        self.program = stage.board.companion(StringsProgram, model, stage.data, stage.board)
        self.program.pull(character, self.strung)

    def forces(self) -> NDArray[np.float64]:
        """Return what the strings do to the character: force, and torque about its root, (6,)."""
        data, total = self._stage.data, np.zeros(6)
        for string in self.program.strings[self.character.name]:
            site = int(string["site"])
            arm = data.site_xpos[site] + data.site_xmat[site].reshape(3, 3) @ string["offset"]
            total[:3] += string["force"]
            total[3:] += np.cross(arm - data.xpos[self.character.root_body], string["force"])
        return total

    def summaries(self) -> list[dict[str, Any]]:
        """Return what there is to say of every marker, and of the strings together, as events of a take."""
        name = self.character.name
        found: list[dict[str, Any]] = []
        for site, string, offset in zip(self.names, self.program.strings[name], self.fit.offsets, strict=True):
            steps = max(1.0, float(string["steps"]))
            found.append({
                "time": 0.0, "kind": "trajectory", "character": name, "site": site, "settling": self.strung.settling,
                "form": "together", "rms": 1000.0 * float(np.sqrt(string["squares"] / steps)),
                "worst": 1000.0 * float(np.sqrt(string["worst"])), "worst_time": float(string["worst_time"]),
                "unit": "mm", "turn_rms_deg": 0.0, "string_impulse": float(string["impulse"]),
                "string_peak": float(string["peak"]), "string_twist": 0.0,
                "offset_mm": 1000.0 * float(np.linalg.norm(offset)),
            })  # fmt: skip
        return [*found, self.together()]

    def together(self) -> dict[str, Any]:
        """Return how hard all strings pull, and how much of that is against each other, as an event of a take."""
        who = self.program.body(self.character.name)
        seconds = max(float(who["seconds"]), 1e-9)
        total, net, weight = float(who["pulled"]) / seconds, float(who["pulled_net"]) / seconds, float(who["weight"])
        fights = total > FIGHTING * net and total > _SLACK * weight
        return {
            "time": 0.0, "kind": "strings", "character": self.character.name, "sum": total, "net": net,
            "fighting": 1.0 - net / total if total > 0.0 else 0.0, "fights": fights, "weight": weight,
            "ground": float(who["carried"]) / seconds, "peak": float(max(self._column("peak"), default=0.0)),
        }  # fmt: skip

    def _column(self, field: str) -> list[float]:
        return [float(x) for x in self.program.strings[self.character.name][field]]

    def errors(self) -> Floats:
        """Return how far sites are from their markers now [m], (m,)."""
        return np.array(self._column("error"))

    def cut(self) -> None:
        """Let go."""
        self.program.release(self.character.name)

    def move(self, character: Character, by: Renumbered) -> None:
        """Go on, on a stage with another cast."""
        stage, old = self._stage, self.program
        joints = [character.joints[joint.name] for joint in self.strung.joints]
        sites = [character.sites[name] for name in self.names]
        self.character, self.strung = character, replace(self.strung, joints=joints, sites=sites)
        self.program = stage.board.companion(StringsProgram, stage.model, stage.data, stage.board)
        self.program.carry(old, [(character, self.strung)])

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self.program.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self.program.restore(state)


def muscles_of(character: Character, sites: list[int], taken: Collection[str]) -> list[Any]:
    """Return the joints that go along with strings: inboard of a site, and nobody else's."""
    model, inboard = character.model, set()
    for site in sites:
        body = int(model.site_bodyid[site])
        while body > 0:
            inboard.add(body)
            body = int(model.body_parentid[body])
    return [j for n, j in character.joints.items() if n not in taken and int(model.jnt_bodyid[j.id]) in inboard]


def _grip(model: mujoco.MjModel, character: Character, soles: list[int], own: Floats, fps: float) -> Floats:
    """Return how well soles hold to the ground along a motion, (F, soles)."""
    if not soles:
        return np.zeros((len(own), 0))
    return friction_of(character, soles, *pose_frames(model, character, own), fps)


def _own_dofs(character: Character) -> slice:
    joints = [*([character.root] if character.root is not None else []), *character.joints.values()]
    return slice(joints[0].dof, joints[-1].dof + joints[-1].nv)


def _rates(model: mujoco.MjModel, qpos: Floats, fps: float) -> Floats:
    """Return velocities of all degrees of freedom from positions, (F, nv): central differences, one-sided at ends."""
    found, last = np.zeros((len(qpos), model.nv)), len(qpos) - 1
    for frame in range(len(qpos)):
        one, other = max(frame - 1, 0), min(frame + 1, last)
        if other > one:
            mujoco.mj_differentiatePos(model, found[frame], (other - one) / fps, qpos[one], qpos[other])
    return found
