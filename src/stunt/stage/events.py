"""Events of a scene, at their times: pushes, throws, things taken into a hand and let go.

A body pulled about as if by a hand or a mouse: a spring to a moving point, with a strength of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.core.renumbered import Renumbered
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.stage.aim import ARM, OFF, Leaving, aim_point, hang, launch_velocity, touching
from stunt.stage.build import Prop
from stunt.stage.contacts import Hit
from stunt.stage.event_specs import Attach, Drag, Event, Push, Release, Throw
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock

STRETCH: Final = 0.15
"""How far behind the point a body is when it is pulled with full strength [m]."""
PUSHED: Final = "push"
DRAGGED: Final = "drag"
"""What a hit says it is by where nothing touched the character."""
_STABLE = 0.4  # share of what an explicit spring on the body alone could bear


@dataclass(frozen=True, eq=False)
class Dragging:
    """A drag under way."""

    event: Drag  #: What was asked for
    body: int  #: Index of the body
    start: NDArray[np.float64]  #: Where its centre of mass was when it was taken hold of [m], (3,)

    def point(self, time: float) -> NDArray[np.float64]:
        """Return where the hand is at a time [m], (3,): eased from point to point."""
        way = np.vstack([np.zeros(3), np.asarray(self.event.path, float)])
        share = (time - self.event.at) / (self.event.until - self.event.at) * (len(way) - 1)
        low = int(np.clip(share, 0, len(way) - 2))
        x = float(np.clip(share - low, 0.0, 1.0))
        return np.asarray(self.start + way[low] + (x * x * (3.0 - 2.0 * x)) * (way[low + 1] - way[low]))

    def force(self, stage: StageLoop) -> NDArray[np.float64]:
        """Return the pull on the body's centre of mass now [N], (3,)."""
        model, data, step = stage.model, stage.data, stage.step_time
        # What a push on the body has to move: the engine's own estimate, as for its mouse.
        mass = 1.0 / max(float(model.body_invweight0[self.body, 0]), 1e-6)
        stiffness = min(self.event.strength / STRETCH, _STABLE * mass / step**2)
        damping = min(2.0 * np.sqrt(stiffness * mass), _STABLE * mass / step)
        speed = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, self.body, speed, 0)
        pull = stiffness * (self.point(stage.time) - data.xipos[self.body]) - damping * speed[3:]
        size = float(np.linalg.norm(pull))
        return np.asarray(pull * min(1.0, self.event.strength / max(size, 1e-9)))


_FAR_AWAY = 0.05  # [m] a thing held at this distance looks wrong


