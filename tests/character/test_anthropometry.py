from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.character.anthropometry import PAIRED, TABLES, Inertia, ellipsoid, mass_share, together, without
from stunt.character.bodies import make_body
from stunt.character.skeleton import Person, landmarks, skeleton

SEXES = ("male", "female")
SPLIT = {
    "lower_trunk": ("pelvis", "waist"),
    "middle_trunk": ("lumbar",),
    "upper_trunk": ("thorax", "l_clavicle", "r_clavicle"),
    "head": ("neck", "head"),
}


@pytest.mark.parametrize("sex", SEXES)
def test_mass_shares_of_all_sixteen_segments_add_up_to_one(sex):
    table = TABLES[sex]
    total = sum(mass_share(table, name) * (2 if name in PAIRED else 1) for name in table.segments)
    assert total == pytest.approx(1.0, abs=1e-12)
    printed = sum(row.mass * (2 if name in PAIRED else 1) for name, row in table.segments.items())
    assert printed == pytest.approx(100.0, abs=0.011)


@pytest.mark.parametrize("sex", SEXES)
def test_the_three_parts_of_the_trunk_are_as_long_and_heavy_as_the_table_says_of_the_whole(sex):
    rows = [TABLES[sex].segments[name] for name in ("upper_trunk", "middle_trunk", "lower_trunk")]
    trunk_mass, trunk_length = {"male": (43.46, 603.3), "female": (42.57, 614.8)}[sex]
    assert sum(row.mass for row in rows) == pytest.approx(trunk_mass)
    assert sum(row.length for row in rows) == pytest.approx(trunk_length)


@pytest.mark.parametrize("sex", SEXES)
def test_the_parts_of_the_trunk_have_the_whole_trunks_centre(sex):
    table = TABLES[sex]
    whole_center = {"male": 51.38, "female": 49.64}[sex]
    top = moment = mass = 0.0
    for name in ("upper_trunk", "middle_trunk", "lower_trunk"):
        row = table.segments[name]
        moment += row.mass * (top + row.center / 100 * row.length)
        mass += row.mass
        top += row.length
    assert 100 * moment / mass / top == pytest.approx(whole_center, abs=0.5)


@pytest.mark.parametrize("sex", SEXES)
def test_bodies_have_the_tables_masses(sex):
    table = TABLES[sex]
    model = make_body("human47", sex=sex).compile()
    for segment in table.segments:
        sides = ("l_", "r_") if segment in PAIRED else ("",)
        for side in sides:
            bones = [f"{side}{segment}"] if side else SPLIT[segment]
            mass = sum(model.body(bone).mass[0] for bone in bones)
            assert mass == pytest.approx(table.mass * mass_share(table, segment), rel=1e-12)


@pytest.mark.parametrize("sex", SEXES)
def test_pieces_of_a_segment_joined_again_have_its_radii_of_gyration(sex):
    table = TABLES[sex]
    bones = {bone.name: bone for bone in skeleton(Person(sex, table.height, table.mass))}
    for segment, names in SPLIT.items():
        joined = together(bones[name].inertia.moved(bones[name].origin) for name in names)
        row = table.segments[segment]
        radii = np.sqrt(np.diag(joined.tensor) / joined.mass)
        expected = np.array([row.sagittal, row.transverse, row.longitudinal]) / 100 * row.length / 1000
        np.testing.assert_allclose(radii, expected, rtol=1e-12)


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize(("height", "mass"), [(None, None), (1.2, 25.0), (2.3, 140.0), (1.6, 120.0), (1.9, 45.0)])
def test_every_inertia_is_one_a_solid_body_can_have(sex, height, mass):
    model = make_body("human47", sex=sex, height=height, mass=mass).compile()
    moments = np.sort(model.body_inertia[1:], axis=1)
    assert np.all(moments[:, 0] > 0)
    assert np.all(moments[:, 0] + moments[:, 1] >= moments[:, 2] * (1 - 1e-9))


@pytest.mark.parametrize("sex", SEXES)
def test_segments_stacked_up_reach_the_standing_height(sex):
    person = Person(sex, 1.7, 65.0)
    marks = landmarks(person)
    assert marks.vertex[2] == 1.7
    assert np.linalg.norm(marks.hip - marks.knee) == pytest.approx(person.length("thigh"))
    assert np.linalg.norm(marks.knee - marks.ankle) == pytest.approx(person.length("shank"))
    assert marks.hip[2] < marks.sacrum[2] < marks.navel[2] < marks.xiphion[2] < marks.cervicale[2] < marks.head[2]


def test_cutting_a_piece_off_and_joining_it_again_changes_nothing():
    whole = ellipsoid(5.0, (0.1, 0.0, 0.3), (0.2, 0.3, 0.4))
    piece = ellipsoid(1.0, (0.0, 0.1, 0.2), (0.05, 0.1, 0.1))
    again = together([without(whole, piece), piece])
    assert again.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(again.center, whole.center, atol=1e-14)
    np.testing.assert_allclose(again.tensor, whole.tensor, atol=1e-14)


def test_an_ellipsoid_has_the_inertia_mujoco_gives_it():
    mine = ellipsoid(2.0, (0, 0, 0), (0.1, 0.2, 0.3))
    xml = '<mujoco><worldbody><body><geom type="ellipsoid" size=".1 .2 .3" mass="2"/></body></worldbody></mujoco>'
    theirs = mujoco.MjModel.from_xml_string(xml)
    np.testing.assert_allclose(np.sort(np.diag(mine.tensor)), np.sort(theirs.body_inertia[1]), rtol=1e-9)


def test_the_parallel_axis_theorem_holds_for_a_point_mass():
    point = Inertia(2.0, np.array([3.0, 0.0, 0.0]), np.zeros((3, 3)))
    np.testing.assert_allclose(point.about(np.zeros(3)), np.diag([0.0, 18.0, 18.0]))
