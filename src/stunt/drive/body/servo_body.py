"""One body in the hands of the servo: how strong it is, how its root is helped, and what that took.

It joins the stage's servo when something is first asked of it there; until then, and of a character with a fixed root,
it costs nothing. What it is told to follow is `BodyActor`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from stunt.character.bodies import by_joint
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.control.servo.memory import FREE, HOOK, WEAK, WorldspaceProgram, check_free, hip_height
from stunt.drive.motion.layout import Layout, own_slices
from stunt.drive.motion.posing import ServoView
from stunt.errors import seen
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop


@dataclass(frozen=True)
class Assistance:
    """What the root got from outside so far: by its spring and, in the external form, by the torques on the bones.

    Attributes:
        torque_mean: Mean torque as a share of m·g·h.
        torque_peak: Largest torque, likewise.
        force_mean: Mean force as a share of body weight.
        force_peak: Largest force, likewise.
        impulse: ∫|force|dt [N·s].
        angular_impulse: ∫|torque|dt [N·m·s].
    """

    torque_mean: float
    torque_peak: float
    force_mean: float
    force_peak: float
    impulse: float
    angular_impulse: float


class ServoBody:
    """One character's body on the stage, as the servo has it.

    Attributes:
        stage: Where it is.
        character: Whose.
        settings: How it follows.
        root: How its root is helped.
    """

    def __init__(
        self, stage: StageLoop, name: str, *, settings: ServoSettings | None = None, root: RootSpring | None = None
    ) -> None:
        """Name a body.

        Args:
            stage: Where it is.
            name: Who.
            settings: How it follows.
            root: How its root is helped.
        """
        self.stage, self.character = stage, stage.character(name)
        self.settings, self.root = seen(settings or ServoSettings()), seen(root or RootSpring())
        self._number = -1
        self._leaning: RootSpring | None = None

    def configure(self, settings: ServoSettings | None = None, root: RootSpring | None = None) -> None:
        """Change how it follows, and how its root is helped, from now on; None: as it is."""
        before = self.settings.gain
        self.settings, self.root = seen(settings or self.settings), seen(root or self.root)
        if self.joined:
            self.program.settle(self._number, self.settings, self.root)
            if self.settings.gain != before and any(isinstance(x, Mapping) for x in (self.settings.gain, before)):
                self.stiffen({})

    @property
    def joined(self) -> bool:
        """Whether the servo knows it."""
        return self._number >= 0

    @cached_property
    def program(self) -> WorldspaceProgram:
        """The stage's servo."""
        return self.stage.board.companion(WorldspaceProgram, self.stage.model, self.stage.data, self.stage.board)

    @property
    def number(self) -> int:
        """Its number with the servo.

        Raises:
            BodyError: Its root is fixed.
        """
        if self._number < 0:
            check_free(self.character)
            self._number = self.program.add(self.character, self.soles, self.settings, self.root)
            self.stage.strings.append(self._string)
            self.stiffen({})
        return self._number

    @property
    def _memory(self) -> Any:
        """Its record in the servo's memory."""
        number = self.number
        return self.program.actors[number]

    @cached_property
    def soles(self) -> list[int]:
        """Geoms it stands on."""
        return sole_geoms(self.stage.model, self.character)

    @cached_property
    def slices(self) -> tuple[slice, slice]:
        """Where its own coordinates and velocities are in the stage's."""
        check_free(self.character)
        return own_slices(self.character)

    @cached_property
    def layout(self) -> Layout:
        """Of its own coordinates."""
        check_free(self.character)
        return Layout.of(self.character)

    @cached_property
    def servo_view(self) -> ServoView:
        """Which of its joints and soles the servo reads."""
        return ServoView.of(self.stage.model, self.character, self.soles)

    @property
    def here(self) -> Floats:
        """Its own coordinates as they are now, (nq,): a view."""
        return self.stage.data.qpos[self.slices[0]]

    @property
    def state(self) -> tuple[Floats, Floats]:
        """Its own positions and velocities, (nq,) and (nv,): views."""
        return self.here, self.stage.data.qvel[self.slices[1]]

    # ---- how strong, how helped

    def stun(self, low: float, *, down: float = 0.05, hold: float = 0.3, up: float = 1.0) -> None:
        """Lose strength fast, to a share `low`, and get it back slowly [s]."""
        self.program.stun(self.number, self.stage.time, down=down, hold=hold, up=up, low=low)

    def recover(self) -> None:
        """Have all one's strength again, at once."""
        self._memory["stun_time"] = np.inf
        self.strength(1.0)

    def strength(self, gain: float) -> None:
        """Scale all servo gains from now on (1: as strong as the body is)."""
        self._memory["gain"] = self.settings.whole_gain * gain

    def stiffen(self, share: Mapping[str, float]) -> None:
        """Scale gains of joints from now on, beside what its settings say; of joints on one bone the lowest counts."""
        said, joints = self.settings.gain, self.character.joints
        limbs = by_joint("gain", said, joints, self.character.name, least=0.01) if isinstance(said, Mapping) else {}
        bones, bodies = np.full(self.stage.model.nbody, np.inf), self.stage.model.jnt_bodyid
        for name, joint in joints.items():
            bone = bodies[joint.id]
            bones[bone] = min(bones[bone], limbs.get(name, 1.0) * share.get(name, 1.0))
        own = slice(int(self._memory["root_body"]), int(self._memory["end_body"]))
        self.program.usual[own] = np.where(np.isfinite(bones), bones, 1.0)[own]
        self.program.set_tone(self.number, 1.0)

    def lean(self, root: RootSpring | None) -> None:
        """Change how the root is helped; None: as the character came."""
        if root == self._leaning:
            return  # gains need not be worked out again
        self._leaning = root
        gain = float(self._memory["gain"])
        self.program.settle(self.number, self.settings, root or self.root)
        self._memory["gain"] = gain

    def brace(self, tension: float, spring: float, tone: Floats | float = 1.0) -> None:
        """Set stiffness and the help against tilt at once, as a posture wants them.

        `lean` would weigh the body anew, in whatever pose it is.

        Args:
            tension: Factor on all stiffness.
            spring: Largest torque on the root, as a share of m·g·h.
            tone: Of each bone beside the others, (B,).
        """
        who = self._memory
        self.program.set_tone(self.number, tone)
        who["active"], who["root_mode"] = 1, WEAK if spring > 0.0 else FREE
        who["gain"], who["torque_limit"] = tension, spring * self._lever
        who["yaw_limit"] = who["force_limit"] = 0.0
        who["stun_time"], who["break_torque"], who["snapped"] = np.inf, np.inf, 0  # who braces knows what it asks for

    def unbrace(self) -> None:
        """Be as stiff, and helped, as before `brace`."""
        who, root = self._memory, self.root
        self.program.set_tone(self.number, 1.0)
        who["root_mode"] = {"weak": WEAK, "auto": WEAK, "hook": HOOK}.get(root.kind, FREE)
        who["gain"], who["torque_limit"] = self.settings.whole_gain, root.limit * self._lever
        who["break_torque"] = root.breaks * self._lever if root.kind != "hook" else np.inf
        who["yaw_limit"], who["force_limit"] = root.yaw * self._lever, root.force * self.weight

    def keep_to_world(self) -> None:
        """Take targets as they are in the world, whichever way the root is turned (see `AbsoluteTargets`)."""
        self._memory["absolute"] = 1

    def stopped(self) -> float:
        """Return by how much contacts have stopped it at most, within moments, since this was last asked [m/s]."""
        worst = float(self._memory["worst_thud"]) if self.joined else 0.0
        if worst > 0.0:
            self._memory["worst_thud"] = 0.0
        return worst

    # ---- what that took

    @property
    def weakened(self) -> bool:
        """Whether a stun has not worn off yet."""
        who = self._memory
        over = float(who["stun_time"] + who["stun_down"] + who["stun_hold"] + who["stun_up"])
        return self.stage.time < over < math.inf

    @property
    def blow(self) -> float:
        """How much contacts gave the body lately, summed over its degrees of freedom [N·s, N·m·s]."""
        return float(np.abs(self.program.owed[self.slices[1]]).sum())

    def kick(self) -> Floats:
        """Return how the body's velocities would change by what contacts gave it lately, were it free, (nv,)."""
        owed, out = self.program.owed, np.zeros((1, self.stage.model.nv))
        if not owed[self.slices[1]].any():
            return np.zeros(self.layout.nv)
        mine = np.zeros((1, self.stage.model.nv))
        mine[0, self.slices[1]] = owed[self.slices[1]]
        mujoco.mj_solveM(self.stage.model, self.stage.data, out, mine)
        return out[0, self.slices[1]]

    @property
    def broken_for(self) -> float:
        """How long the root spring has been broken [s]."""
        return float(self._memory["broken"]) if self.joined else 0.0

    @property
    def leans(self) -> float:
        """How far its root is tilted from the clip's [rad]."""
        return float(self._memory["root_error"]) if self.joined else 0.0

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return float(self._memory["weight"])

    @property
    def _lever(self) -> float:
        """Body weight times the height of the hips [N·m]: m·g·h."""
        return self.weight * hip_height(self.stage.model, self.slices[0].start)

    @property
    def limit_use(self) -> dict[str, float]:
        """How joints kept to their strength: share of joint-steps above it, and the largest torque over a limit."""
        who = self._memory
        return {"over_share": float(who["over"] / max(who["joint_steps"], 1.0)), "worst": float(who["worst"])}

    def assistance(self) -> Assistance:
        """Return what the root got from outside so far."""
        who, step = self._memory, self.stage.step_time
        steps, weight, lever = max(float(who["steps"]), 1.0), self.weight, self._lever
        return Assistance(
            float(who["torque_sum"]) / steps / lever, float(who["torque_peak"]) / lever,
            float(who["force_sum"]) / steps / weight, float(who["force_peak"]) / weight,
            float(who["force_sum"]) * step, float(who["torque_sum"]) * step,
        )  # fmt: skip

    def _string(self) -> tuple[str, Floats]:
        who = self._memory
        return self.character.name, np.concatenate([who["force"], who["torque"]])

    # ---- a change of cast

    def known_anew(self) -> bool:
        """Know itself anew on a stage with another cast; whether it is still there."""
        name = self.character.name
        if name not in self.stage.built.characters:
            return False
        self.character = self.stage.character(name)
        for known in ("program", "soles", "slices", "layout", "servo_view"):
            self.__dict__.pop(known, None)
        return True
