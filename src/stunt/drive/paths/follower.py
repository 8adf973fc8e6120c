"""A follower: joints and sites of a character on trajectories, the rest passive, and a word on how it goes.

Works inside a script's performance and from a user's own loop alike; trajectories can be set, changed and taken away
while the stage runs.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.control.adaptive.memory import AdaptiveProgram, Path
from stunt.control.core.renumbered import Renumbered
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.off_path import OffPath, Watched
from stunt.errors import NOWHERE, InvalidValueError, JointLimitError, Place, UnknownNameError, announced
from stunt.motion.trajectory import Trajectory
from stunt.stage.loop import StageLoop

if TYPE_CHECKING:
    from stunt.drive.markers.fit import MarkerFit
    from stunt.drive.markers.strings import OnMarkers

SETTLING: Final = 0.2
"""Settling time where none is given [s]."""
LONGEST_SETTLING: Final = 60.0
ROOT: Final = "root"
"""What the frame of a free root's body is called among sites."""
DAMPING: Final = (0.05, 20.0)
"""Damping ratios a reference model may have."""
_WINDOW = 1.0  # a function is sampled so far ahead [s]
_SPARE = 0.25  # and that much further, so that its end is never reached
_WATCH_HZ = 60.0
_PULL = 2.0  # a string holds this many times the body's weight, if nobody says otherwise
_QUATERNION_SLACK = 0.01


class FollowLog(list[dict[str, Any]]):
    """Events of a follower; whoever reads it gets those noted so far and the present summary of every trajectory."""

    def __init__(self, follower: Follower) -> None:
        super().__init__()
        self._follower = follower

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield from super().__iter__()
        yield from self._follower.summaries()


