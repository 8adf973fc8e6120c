"""Rolling as asked: each of its parameters changes what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from stunt.maths import rotations
from stunt.supervise.reflexes.lie import Lie
from stunt.supervise.reflexes.roll import Roll
from stunt.supervise.supervisor import Supervisor
from tests.supervise.people import motion, person, put_on


@dataclass(frozen=True)
class Rolled:
    """What became of a roll: its way to the left over the ground [m], angle about the long axis [rad], size [m]."""

    left: float
    turned: float
    reach: float


def rolled(direction: float = 0.5 * math.pi, seconds: float = 0.8, **how: float) -> Rolled:
    """Let somebody who lies on its back, head toward −x, roll for a while."""
    show = put_on("roll", {"ada": person()}, {}, seed=0, seconds=5.0)
    lying = motion(show.stage, "ada", "stand_up").qpos[0]
    root = show.stage.character("ada").root
    assert root is not None
    show.stage.data.qpos[root.qpos : root.qpos + len(lying)] = lying
    supervisor = Supervisor(show.stage, "ada", [Roll(direction=direction, **how), Lie(rest=20.0)])
    show.supervisors["ada"] = supervisor
    show.until(1.0)
    assert supervisor.running == "lie"
    supervisor.request("roll")
    show.until(1.05)
    assert supervisor.running == "roll"
    begin, last, turned, reach = show.felt("ada"), show.felt("ada"), 0.0, list[float]()
    way = np.array([math.cos(begin.facing + direction), math.sin(begin.facing + direction)])
    axis = np.array([-way[1], way[0], 0.0])
    while show.stage.time < 1.05 + seconds and supervisor.running == "roll":
        show.until(show.stage.time + 1.0 / 60.0)
        felt = show.felt("ada")
        step = rotations.to_rotation_vector(rotations.multiply(felt.turn, rotations.conjugate(last.turn)))
        turned += float(step @ axis)
        reach.append(float(np.linalg.norm(felt.places - felt.com, axis=1).mean()))
        last = felt
    off = last.com[:2] - begin.com[:2]
    aside = np.array([-math.sin(begin.facing), math.cos(begin.facing)])
    return Rolled(float(off @ aside), turned, float(np.mean(reach[len(reach) // 2 :])))


def test_it_rolls_to_the_side_it_is_asked_to() -> None:
    left, right = rolled(0.5 * math.pi), rolled(-0.5 * math.pi)
    print(f"\nto the left {left.left:+.2f} m, to the right {right.left:+.2f} m")
    assert left.left > 0.1 and right.left < -0.1
    assert left.turned > 0.5 and right.turned > 0.5


def test_it_rolls_faster_if_asked_to() -> None:
    slow, fast = rolled(speed=1.0), rolled(speed=6.0)
    print(f"\nin 0.8 s: {math.degrees(slow.turned):.0f}° at 1 rad/s, {math.degrees(fast.turned):.0f}° at 6 rad/s")
    assert fast.turned > 1.3 * slow.turned


def test_the_tighter_it_rolls_the_smaller_it_is() -> None:
    sizes = [rolled(tightness=tight).reach for tight in (0.0, 0.5, 1.0)]
    print(f"\nparts are {', '.join(f'{size:.2f}' for size in sizes)} m from the middle at tightness 0, 0.5, 1")
    assert sizes[0] > 1.05 * sizes[1] > 1.05 * 1.05 * sizes[2]


def test_it_ends_once_it_has_rolled_as_far_as_it_should() -> None:
    quarter = rolled(turn=0.5 * math.pi, seconds=2.0)
    assert quarter.turned == pytest.approx(0.5 * math.pi, abs=0.5)
