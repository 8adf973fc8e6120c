"""`clips` joins scripts and performances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stunt.direction.clip_player import ClipPlayer, Turn
from stunt.direction.clips_part import ClipsPart, PlaySpec, check_clips_part, clips_part_to_data, read_clips_part
from stunt.direction.feet import Feet
from stunt.direction.ground import Ground
from stunt.direction.motion_rows import Motion, motion_of_clip
from stunt.direction.reactions import Reactions
from stunt.direction.sections import KINDS, SectionKind
from stunt.direction.shaping import AbsoluteTargets, Shape, Shaper
from stunt.direction.stuck import StuckLimbs
from stunt.direction.tracker import Tracker
from stunt.errors import InvalidValueError, Place, asked_at
from stunt.motion.clip import Clip
from stunt.motion.door import Overrides
from stunt.motion.library import clip_beside, load_clip
from stunt.motion.mapping import read_mapping, with_mapping
from stunt.motion.standing import feet_of, floor_height
from stunt.rotations import heading
from stunt.stage.loop import Stage

if TYPE_CHECKING:
    from stunt.direction.performance import Performance

KEY = "clips"
UNHELD = (
    "the external form turns the body from outside only as far as something holds the root; nothing does, so that its "
    "torques are internal. Hold the root (--assist weak or hook, `assist`), or leave `external` out."
)


def load_motion(stage: Stage, name: str, play: PlaySpec, source: str, mapping: str | None = None) -> Motion:
    """Read a clip as a motion of a character's body.

    Args:
        stage: Where the character is.
        name: Who.
        play: Which clip, and what of it.
        source: The script's file; clips and mapping files are looked for beside it.
        mapping: A mapping file for those clips that have the joints it names.
    """
    with asked_at(play.place):
        motion = motion_of_clip(_clip(play, source, mapping), stage.character(name))
    return replace(trimmed_motion(motion, play.begin, play.end, play.place), loop=play.loop)


def _clip(play: PlaySpec, source: str, mapping: str | None) -> Clip:
    beside = Path(source).parent if source else Path()
    clip = load_clip(clip_beside(play.clip, beside), place=play.place)
    return clip if mapping is None else _mapped(clip, play, beside, mapping)


def _mapped(clip: Clip, play: PlaySpec, beside: Path, mapping: str) -> Clip:
    """Return a clip that goes by a section's mapping file, unless it has one of its own or other joints."""
    file = beside / mapping if (beside / mapping).is_file() else Path(mapping)
    known = read_mapping(file)
    if clip.door.parts is not None or not any(name in clip.skeleton.names for name in known.joints.values()):
        return with_mapping(clip, replace(known, joints={}))
    # Read once more: which way is up, and how large it is, are told by its parts too.
    return load_clip(clip_beside(play.clip, beside), overrides=Overrides(mapping=str(file)), place=play.place)


def trimmed_motion(motion: Motion, begin: float, end: float | None, place: Place) -> Motion:
    """Return what a script plays of a motion.

    Raises:
        InvalidValueError: It begins at or after the end.
    """
    if begin >= motion.duration and begin > 0.0:
        expected = f"a time within clip '{motion.name}', which is {motion.duration:.3f} s long"
        raise InvalidValueError("from", begin, expected, place)
    return motion.trimmed(begin, motion.duration if end is None else end)


def _start(performance: Performance, name: str, part: ClipsPart) -> None:
    stage, spec, source = performance.stage, performance.script.scene.characters[name], performance.script.source
    motions = [load_motion(stage, name, play, source, part.mapping) for play in part.play]
    first = motions[0].placed((spec.at[0], spec.at[1]), spec.facing + part.play[0].facing)
    if spec.at[2]:
        first = first.raised(spec.at[2])
    performance.placements[name] = _placement(motions[0], first, _clip(part.play[0], source, part.mapping), spec.at[2])
    tracker = Tracker(stage, name, first, settings=part.settings, root=part.root)
    performance.sections[name][KEY] = tracker
    if part.settings.external and part.root.kind == "none":
        performance.warnings.append(f"{name}: {UNHELD}")
    reactions = _react(performance, name, tracker, part)
    turns = [Turn(m, p.at, p.blend, p.facing) for m, p in zip(motions, part.play, strict=True)]
    ClipPlayer(stage, tracker, turns, repeat=part.repeat, toward=part.toward, reactions=reactions)
    _shape(stage, tracker, part)
    if part.free_limbs:
        performance.logs.append(StuckLimbs(tracker, reactions).log)


def _placement(lay: Motion, lies: Motion, clip: Clip, height: float) -> dict[str, list[float]]:
    """Say where a clip lay in its file and where it lies on the stage: x, y, the ground's height [m], heading [rad]."""
    ground = floor_height(clip, clip.parts) if feet_of(clip.parts) else 0.0
    found = {}
    for key, motion, floor in (("source", lay, ground), ("stage", lies, height)):
        x, y = motion.qpos[0, :2]
        found[key] = [float(x), float(y), float(floor), float(heading(motion.qpos[0, 3:7]))]
    return found


def _react(performance: Performance, name: str, tracker: Tracker, part: ClipsPart) -> Reactions | None:
    if part.react is None:
        return None
    stage, source = performance.stage, performance.script.source
    get_up = {
        side: load_motion(stage, name, PlaySpec(clip, place=part.place), source, part.mapping)
        for side, clip in part.get_up
    }
    reactions = Reactions(performance.stage, tracker, thresholds=part.react, get_up=get_up)
    performance.logs.append(reactions.log)
    return reactions


def _shape(stage: Stage, tracker: Tracker, part: ClipsPart) -> None:
    """Shape targets where the ground asks for it, or the script."""
    shapes: list[Shape] = []
    ground = Ground(stage)
    if part.feet or (part.feet is None and not ground.flat):
        shapes.append(Feet(tracker, ground))
    if part.targets == "absolute":
        shapes.append(AbsoluteTargets(tracker))
    if shapes:
        Shaper(tracker, shapes)


_LENGTHS: dict[tuple[str, str, float, float | None], float] = {}


def _length(play: PlaySpec) -> float:
    """Return how long a clip is played [s]; read once."""
    beside = Path(play.place.file).parent if play.place.file else Path()
    key = (play.clip, str(beside), play.begin, play.end)
    if key not in _LENGTHS:
        whole = load_clip(clip_beside(play.clip, beside), place=play.place).duration
        _LENGTHS[key] = (whole if play.end is None else min(play.end, whole)) - play.begin
    return _LENGTHS[key]


def _seconds(part: ClipsPart) -> float | None:
    clock = 0.0
    for play in part.play:
        clock = (clock if play.at is None else play.at) + _length(play)
    return max(clock - 0.5, 0.1)  # a performance goes on for half a second after its last beat


KINDS[KEY] = SectionKind(KEY, read_clips_part, clips_part_to_data, check_clips_part, _start, _seconds)
