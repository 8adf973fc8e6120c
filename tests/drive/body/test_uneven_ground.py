"""Steps laid over uneven ground: landings chosen on treads, stairs up and down, ramps, blocks, height fields."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.over_ground import Feet, Shaper
from stunt.drive.feet.landings import GRID, footholds, landings
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.library.names import find_clip, load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

STEP = 0.59
"""Length of the own walk's steps [m]: starts are spread over one."""
WIDE, FLAT = 2.0, 4.0  # of everything, and length of the ground behind it [m]
Course = tuple[dict[str, PropSpec], float, float]  # props, height of the start, and where it ends [m]


def box(start: float, length: float, height: float) -> PropSpec:
    return PropSpec("box", at=(start + length / 2, 0.0, height / 2), size=(length, WIDE, height))


def stairs(start: float, rise: float, tread: float, *, down: bool = False, steps: int = 4) -> Course:
    long, top = steps * tread, steps * rise
    place = (start + long / 2, 0.0, 0.0)
    flight = PropSpec("stairs", at=place, facing=math.pi * down, size=(tread, WIDE, rise), steps=steps)
    before, after = box(-2.0, start + 2.0, top), box(start + long, FLAT, top)
    return {"stairs": flight, "top": before if down else after}, top * down, start + long


def ramp(start: float, degrees: float, *, down: bool = False) -> Course:
    long, top = 3.0, 3.0 * math.tan(math.radians(degrees))
    slope = PropSpec("ramp", at=(start + long / 2, 0.0, 0.0), facing=math.pi * down, size=(long, WIDE, top))
    before, after = box(-2.0, start + 2.0, top), box(start + long, FLAT, top)
    return {"ramp": slope, "top": before if down else after}, top * down, start + long


def block(start: float, height: float, length: float) -> Course:
    return {"block": box(start, length, height)}, 0.0, start + length


def field(start: float, height: float) -> Course:
    rng, (rows, columns) = np.random.default_rng(round(100 * start)), (16, 40)
    heights = np.clip(np.arange(columns) / 8.0, 0.0, 1.0) * rng.random((rows, columns))
    values = tuple(tuple(float(h) for h in row) for row in (heights[:, :-1] + heights[:, 1:]) / 2)
    return {"field": PropSpec("heightfield", at=(3.5, 0.0, 0.0), size=(5.0, 2.4, height), heights=values)}, 0.0, 5.0


