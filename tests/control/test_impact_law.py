"""Single impacts beside what Signorini, Coulomb and Stronge say of them."""

import numpy as np
import pytest

from stunt.control.impact.law import COULOMB, FRICTIONLESS, INFINITE, collide
from stunt.errors import StuntError
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import Collisions, Scene


def impact(a, before, mu, kind, e):
    n = len(before)
    after, total = np.array(before), np.zeros(n)
    each = np.broadcast_to(e, n // 3).astype(float)
    collide(a.ravel(), n // 3, after, mu, kind, each, total, *(np.zeros(n) for _ in range(4)))
    return after, total


def random_impact(rng, k):
    """Return A and the contact velocities of some contacts of a body that has more freedoms than they take."""
    nv, n = 3 * k + 4, 3 * k
    half, rows = rng.normal(size=(nv, nv)) / np.sqrt(nv), rng.normal(size=(n, nv))
    solved = np.linalg.solve(half @ half.T + np.eye(nv), rows.T)
    return np.ascontiguousarray(rows @ solved), rows @ (3.0 * rng.normal(size=nv))


@pytest.mark.parametrize("kind", [FRICTIONLESS, INFINITE, COULOMB])
def test_without_restitution_contacts_that_push_stop_and_the_others_part(kind):
    """Signorini's conditions: no impulse pulls, no contact approaches, and where it still moves apart none acted."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        k = int(rng.integers(1, 4)) if kind == FRICTIONLESS else 1
        a, before = random_impact(rng, k)
        if k == 1:  # about a ball's: where tangential impulses lift a contact off, it may neither stick nor slide
            half = rng.normal(size=(3, 3))
            a, before = np.diag([1.0, 3.5, 3.5]) + 0.1 * (half + half.T), rng.normal(size=3) - [3.0, 0.0, 0.0]
        mu = rng.uniform(0.1, 1.0, k)
        after, r = impact(a, before, mu, kind, 0.0)
        assert after == pytest.approx(before + a @ r, abs=1e-8)
        assert r[::3].min() >= -1e-9 and after[::3].min() > -1e-6 and np.abs(after[::3] * r[::3]).max() < 1e-6
        slide, grip = after.reshape(-1, 3)[:, 1:], r.reshape(-1, 3)[:, 1:]
        for i in range(k):
            size, most = np.linalg.norm(slide[i]), mu[i] * r[3 * i]
            if kind == FRICTIONLESS:
                assert not grip[i].any()
            elif r[3 * i] > 1e-9 and k == 1:
                # Whoever sticks stops; whoever slides is braked by all the friction there is.
                assert size < 1e-6 or (kind == COULOMB and np.linalg.norm(grip[i]) == pytest.approx(most, rel=1e-3))


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("mu", "kind"), [(0.1, COULOMB), (2.0, COULOMB), (0.0, INFINITE), (0.7, FRICTIONLESS)])
def test_a_ball_that_meets_the_floor_obliquely_leaves_as_coulomb_says(mu, kind, e):
    """Of a solid sphere friction brakes the slide by μ·v_n, or until it rolls: 5/7 of the slide is left.

    What comes back is e² of the work of the compression, friction's share of it taken off (Stronge).
    """
    mass, normal, slide, s = 0.8, 3.0, 6.5, e
    a, way = np.diag([1.0, 3.5, 3.5]) / mass, np.array([12.0, -5.0]) / 13.0
    after, r = impact(a, np.array([-normal, *(slide * way)]), np.array([mu]), kind, e)
    grip = {FRICTIONLESS: 0.0, INFINITE: slide / 3.5, COULOMB: min(slide / 3.5, mu * normal)}[kind]
    if kind == COULOMB and grip < slide / 3.5 and e > 0.0:
        rest, work = slide - 3.5 * grip, 0.5 * normal**2
        roots = np.roots([work + 1.75 * (mu * normal) ** 2, -mu * normal * rest, -(e**2) * work])
        s = float(roots.max())
        grip += mu * normal * s
    near = 1e-6 if s == e else 5e-3  # how much comes back is found by trying
    assert r[0] == pytest.approx(mass * normal * (1.0 + s), rel=near)
    assert after[0] == pytest.approx(normal * s, rel=2.0 * near, abs=1e-6)
    assert r[1:] == pytest.approx(-mass * grip * way, rel=near, abs=1e-9)


@pytest.mark.parametrize(("speed", "friction"), [(1.0, "coulomb"), (6.0, "coulomb"), (2.0, "infinite"), (2.0, "none")])
def test_a_thrown_ball_leaves_the_floor_slower_and_spinning(speed, friction):
    e, ball = 0.6, PropSpec("sphere", radius=0.1, mass=1.0, at=(0.0, 0.0, 0.4), velocity=(speed, 0.5 * speed, -2.0))
    stage = StageLoop(Scene(props={"ball": ball}, collisions=Collisions(restitution=e, friction=friction)))
    while stage.impacts.count == 0:
        before = stage.data.qvel.copy()
        stage.advance(1)
    after, way = stage.data.qvel.copy(), before[:2] / np.linalg.norm(before[:2])
    mu = float(stage.data.contact.friction[0, 0]) if stage.data.ncon else 1.0
    slide, normal = np.linalg.norm(before[:2]), -before[2]
    most = {"none": 0.0, "infinite": np.inf, "coulomb": mu * (1.0 + e) * normal}[friction]
    lost = min(slide / 3.5, most)
    assert after[2] == pytest.approx(e * normal, rel=0.02)
    assert after[:2] == pytest.approx((slide - lost) * way, rel=0.02)
    spin = 2.5 * lost / 0.1  # r·J/I, about the axis that rolls the way it goes
    assert after[3:] == pytest.approx(spin * np.array([-way[1], way[0], 0.0]), rel=0.03, abs=0.15)
    given = 0.5 * (after[:3] @ after[:3] - before[:3] @ before[:3]) + 0.5 * 0.4 * 0.01 * after[3:] @ after[3:]
    assert stage.impacts.energy == pytest.approx(given, abs=0.12)


def test_what_lies_is_not_struck_again_at_every_step_and_two_balls_share_their_momentum():
    ball = PropSpec("sphere", radius=0.1, mass=1.0, at=(0.0, 0.0, 0.1))
    stage = StageLoop(Scene(props={"ball": ball}, collisions=Collisions(restitution=0.5)))
    stage.step(0.5)
    known = stage.impacts.count
    assert known <= 1
    stage.data.qvel[2] = -1.0  # it is pressed down where it lies: that is no new contact
    stage.advance(1)
    assert stage.impacts.count == known
    props = {
        name: PropSpec("sphere", radius=0.1, mass=mass, at=(x, 0.0, 2.0), velocity=(pace, 0.0, 0.0))
        for name, mass, x, pace in (("light", 1.0, -0.3, 3.0), ("heavy", 3.0, 0.0, 0.0))
    }
    stage = StageLoop(Scene(props=props, collisions=Collisions(restitution=1.0, friction="none")))
    while stage.impacts.count == 0 and stage.time < 0.5:
        stage.advance(1)
    light, heavy = (stage.data.qvel[stage.prop(name).dof] for name in ("light", "heavy"))
    assert [light, heavy] == pytest.approx([-1.5, 1.5], abs=0.01)  # elastic: 3·(1 − 3)/4 and 3·2/4


def test_each_contact_of_one_impact_has_a_restitution_of_its_own():
    """Two that know nothing of each other: each comes back as if alone. Together no energy is made."""
    a = np.diag([1.0, 2.0, 2.0, 0.5, 1.0, 1.0])
    for kind in (FRICTIONLESS, COULOMB):
        after, total = impact(a, [-2.0, 0, 0, -3.0, 0, 0], np.array([0.5, 0.5]), kind, np.array([0.9, 0.2]))
        if kind == FRICTIONLESS:
            assert after[[0, 3]] == pytest.approx([1.8, 0.6]) and total[[0, 3]] == pytest.approx([3.8, 7.2])
        work = 0.5 * np.array([4.0 / 1.0, 9.0 / 0.5])
        assert 0.5 * after[[0, 3]] ** 2 / [1.0, 0.5] @ np.ones(2) == pytest.approx(work @ [0.81, 0.04], rel=1e-3)
    rng = np.random.default_rng(11)
    for _ in range(60):
        k = int(rng.integers(1, 8))
        a, before = random_impact(rng, k)
        e = rng.random(k)
        for kind in (FRICTIONLESS, COULOMB):
            _, r = impact(a, before, np.full(k, 0.6), kind, e)
            assert r @ before + 0.5 * r @ a @ r < 1e-9
            assert r[::3].min() > -1e-12


def dropped(**spec):
    ball = PropSpec("sphere", radius=0.1, mass=0.5, at=(0.0, 0.0, 1.1), **spec)
    other = PropSpec("sphere", radius=0.1, mass=0.5, at=(2.0, 0.0, 1.1))
    mat = PropSpec("box", size=(1.0, 1.0, 0.2), at=(4.0, 0.0, 0.1), restitution=0.8)
    third = PropSpec("sphere", radius=0.1, mass=0.5, at=(4.0, 0.0, 1.3), **spec)
    props = {"ball": ball, "other": other, "mat": mat, "third": third}
    return StageLoop(Scene(props=props, collisions=Collisions(restitution=0.3), physics_hz=2000, control_hz=2000))


def test_things_bounce_as_they_say_and_the_others_as_the_scene_says():
    """e² of its height; of two that say something the mean of e²."""
    stage = dropped(restitution=0.6)
    heights = {name: [] for name in ("ball", "other", "third")}
    for _ in range(2000):
        stage.advance(1)
        for name, path in heights.items():
            path.append(stage.data.qpos[stage.prop(name).qpos + 2])
    ground = {"ball": 0.1, "other": 0.1, "third": 0.3}
    for name, squared in {"ball": 0.36, "other": 0.09, "third": 0.5 * (0.36 + 0.64)}.items():
        path = np.array(heights[name])
        low = int(np.argmin(path))
        assert path[low:].max() - ground[name] == pytest.approx(squared, rel=0.03), name


def test_a_restitution_that_nobody_would_heed_is_refused():
    ball = PropSpec("sphere", mass=0.5, at=(0.0, 0.0, 1.1), restitution=0.6)
    for collisions in (None, Collisions(impact=False)):
        with pytest.raises(StuntError, match="two_stage"):
            StageLoop(Scene(props={"ball": ball}, collisions=collisions))
    with pytest.raises(StuntError, match="restitution"):
        dropped(restitution=1.5)
