import numpy as np

from papers.p1 import collisions, following, forward
from papers.p1 import figures as p1
from stunt.motion.trajectory import Trajectory


def test_all_figures_are_drawn_in_order(monkeypatch, tmp_path):
    monkeypatch.setattr(p1, "FIGURES", {name: lambda out, name=name: [out / f"{name}.png"] for name in ("a", "b")})
    shares = []
    paths = p1.make(tmp_path / "new", shares.append)
    assert [path.name for path in paths] == ["a.png", "b.png"] and shares == [0.5, 1.0]


def test_a_followed_joint_ends_where_its_trajectory_does():
    path = Trajectory.through([0.0, 0.1], [0.0, 0.2], "step")
    time, angle, model = following.follow("r_elbow_flexion", path, 0.1, 0.6, arm=True)
    assert time[-1] > 0.59 and np.allclose([angle[-1], model[-1]], np.degrees(0.2), atol=0.05)


def test_a_fall_loses_energy():
    fall = collisions.fall(None, 60.0)
    assert fall.energy[-1] < 0.5 * fall.energy[0] and fall.depth.max() > 0.0


def test_fingers_add_three_joints_each():
    assert forward.fingered("human47", 4).nv == forward.fingered("human47", 0).nv + 12