def walker(course: Course, *, feet: bool = True) -> BodyActor:
    props, floor, _ = course
    body = CharacterSpec(str(find_clip("walk")), root="free", strength=1.5, at=(0.0, 0.0, floor))
    stage = StageLoop(Scene({"a": body}, props, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip("walk"), stage.character("a"))
    motion = BodyMotion("walk", motion.fps, motion.qpos, loop=True).raised(floor)
    tracker = follower_of(stage, "a", motion, root=RootSpring(yaw=0.1, force=0.05))
    if feet:
        Shaper(tracker, [Feet(tracker)])
    return tracker


def walked(course: Course, seconds: float = 14.0) -> bool:
    """Walk a course; return whether the walker is on its feet 0.9 m behind its end."""
    tracker = walker(course)
    stage, bodies = tracker.stage, list(tracker.character.bodies.values())
    while stage.time < seconds and stage.data.qpos[0] < course[2] + 0.9:
        stage.step(1.0 / 15.0)
        upright = 1.0 - 2.0 * float(stage.data.qpos[4] ** 2 + stage.data.qpos[5] ** 2)
        if stage.data.qpos[2] - stage.data.xpos[bodies, 2].min() < 0.45 or upright < 0.5:
            return False
    return bool(stage.data.qpos[0] >= course[2] + 0.9)


def chosen(rise: float, tread: float, start: float) -> list[tuple[float, float]]:
    """Return where the next four steps of 0.59 m land on stairs that begin somewhere: place and height [m]."""
    places = np.arange(-20, 180) * GRID
    heights = rise * np.clip(np.floor((places - start) / tread + 1.0), 0.0, 20.0)
    line = footholds(heights, 0.13, 0.13)
    found = landings([line] * 4, [STEP] * 4, 20, 0.0, STEP)
    ends = np.cumsum([landing.length for landing in found])
    return [(float(end), landing.height) for end, landing in zip(ends, found, strict=True)]


@pytest.mark.parametrize("start", [0.4, 0.55, 0.7])
def test_landings_are_on_treads_one_at_a_time_where_they_are_high(start: float) -> None:
    for end, height in chosen(0.17, 0.29, start):
        off = (end - start) % 0.29
        # Of a sole of 26 cm on a tread of 29 no more than 4 cm are in the air.
        assert end < start - 0.13 or 0.09 <= off <= 0.20, (end, height)
    rises = np.diff([0.0, *(height for _, height in chosen(0.17, 0.29, start))])
    print("rises", rises.round(2))
    assert rises.max() < 0.18 and rises.sum() > 0.3


def test_low_steps_are_taken_two_at_a_time() -> None:
    lengths = np.diff([end for end, _ in chosen(0.05, 0.30, 0.4)])
    assert lengths.min() > 0.5


@pytest.mark.parametrize("props", [{}, {"block": box(12.0, 1.0, 0.2)}])
def test_nothing_is_changed_where_the_ground_is_flat(props: dict[str, PropSpec]) -> None:
    """Bit by bit: neither where there is only a floor, nor far from what is not."""
    places = []
    for feet in (False, True):
        tracker = walker((props, 0.0, 0.0), feet=feet)
        if not feet:
            Shaper(tracker, [])
        tracker.stage.step(2.0)
        places.append(tracker.stage.data.qpos.copy())
    assert np.array_equal(places[0], places[1])


def test_soles_lie_on_a_slope() -> None:
    tracker = walker(ramp(1.3, 12.0))
    tracker.stage.step(2.0)
    pitch = []
    for _ in range(64):  # two steps
        tracker.stage.step(1.0 / 60.0)
        for name in ("l_foot", "r_foot"):
            body = tracker.character.bodies[name]
            forward = rotations.rotate(tracker.stage.data.xquat[body], np.array([1.0, 0.0, 0.0]))
            if np.linalg.norm(tracker.stage.data.cvel[body]) < 0.4:
                pitch.append(math.degrees(math.asin(float(forward[2]))))
    print(f"pitch of standing feet on 12°: {np.round(pitch, 1)}")
    assert len(pitch) > 5 and abs(float(np.median(pitch)) - 12.0) < 3.0


@pytest.mark.parametrize("start", [1.3, 1.55])
def test_a_stairway_of_a_house_is_walked_up_and_down(start: float) -> None:
    assert walked(stairs(start, 0.17, 0.29)) and walked(stairs(start, 0.17, 0.29, down=True))


COURSES = {
    **{f"{100 * r:.0f} on {100 * t:.0f} cm up": (lambda s, r=r, t=t: stairs(s, r, t)) for r, t in (
        (0.05, 0.3), (0.08, 0.3), (0.12, 0.3), (0.15, 0.3), (0.17, 0.29),
        (0.12, 0.45), (0.1, 0.6), (0.15, 0.6), (0.2, 0.6),
    )},
    **{f"{100 * r:.0f} on {100 * t:.0f} cm down": (lambda s, r=r, t=t: stairs(s, r, t, down=True)) for r, t in (
        (0.12, 0.3), (0.15, 0.3), (0.17, 0.29), (0.12, 0.45), (0.2, 0.6)
    )},
    "twelve of 17 on 29 cm up": lambda s: stairs(s, 0.17, 0.29, steps=12),
    "twelve of 17 on 29 cm down": lambda s: stairs(s, 0.17, 0.29, down=True, steps=12),
    **{f"ramp of {d}° up": (lambda s, d=d: ramp(s, d)) for d in (10, 15)},
    **{f"ramp of {d}° down": (lambda s, d=d: ramp(s, d, down=True)) for d in (10, 15)},
    **{f"block of {100 * h:.0f} cm": (lambda s, h=h, t=t: block(s, h, t)) for h, t in (
        (0.08, 0.3), (0.12, 0.3), (0.15, 0.5), (0.2, 1.0)
    )},
    "field of 8 cm": lambda s: field(s, 0.08),
    "field of 15 cm": lambda s: field(s, 0.15),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("course", list(COURSES))
def test_uneven_ground_is_walked_over_from_any_start(course: str) -> None:
    """Begun at twenty distances over one step's length, at least nine of ten times."""
    count = sum(walked(COURSES[course](1.3 + STEP * k / 20)) for k in range(20))
    print(f"{course}: {count} of 20")
    assert count >= 18
