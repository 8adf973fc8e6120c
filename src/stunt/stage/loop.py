"""The stage: the one place that steps the simulation.

Time is counted in physics steps (`tick`). Crew — whoever acts at certain times: recorder, events, performers — say when
they are due (see `stunt.stage.schedule`); between those moments the steps run in one compiled call. Everything that
must survive a save is in the engine's state, on the board, with the crew, or with those who are kept.

The engine's warnings go to Python's logging, not into a file in whatever folder the user happens to be.
"""

from __future__ import annotations

import logging
import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn, SupportsIndex

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.core.board import Board
from stunt.control.core.programs import connect
from stunt.control.loop.guard import PhysicsGuard
from stunt.control.loop.run import prepare
from stunt.control.loop.run import run as run
from stunt.errors import NOWHERE, BlowUpError, InvalidValueError, Place, StuntError, UnknownNameError
from stunt.stage.build import GROUND, Built, Prop, build
from stunt.stage.contacts import ContactWatch, Hit
from stunt.stage.ledger import ROOM, StepLedger
from stunt.stage.owners import Owners
from stunt.stage.scene import Placement, Scene
from stunt.stage.schedule import Saved, Schedule
from stunt.stage.shock import Shock
from stunt.stage.sleep import Sleep, forward
from stunt.stage.two_stage import start_impacts

_LOG = logging.getLogger("stunt.engine")
_LOG.addHandler(logging.NullHandler())


def route_warnings() -> None:
    """Send the engine's warnings to the logger `stunt.engine`, unless the user has a handler of their own."""
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_warn)


def _warn(message: str) -> None:
    _LOG.warning("%s", message)


SPEED_LIMIT = 1.0e3
"""Velocity [rad/s or m/s] beyond which a simulation of bodies counts as blown up."""
_MOST_STEPS = 2**60
_BLINK = 0.05  # seconds of compiled work after which Python gets a look in
_FIRST_STRETCH, _LONGEST_STRETCH = 4, 2**20  # control steps
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_MODEL_FIELDS = ("jnt_stiffness", "dof_damping", "qpos_spring", "eq_obj1id", "eq_obj2id", "eq_data")