class EventCrew:
    """Crew that makes a scene's events happen. New ones can be added at any time with `add`."""

    def __init__(self, stage: StageLoop, events: Iterable[Event] = ()) -> None:
        """Queue the events.

        Args:
            stage: Where they happen.
            events: What happens; also more later, through `add`.
        """
        self._stage = stage
        self._waiting: list[tuple[int, Event]] = []
        self._pushing: list[tuple[Push, int, int]] = []  # push, body, tick of its end
        self._dragging: list[Dragging] = []
        self._watching: list[tuple[Attach, int]] = []  # attach on contact, tick at which to give up
        self._forced: set[int] = set()
        self._leaving = Leaving(stage)
        self.log: list[dict[str, Any]] = []
        self._last = -1
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Queue one more event; one whose time has passed happens at once."""
        self._check(event)
        self._waiting.append((max(self._stage.tick_of(event.at), self._stage.tick), event))
        self._waiting.sort(key=lambda entry: entry[0])
        if isinstance(event, Throw):
            self._let_hang(self._stage.prop(event.prop))
        self._stage.crew.announce(self)

    def _let_hang(self, prop: Prop) -> None:
        """Let a prop that waits to be thrown hang, if it is at rest and nothing carries it."""
        data, dofs = self._stage.data, slice(prop.dof, prop.dof + 6)
        if prop.spec.rope is None and not data.eq_active[prop.grip] and not data.qvel[dofs].any():
            if not touching(self._stage, prop):
                hang(self._stage, prop)

    def move(self, by: Renumbered) -> bool:
        """Go on with what happens to those who are still there, on a stage with another cast."""
        self._waiting = [entry for entry in self._waiting if self._is_there(entry[1])]
        self._pushing = [(p, by.number("body", body), end) for p, body, end in self._pushing if self._is_there(p)]
        self._dragging = [
            replace(drag, body=by.number("body", drag.body)) for drag in self._dragging if self._is_there(drag.event)
        ]
        self._watching = [entry for entry in self._watching if self._is_there(entry[0])]
        self._forced = {body for old in self._forced if (body := by.number("body", old)) >= 0}
        self._leaving = Leaving(self._stage)  # the model is new, and everything in it collides
        self.log.clear()
        return True

    def _is_there(self, event: Event) -> bool:
        """Whether all an event names is on stage."""
        targets = [getattr(event, key) for key in ("target", "to", "prop") if hasattr(event, key)]
        owners = {target.partition("/")[0] for target in targets}
        return owners <= {*self._stage.built.characters, *self._stage.built.props}

    def replace_waiting(self, events: Iterable[Event]) -> None:
        """Let other events happen from now on; those whose time has come stay as they were."""
        self._waiting = []
        for event in events:
            if self._stage.tick_of(event.at) > self._stage.tick:
                self.add(event)
        self._stage.crew.announce(self)

    def _check(self, event: Event) -> None:
        if isinstance(event, (Push, Drag)):
            self._body(event.target, event)
            return
        prop = self._stage.prop(event.prop, event.place)
        if prop.dof < 0:
            raise InvalidValueError(f"prop '{prop.name}'", prop.spec.shape, "movable (it needs a mass)", event.place)
        if isinstance(event, Attach):
            self._body(event.to, event)
        if isinstance(event, Throw):
            if event.hits_at <= event.at:
                raise InvalidValueError("hits_at", event.hits_at, f"later than the throw at {event.at} s", event.place)
            aim_point(self._stage, event.target, self._stage.data, event.place)

    def _body(self, target: str, event: Event) -> int:
        if not isinstance(target, str):
            raise InvalidValueError("target", target, "`character/body`, or a prop's name", event.place)
        owner, _, part = target.partition("/")
        if not part:
            if owner in self._stage.built.props:
                return self._stage.built.props[owner].body
            raise UnknownNameError(
                "target", target, [*self._stage.built.props, *(f"{c}/<body>" for c in self._stage.characters)],
                event.place,
            )  # fmt: skip
        character = self._stage.character(owner, event.place)
        if part in character.sites:  # a palm: the hand it is on
            return int(self._stage.model.site_bodyid[character.sites[part]])
        return character.body(part, event.place)

    def due(self) -> int | None:
        """Return the tick of the next event; every control step while one is under way."""
        if self._pushing or self._watching or self._dragging or self._leaving:
            return max(self._last + 1, self._stage.tick)
        return self._waiting[0][0] if self._waiting else None

    def act(self) -> None:
        """Start, keep up and end events."""
        tick = self._stage.tick
        self._last = tick
        while self._waiting and self._waiting[0][0] <= tick:
            self._start(self._waiting.pop(0)[1])
        self._keep_pushing(tick)
        if not self._pushing:
            self._leaving.look()
        self._look_for_touch(tick)

    def _note(self, kind: str, **what: Any) -> None:
        self.log.append({"time": self._stage.time, "kind": kind, **what})

    def _start(self, event: Event) -> None:
        match event:
            case Push():
                steps = max(1, round(event.duration / self._stage.step_time))
                self._pushing.append((event, self._body(event.target, event), self._stage.tick + steps))
                impulse = self._force(event, steps) * steps * self._stage.step_time
                seconds = steps * self._stage.step_time
                where = {} if event.point is None else {"point": list(event.point)}
                self._note("push", target=event.target, impulse=impulse, seconds=seconds, **where)
                self._push_off(event, impulse)
                if not event.known:
                    self._tell_shock(event, steps)
                self._let_feel(event, float(np.linalg.norm(self._force(event, steps))))
            case Throw():
                self._throw(event)
            case Attach(on_contact=True):
                until = event.until if event.until is not None else np.inf
                end = self._stage.tick_of(until) if np.isfinite(until) else 2**60
                self._watching.append((event, end))
            case Attach():
                self._attach(event)
            case Release():
                self.release(self._stage.prop(event.prop))
            case Drag():
                body = self._body(event.target, event)
                self._dragging.append(Dragging(event, body, self._stage.data.xipos[body].copy()))
                self._note("drag", target=event.target, until=event.until)
                self._let_feel(event, 0.0)

    def _push_off(self, push: Push, impulse: NDArray[np.float64]) -> None:
        """Let a prop that a blow drives off what it lies on leave it freely."""
        prop = self._stage.built.props.get(push.target)
        if prop is None or push.impulse is None or self._stage.data.eq_active[prop.grip]:
            return
        lain = touching(self._stage, prop)
        if all(way @ impulse > OFF * np.linalg.norm(impulse) for _, way in lain):
            self._leaving.leave(prop, frozenset(geom for geom, _ in lain))

    def _tell_shock(self, push: Push, steps: int) -> None:
        """Tell whoever listens that a character's body is given an impulse by a push that begins."""
        stage, (owner, _, _) = self._stage, push.target.partition("/")
        if not stage.shock_listeners or owner not in stage.built.characters:
            return
        body = self._body(push.target, push)
        mujoco.mj_kinematics(stage.model, stage.data)
        mujoco.mj_comPos(stage.model, stage.data)
        x, y, z = (float(value) for value in self._point(push, body))
        name = stage.model.body(body).name.removeprefix(f"{owner}/")
        fx, fy, fz = (float(value) for value in self._force(push, steps))
        stage.shock(Shock(stage.time, owner, name, PUSHED, (x, y, z), (fx, fy, fz), steps * stage.step_time))

    def _point(self, push: Push, body: int) -> NDArray[np.float64]:
        """Return where a push acts [m], world."""
        data = self._stage.data
        if push.point is None:
            return np.asarray(data.xipos[body])
        return np.asarray(data.xpos[body] + data.xmat[body].reshape(3, 3) @ np.asarray(push.point))

    def _let_feel(self, event: Push | Drag, force: float) -> None:
        """Tell whoever listens to hits that a character is pushed or dragged: always if data moves it."""
        owner, _, _ = event.target.partition("/")
        actor = self._stage.actors.get(owner)
        on_data = actor is not None and actor.kinematic
        if owner not in self._stage.built.characters or not (on_data or getattr(event, "felt", False)):
            return
        stage, body = self._stage, self._body(event.target, event)
        x, y, z = (float(value) for value in stage.data.xipos[body])
        name = stage.model.body(body).name.removeprefix(f"{owner}/")
        stage.tell([Hit(stage.time, owner, name, PUSHED if isinstance(event, Push) else DRAGGED, (x, y, z), force)])

    def _force(self, push: Push, steps: int) -> NDArray[np.float64]:
        if push.impulse is not None:
            return np.asarray(push.impulse) / (steps * self._stage.step_time)
        return np.asarray(push.force if push.force is not None else (0.0, 0.0, 0.0))

    def _keep_pushing(self, tick: int) -> None:
        if not self._pushing and not self._dragging and not self._forced:
            return
        stage = self._stage
        for body in self._forced:
            stage.data.xfrc_applied[body] = 0.0
        self._forced.clear()
        known = stage.board.known_push
        known[:], stage.board.counts["known"] = 0.0, sum(push.known for push, _, end in self._pushing if end > tick)
        self._pushing = [entry for entry in self._pushing if entry[2] > tick]
        self._dragging = [entry for entry in self._dragging if stage.tick_of(entry.event.until) > tick]
        if self._pushing:
            mujoco.mj_kinematics(stage.model, stage.data)
        for push, body, _ in self._pushing:
            force = self._force(push, max(1, round(push.duration / stage.step_time)))
            lever = self._point(push, body) - stage.data.xipos[body]
            for wrench in (stage.data.xfrc_applied, *((known,) if push.known else ())):
                wrench[body, :3] += force
                wrench[body, 3:] += np.cross(lever, force)
            self._forced.add(body)
        for entry in self._dragging:
            stage.data.xfrc_applied[entry.body, :3] += entry.force(stage)
            self._forced.add(entry.body)

    def _throw(self, event: Throw) -> None:
        stage, prop = self._stage, self._stage.prop(event.prop)
        holder = self._holder(prop)
        self.release(prop, quietly=True)
        data = stage.data
        if event.origin is not None:
            data.qpos[prop.qpos : prop.qpos + 3] = event.origin
        start = data.qpos[prop.qpos : prop.qpos + 3].copy()
        steps = max(1, stage.tick_of(event.hits_at) - stage.tick)
        velocity = launch_velocity(stage, prop, start, event, steps)
        data.qvel[prop.dof : prop.dof + 3] = velocity
        data.qvel[prop.dof + 3 : prop.dof + 6] = 0.0
        if holder is not None:
            self._leaving.leave(prop, frozenset(holder.geoms), clear=ARM)
        else:
            self._leaving.leave(prop, frozenset(geom for geom, _ in touching(stage, prop)))
        # Where its centre would be then, had it nothing to meet.
        fall = 0.5 * np.asarray(stage.scene.gravity) * stage.step_time**2 * steps * (steps + 1)
        aim = [float(x) for x in start + velocity * steps * stage.step_time + fall]
        speed = float(np.linalg.norm(velocity))
        self._note("throw", prop=prop.name, target=event.target, speed=speed, hits_at=event.hits_at, aim=aim)

    def _holder(self, prop: Prop) -> Character | None:
        """Return who holds a prop; None: nobody."""
        held = self._stage.data.eq_active[prop.grip]
        body = int(self._stage.model.eq_obj1id[prop.grip])
        return next((c for c in self._stage.built.characters.values() if held and body in c.bodies.values()), None)

    def _look_for_touch(self, tick: int) -> None:
        still: list[tuple[Attach, int]] = []
        for event, end in self._watching:
            owner = event.to.partition("/")[0]
            body = self._stage.model.body(self._body(event.to, event)).name.removeprefix(f"{owner}/")
            if self._stage.watch.touching(owner, body, event.prop):
                self._attach(event)
            elif tick < end:
                still.append((event, end))
        self._watching = still

    def _attach(self, event: Attach) -> None:
        prop, body = self._stage.prop(event.prop), self._body(event.to, event)
        self.attach(prop, body)
        self._note("attach", prop=prop.name, to=event.to, gap=self._gap(prop, body))

    def _gap(self, prop: Prop, body: int) -> float:
        """Return how far a prop's surface is from a body's [m]."""
        model, data = self._stage.model, self._stage.data
        owner = [np.flatnonzero(model.geom_bodyid == one) for one in (prop.body, body)]
        gaps = [mujoco.mj_geomDistance(model, data, a, b, 10.0, None) for a in owner[0] for b in owner[1]]
        return max(min(gaps, default=0.0), 0.0)

    def warnings(self) -> list[str]:
        """Return sentences about what happened but was probably not meant."""
        return [
            f"{entry['to']} took hold of '{entry['prop']}' at {entry['time']:.3f} s from {entry['gap']:.2f} m away."
            for entry in self.log
            if entry["kind"] == "attach" and entry["gap"] > _FAR_AWAY
        ]

    def attach(self, prop: Prop, body: int) -> None:
        """Weld a prop to a body in the relative pose they have now."""
        stage = self._stage
        model, data = stage.model, stage.data
        mujoco.mj_kinematics(model, data)
        inverse, quaternion, offset = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, data.xquat[body])
        mujoco.mju_mulQuat(quaternion, inverse, data.xquat[prop.body])
        mujoco.mju_rotVecQuat(offset, data.xpos[prop.body] - data.xpos[body], inverse)
        model.eq_obj1id[prop.grip], model.eq_obj2id[prop.grip] = body, prop.body
        # Anchor at the prop's own origin; then its pose in the holder's frame; then how torque weighs against force.
        model.eq_data[prop.grip, :11] = [0.0, 0.0, 0.0, *offset, *quaternion, 1.0]
        data.eq_active[prop.grip] = 1

    def release(self, prop: Prop, *, quietly: bool = False) -> None:
        """Let a held prop go."""
        if self._stage.data.eq_active[prop.grip]:
            self._stage.data.eq_active[prop.grip] = 0
            if not quietly:
                self._note("release", prop=prop.name)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return copy.deepcopy(
            (self._waiting, self._pushing, self._watching, self._forced, self.log, self._last, self._dragging)
        ), self._leaving.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        state, leaving = state
        (
            self._waiting, self._pushing, self._watching, self._forced, log, self._last, self._dragging,
        ) = copy.deepcopy(state)  # fmt: skip
        self.log[:] = log
        self._leaving.restore(leaving)