class Follower:
    """Drives joints and sites of one character along trajectories.

    Attributes:
        character: Who.
        log: What happened, as events of a take: `off_path`, `trajectory` and `strings`.
        on_markers: The body's strings, where several pull it together.
        told: What the user should know of its markers, in sentences.
    """

    @announced
    def __init__(
        self, stage: StageLoop, character: str, *, tolerance_deg: float = 3.0, tolerance_mm: float = 30.0
    ) -> None:
        """Join the crew; nothing is driven yet.

        Args:
            stage: Where the character is.
            character: Its name.
            tolerance_deg: A joint (or a site's orientation) farther from its trajectory is off it [°].
            tolerance_mm: A site or slide farther from its trajectory is off it [mm].
        """
        self.stage = stage
        self.character: Character = stage.character(character)
        self.program = stage.board.companion(AdaptiveProgram, stage.model, stage.data, stage.board)
        self._joints: dict[str, tuple[Trajectory, float, bool, float]] = {}
        self._sites: dict[str, tuple[Trajectory | None, Trajectory | None, float, float, float]] = {}
        self._watch = OffPath(stage, self.character, self.program, math.radians(tolerance_deg), tolerance_mm / 1000.0)
        self.log = FollowLog(self)
        self.on_markers: OnMarkers | None = None
        self.told: list[str] = []
        self._refill_at = math.inf
        self._last = -1
        self._stride = max(1, round(stage.scene.physics_hz / _WATCH_HZ))
        self.changed: Callable[[], None] = lambda: None
        stage.crew.append(self)
        stage.strings.append(self._string)

    def joint(
        self,
        name: str,
        trajectory: Trajectory,
        *,
        settling: float = SETTLING,
        damping: float = 1.0,
        bare: bool = False,
        place: Place = NOWHERE,
    ) -> None:
        """Put a joint on a trajectory, or change it; what the controller has learned stays.

        Args:
            name: A joint.
            trajectory: Angle [rad], position [m], or of a ball joint quaternions wxyz against its parent, over time.
            settling: Settling time t_s [s]: how fast it closes in on the trajectory.
            damping: How it does: 1 without overshoot, less swings over, more creeps.
            bare: Whether to use the paper's law as printed (for comparison).
            place: Where it was asked for.

        Raises:
            StuntError: No such joint, an angle outside the limits, an impossible settling time.
        """
        joint = self.character.joint(name, place)
        check_joint(joint, trajectory, place, bare=bare)
        check_settling(settling, self.stage.control_period, place)
        check_damping(damping, place)
        owners = self.stage.owners(self.character.name)
        owners.check([name], place)
        owners.take("trajectories", [name])
        self._joints[name] = (trajectory, settling, bare, damping)
        self.program.drive_joint(joint.id, settling, self._path(trajectory), bare=bare, damping=damping)
        self._watch.watch(Watched(name, "joint", joint.id))
        self.stage.crew.announce(self)
        self.changed()

    def site(
        self,
        name: str,
        position: Trajectory | None = None,
        orientation: Trajectory | None = None,
        *,
        settling: float = SETTLING,
        damping: float = 1.0,
        strength: float | None = None,
        place: Place = NOWHERE,
    ) -> None:
        """Pull a site along a trajectory like a marionette's string, or change it. Counts as assistance.

        Args:
            name: The site.
            position: Where it should be [m], world frame.
            orientation: How it should be turned, quaternions wxyz, world frame.
            settling: Settling time t_s [s].
            damping: 1 without overshoot, less swings over, more creeps.
            strength: Largest force [N]; None is twice the body's weight.
            place: Where it was asked for.

        Raises:
            StuntError: No such site, nothing to follow, a trajectory of the wrong kind.
        """
        site = site_of(self.character, name, place)
        check_site(name, position, orientation, place)
        check_settling(settling, self.stage.control_period, place)
        check_damping(damping, place)
        if strength is None:
            strength = _PULL * self.character.mass * 9.81
        if not strength > 0.0:
            raise InvalidValueError("the strength of a string", strength, "a positive number of newtons", place)
        self._sites[name] = (position, orientation, settling, strength, damping)
        self._drive_site(name)
        self._watch.watch(Watched(name, "site", site))
        self.stage.crew.announce(self)
        self.changed()

    def _drive_site(self, name: str) -> None:
        position, orientation, settling, strength, damping = self._sites[name]
        paths = [None if path is None else self._path(path) for path in (position, orientation)]
        self.program.drive_site(site_of(self.character, name), settling, paths[0], paths[1], strength, damping)

    def markers(
        self, names: list[str], fit: MarkerFit, *, start: float, settling: float = SETTLING,
        strength: float | None = None, taken: Collection[str] = (), place: Place = NOWHERE,
    ) -> None:  # fmt: skip
        """Put the body on the strings of its markers; a body at time 0 begins where they are.

        Args:
            names: The site of each marker.
            fit: The body fitted to them (`stunt.drive.markers.fit`).
            start: When the first frame falls [s].
            settling: How fast it closes in on them [s].
            strength: Largest force of a string [N]; None is half the body's weight.
            taken: Joints that others move.
            place: Where it was asked for.
        """
        from stunt.drive.markers.strings import OnMarkers  # strings bring a solver, which nobody else needs

        check_settling(settling, self.stage.control_period, place)
        if self.on_markers is not None:
            self.on_markers.cut()
        self.on_markers = OnMarkers(
            self.stage, self.character, names, fit, start=start, settling=settling, strength=strength,
            taken=[*taken, *self._joints],
        )  # fmt: skip
        if self.stage.tick == 0 and start <= 0.0:
            self._begin_there(self.on_markers)
        self.stage.crew.announce(self)
        self.changed()

    def _begin_there(self, on: OnMarkers) -> None:
        data, own = self.stage.data, own_slices(self.character)[0]
        data.qpos[own] = on.strung.poses[0]
        joints = [*([self.character.root] if self.character.root is not None else []), *self.character.joints.values()]
        data.qvel[joints[0].dof : joints[-1].dof + joints[-1].nv] = on.strung.velocities[0]
        mujoco.mj_forward(self.stage.model, data)

    def release(self, name: str) -> None:
        """Let a joint swing, or cut a site's string."""
        if name in self._joints:
            del self._joints[name]
            self.program.release_joint(self.character.joints[name].id)
        elif name in self._sites:
            del self._sites[name]
            self.program.release_site(site_of(self.character, name))
        else:
            raise UnknownNameError("joint or site on a trajectory", name, [*self._joints, *self._sites])
        self._watch.forget(name)
        self.stage.crew.announce(self)

    def lay(self, path: NDArray[np.float64], times: NDArray[np.float64]) -> float:
        """Lay where its joints go over a path (T, nq) at times (T,); return when the last of them is there [s]."""
        for name, (trajectory, *_) in self._joints.items():
            pieces = trajectory.pieces(float(times[0]), float(times[-1]))
            joint = self.character.joints[name]
            own = path[: len(times), joint.qpos : joint.qpos + joint.nq]
            own[:] = [pieces.at(float(time))[0] for time in times]
            own /= np.linalg.norm(own, axis=1, keepdims=True) if joint.kind == "ball" else 1.0
        ends = [trajectory.end for trajectory, *_ in self._joints.values() if math.isfinite(trajectory.end)]
        return max(ends, default=0.0)

    def _path(self, trajectory: Trajectory) -> Path:
        now = self.stage.time
        if trajectory.function is not None and trajectory.end > now + _WINDOW + _SPARE:
            self._refill_at = min(self._refill_at, now + _WINDOW)
        pieces = trajectory.pieces(now, now + _WINDOW + _SPARE)
        return pieces.breaks, pieces.coefficients

    def due(self) -> int | None:
        """Return the next tick at which functions are asked again or errors are looked at."""
        if not self._joints and not self._sites:
            return None
        look = (max(self._last, self.stage.tick - 1) // self._stride + 1) * self._stride
        refill = self.stage.tick_of(self._refill_at) if math.isfinite(self._refill_at) else look
        return max(min(look, refill), self._last + 1)

    def act(self) -> None:
        """Ask functions for what is ahead, and note who is off its trajectory."""
        self._last = self.stage.tick
        if self.stage.time >= self._refill_at - 1e-9:
            self._refill()
        self.log += self._watch.look()

    def _refill(self) -> None:
        self._refill_at = math.inf
        for name, (trajectory, settling, bare, damping) in self._joints.items():
            if trajectory.function is not None:
                joint = self.character.joints[name].id
                self.program.drive_joint(joint, settling, self._path(trajectory), bare=bare, damping=damping)
        for name, (position, orientation, *_) in self._sites.items():
            if any(path is not None and path.function is not None for path in (position, orientation)):
                self._drive_site(name)

    def summaries(self) -> list[dict[str, Any]]:
        """Return what there is to say of every trajectory now, and of what is off it, as events of a take."""
        found = [entry for name in self._joints if (entry := self._joint_summary(name))]
        found += [entry for name in self._sites if (entry := self._site_summary(name))]
        found += self.on_markers.summaries() if self.on_markers is not None else []
        return [*self._watch.unfinished(), *found]

    def _joint_summary(self, name: str) -> dict[str, Any]:
        joint = self.character.joints[name]
        measured, (_, settling, bare, _) = self.program.joint_measured(joint.id), self._joints[name]
        # A slide's error counts in millimetres, as everywhere.
        scale = 1000.0 if joint.kind == "slide" else math.degrees(1.0)
        return {
            "time": 0.0, "kind": "trajectory", "character": self.character.name, "joint": name, "settling": settling,
            "form": "bare" if bare else "adaptive", "rms": scale * measured.rms, "worst": scale * measured.worst,
            "worst_time": measured.worst_time, "unit": "mm" if joint.kind == "slide" else "deg",
        }  # fmt: skip

    def _site_summary(self, name: str) -> dict[str, Any]:
        position, _, settling, *_ = self._sites[name]
        measured = self.program.site_measured(site_of(self.character, name))
        placed = position is not None
        return {
            "time": 0.0, "kind": "trajectory", "character": self.character.name, "site": name, "settling": settling,
            "form": "adaptive", "rms": 1000.0 * measured.rms if placed else math.degrees(measured.turn_rms),
            "worst": 1000.0 * measured.worst if placed else math.degrees(measured.turn_worst),
            "worst_time": measured.worst_time, "unit": "mm" if placed else "deg",
            "turn_rms_deg": math.degrees(measured.turn_rms), "string_impulse": measured.impulse,
            "string_peak": measured.peak, "string_twist": measured.twist,
        }  # fmt: skip

    def _string(self) -> tuple[str, NDArray[np.float64]]:
        """Return what all strings do to the character: force, and torque about its root, (6,)."""
        total = np.zeros(6)
        root = self.stage.data.xpos[self.character.root_body]
        for name in self._sites:
            site = site_of(self.character, name)
            pull = self.program.string(site)
            total += pull
            total[3:] += np.cross(spot(self.stage.data, site) - root, pull[:3])
        if self.on_markers is not None:
            total += self.on_markers.forces()
        return self.character.name, total

    @property
    def driven(self) -> list[str]:
        """Joints and sites that are on a trajectory."""
        return [*self._joints, *self._sites]

    def forget(self) -> None:
        """Take everything off its trajectory: somebody else moves the body."""
        for name in self.driven:
            self.release(name)
        if self.on_markers is not None:
            self.on_markers.cut()
            self.on_markers = None

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast."""
        stage, name = self.stage, self.character.name
        if name not in stage.built.characters:
            return False
        old, self.program = self.program, stage.board.companion(AdaptiveProgram, stage.model, stage.data, stage.board)
        self.program.carry(old, by)
        self.character = stage.character(name)
        self._watch.move(self.character, self.program, by)
        if self.on_markers is not None:
            self.on_markers.move(self.character, by)
        return True

    def save(self) -> Any:
        """Return what must survive a restore."""
        return (
            self.program.save(), dict(self._joints), dict(self._sites), self._refill_at, self._last,
            copy.deepcopy(list(list.__iter__(self.log))), self._watch.save(),
            (self.on_markers, self.on_markers.save()) if self.on_markers is not None else None,
        )  # fmt: skip

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        program, joints, sites, self._refill_at, self._last, log, watch, on = state
        self.program.restore(program)
        self._joints, self._sites = dict(joints), dict(sites)
        self.log[:] = copy.deepcopy(log)
        self._watch.restore(watch)
        if on is not None:
            self.on_markers, kept = on
            self.on_markers.restore(kept)
        elif self.on_markers is not None:
            self.on_markers.cut()
            self.on_markers = None


def site_of(character: Character, name: str, place: Place = NOWHERE) -> int:
    """Return a site's index, or say which exist; of the free root's own frame −1 − its body's."""
    if name in character.sites:
        return character.sites[name]
    if name != ROOT:
        raise UnknownNameError(f"site of '{character.name}'", name, [*character.sites, ROOT], place)
    if character.root is None:
        raise InvalidValueError("site 'root'", "on a trajectory", "a free root: this one is fixed, it stays", place)
    return -1 - character.root_body


def spot(data: mujoco.MjData, site: int) -> NDArray[np.float64]:
    """Return where a site, or below 0 a body's frame, is [m]."""
    return data.site_xpos[site] if site >= 0 else data.xpos[-1 - site]


def attitude(data: mujoco.MjData, site: int) -> NDArray[np.float64]:
    """Return how a site, or below 0 a body's frame, is turned, (4,)."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, data.site_xmat[site] if site >= 0 else data.xmat[-1 - site])
    return found


def check_settling(settling: float, period: float, place: Place = NOWHERE) -> None:
    """Check that a settling time is one control can keep."""
    if not (math.isfinite(settling) and 0.0 < settling <= LONGEST_SETTLING):
        expected = f"a number of seconds above 0 and at most {LONGEST_SETTLING:g}"
        raise InvalidValueError("the settling time", settling, expected, place)
    if settling < 4.0 * period:
        expected = f"at least four control periods ({4.0 * period:.4g} s)"
        raise InvalidValueError("the settling time", settling, expected, place)


def check_damping(damping: float, place: Place = NOWHERE) -> None:
    """Check that a damping ratio is one a reference model can have."""
    low, high = DAMPING
    if not low <= damping <= high:
        raise InvalidValueError("the damping of a trajectory", damping, f"a ratio from {low:g} to {high:g}", place)


def check_joint(joint: Joint, trajectory: Trajectory, place: Place = NOWHERE, *, bare: bool = False) -> None:
    """Check that a joint can be put on a trajectory."""
    what, ball = f"{joint.kind} joint '{joint.name}'", joint.kind == "ball"
    if bare and ball:
        raise InvalidValueError(what, "by the law as printed", "a hinge or slide, of which that law is", place)
    if trajectory.components != joint.nq:
        expected = "a quaternion [w, x, y, z] or {rotvec: [x, y, z]} per time" if ball else "one number per time"
        raise InvalidValueError(f"the trajectory of {what}", trajectory.components, expected, place)
    if ball and trajectory.function is None:
        _check_unit(f"the trajectory of {what}", trajectory, place)
    if joint.range is None or trajectory.function is not None:
        return
    low, high = joint.range
    for point in trajectory.values:
        value = 2.0 * math.atan2(math.hypot(*point[1:]), abs(point[0])) if ball else point[0]
        if not low - 1e-6 <= value <= high + 1e-6:
            if joint.kind == "slide":
                raise JointLimitError(joint.name, value, joint.range, place, unit=" m")
            raise JointLimitError(joint.name, math.degrees(value), (math.degrees(low), math.degrees(high)), place)


def _check_unit(what: str, trajectory: Trajectory, place: Place) -> None:
    for quaternion in trajectory.values:
        if abs(math.hypot(*quaternion) - 1.0) > _QUATERNION_SLACK:
            expected = f"a quaternion [w, x, y, z] of length 1 (this one has {math.hypot(*quaternion):.4g})"
            raise InvalidValueError(what, quaternion, expected, place)


def check_site(name: str, position: Trajectory | None, orientation: Trajectory | None, place: Place = NOWHERE) -> None:
    """Check that a site can be put on a trajectory."""
    if position is None and orientation is None:
        expected = "given a position, an orientation, or both"
        raise InvalidValueError(f"site '{name}'", "nothing to follow", expected, place)
    for what, path, size in (("position", position, 3), ("orientation", orientation, 4)):
        if path is not None and path.components != size:
            raise InvalidValueError(f"the {what} of site '{name}'", path.components, f"{size} numbers per time", place)
    if orientation is not None:
        _check_unit(f"the orientation of site '{name}'", orientation, place)
