"""What a script says is what the frozen values hold; and back."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stunt.drive.beats.spec import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec, resolve_beats
from stunt.errors import ScriptFileError, UnknownNameError
from stunt.maths import rotations
from stunt.motion.pose import Pose
from stunt.script.file import load_script, save_script, script_from_data, script_to_data
from stunt.stage.event_specs import Attach, Drag, Push, Release, Throw
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

DOCS = Path(__file__).parents[2] / "docs" / "script.md"
POSES = {"rest": {"elbow": 10}, "wave": {"like": "rest", "shoulder": 120}}


def annotated() -> str:
    match = re.search(r"<!-- annotated script.*?```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    return match[1]


def simple(**more) -> dict:
    data = {
        "characters": {"ada": "human39"},
        "poses": POSES,
        "performance": {"ada": {"beats": [{"pose": "wave", "at": 1}]}},
    }
    return data | more


def loaded(tmp_path, text: str) -> Script:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return load_script(path)


def test_the_annotated_script_of_the_documentation_loads(tmp_path):
    script = loaded(tmp_path, annotated())
    assert script.title == "Catch and wave"
    assert [type(event) for event in script.scene.events] == [Push, Throw, Attach, Release, Drag, Push]
    assert script.warnings == ()


def test_a_reserved_section_is_kept_with_a_warning_of_its_place(tmp_path):
    text = annotated().replace("    tension: 0.4 ", "    tension: {arms: 0.4} ")
    script = loaded(tmp_path, text)
    (warning,) = script.warnings
    line = next(i for i, row in enumerate(text.split("\n"), start=1) if row.strip().startswith("tension: {arms"))
    assert f"script.yaml:{line} (performance.ada.tension): reserved: not performed by this version." in warning
    assert script.parts["ada"].reserved == {"tension": {"arms": 0.4}}


def test_the_annotated_script_shows_every_way_of_moving(tmp_path):
    parts = loaded(tmp_path, annotated()).parts
    shown = {key for part in parts.values() for key in part.sections}
    assert shown == {"tension_poses", "trajectories", "clips", "supervisor"}


def test_the_annotated_script_survives_being_saved(tmp_path):
    script = loaded(tmp_path, annotated())
    save_script(script, tmp_path / "again.yaml")
    assert load_script(tmp_path / "again.yaml") == script
    assert script_from_data(script_to_data(script)) == script


def test_the_python_example_of_the_documentation_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hello.yaml").write_text(annotated(), encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code[1], names)
    assert load_script("again.yaml") == names["same"]


def test_the_unknown_pose_shown_in_the_documentation_is_reported_that_way():
    with pytest.raises(UnknownNameError, match="unknown pose 'wvae'. Did you mean 'wave'\\? Available: rest, wave\\.$"):
        script_from_data(simple(performance={"ada": {"beats": [{"pose": "wvae", "at": 1}]}}))


def test_yaml_and_python_say_the_same(tmp_path):
    text = "characters: {ada: human39}\nposes: {rest: {elbow: 10}, wave: {like: rest, shoulder: 120}}\n"
    text += "performance: {ada: {beats: [{pose: wave, at: 1}]}}\n"
    assert loaded(tmp_path, text) == script_from_data(simple())


def test_numpy_numbers_and_arrays_are_plain_data_too():
    data = simple(seed=np.int64(3), gravity=np.array([0, 0, -1.6]), seconds=np.float32(2))
    assert script_from_data(data) == script_from_data(simple(seed=3, gravity=[0, 0, -1.6], seconds=2))


def test_what_is_left_out_is_what_the_dataclasses_assume():
    script = script_from_data(simple())
    assert script.scene == Scene(characters={"ada": CharacterSpec("human39")})
    assert replace(script.parts["ada"], beats=()) == Part()


def test_a_key_left_empty_is_as_if_it_were_not_there(tmp_path):
    text = "title:\nseed:\nseconds: 1\ncharacters:\n  ada:\n    body: human39\n    mass:\nposes:\nprops:\nevents:\n"
    assert loaded(tmp_path, text) == Script(Scene(characters={"ada": CharacterSpec("human39")}), seconds=1.0)


def test_a_pose_that_is_like_another_has_its_joints_and_keeps_their_lines(tmp_path):
    text = "poses:\n  wave: {like: rest, b: 2}\n  rest:\n    a: 1\n    b: 1\ncharacters: {ada: x}\nseconds: 1\n"
    wave = loaded(tmp_path, text).poses["wave"]
    assert wave.angles == {"a": math.radians(1), "b": math.radians(2)}
    assert {joint: place.line for joint, place in wave.places.items()} == {"a": 4, "b": 2}
    assert wave.places["a"].path == ("poses", "rest", "a")


def test_poses_may_be_called_like_numbers_and_words_of_yaml(tmp_path):
    text = "characters: {ada: x}\nposes: {1: {j: 1}, Y: {j: 2}, true: {j: 3}, 010: {j: 4}}\nperformance:\n  ada:\n"
    text += "    beats: [{pose: 1, after: 1}, {pose: Y, after: 1}, {pose: true, after: 1}, {pose: 010, after: 1}]\n"
    script = loaded(tmp_path, text)
    assert [beat.pose.name for beat in script.parts["ada"].beats] == ["1", "Y", "true", "010"]
    save_script(script, tmp_path / "again.yaml")
    assert load_script(tmp_path / "again.yaml") == script


def test_a_beat_can_change_the_pose_it_names():
    beats = [{"pose": "wave", "angles": {"elbow": 90}, "velocities": {"shoulder": 10}, "at": 1}]
    pose = script_from_data(simple(performance={"ada": {"beats": beats}})).parts["ada"].beats[0].pose
    assert pose.angles == {"elbow": math.radians(90), "shoulder": math.radians(120)}
    assert pose.velocities == {"shoulder": math.radians(10)}
    assert pose.name == "wave"


def test_units_can_be_written_behind_a_number():
    angles = {"a": "90 deg", "b": "1.5 rad", "c": "0.25 m", "d": "45°"}
    velocities = {"a": "-90 deg/s", "b": "2 rad/s", "c": "1 m/s"}
    pose = script_from_data(simple(poses=POSES | {"x": {"angles": angles, "velocities": velocities}})).poses["x"]
    assert pose.angles == {"a": math.pi / 2, "b": 1.5, "c": 0.25, "d": math.pi / 4}
    assert pose.velocities == {"a": -math.pi / 2, "b": 2.0, "c": 1.0}
    assert pose.units == {"a": "deg", "b": "rad", "c": "m", "d": "deg"}


def test_a_ball_joint_takes_a_quaternion_or_a_rotation_vector():
    poses = POSES | {"q": {"ball": [0.707, 0, 0.707, 0]}, "r": {"ball": {"rotvec": [0, 90, 0]}}}
    script = script_from_data(simple(poses=poses))
    half = math.sqrt(0.5)
    for name in "qr":
        assert np.allclose(script.poses[name].angles["ball"], [half, 0, half, 0], atol=1e-15)


@given(st.lists(st.floats(-180, 180), min_size=3, max_size=3))
def test_a_rotation_vector_in_degrees_is_the_rotation_it_describes(vector):
    script = script_from_data(simple(poses=POSES | {"r": {"ball": {"rotvec": vector}}}))
    expected = rotations.from_rotation_vector(np.radians(vector))
    assert np.allclose(script.poses["r"].angles["ball"], expected, atol=1e-12)


def test_one_rate_sets_both_and_physics_alone_takes_control_with_it():
    assert [(s.physics_hz, s.control_hz) for s in (script_from_data(simple(rate=120)).scene,)] == [(120, 120)]
    assert script_from_data(simple(physics_hz=240)).scene.control_hz == 240
    assert script_from_data(simple(control_hz=120)).scene.physics_hz == 480


def test_yaml_anchors_and_merge_keys_work(tmp_path):
    text = "characters:\n  ada: &base {body: human39, mass: 62}\n  ben: {<<: *base, mass: 80}\nseconds: 1\n"
    characters = loaded(tmp_path, text).scene.characters
    assert characters == {"ada": CharacterSpec("human39", mass=62), "ben": CharacterSpec("human39", mass=80)}


def test_a_body_in_a_file_is_looked_for_beside_the_script(tmp_path):
    script = loaded(tmp_path, "characters: {bot: robots/arm.xml}\nseconds: 1\n")
    assert script.scene.characters["bot"].body == str(tmp_path / "robots" / "arm.xml")


def test_a_relative_body_is_the_same_file_after_saving_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "s.yaml").write_text("characters: {bot: arm.xml}\nseconds: 1\n")
    script = load_script("a/s.yaml")
    save_script(script, "b/s.yaml")
    assert load_script("b/s.yaml").scene.characters["bot"].body == "a/arm.xml"


def test_a_save_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "none" / "x.yaml"):
        with pytest.raises(ScriptFileError, match="cannot be written"):
            save_script(script_from_data(simple()), path)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_beats_after_the_end_and_releases_of_nothing_are_warned_of():
    props = {"ball": {"shape": "sphere", "mass": 1}}
    script = script_from_data(simple(seconds=0.5, props=props, events=[{"release": "ball", "at": 0.1}]))
    assert len(script.warnings) == 2
    assert "ends at 0.5 s" in script.warnings[0] and "nobody takes it before" in script.warnings[1]


# Round trips of random scripts, most of them in radians that no number of degrees gives.
finite = st.floats(-100, 100)
positive = st.floats(1e-3, 100)
vectors = st.tuples(finite, finite, finite)
names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
quaternions = vectors.map(lambda v: tuple(rotations.from_rotation_vector(v).tolist()))


@st.composite
def poses(draw, name):
    angles = draw(st.dictionaries(names, finite | quaternions, min_size=1, max_size=4))
    moving = draw(st.lists(st.sampled_from(sorted(angles)), unique=True))
    rates = {joint: draw(vectors if isinstance(angles[joint], tuple) else finite) for joint in moving}
    return Pose(name, angles, rates)


@st.composite
def some_pose(draw, library, default):
    return library[draw(st.sampled_from(sorted(library)))] if library and draw(st.booleans()) else draw(poses(default))


@st.composite
def machines(draw, library, props):
    keys = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    target = st.sampled_from(keys)
    exits = st.one_of(
        st.builds(Exit, target, after=positive),
        st.builds(Exit, target, contact=names, with_prop=st.sampled_from([None, *props])),
        st.builds(Exit, target, joint=names, above=finite),
        st.builds(Exit, target, joint=names, below=finite),
    )
    states = {
        key: StateSpec(draw(some_pose(library, key)), draw(positive), tuple(draw(st.lists(exits, max_size=3))))
        for key in keys
    }
    return MachineSpec(draw(target), states)


@st.composite
def parts(draw, library, props):
    times, beats = 0.0, []
    for i in range(draw(st.integers(1, 4))):
        gap = draw(st.floats(0.01, 5))
        times += gap
        when = {"at": times} if draw(st.booleans()) else {"after": gap}
        beats.append(BeatSpec(draw(some_pose(library, f"beat {i + 1}")), **when, hold=draw(st.none() | positive)))
    return Part(
        beats=tuple(beats),
        cycle=draw(st.integers(1, 3)),
        machine=draw(st.none() | machines(library, props)),
        coupling=draw(st.sampled_from(["local", "composite", "compensated", "full"])),
        arrival=draw(st.sampled_from(["critical", "minimum_effort"])),
        tension=draw(positive),
        joints=draw(st.none() | st.lists(names, min_size=1, max_size=3, unique=True).map(tuple)),
        gravity_compensation=draw(st.booleans()),
    )


@st.composite
def props(draw):
    body = {
        "at": draw(vectors),
        "facing": draw(finite),
        "friction": draw(positive),
        "active": draw(st.none() | st.booleans()),
    }
    shape = draw(st.sampled_from(["sphere", "box", "plane", "stairs", "heightfield"]))
    sizes = draw(st.tuples(positive, positive, positive))
    if shape == "sphere":
        return PropSpec(
            "sphere", radius=draw(positive), mass=draw(positive), spin=draw(vectors), velocity=draw(vectors), **body
        )
    if shape == "heightfield":
        return PropSpec(shape, heights=((0.0, draw(st.floats(0, 1))), (1.0, 0.5)), size=sizes, **body)
    return PropSpec(shape, **body, **({} if shape == "plane" else {"size": sizes}))


@st.composite
def scripts(draw):
    library = {name: draw(poses(name)) for name in draw(st.lists(names, max_size=3, unique=True))}
    start = st.none() | (st.sampled_from(sorted(library)) if library else st.none())
    start |= st.dictionaries(names, finite | quaternions, min_size=1, max_size=2)
    people = st.builds(
        CharacterSpec,
        names,
        at=vectors,
        facing=finite,
        root=st.sampled_from(["fixed", "free"]),
        mass=st.none() | positive,
        strength=positive,
        self_collision=st.booleans(),
        start=start,
    )
    characters = draw(st.dictionaries(names, people, min_size=1, max_size=2))
    things = draw(st.dictionaries(names.filter(lambda n: n not in characters), props(), max_size=3))
    scene = Scene(
        characters=characters,
        props=things,
        events=draw(events(sorted(characters), sorted(k for k, v in things.items() if v.movable))),
        physics_hz=480.0,
        control_hz=draw(st.sampled_from([480.0, 240.0, 160.0])),
        gravity=draw(vectors),
        ground=draw(st.booleans()),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
    acts = {name: draw(parts(library, sorted(things))) for name in characters}
    return Script(scene, acts, draw(st.floats(0.1, 100)), draw(texts), library)


@st.composite
def events(draw, people, things):
    body = f"{draw(st.sampled_from(people))}/r_hand"
    found = [
        Push(body, draw(positive), impulse=draw(vectors)),
        Push(body, 1.0, force=draw(vectors), point=draw(vectors)),
    ]
    for prop in things:
        found += [Throw(prop, body, 101.0, draw(positive), lead=draw(vectors)), Release(prop, draw(positive))]
        found += [Attach(prop, body, 1.0, True, 2.0)]
    return tuple(draw(st.lists(st.sampled_from(found), max_size=4)))


@settings(max_examples=30, deadline=None)
@given(scripts())
def test_any_script_comes_back_equal_from_plain_data_and_from_a_file(tmp_path_factory, script):
    assert script_from_data(script_to_data(script)) == script
    path = tmp_path_factory.mktemp("scripts") / "s.yaml"
    save_script(script, path)
    assert load_script(path) == script


@given(st.floats(-1000, 1000))
def test_degrees_written_in_a_script_are_written_back_as_the_same_number(degrees):
    data = script_to_data(script_from_data(simple(poses=POSES | {"x": {"j": degrees}})))
    written = data["poses"]["x"]["j"]
    assert isinstance(written, int | float)
    assert math.radians(written) == math.radians(degrees)


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.integers(1, 4),
)
def test_beats_fall_where_their_gaps_add_up_to_and_cycles_follow_each_other(gaps, absolute, cycle):
    times = np.cumsum(gaps)
    when = [{"at": t} if a else {"after": g} for t, g, a in zip(times, gaps, absolute, strict=False)]
    part = Part(tuple(BeatSpec(Pose("p", {}), **w) for w in when), cycle=cycle, tension=0.3)
    resolved = resolve_beats(part)
    expected = np.concatenate([k * times[-1] + times for k in range(cycle)])
    assert np.allclose([beat.time for beat in resolved], expected, atol=1e-12)
    assert [beat.index for beat in resolved] == list(range(cycle * len(gaps)))
    assert {beat.hold for beat in resolved} == {0.3}
