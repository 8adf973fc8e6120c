"""The stage as a program sees it: who is on it, what happens to them, and the take it makes."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np

from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.motion.clips.clip import Clip
from stunt.motion.pose import Pose
from stunt.play.actor import Actor
from stunt.play.arguments import finite, need, positive, text, vector
from stunt.record.recorder import Recorder
from stunt.record.take import Take
from stunt.stage.build import Built, build
from stunt.stage.contacts import Hit
from stunt.stage.event_specs import Attach, Drag, Event, Push, Release, Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec, Vector3
from stunt.stage.recast import change_cast
from stunt.stage.scene import BodySource, CharacterSpec, Collisions, Scene

RECORD_HZ: Final = 120.0
"""Frames per second of a take, unless asked otherwise."""
People = Mapping[str, CharacterSpec | BodySource]


class HitLog:
    """Notes every hit; part of a saved state, so that a restored performance lists each once."""

    def __init__(self, stage: StageLoop) -> None:
        """Listen to a stage."""
        self.hits: list[Hit] = []
        stage.hit_listeners.append(self.hits.append)
        stage.keep(self)

    def save(self) -> list[Hit]:
        """Return the hits so far."""
        return list(self.hits)

    def restore(self, state: list[Hit]) -> None:
        """Go back to the hits of then."""
        self.hits[:] = state


class Cues:
    """Crew that says later what could be said now: calls what it was given at its times, in the order it was given."""

    def __init__(self, stage: StageLoop) -> None:
        """Join the crew."""
        self._stage = stage
        self._waiting: list[tuple[int, Callable[[], Any]]] = []
        stage.crew.append(self)

    def add(self, time: float, action: Callable[[], Any]) -> None:
        """Call something at a time [s]."""
        entry = (max(self._stage.tick_of(time), self._stage.tick), action)
        bisect.insort_right(self._waiting, entry, key=lambda cue: cue[0])
        self._stage.crew.announce(self)

    def go_on(self, waiting: list[tuple[int, Callable[[], Any]]]) -> None:
        """Go on with what was to come elsewhere."""
        self._waiting = list(waiting)
        self._stage.crew.announce(self)

    def due(self) -> int | None:
        """Return the tick of the next one."""
        return self._waiting[0][0] if self._waiting else None

    def act(self) -> None:
        """Call what is due."""
        while self._waiting and self._waiting[0][0] <= self._stage.tick:
            self._waiting.pop(0)[1]()

    def save(self) -> Any:
        """Return what is still to come."""
        return list(self._waiting)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._waiting = list(state)


class Stage(StageLoop):
    """A scene being played, one step or many at a time.

    Attributes:
        poses: Poses that can be asked for by name.
        events: Makes pushes, throws and their like happen.
        logs: Lists of events that become part of the take.
        warnings: What the user should know; sentences.
    """

    def __init__(
        self,
        scene: Scene | Built | People,
        *,
        props: Mapping[str, PropSpec] | None = None,
        hz: float | None = None,
        gravity: Vector3 | None = None,
        ground: bool | None = None,
        seed: int | None = None,
        collisions: Collisions | None = None,
        sleep: bool | None = None,
        poses: Mapping[str, Pose] | None = None,
        record: bool | float = True,
        certify: bool = False,
    ) -> None:
        """Build the scene (unless it is built) and set it to its start.

        Args:
            scene: A scene, or who is on stage: bodies by name.
            props: Things on it, by name.
            hz: Physics and control steps per second.
            gravity: [m/s²].
            ground: Whether there is an endless floor at z = 0.
            seed: Seed of everything random.
            collisions: Two-stage collisions.
            sleep: Whether what lies still sleeps, and costs nothing, until it is touched.
            poses: Poses that can be asked for by name.
            record: Whether to record a take; or at how many frames per second.
            certify: Whether the take is to be one that can be certified (see `stunt.certify`).

        Raises:
            StuntError: The scene cannot be built; the message names the argument.
        """
        if gravity is not None:
            gravity = vector("gravity", gravity)
        for what, value, kind in (("ground", ground, bool), ("collisions", collisions, Collisions)):
            if value is not None:
                need(what, value, kind, "True or False" if kind is bool else "stunt.Collisions")
        given: dict[str, Any] = {"gravity": gravity, "ground": ground, "seed": seed, "collisions": collisions}
        given["sleep"] = sleep
        if hz is not None:
            given |= {"physics_hz": positive("hz", hz, "hertz"), "control_hz": hz}
        if props is not None:
            given["props"] = _props(props)
        changes = {key: value for key, value in given.items() if value is not None}
        super().__init__(_built(scene, changes))
        self.poses: dict[str, Pose] = _poses(poses)
        self.warnings: list[str] = []
        self._actors: dict[str, Actor] = {}
        self._record = record
        self._recorder = _recorder(self, record)
        self.events = EventCrew(self)
        self.crew.append(self.events)
        self._cues = Cues(self)
        self.logs: list[list[dict[str, Any]]] = [self.events.log]
        self._hits = HitLog(self)
        for event in self.scene.events:
            self.happen(event)
        if need("certify", certify, bool, "True or False"):
            self.keep_ledger()

    # ---- who is there

    def actor(self, name: str) -> Actor:
        """Return a character as one who can be told what to do; always the same one.

        Raises:
            UnknownNameError: Nobody is called that; the message says who is there.
        """
        if not isinstance(name, str):
            raise InvalidValueError("name", name, "the name of a character")
        self.character(name)
        if name not in self._actors:
            self._actors[name] = Actor(self, name)
        return self._actors[name]

    def pose(self, pose: str | Pose) -> Pose:
        """Return a pose by its name; a pose as it is.

        Raises:
            StuntError: It is neither, or no pose has that name.
        """
        if isinstance(pose, Pose):
            return pose
        if not isinstance(pose, str):
            raise InvalidValueError("pose", pose, "a Pose, or the name of one of the stage's poses")
        if pose not in self.poses:
            raise UnknownNameError("pose", pose, self.poses)
        return self.poses[pose]

    def add(self, name: str, body: CharacterSpec | BodySource) -> Actor:
        """Let somebody join; the others go on from where they are, and a new take begins (see `stunt.stage.recast`).

        Raises:
            StuntError: The name is taken, or the body cannot be built.
        """
        if name in self.built.characters or name in self.built.props:
            raise StuntError(f"somebody or something on stage is called '{name}' already.")
        self._recast({**self.scene.characters, name: as_body(name, body)})
        return self.actor(name)

    def remove(self, name: str) -> None:
        """Let somebody leave; the others go on from where they are, and a new take begins.

        Raises:
            StuntError: Nobody is called that.
        """
        self.character(name)
        self._recast({other: body for other, body in self.scene.characters.items() if other != name})

    def _recast(self, people: dict[str, CharacterSpec]) -> None:
        """Go on with another cast.

        Raises:
            StuntError: Somebody who stays is on its own feet, and would fall.
        """
        for name, body in self.actors.items():
            if name in people and body.on_own_feet:
                raise StuntError(
                    f"'{name}' is on its own feet; whoever joins or leaves now would let it fall. Let it follow with "
                    "`assist: weak` around a change of cast."
                )
        built, before = build(dataclasses.replace(self.scene, characters=people, events=())), object.__new__(type(self))
        vars(before).update(vars(self))  # how it was: copies are refused to users, for two would share one engine
        certify = self.ledger is not None
        if self._recorder is not None:
            self.crew.remove(self._recorder)
        change_cast(self, before, built)
        self._recorder = _recorder(self, self._record)
        if certify:
            self.keep_ledger()
        self._actors = {name: actor for name, actor in self._actors.items() if name in people}
        self._hits.hits.clear()

    # ---- what happens

    def push(
        self,
        target: str,
        *,
        at: float | None = None,
        impulse: Sequence[float] | None = None,
        force: Sequence[float] | None = None,
        duration: float = Push.duration,
        point: Sequence[float] | None = None,
        known: bool = False,
    ) -> None:
        """Push a body of a character, or a prop. Who is pushed feels it as it feels what touches it.

        Args:
            target: `character/body`, or a prop's name.
            at: When [s]; None is now.
            impulse: Total impulse [N·s], world frame. Exactly one of impulse and force.
            force: Constant force [N], world frame.
            duration: How long it lasts [s].
            point: Where it acts, in the body's own frame [m]; None is the centre of mass.
            known: Whether it is expected: beats and poses under tension hold against it.

        Raises:
            StuntError: No such target, no push, a time that has passed.
        """
        if (impulse is None) == (force is None):
            raise InvalidValueError("a push", {"impulse": impulse, "force": force}, "exactly one of impulse and force")
        need("known", known, bool, "True or False")
        self.happen(
            Push(
                text("target", target), self.when(at),
                impulse=None if impulse is None else vector("impulse", impulse),
                force=None if force is None else vector("force", force),
                duration=positive("duration", duration, "seconds"),
                point=None if point is None else vector("point", point), felt=not known,
                known=known,
            )
        )  # fmt: skip

    def throw(
        self,
        prop: str,
        target: str,
        *,
        hits_at: float,
        at: float | None = None,
        origin: Sequence[float] | None = None,
        lead: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> None:
        """Throw a prop so that it meets a body at a time [s] (see `stunt.Throw`)."""
        start = None if origin is None else vector("origin", origin)
        moment = finite("hits_at", hits_at)
        self.happen(
            Throw(text("prop", prop), text("target", target), moment, self.when(at), start, vector("lead", lead))
        )

    def attach(
        self, prop: str, to: str, *, at: float | None = None, on_contact: bool = False, until: float | None = None
    ) -> None:
        """Put a prop into a hand: at a time [s], or when they touch from then on (see `stunt.Attach`)."""
        start = self.when(at)
        if until is not None and finite("until", until) <= start:
            raise InvalidValueError("until", until, f"later than {start:g} s, when it is taken hold of")
        self.happen(Attach(text("prop", prop), text("to", to), start, on_contact, until))

    def release(self, prop: str, *, at: float | None = None) -> None:
        """Let a held prop go at a time [s]."""
        self.happen(Release(prop, self.when(at)))

    def drag(
        self,
        target: str,
        path: Sequence[Sequence[float]],
        *,
        until: float,
        at: float | None = None,
        strength: float = Drag.strength,
    ) -> None:
        """Pull a body about as if by a hand (see `stunt.Drag`)."""
        start, end = self.when(at), finite("until", until)
        if end <= start:
            raise InvalidValueError("until", until, f"later than {start:g} s, when it is taken hold of")
        need("path", path, (Sequence, np.ndarray), "a list of displacements")
        points = tuple(vector("path", point) for point in path)
        if not points:
            raise InvalidValueError("path", path, "at least one displacement")
        self.happen(Drag(text("target", target), start, end, points, positive("strength", strength, "newtons")))

    def happen(self, event: Event) -> None:
        """Let an event happen at its time.

        Raises:
            StuntError: It names what is not there, or its time has passed.
        """
        if not isinstance(event, (Push, Throw, Attach, Release, Drag)):
            raise InvalidValueError("event", event, "a Push, Throw, Attach, Release or Drag")
        self.when(event.at)
        if isinstance(event, (Push, Drag)):
            prop = self.built.props.get(text("target", event.target))
            if prop is not None and prop.dof < 0:
                raise InvalidValueError("target", event.target, "something that can move (scenery has no mass)")
        if isinstance(event, Push):
            if (event.impulse is None) == (event.force is None):
                raise InvalidValueError("a push", event.target, "given exactly one of impulse and force", event.place)
            for what in ("impulse", "force"):
                if (value := getattr(event, what)) is not None:
                    vector(what, value)
        self.events.add(event)

    def at(self, time: float, action: Callable[[], Any]) -> None:
        """Call something at a time [s]: the way to say later what could be said now."""
        if not callable(action):
            raise InvalidValueError("action", action, "something that can be called")
        self._cues.add(self.when(time), action)

    def when(self, at: float | None) -> float:
        """Return a time [s], which must not have passed."""
        if at is None:
            return self.time
        moment = finite("at", at)
        if moment < self.time - 1e-9:
            raise InvalidValueError("at", at, f"now ({self.time:.6g} s) or later")
        return moment

    # ---- the take

    def run(self, seconds: float, *, certify: bool = False) -> Take:
        """Play on for so many seconds and return the take so far.

        Args:
            seconds: How long [s].
            certify: Whether the take is to be one that can be certified (see `stunt.certify`): from the stage's
                beginning, so the first call says so.

        Raises:
            InvalidValueError: That is no time, or the stage does not record.
            BlowUpError: The simulation blew up; `take` still returns what was performed.
        """
        _ = self.recorder  # whoever does not record hears of it before the show
        if certify and self.ledger is None:
            if self.tick:
                raise StuntError(
                    f"the stage has played for {self.time:.3g} s, and a take can be certified from its beginning only: "
                    "say `certify=True` in the first run, or to the stage."
                )
            self.keep_ledger()
        self.advance(max(1, round(positive("seconds", seconds, "seconds") / self.step_time)))
        return self.take()

    def take(self, happened: Sequence[dict[str, Any]] | None = None, /, **meta: Any) -> Take:
        """Return what was performed so far; `meta` adds to what the take says of itself (`title`, …).

        Args:
            happened: Its events; None: what happened.
            **meta: What it says of itself.

        Raises:
            StuntError: The stage was told not to record.
        """
        take = self.recorder.take(self.happened() if happened is None else happened, {**self._about(), **meta})
        if self.ledger is not None:
            take = dataclasses.replace(take, ledger=self.ledger.ledger())
        measured = {name: found for name, actor in self._actors.items() if (found := actor.summary(take))}
        used = {name: self.strength_of(name) for name in self.built.characters}
        beats = {name: by for name, actor in self._actors.items() if (by := actor.joints.performer) is not None}
        held = {name: dict(zip(("error_deg", "joint"), by.let_slip(), strict=True)) for name, by in beats.items()}
        more = {"tracking": measured | meta.get("tracking", {}), "strength": used, "held_at_end": held}
        return dataclasses.replace(take, meta={**take.meta, **more})

    def all_logs(self) -> list[list[dict[str, Any]]]:
        """Return `logs`, and those of everybody who was told something."""
        return [*self.logs, *(log for actor in self._actors.values() for log in actor.logs())]

    def happened(self) -> list[dict[str, Any]]:
        """Return what happened so far, as events of a take, in order."""
        found = [plain(entry) for log in self.all_logs() for entry in log]
        found += [plain({"kind": "hit", **dataclasses.asdict(hit)}) for hit in self._hits.hits]
        found += [plain(entry) for actor in self._actors.values() for entry in actor.happened()]
        there = {"", *self.built.characters}
        return sorted((one for one in found if one.get("character", "") in there), key=lambda event: event["time"])

    def _about(self) -> dict[str, Any]:
        return {
            "title": "",
            "source": "",
            "interrupted": False,
            "warnings": [*self.warnings, *self.events.warnings(), *self.guard.warnings(self.step_time)],
        }

    @property
    def recorder(self) -> Recorder:
        """Notes what becomes the take.

        Raises:
            StuntError: The stage was told not to record.
        """
        if self._recorder is None:
            raise StuntError("this stage was told not to record (`record=False`), so it can make no take.")
        return self._recorder

    @property
    def hits(self) -> list[Hit]:
        """Who was hit so far, in order."""
        return self._hits.hits


def _built(scene: Any, changes: dict[str, Any]) -> Built:
    if isinstance(scene, Built):
        return build(dataclasses.replace(scene.scene, **changes)) if changes else scene
    if isinstance(scene, Scene):
        return build(dataclasses.replace(scene, **changes))
    if isinstance(scene, Mapping):
        return build(Scene(characters={name: as_body(name, body) for name, body in scene.items()}, **changes))
    expected = "a Scene, or bodies by name: {'ada': stunt.Body('human39')}"
    raise InvalidValueError("scene", scene, expected)


def as_body(name: object, body: object) -> CharacterSpec:
    """Return what a program gives as somebody's body, as a `Body`.

    Raises:
        InvalidValueError: It is none, or the name is no text.
    """
    if not isinstance(name, str):
        raise InvalidValueError("the name of a character", name, "text")
    if isinstance(body, CharacterSpec):
        return body
    if isinstance(body, (str, Path, Clip, mujoco.MjSpec)):
        return CharacterSpec(body)
    expected = "a stunt.Body, a body's name, a file, a Clip or an MjSpec"
    raise InvalidValueError(f"the body of '{name}'", body, expected)


def _props(props: object) -> dict[str, PropSpec]:
    if not isinstance(props, Mapping):
        raise InvalidValueError("props", props, "props by name: {'ball': stunt.PropSpec('sphere', mass=1.0)}")
    for name, prop in props.items():
        if not isinstance(prop, PropSpec):
            raise InvalidValueError(f"prop '{name}'", prop, "a stunt.PropSpec")
    return dict(props)


def _poses(poses: object) -> dict[str, Pose]:
    if poses is None:
        return {}
    if not isinstance(poses, Mapping) or not all(isinstance(pose, Pose) for pose in poses.values()):
        raise InvalidValueError("poses", poses, "poses by name: {'salute': stunt.Pose.degrees(…)}")
    return dict(poses)


def _recorder(stage: StageLoop, record: bool | float) -> Recorder | None:
    if record is False:
        return None
    return Recorder(stage, record_hz=RECORD_HZ if record is True else positive("record", record, "frames per second"))


def plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Make an event JSON-able."""

    def value(item: Any) -> Any:
        if isinstance(item, np.ndarray):
            return item.tolist()
        if isinstance(item, np.generic):
            return item.item()
        return list(item) if isinstance(item, tuple) else item

    return {key: value(item) for key, item in entry.items()}
