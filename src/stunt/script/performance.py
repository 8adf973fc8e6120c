"""A performance: a script, played on a stage, recorded as a take."""

from __future__ import annotations

import dataclasses
import itertools
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.drive.beats.check import matching_joints
from stunt.drive.beats.forecast import BeatForecast, forecast, warnings_for
from stunt.drive.beats.performer import Performer
from stunt.drive.beats.predict import Foresight
from stunt.drive.beats.spec import Part, Script, resolve_beats
from stunt.errors import InvalidValueError, UnknownNameError, announced
from stunt.play.stage import Stage
from stunt.record.recorder import Recorder
from stunt.record.take import Take
from stunt.script.check import check_against_stage
from stunt.script.kinds import KINDS
from stunt.script.sections.trajectories import sized_by_markers
from stunt.stage.build import build
from stunt.stage.event_specs import Attach, Drag, Event, Push, Throw
from stunt.stage.events import EventCrew
from stunt.stage.scene import CharacterSpec

TAIL = 0.5
"""How long a performance goes on after its last beat [s]."""
_CHUNK = 1.0 / 30.0
_BLACK_BOX = 1.0  # seconds of states kept from a blow-up


class Performance:
    """One playing of a script.

    Attributes:
        script: What is played.
        stage: Where.
        performers: Who, by character name.
        forecasts: Per character: what each beat will take (see `stunt.drive.beats.forecast`).
        warnings: What the user should know; sentences.
        sections: What each part's sections put on the stage, by character and key, for those who want to talk to it.
        wall_seconds: How long the playing took so far [s].
        interrupted: Whether the user stopped it.
    """

    def __init__(
        self, script: Script, *, record_hz: float = 120.0, foretell: bool = True, certify: bool = False
    ) -> None:
        """Build the stage and put everyone on it.

        Args:
            script: What to play.
            record_hz: Frames per second of the take.
            foretell: Whether to check beforehand that the beats can be made (inverse dynamics of every beat).
            certify: Whether the take is to be one that can be certified (see `stunt.certify`).

        Raises:
            StuntError: The script does not fit its bodies; the message says where.
        """
        if not isinstance(script, Script):
            raise InvalidValueError("script", script, "a stunt.Script (`stunt.load_script` reads one)")
        scene = dataclasses.replace(
            script.scene, characters={name: _with_start(spec, script) for name, spec in script.scene.characters.items()}
        )
        built = build(scene)
        sized = sized_by_markers(script, scene, built)
        built = built if sized is scene else build(sized)
        check_against_stage(script, built.characters)
        self.script = script
        self.stage = Stage(built, poses=script.poses, record=record_hz, certify=certify)
        self.warnings: list[str] = []
        start = (self.stage.data.qpos.copy(), self.stage.data.qvel.copy())
        self.performers: dict[str, Performer] = {}
        for name, part in script.parts.items():
            actor = self.stage.actor(name)
            actor.perform(part)
            self.performers[name] = actor.joints.hit_beats()
        self._told: dict[tuple[str, str], list[str]] = {}
        self.sections = {name: self._start_sections(name, part) for name, part in script.parts.items()}
        for name, part in script.parts.items():
            if not any(KINDS[key].whole for key in part.sections):
                self.stage.actor(name).joints.keep_upright()
        self.stage.foresight = Foresight(self.stage, script)
        self._start, self._foretells = start, foretell
        self.forecasts: dict[str, tuple[BeatForecast, ...]] = {}
        self.retell()
        self.wall_seconds = 0.0
        self.interrupted = False

    def retell(self) -> None:
        """Foretell the beats, and warn of what comes too late; again, where the script has changed."""
        self.warnings[:] = [*self.script.warnings, *itertools.chain.from_iterable(self._told.values())]
        self.forecasts = self._foretell(*self._start) if self._foretells else {}
        self.warnings += [
            (f"{event.place}: " if str(event.place) else "")
            + f"this happens at {event.at:g} s, after the end of the performance at {self.seconds:g} s."
            for event in self.script.scene.events
            if event.at > self.seconds
        ]

    def _start_sections(self, name: str, part: Part) -> dict[str, Any]:
        """Tell an actor what its part's sections say; return who carries each out."""
        actor, started = self.stage.actor(name), {}
        for key, value in part.sections.items():
            known = len(self.stage.warnings)
            started[key] = KINDS[key].start(actor, value, _is_alone(part))
            self._told[name, key] = self.stage.warnings[known:]
        return started

    def recast_sections(self, name: str, part: Part) -> None:
        """Let an actor go on with other values of its part's sections, of those kinds that can."""
        for key, value in part.sections.items():
            if (recast := KINDS[key].recast) is not None:
                self._told[name, key] = recast(self.stage.actor(name), value, _is_alone(part))

    @property
    def recorder(self) -> Recorder:
        """Notes what becomes the take."""
        return self.stage.recorder

    @property
    def happenings(self) -> EventCrew:
        """The scene's events."""
        return self.stage.events

    def _foretell(self, qpos: NDArray[np.float64], qvel: NDArray[np.float64]) -> dict[str, tuple[BeatForecast, ...]]:
        forecasts = {}
        for name, part in self.script.parts.items():
            if not part.beats:
                continue
            character = self.stage.character(name)
            joints = matching_joints(part, character)
            forecasts[name] = forecast(self.stage.model, character, qpos, qvel, resolve_beats(part), joints=joints)
            self.warnings += [f"{name}: {sentence}" for sentence in warnings_for(forecasts[name])]
        return forecasts

    @property
    def seconds(self) -> float:
        """How long the performance lasts [s]."""
        if self.script.seconds is not None:
            return self.script.seconds
        last = [resolve_beats(part)[-1].time for part in self.script.parts.values() if part.beats]
        events = [_end_of(event) for event in self.script.scene.events]
        for part in self.script.parts.values():
            ends = [KINDS[key].seconds(value) for key, value in part.sections.items()]
            last += [end for end in ends if end is not None]
        machines = [5.0 for part in self.script.parts.values() if part.machine is not None]
        return max([*last, *events, *machines, 0.5]) + TAIL

    @announced
    def run(self, progress: Callable[[float], None] | None = None) -> Take:
        """Play from where the stage is to the end.

        Args:
            progress: Called now and then with the simulated time [s].

        Returns:
            The take; of what was performed so far, if the user interrupts.

        Raises:
            BlowUpError: The simulation blew up. `self.take()` still holds what was performed.
        """
        end = self.stage.tick_of(self.seconds)
        began = clock.perf_counter()
        try:
            while self.stage.tick < end:
                self.stage.advance(min(end - self.stage.tick, max(1, round(_CHUNK / self.stage.step_time))))
                if progress is not None:
                    progress(self.stage.time)
        except KeyboardInterrupt:
            self.interrupted = True
            self.warnings.append(f"interrupted at {self.stage.time:.3f} s of {self.seconds:.3f} s.")
        finally:
            self.wall_seconds += clock.perf_counter() - began
        return self.take()

    def take(self) -> Take:
        """Return the take so far."""
        events, meta = self.told()
        return self.stage.take(events, **meta)

    def told(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return what happened so far, and what is known of the performance: what a take has beside its frames."""
        return self._with_forecasts(self.stage.happened()), self._meta()

    def _with_forecasts(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return events in which beats say what they were foretold to take."""
        known = {(name, entry.index): entry for name, told in self.forecasts.items() for entry in told}
        for event in events:
            told = known.get((event.get("character", ""), event.get("index", -1))) if event["kind"] == "beat" else None
            if told is not None:
                event["feasible"] = told.feasible
                event |= {"needed_share": told.worst_share, "needed_by": told.worst_joint}
        return events

    def _meta(self) -> dict[str, Any]:
        return {
            "title": self.script.title,
            "source": Path(self.script.source).name,
            "planned_seconds": self.seconds,
            "interrupted": self.interrupted,
            "warnings": [*self.warnings, *self.happenings.warnings(), *self.stage.guard.warnings(self.stage.step_time)],
        }

    def black_box(self) -> Take:
        """Return the last second of states, with the one that is broken, for a blow-up's crash file."""
        frames = self.recorder.save()
        self.recorder.act()
        whole = self.take()
        self.recorder.restore(frames)
        first = int(np.searchsorted(whole.time, whole.seconds - _BLACK_BOX))
        return dataclasses.replace(
            whole,
            ledger=None,
            **{
                name: getattr(whole, name)[first:]
                for name in (
                    "time", "qpos", "qvel", "target", "target_velocity", "torque", "stiffness", "damping", "saturated",
                    "assistance",
                )
            },
            contact_frame=whole.contact_frame[whole.contact_frame >= first] - first,
            contact_geoms=whole.contact_geoms[whole.contact_frame >= first],
            contact_position=whole.contact_position[whole.contact_frame >= first],
            contact_force=whole.contact_force[whole.contact_frame >= first],
        )  # fmt: skip


def perform(script: Script, progress: Callable[[float], None] | None = None, *, certify: bool = False) -> Take:
    """Play a script from beginning to end and return the take; `certify`: one that `stunt.certify` can go by."""
    return Performance(script, certify=certify).run(progress)


def _is_alone(part: Part) -> bool:
    """Whether a part's one section is all that moves its character."""
    return not part.beats and part.machine is None and len(part.sections) == 1


def _with_start(spec: CharacterSpec, script: Script) -> CharacterSpec:
    """Replace the name of a start pose by its angles."""
    if not isinstance(spec.start, str):
        return spec
    if spec.start not in script.poses:
        raise UnknownNameError("pose", spec.start, script.poses, spec.place)
    return dataclasses.replace(spec, start=dict(script.poses[spec.start].angles))


def _end_of(event: Event) -> float:
    """Return when an event is over [s]."""
    match event:
        case Push():
            return event.at + event.duration
        case Drag():
            return event.until
        case Throw():
            return event.hits_at
        case Attach(until=float() as until):
            return until
        case _:
            return event.at
