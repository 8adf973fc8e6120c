"""Through a motion graph after an opponent: distance, facing, blows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stunt.errors import StuntError
from stunt.library.own_walks import OWN_BLOWS
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.pursuit import Blow, Pursuit, PursuitSearcher, PursuitWalker
from stunt.script.sections.supervisor import own_searcher


@pytest.fixture(scope="module")
def searcher(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        patch.setenv("LOCALAPPDATA", str(tmp_path_factory.getbasetemp() / "cache"))
        return own_searcher()


def walked(searcher, goal, seconds, heading=0.0):
    """Go after an opponent from the origin."""
    walker = PursuitWalker(searcher, goal, start="guard")
    first = int(np.argmax(searcher.graph.kept[0]))
    walker.begin_at(0, first, Planar(0.0, 0.0, heading))
    while walker.made_until < seconds:
        walker.next_piece()
    return walker


def whereabouts(walker):
    """Return place and facing of the hips at the end of what is made."""
    here = walker.here
    x, y, facing = walker.graph.sources[here.source].ground_track[here.frame]
    return here.place.then(Planar(float(x), float(y), float(facing)))


@pytest.mark.parametrize("angle", [0.0, 1.5, 3.1, -1.5])
def test_a_boxer_comes_near_and_faces_its_opponent_wherever_it_is(searcher, angle):
    goal = Pursuit((2.2 * math.cos(angle), 2.2 * math.sin(angle)), nearest=0.9, farthest=1.3)
    end = whereabouts(walked(searcher, goal, 7.0))
    far = math.dist((end.x, end.y), goal.opponent)
    bearing = math.atan2(goal.opponent[1] - end.y, goal.opponent[0] - end.x)
    off = math.remainder(bearing - end.turn - goal.facing, math.tau)
    print(f"\nopponent at {math.degrees(angle):.0f}°: {far:.2f} m away, {math.degrees(off):.0f}° off")
    assert 0.85 < far < 1.5
    assert abs(off) < math.radians(30.0)


def test_it_gives_way_to_one_that_must_be_left_alone(searcher):
    goal = Pursuit((0.8, 0.0), nearest=2.0, farthest=3.0)
    end = whereabouts(walked(searcher, goal, 6.0))
    assert math.dist((end.x, end.y), goal.opponent) > 1.85


def test_it_stays_in_the_ring(searcher):
    goal = Pursuit((4.0, 0.0), nearest=0.9, farthest=1.2, ring=1.5)
    end = whereabouts(walked(searcher, goal, 8.0))
    assert math.hypot(end.x, end.y) < 1.8


@pytest.mark.parametrize("blow", [one.name for one in OWN_BLOWS])
def test_every_blow_lands_where_it_was_aimed(searcher, blow):
    aim = (1.6, 0.4)
    near = searcher.reach(blow)
    goal = Pursuit(aim, aim, near - 0.12, near + 0.1, short=searcher.blow(blow).short, blow=blow)
    walker = PursuitWalker(searcher, goal, start="guard")
    while not any(one.blow == blow for one in walker.landed):
        walker.next_piece()
        assert walker.made_until < 8.0, "it never struck"
    when = next(one.time for one in walker.landed if one.blow == blow)
    clip = walker.clip_until(when + 0.1)
    places = clip.world_at(np.array([when - walker.begins])).positions[0]
    parts = searcher.graph.sources[0].parts
    far = math.dist(places[parts[searcher.blow(blow).limb], :2], aim)
    print(f"\n{blow}: after {when:.1f} s, {100 * (far - goal.short):.0f} cm off its mark")
    assert abs(far - goal.short) < 0.15


def test_the_same_goals_give_the_same_motion_and_a_saved_one_goes_on_bit_for_bit(searcher):
    goal = Pursuit((1.5, 1.0), (1.5, 1.0), blow="cross")
    one, two = walked(searcher, goal, 2.0), walked(searcher, goal, 2.0)
    kept = one.save()
    for walker in (one, two):
        walker.clip_until(4.0)
    again = walked(searcher, goal, 1.0)
    again.restore(kept)
    again.clip_until(4.0)
    for walker in (two, again):
        assert np.array_equal(walker.clip_until(4.0).rotations, one.clip_until(4.0).rotations)
        assert walker.landed == one.landed


def test_a_search_is_over_in_time(searcher):
    goal = Pursuit((0.5, 1.0), (0.5, 0.9), nearest=0.7, farthest=0.9, blow="jab")
    _, _, looked = searcher.best(walked(searcher, goal, 0.5).here, goal)
    assert looked <= searcher.settings.branches


@pytest.mark.parametrize(
    ("blow", "message"),
    [
        (Blow("poke", "jab", 9.0, "l_hand"), "takes 1.2 s"),
        (Blow("poke", "jab", 0.5, "tail"), "tail"),
        (Blow("poke", "headbutt", 0.5, "head"), "headbutt"),
    ],
)
def test_blows_that_cannot_be_are_refused(searcher, blow, message):
    with pytest.raises(StuntError, match=message):
        PursuitSearcher(searcher.graph, (blow,))
    with pytest.raises(StuntError, match="uppercut"):
        searcher.blow("uppercut")
