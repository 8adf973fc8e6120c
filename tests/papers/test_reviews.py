"""Every shipped scene is believable by the one table of ranges, or is named here with what is not."""

from __future__ import annotations

import pytest

from papers.runs import shipped
from stunt.examples import example_names
from stunt.script.performance import Performance

OPEN = {  # what is out of range, of whom; nothing else may be
    "beach_balls": {"stubborn": {"reaction_s"}, "riser": {"reaction_s"}},
    "boxing": {"red": {"reaction_s", "arm_in_trunk_cm"}, "blue": {"reaction_s", "slide_cm"}},
    "boxing_match": {"red": {"turn_upper_arm"}, "blue": {"reaction_s", "turn_spine"}},
    "cartwheel_obstacle": {
        "in_world": {"arm_in_trunk_cm", "help_torque"}, "in_parent": {"arm_in_trunk_cm", "foot_speed", "reaction_s"},
    },
    "drag": {"doll": {"arm_in_trunk_cm"}},
    "obstacle_course": {"walker": {"arm_in_trunk_cm"}},
    "soldier": {"soldier": {"wrist_range", "reaction_s", "head_speed"}},  # falls freely, as in the paper
}  # fmt: skip
QUICK = ("catch", "flinch", "go_left", "kick_partner", "shove", "wave")  # others are reviewed where they are tested


def unbelievable(name: str) -> dict[str, set[str]]:
    """Which figures of whom are out of range; a title: what was asked for and did not happen."""
    found = Performance(shipped(name), foretell=False).run().review()
    out: dict[str, set[str]] = {}
    for finding in found.outside:
        print(finding.sentence())
        out.setdefault(finding.character, set()).add(finding.measured.figure)
    return out | {one.what: set() for one in found.missing}


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_scene_is_believable(name: str) -> None:
    assert not unbelievable(name)


@pytest.mark.long
@pytest.mark.parametrize("name", example_names())
def test_every_shipped_scene_is_believable(name: str) -> None:
    known, found = OPEN.get(name, {}), unbelievable(name)
    assert all(figures <= known.get(who, set()) and who in known for who, figures in found.items())
    if name not in OPEN:
        assert not found