class StageLoop:
    """A scene being played.

    Attributes:
        built: The compiled scene.
        model: Its MuJoCo model. Control changes joint stiffness, damping and rest in it.
        data: Its MuJoCo data; nobody else steps it.
        board: What every joint is told to do.
        tick: Physics steps taken.
        crew: Who acts, in this order, whenever several are due at once.
        kept: Who is saved with the stage without acting at times of its own.
        sleep: Who sleeps; None where nobody does.
        impacts: The impact stage of two-stage collisions; None under the engine's own contact model.
        strings: Each says what pulls a character from outside now: its name, force [N] and torque about its root [N·m].
        actors: The body of each character that somebody has taken on, by name (see `stunt.drive.body.actor`).
        foresight: If set, predicts a character's `qpos` at a later time; throws aim by it.
        guard: Watches over the physics: what sinks, is pressed too deep, or gains energy from nowhere.
        ledger: Everything that is written into the engine, where that is kept (`keep_ledger`); else None.
        generation: How often the cast has changed since the stage was built.
        placements: Where the first clip of each character that follows clips lay, and where on the stage it was put.
    """

    def __init__(self, scene: Scene | Built) -> None:
        """Build the scene (unless it is built) and set it to its start.

        Raises:
            StuntError: The scene cannot be built.
        """
        route_warnings()
        self.built = scene if isinstance(scene, Built) else build(scene)
        self.scene = self.built.scene
        self.model = self.built.model
        self.data = mujoco.MjData(self.model)
        self.rng = np.random.default_rng(self.scene.seed)
        self.step_time = 1.0 / self.scene.physics_hz
        self.steps_per_control = self.built.steps_per_control
        self.control_period = self.step_time * self.steps_per_control
        self._set_starts()
        self._set_props_moving()
        try:
            mujoco.mj_forward(self.model, self.data)
        except mujoco.FatalError:  # the rooms it sets aside grow with the square of what may touch
            raise StuntError(f"the engine has no room for a stage of {self.model.nbody - 1} bodies.") from None
        held = [(p.grip, p.body, p.spec.felt_mass) for p in self.built.props.values() if p.grip >= 0]
        self.board = Board(self.model, self.data, self.control_period, held)
        self._set_limits()
        self.watch = ContactWatch(self.built, self.data, self.board.planted, self.board.grounded)
        self.guard = PhysicsGuard(self.model, self.data, floor=self.scene.ground)
        self.board.counts["guard"] = self.guard.table
        self.tick = 0
        self.crew = Schedule()
        self.kept: list[Saved] = []
        self.actors: dict[str, Any] = {}
        self.hit_listeners: list[Callable[[Hit], None]] = []
        self.shock_listeners: list[Callable[[Shock], None]] = []
        self.signal_listeners: list[Callable[[str], None]] = []
        self.sleep = Sleep(self.built, self.data, self.board) if self.scene.sleep else None
        bounce = {p.body: p.spec.restitution for p in self.built.props.values() if p.spec.restitution is not None}
        self.impacts = start_impacts(self.scene.collisions, self.model, self.data, self.board, bounce)
        self.strings: list[Callable[[], tuple[str, np.ndarray]]] = []
        self.foresight: Callable[[str, float], np.ndarray] | None = None
        self.placements: dict[str, Placement] = {}
        self.ledger: StepLedger | None = None
        self._ready = False
        self._looked = 0
        self._connected = b""
        self._parts = 1
        self._stretch, self._stretched, self._since = _FIRST_STRETCH, -1, 0.0
        self.generation = 0
        # The objects stay where they are, and asking for their addresses costs more than it should.
        self._addresses = self.model._address, self.data._address

    def _set_starts(self) -> None:
        for name, spec in self.scene.characters.items():
            character = self.characters[name]
            if isinstance(spec.start, str):
                expected = "joint angles here: only a script knows poses by name"
                raise InvalidValueError("start", spec.start, expected, spec.place)
            if spec.start is not None and not isinstance(spec.start, Mapping):
                raise InvalidValueError("start", spec.start, "joint angles by name", spec.place)
            for joint_name, angle in (spec.start or {}).items():
                joint = character.joint(joint_name, spec.place)
                numbers = np.ravel(angle) if isinstance(angle, (Real, Sequence, np.ndarray)) else np.zeros(0)
                if numbers.dtype.kind not in "fiu" or numbers.size != joint.nq or not np.isfinite(numbers).all():
                    expected = "a finite angle [rad]" if joint.nq == 1 else f"{joint.nq} finite numbers"
                    raise InvalidValueError(f"start of joint '{joint_name}'", angle, expected, spec.place)
                self.data.qpos[joint.qpos : joint.qpos + joint.nq] = angle
            if spec.start and character.root is not None:
                self._put_on_ground(character)

    def _put_on_ground(self, character: Character) -> None:
        """Raise or lower a free character so that, in its start pose, its lowest point is where its soles were."""
        if not self.scene.ground:
            return
        ground, root = self.model.geom(GROUND).id, character.root
        wanted = self.scene.characters[character.name].at[2]
        mujoco.mj_kinematics(self.model, self.data)
        heights = [mujoco.mj_geomDistance(self.model, self.data, ground, g, 10.0, None) for g in character.geoms]
        if root is not None and heights:
            self.data.qpos[root.qpos + 2] += wanted - min(heights)

    def _set_props_moving(self) -> None:
        for prop in self.built.props.values():
            if prop.dof >= 0:
                self.data.qvel[prop.dof : prop.dof + 3] = prop.spec.velocity
                # The engine keeps a free body's spin in the body's own frame.
                spin = np.zeros(3)
                inverse = np.zeros(4)
                mujoco.mju_negQuat(inverse, self.data.qpos[prop.qpos + 3 : prop.qpos + 7])
                mujoco.mju_rotVecQuat(spin, np.asarray(prop.spec.spin, float), inverse)
                self.data.qvel[prop.dof + 3 : prop.dof + 6] = spin

    def _set_limits(self) -> None:
        for character in self.characters.values():
            for joint in character.joints.values():
                self.board.limit[joint.dof : joint.dof + joint.nv] = joint.strength

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.tick * self.step_time

    @property
    def characters(self) -> dict[str, Character]:
        """Who is on the stage, by name."""
        return dict(self.built.characters)

    def character(self, name: str, place: Place = NOWHERE) -> Character:
        """Return a character by name, or say who is there."""
        if name not in self.built.characters:
            raise UnknownNameError("character", name, self.built.characters, place)
        return self.built.characters[name]

    def prop(self, name: str, place: Place = NOWHERE) -> Prop:
        """Return a prop by name, or say which there are."""
        if name not in self.built.props:
            raise UnknownNameError("prop", name, self.built.props, place)
        return self.built.props[name]

    def tick_of(self, time: float) -> int:
        """Return the first tick at or after a time (to within a millionth of a step)."""
        if not math.isfinite(time):
            raise InvalidValueError("time", time, "a finite number of seconds")
        return math.ceil(time / self.step_time - 1e-6)

    def step(self, dt: float) -> None:
        """Advance by about `dt` seconds: by the physics steps that bring the clock nearest to now + dt.

        Raises:
            InvalidValueError: `dt` is not a positive number.
            BlowUpError: The simulation blew up; it stands at the step where it did.
        """
        if isinstance(dt, bool) or not isinstance(dt, Real) or not (math.isfinite(dt) and dt > 0.0):
            raise InvalidValueError("dt", dt, "a positive number of seconds")
        self.advance(max(1, round(float(dt) / self.step_time)))

    def advance(self, steps: int) -> None:
        """Advance by a number of physics steps, letting the crew act when they are due.

        However many they are, Ctrl-C is heard some ten times a second, and leaves the stage at a whole step.

        Raises:
            InvalidValueError: That is no number of steps.
            BlowUpError: The simulation blew up; it stands at the step where it did.
        """
        if isinstance(steps, bool) or not isinstance(steps, Integral) or not 0 <= steps <= _MOST_STEPS:
            raise InvalidValueError("steps", steps, "a whole number of physics steps, 0 or more")
        try:
            self._advance(int(steps))
        except KeyboardInterrupt:
            # It may have come between a stretch of steps and their being counted.
            self.tick = round(self.data.time / self.step_time)
            self.board.counts["watch"] = 0
            raise

    def _advance(self, steps: int) -> None:
        if not self._ready:
            mujoco.mj_forward(self.model, self.data)
            connect(self.board)
            prepare(self.board.table)
            self._ready = True
        end = self.tick + steps
        while True:
            while self.crew.next <= self.tick:  # one who acts may have called one who had its turn before
                self.crew.let_act(self.tick)
            if self.tick >= end:
                return
            self._run_to(self._reach(end))

    def _reach(self, end: int) -> int:
        """Return up to which tick to go in one compiled call: no further than a blink of the eye."""
        target, whole = min(end, self.crew.next), self.steps_per_control
        if target - self.tick <= whole:
            return target
        now = clock.perf_counter()
        if self._stretched == self.tick:  # the last stretch was a whole one
            spent = now - self._since
            self._stretch = max(1, self._stretch // 2) if spent > _BLINK else min(2 * self._stretch, _LONGEST_STRETCH)
        self._since = now
        if self.ledger is not None:
            self._stretch = min(self._stretch, max(1, ROOM // whole))
        # Between two control steps contacts would be looked at once more; so a stretch ends with one.
        self._stretched = (self.tick // whole + self._stretch) * whole
        return min(target, self._stretched)

    def owners(self, name: str) -> Owners:
        """Return who looks after which way of moving has which of a character's joints; the same one whoever asks."""
        for member in self.kept:
            if isinstance(member, Owners) and member.name == name:
                return member
        self.keep(made := Owners(self, name))
        return made

    def keep(self, member: Saved) -> None:
        """Save somebody with the stage who does not act at times of its own."""
        self.kept.append(member)

    def keep_ledger(self) -> None:
        """Write down, from now on, everything that is written into the engine: what `stunt certify` goes by.

        Raises:
            StuntError: Something sleeps: what the engine keeps of it is not in its state.
        """
        if self.ledger is not None:
            return
        if self.sleep is not None and self.sleep.asleep.any():
            raise StuntError("something sleeps on this stage; a take can be certified from its beginning only.")
        # What control has made of the model on the way here was written too: beside the scene as it is built.
        self.ledger = StepLedger(self.model, self.data, build(self.scene).model)
        self.board.counts["ledger"] = self.ledger.table
        self.keep(self.ledger)

    def _run_to(self, tick: int) -> None:
        """Take steps in one compiled call; it ends early where someone is hit."""
        watching = self._watching()
        if watching and self._looked != self.tick:
            self._look()  # a joint has just been given a law that asks what carries it
        programs = self.board.programs.tobytes()
        if programs != self._connected:
            connect(self.board)
            self._connected = programs
        if self.sleep is not None:
            self.sleep.watch()
        steps, fine = tick - self.tick, self._parts > 1 and tick > self.tick
        taken = self._run_fine(watching) if fine else self._run(steps, watching)
        self.tick += abs(taken)
        if taken < 0:
            raise self._blow_up()
        if abs(self.data.time - self.tick * self.step_time) > 0.5 * self.step_time:
            raise StuntError(
                f"the engine's clock shows {self.data.time:.6g} s where the stage's shows {self.time:.6g} s: its data "
                "were reset or stepped, or its model was changed, by somebody else. Only the stage may do that."
            )
        if watching and self.tick % self.steps_per_control:
            self._look()  # someone acts between two control steps
        elif watching:
            self._looked = self.tick
            if hits := int(self.board.counts["hits"][0]):
                self.tell(self.watch.hits(hits, self.time))
        if self.board.counts["lookouts"][0]:
            self.crew.ask_everybody()  # a look-out may have rung

    def refine(self, parts: int) -> None:
        """Take the next physics step in so many equal parts: where something turns far within one."""
        self._parts = max(self._parts, parts)

    def _run(self, steps: int, watching: bool) -> int:
        """Let the compiled loop take steps; return how many it took, negative where it blew up."""
        counts = self.board.counts
        counts["watch"] = self.watch.table if watching else 0
        self._open_ledger(steps)
        taken = run(
            *self._addresses, self.board.table, self.tick, steps, self.steps_per_control, self.step_time, SPEED_LIMIT,
        )  # fmt: skip
        counts["watch"] = 0
        return int(taken)

    def _open_ledger(self, steps: int) -> None:
        if self.ledger is not None:
            self.ledger.open(steps)
            self.board.counts["ledger"] = self.ledger.table

    def _run_fine(self, watching: bool) -> int:
        """Take one step in parts; crew, control and contact watch see one step."""
        parts, counts, times, option = self._parts, self.board.counts, self.board.times, self.model.opt
        lookouts, short = int(counts["lookouts"][0]), self.step_time / parts
        counts["watch"], counts["lookouts"] = self.watch.table if watching else 0, 0
        times["step"] = option.timestep = short
        self._open_ledger(parts)
        try:
            taken = run(
                *self._addresses, self.board.table, self.tick * parts, parts, self.steps_per_control * parts, short,
                SPEED_LIMIT,
            )  # fmt: skip
        finally:
            counts["watch"], counts["lookouts"] = 0, lookouts
            times["step"] = option.timestep = self.step_time
            self._parts = 1
        return 1 if taken > 0 else -1

    def _watching(self) -> bool:
        """Whether contacts have to be looked at after every control step.

        A character that follows a clip in world space, alone on the ground, has no joint that asks what it carries, and
        nothing to be hit by; looking would cost a third of its step.
        """
        return self.watch.hittable or (self.watch.carries and (self.board.asks_support or bool(self.board.law.any())))

    def _look(self) -> None:
        self._looked = self.tick
        self.tell(self.watch.look(self.time))

    def tell(self, hits: list[Hit]) -> None:
        """Tell whoever listens that characters were hit."""
        for hit in hits:
            if any(hit.push):
                self.shock(Shock(hit.time, hit.character, hit.body, hit.by, hit.position, hit.push))
            for listener in self.hit_listeners:
                listener(hit)

    def signal(self, name: str) -> None:
        """Say something that state machines wait for (their exit `signal`)."""
        for listener in self.signal_listeners:
            listener(name)

    def shock(self, shock: Shock) -> None:
        """Tell whoever listens that a character's body is given an impulse."""
        for listener in self.shock_listeners:
            listener(shock)

    def _blow_up(self) -> BlowUpError:
        speed = np.abs(self.data.qvel)
        broken = ~np.isfinite(speed)
        dof = int(np.argmax(broken)) if broken.any() else int(np.argmax(speed))
        body = self.model.body(int(self.model.dof_bodyid[dof])).name
        detail = "moves at no finite speed" if broken.any() else f"moves at {speed[dof]:.4g} rad/s or m/s"
        return BlowUpError(body, self.time, detail)

    def strength_of(self, name: str) -> dict[str, Any]:
        """Return how near a character came to its joints' strengths so far, at the physics rate.

        Returns:
            `peak_share`: longest torque (over a joint's axes) over its strength; `joint` and `time` [s] of that;
            `share_of_time_over`: of the joint that was over its strength most often.
        """
        board, joints = self.board, self.character(name).joints
        worst = max(joints, key=lambda joint: float(board.peak_share[joints[joint].id]), default="")
        peak = float(board.peak_share[joints[worst].id]) if worst else 0.0
        over = max((int(board.over_steps[joint.id]) for joint in joints.values()), default=0)
        return {
            "peak_share": peak, "joint": worst if peak > 0.0 else "",
            "time": float(board.peak_time[joints[worst].id]) if worst else 0.0,
            "share_of_time_over": over / max(self.tick, 1),
        }  # fmt: skip

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to be copied or pickled: compiled code knows a stage's memory by address, and a copy's it does not."""
        raise StuntError(
            "a stage cannot be copied or pickled; make another one, and `restore` what this one's `save` says."
        )

    def save(self) -> dict[str, Any]:
        """Return the whole state of the performance; `restore` continues from it, bit for bit."""
        size = mujoco.mj_stateSize(self.model, _STATE)
        engine = np.zeros(size)
        mujoco.mj_getState(self.model, self.data, engine, _STATE)
        return {
            "engine": engine,
            "model": {name: getattr(self.model, name).copy() for name in _MODEL_FIELDS},
            "board": self.board.save(),
            "watch": self.watch.save(),
            "guard": self.guard.save(),
            "impacts": self.impacts.save() if self.impacts is not None else None,
            "sleep": self.sleep.save() if self.sleep is not None else None,
            "crew": [member.save() for member in self.crew],
            "kept": [member.save() for member in self.kept],
            "rng": self.rng.bit_generator.state,
            "tick": self.tick,
            "ready": self._ready,
            "looked": self._looked,
            "parts": self._parts,
            "cast": (self.generation, [*self.built.characters, *self.built.props]),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back (or forward) to a saved state.

        Raises:
            StuntError: Somebody joined or left since it was saved.
        """
        there = [*self.built.characters, *self.built.props]
        if not isinstance(state, dict) or "cast" not in state or "engine" not in state:
            raise InvalidValueError("state", type(state).__name__, "what `save` returned")
        if state["cast"] != (self.generation, there):
            raise StuntError(
                f"this state was saved with another cast ({', '.join(state['cast'][1])}) than is on stage now "
                f"({', '.join(there)}): somebody joined or left in between, and a state fits its own cast alone."
            )
        if (len(state["crew"]), len(state["kept"])) != (len(self.crew), len(self.kept)):
            raise StuntError(
                f"this state was saved when {len(state['crew'])} took part in the performance, and now "
                f"{len(self.crew)} do: somebody was given something new to do in between. Save after that."
            )
        mujoco.mj_setState(self.model, self.data, state["engine"], _STATE)
        for name in _MODEL_FIELDS:
            getattr(self.model, name)[...] = state["model"][name]
        self.tick = state["tick"]
        self._ready = state["ready"]
        self._looked = state["looked"]
        self._parts = state["parts"]
        self.rng.bit_generator.state = state["rng"]
        # What the engine derives from the state, so that whoever looks at contacts or poses sees the right ones.
        forward(self.model, self.data)
        self.board.restore(state["board"])
        self.watch.restore(state["watch"])
        self.guard.restore(state["guard"])
        if self.impacts is not None:
            self.impacts.restore(state["impacts"])
        for member, saved in zip((*self.crew, *self.kept), (*state["crew"], *state["kept"]), strict=True):
            member.restore(saved)
        if self.sleep is not None:
            self.sleep.restore(state["sleep"])
        self.crew.ask_everybody()
