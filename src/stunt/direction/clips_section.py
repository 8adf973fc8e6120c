"""`clips` joins scripts and performances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stunt.direction.clips_part import ClipsPart, PlaySpec, check_clips_part, clips_part_to_data, read_clips_part
from stunt.direction.motion_rows import Motion, motion_of_clip
from stunt.direction.reactions import Reactions
from stunt.direction.sections import KINDS, SectionKind
from stunt.direction.tracker import Tracker
from stunt.motion.library import load_clip
from stunt.stage.loop import Stage

if TYPE_CHECKING:
    from stunt.direction.performance import Performance

KEY = "clips"


class ClipPlayer:
    """Crew that hands a tracker its clips at their times."""

    def __init__(self, stage: Stage, tracker: Tracker, later: list[tuple[float, Motion, float]]) -> None:
        """Queue what comes after the first clip: when [s], what, and how long the change takes [s]."""
        self._stage, self.tracker, self._later = stage, tracker, later
        stage.crew.append(self)

    def due(self) -> int | None:
        """Return the tick of the next change."""
        return self._stage.tick_of(self._later[0][0]) if self._later else None

    def act(self) -> None:
        """Go over to the next clip."""
        _, motion, blend = self._later.pop(0)
        self.tracker.play(motion, blend=blend)

    def save(self) -> Any:
        """Return what is still to come."""
        return list(self._later)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._later = list(state)


def load_motion(stage: Stage, name: str, play: PlaySpec, source: str) -> Motion:
    """Read a clip as a motion of a character's body."""
    beside = Path(source).parent if source else Path()
    named = str(beside / play.clip) if (beside / play.clip).exists() else play.clip
    clip = load_clip(named, place=play.place)
    motion = motion_of_clip(clip, stage.character(name))
    end = motion.duration if play.end is None else play.end
    return replace(motion.trimmed(play.begin, end), loop=play.loop)


def _start(performance: Performance, name: str, part: ClipsPart) -> None:
    stage, spec = performance.stage, performance.script.scene.characters[name]
    motions = [load_motion(stage, name, play, performance.script.source) for play in part.play]
    first = motions[0].placed((spec.at[0], spec.at[1]), spec.facing)
    tracker = Tracker(stage, name, first, settings=part.settings, root=part.root)
    later, clock = [], motions[0].duration
    for play, motion in zip(part.play[1:], motions[1:], strict=True):
        at = clock if play.at is None else play.at
        later.append((at, motion, play.blend))
        clock = at + motion.duration
    ClipPlayer(stage, tracker, later)
    performance.sections[name][KEY] = tracker
    if part.react:
        reactions = Reactions(stage, tracker)
        performance.logs.append(reactions.log)


_LENGTHS: dict[tuple[str, float, float | None], float] = {}


def _length(play: PlaySpec) -> float:
    """Return how long a clip is played [s]; read once."""
    key = (play.clip, play.begin, play.end)
    if key not in _LENGTHS:
        beside = Path(play.place.file).parent if play.place.file else Path()
        named = str(beside / play.clip) if (beside / play.clip).exists() else play.clip
        whole = load_clip(named, place=play.place).duration
        _LENGTHS[key] = (whole if play.end is None else min(play.end, whole)) - play.begin
    return _LENGTHS[key]


def _seconds(part: ClipsPart) -> float | None:
    clock = 0.0
    for play in part.play:
        clock = (clock if play.at is None else play.at) + _length(play)
    return max(clock - 0.5, 0.1)  # a performance goes on for half a second after its last beat


KINDS[KEY] = SectionKind(KEY, read_clips_part, clips_part_to_data, check_clips_part, _start, _seconds)
