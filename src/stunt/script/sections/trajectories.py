"""Trajectories as a section of a part: checked against the body, started on the stage."""

from __future__ import annotations

from dataclasses import replace

from stunt.character.anthropometry import FEMALE, MALE
from stunt.character.character import Character
from stunt.drive.beats.spec import Script
from stunt.drive.paths.captured import height_for, read_markers
from stunt.drive.paths.follower import Follower
from stunt.drive.paths.laid_out import check_trajectory_part, joint_paths
from stunt.drive.paths.shown import show_trajectories
from stunt.drive.paths.spec import TrajectoryPart
from stunt.errors import InvalidValueError, Place
from stunt.library.names import load_clip
from stunt.play.actor import Actor
from stunt.script.sections.kind import SectionKind
from stunt.stage.build import Built
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene


def _start(actor: Actor, part: TrajectoryPart, alone: bool) -> Follower | None:
    if alone and actor.part.joints is None:
        actor.let_go()  # joints that nobody asked for
    actor.perform(part)
    return actor.joints.follower


def _claims(part: TrajectoryPart, character: Character) -> dict[str, Place]:
    return {path.joint: path.place for path in joint_paths(part, character)}


def _seconds(part: TrajectoryPart) -> float | None:
    ends = [path.trajectory.end for path in part.joints]
    ends += [p.end for site in part.sites for p in (site.position, site.orientation) if p is not None]
    if part.markers is not None:
        captured = read_markers(part.markers)
        ends.append(part.markers.at + (len(captured.seen) - 1) / captured.hz)
    if part.clip is not None:
        ends.append(part.clip.at + load_clip(part.clip.file, place=part.clip.place).duration)
    return max(ends, default=None)


def sized_by_markers(script: Script, scene: Scene, built: Built) -> Scene:
    """Return a scene whose bodies are as large as the people under their markers, where a script asks for that.

    Raises:
        StuntError: The body is none of Stunt's own: its bones say how large it is.
    """
    heights = {}
    for name, part in script.parts.items():
        section = part.sections.get("trajectories")
        markers = section.markers if isinstance(section, TrajectoryPart) else None
        if markers is None or markers.fit != "body":
            continue
        spec = scene.characters[name]
        if not isinstance(spec.body, str) or not spec.body.startswith("human"):
            raise InvalidValueError("fit", "body", "`markers` for a body that is not Stunt's own", markers.place)
        usual = (FEMALE if spec.sex == "female" else MALE).height if spec.height is None else spec.height
        heights[name] = usual * height_for(StageLoop(built), built.characters[name], markers)
    if not heights:
        return scene
    sized = {name: replace(who, height=heights.get(name, who.height)) for name, who in scene.characters.items()}
    return replace(scene, characters=sized)


TRAJECTORIES = SectionKind(
    "trajectories", TrajectoryPart, check_trajectory_part, _start, _seconds, preview=show_trajectories, claims=_claims
)
