"""The experiments of P3 as examples: each shows what it is there to show, with the package's own clips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stunt.examples import example
from stunt.maths.rotations import conjugate, multiply, to_rotation_vector
from stunt.record.report import make_report
from stunt.record.take import Take
from stunt.review.measures.footage import Footage
from stunt.script.file import load_script
from stunt.script.performance import Performance


def played(name: str, seconds: float | None = None) -> tuple[Take, dict[str, Any]]:
    """Play an example, to its end or to a time [s]."""
    performance = Performance(load_script(example(name).path), foretell=False)
    if seconds is None:
        take = performance.run()
    else:
        performance.stage.step(seconds)
        take = performance.take()
    return take, make_report(take, wall_seconds=None)["characters"]


def height(take: Take, name: str, time: float) -> float:
    """How high a character's root is at a time [m]."""
    root = take.cast.character(name).root_qpos
    return float(take.qpos[min(int(np.searchsorted(take.time, time)), len(take.time) - 1), root + 2])


def seconds_in_the_air(take: Take, name: str) -> float:
    """How long nothing of a character touches anything but itself [s]."""
    model = take.model()
    own = [g for g in range(model.ngeom) if model.body(int(model.geom_bodyid[g])).name.startswith(f"{name}/")]
    touching = np.unique(take.contact_frame[np.isin(take.contact_geoms, own).sum(axis=1) == 1])
    recorded = len(np.unique(take.contact_frame))  # of the others somebody always touches the ground
    return float(take.seconds * (1.0 - len(touching) / recorded))


def reactions(take: Take, name: str) -> list[str]:
    own = [e for e in take.events if e["kind"] == "reaction" and e["character"] == name]
    return [e["state"] for e in own if e["state"] != "giving"]


@pytest.mark.parametrize(("name", "standing"), [("balance_flat", {"hooked", "weak"}), ("balance_crate", {"hooked"})])
def test_a_weak_spring_balances_where_a_person_would_and_a_hook_everywhere(name: str, standing: set[str]) -> None:
    _, people = played(name)
    print(name, {who: entry["fell"] for who, entry in people.items()})
    assert {who for who, entry in people.items() if not entry["fell"]} == standing


def test_jumps_hops_and_crossovers_are_followed_and_leave_the_ground() -> None:
    take, people = played("jump_hop_cross")
    assert not any(entry["fell"] for entry in people.values())
    air = {who: seconds_in_the_air(take, who) for who in people}
    print({who: round(entry["error_deg_mean"], 2) for who, entry in people.items()}, air)
    assert air["jumper"] > 0.3 and air["hopper"] > 0.3 and air["crosser"] < 0.05
    assert all(entry["error_deg_mean"] < 2.0 for entry in people.values())


def test_dragged_pressed_and_lifted_it_gives_way_and_stands_again() -> None:
    take, people = played("drag")
    heights = {time: round(height(take, "doll", time), 2) for time in (3.4, 5.2, 6.8, 8.5, 10.9)}
    print(heights)
    assert heights[5.2] < 0.62 < 0.78 < heights[6.8]  # pressed down, and up again
    assert heights[8.5] > 1.1 and 0.78 < heights[10.9] < 0.9  # lifted, and back on its feet
    assert not people["doll"]["fell"]
    # The arm that is pulled goes along, and is bent again when it is let go; legs in the air hang.
    footage = Footage.of(take)
    (doll,) = footage.people
    elbow = footage.angle_at(doll, "r_upper_arm", "r_forearm", "r_hand")
    knees = [footage.angle_at(doll, *(f"{side}_{part}" for part in ("thigh", "shank", "foot"))) for side in "lr"]
    before, pulled, after, lifted = (
        (footage.time > start) & (footage.time < end) for start, end in ((0, 0.5), (0.5, 2.5), (3.0, 3.4), (7.6, 9.4))
    )
    print(elbow[before].mean(), elbow[pulled].min(), elbow[after].mean(), [knee[lifted].min() for knee in knees])
    assert elbow[pulled].min() < elbow[before].mean() - 40.0 and abs(elbow[after] - elbow[before].mean()).max() < 8.0
    assert max(knee[lifted].min() for knee in knees) < 25.0
    # Lifted by the chest its collar-bone is 3.1 cm in its back, 0.4 more than anybody's.
    assert {found.measured.figure for found in take.review().outside} <= {"arm_in_trunk_cm"}


