"""People rammed from all sides: hands before heads, up again, and all of it the same after a restore."""

from __future__ import annotations

import math

import numpy as np
import pytest

from papers.p2.experiment import Show
from papers.p2.kick import grounded
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import actor_of
from stunt.stage.props import PropSpec
from stunt.supervise.contract import Bid
from stunt.supervise.reflexes.fall import falling
from stunt.supervise.reflexes.get_up import own_get_up
from tests.supervise.people import person, player, put_on, supervise, survival


def rammed(side: float, mass: float = 40.0) -> Show:
    """A standing person that a heavy ball hits at the chest, flying toward an angle [rad]."""
    way = np.array([math.cos(side), math.sin(side), 0.0])
    at = np.array([0.0, 0.0, 1.25]) - 1.2 * way
    ram = PropSpec("sphere", at=tuple(at), radius=0.18, mass=mass, velocity=tuple(5.0 * way + [0.0, 0.0, 0.8]))
    show = put_on("ram", {"ada": person()}, {"ram": ram}, seed=0, seconds=12.0)
    supervise(show, "ada", [player(show.stage, "ada", "idle", loop=True), *survival(show.stage, "ada", agile=0.2)])
    return show


@pytest.mark.parametrize("side", [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi])
def test_a_person_knocked_over_lands_on_its_hands_before_its_head_and_gets_up(side: float) -> None:
    show, order = rammed(side, 80.0), list[str]()
    while show.stage.time < 12.0:
        show.until(show.stage.time + 1.0 / 60.0)
        order += [part for part in sorted(grounded(show, "ada")) if part not in order]
    felt = show.felt("ada")
    print(f"{math.degrees(side):.0f}°: {[who for _, who in show.switches('ada')]}, touched {order[:4]}")
    assert order and order[0] not in ("head", "neck")
    assert felt.height > 0.85 and felt.tilt < 0.4


def test_a_performance_saved_in_the_middle_of_a_fall_goes_on_bit_for_bit() -> None:
    show = rammed(math.pi)
    show.until(1.0)
    assert show.switches("ada")[-1][1] not in ("idle", "idle (tracking)")
    for _ in range(3):  # while stumbling or falling, while lying, while getting up
        saved = show.stage.save()
        begin = show.stage.time
        show.until(begin + 1.0)
        first, log = show.stage.data.qpos.copy(), list(show.supervisors["ada"].log)
        show.stage.restore(saved)
        show.until(begin + 1.0)
        assert np.array_equal(first, show.stage.data.qpos)
        assert log == show.supervisors["ada"].log


def test_a_fall_backward_tucks_the_chin_and_one_forward_lifts_it() -> None:
    front, back = falling(1.0, 0.0), falling(-1.0, 0.0)
    pitch = lambda posture: 2.0 * math.atan2(posture["head"][2], posture["head"][0])  # noqa: E731
    assert pitch(front) < -0.1 < 0.3 < pitch(back)


def test_rising_is_helped_by_its_own_spring_where_the_body_is_helped_less() -> None:
    show = put_on("rise", {"ada": person()}, {}, seed=0, seconds=1.0)
    rises = own_get_up(show.stage, "ada", spring=0.4)
    actor = actor_of(show.stage, "ada")
    limit, full = "torque_limit", dict[float, float]()
    for given in (0.1, 0.4, 0.6):
        actor.configure(root=RootSpring(limit=given))
        rises.start(None, actor, Bid(1.0, "", ("back", 0.0)))  # type: ignore[arg-type]
        full[given] = float(actor.program.actors[actor.number][limit])
        actor.lean(None)
    assert full[0.1] == pytest.approx(full[0.4]) and full[0.6] == pytest.approx(1.5 * full[0.4])
