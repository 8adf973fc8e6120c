"""Trajectories as a section of a part: checked against the body, started on the stage."""

from __future__ import annotations

from stunt.character.character import Character
from stunt.drive.paths.follower import Follower
from stunt.drive.paths.laid_out import check_trajectory_part, joint_paths, marker_paths
from stunt.drive.paths.shown import show_trajectories
from stunt.drive.paths.spec import TrajectoryPart
from stunt.errors import Place
from stunt.library.names import load_clip
from stunt.play.actor import Actor
from stunt.script.sections.kind import SectionKind


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
        ends += [path.position.end for path in marker_paths(part.markers) if path.position is not None]
    if part.clip is not None:
        ends.append(part.clip.at + load_clip(part.clip.file, place=part.clip.place).duration)
    return max(ends, default=None)


TRAJECTORIES = SectionKind(
    "trajectories", TrajectoryPart, check_trajectory_part, _start, _seconds, preview=show_trajectories, claims=_claims
)