def test_arms_stuck_behind_the_back_are_noticed_and_freed() -> None:
    take, _ = played("stuck_arm")
    stuck = {e["limb"]: e["time"] for e in take.events if e["kind"] == "stuck"}
    freed = {e["limb"]: e["time"] for e in take.events if e["kind"] == "freed"}
    print(stuck, freed)
    assert set(stuck) == set(freed) == {"l_arm", "r_arm"}
    assert all(freed[limb] - stuck[limb] < 2.0 for limb in stuck)
    assert take.review().passed


def test_beach_balls_fell_nobody_and_a_crate_everybody_who_may_fall() -> None:
    take, people = played("beach_balls")
    before = {who: height(take, who, 1.7) for who in people}
    assert all(value > 0.8 for value in before.values())
    assert {who for who, entry in people.items() if entry["fell"]} == {"stubborn", "stunned"}
    assert reactions(take, "riser") == ["down", "rising", "following"] and "stunned" in reactions(take, "stunned")
    assert height(take, "riser", 9.0) > 0.8
    # Balls of 0.3 kg rock the heads beyond what the clip does without them.
    script = load_script(example("beach_balls").path)
    performance = Performance(replace(script, scene=replace(script.scene, events=())), foretell=False)
    performance.stage.step(1.5)
    still, rocked = Footage.of(performance.take()), Footage.of(take)
    frames = slice(int(np.searchsorted(still.time, 0.8)), len(still.time))
    for person in rocked.people:
        turned = []
        for part in ("neck", "head"):
            body = person.bodies[part]
            way = multiply(conjugate(still.turns[frames, body]), rocked.turns[frames, body])
            turned.append(float(np.degrees(np.linalg.norm(to_rotation_vector(way), axis=1)).max()))
        print(person.name, turned)
        assert max(turned) > 2.0 and (person.name not in ("stunned", "riser") or turned[1] > 2.0)


def test_boxers_on_uneven_ground_go_down_and_get_up() -> None:
    take, people = played("boxing")
    states = {who: reactions(take, who) for who in people}
    print(states, {who: entry["hits"] for who, entry in people.items()})
    downs = [who for who, seen in states.items() if "down" in seen]
    # A fight is chaos: who is felled late, or again while rising, may still be at it in the end.
    up = [who for who in downs if "rising" in states[who] and "following" in states[who][states[who].index("rising") :]]
    assert up
    assert all(entry["hits"] >= 5 for entry in people.values())


def test_a_cartwheel_over_an_obstacle_keeps_more_of_the_clip_in_world_space() -> None:
    _, people = played("cartwheel_obstacle")
    errors = {who: entry["error_deg_mean"] for who, entry in people.items()}
    print(errors)
    assert not people["in_world"]["fell"] and people["in_parent"]["fell"]
    assert errors["in_world"] < 0.8 * errors["in_parent"]  # whose error counts until it lies


def test_the_course_is_walked_to_its_end() -> None:
    take, people = played("obstacle_course")
    root = take.cast.character("walker").root_qpos
    way = take.qpos[:, root : root + 3]
    print(f"highest {way[:, 2].max():.2f} m, farthest {way[:, 0].max():.2f} m; hits {people['walker']['hits']}")
    assert way[:, 2].max() > 1.15 and way[:, 0].max() > 9.5  # over the platform, and to the end
    assert people["walker"]["hits"] >= 1 and not people["walker"]["fell"]
