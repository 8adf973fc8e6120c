"""Sites on any segment of any body, and what drives them: sensors that know where they are and how they are turned."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stunt
from stunt.errors import StuntError
from stunt.maths.rotations import from_rotation_vector, multiply, rotate, to_rotation_vector
from stunt.motion.sensors import read_sensors
from stunt.record.report import make_report

HZ = 60.0


def table(
    path: Path, sensors: dict[str, tuple[np.ndarray, np.ndarray | None]], lost: dict[str, range] | None = None
) -> str:
    """Write sensors (places (F, 3), turns (F, 4) or None) to a CSV file; return its name."""
    heads = ["time"]
    for name, (_, turns) in sensors.items():
        heads += [
            f"{name}.{axis}" for axis in ("x", "y", "z", *(("qw", "qx", "qy", "qz") if turns is not None else ()))
        ]
    count = len(next(iter(sensors.values()))[0])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        for k in range(count):
            row: list[object] = [k / HZ]
            for name, (places, turns) in sensors.items():
                gone = lost is not None and k in lost.get(name, ())
                values = [*places[k], *(turns[k] if turns is not None else ())]
                row += ["" if gone else value for value in values]
            writer.writerow(row)
    return str(path)


def worn(sites: dict[str, dict], body: str = "human39", root: str = "fixed") -> dict:
    return {"body": body, "root": root, "sites": sites}


@pytest.mark.parametrize("body", ["human39", "walk"])
def test_a_site_sits_where_it_was_put_on_any_segment(body: str) -> None:
    bare = stunt.Stage({"ada": stunt.Body(body)})
    segments = list(bare.character("ada").bodies)
    turn = tuple(from_rotation_vector(np.array([0.3, -0.2, 0.5])).tolist())
    sites = tuple(stunt.SegmentSite(f"on_{name}", name, (0.02, 0.03, -0.1), turn) for name in segments)
    stage = stunt.Stage({"ada": stunt.Body(body, sites=sites)})
    who, data = stage.character("ada"), stage.data
    for name in segments:
        site, part = who.sites[f"on_{name}"], who.bodies[name]
        frame = data.xmat[part].reshape(3, 3)
        assert data.site_xpos[site] == pytest.approx(data.xpos[part] + frame @ [0.02, 0.03, -0.1])
        expected = np.zeros(9)
        mujoco.mju_quat2Mat(expected, multiply(data.xquat[part], turn))
        assert data.site_xmat[site] == pytest.approx(expected)
    assert stage.model.body_mass == pytest.approx(bare.model.body_mass)


def test_a_script_says_the_same_and_what_is_wrong_with_it() -> None:
    def script(**site: object) -> stunt.Script:
        data = {"characters": {"ada": worn({"shin": {"on": "r_shank", **site}})}, "seconds": 0.1}
        return stunt.script_from_data(data)

    one = script(at=[0, 0, -0.2], turned={"rotvec": [0, 0, 90]})
    assert stunt.script_from_data(stunt.script_to_data(one)) == one
    assert one.scene.characters["ada"].sites[0].turned == pytest.approx([math.sqrt(0.5), 0, 0, math.sqrt(0.5)])
    for wrong, says in (
        ({"on": "r_shnak"}, "r_shank"),
        ({"turned": 3}, "quaternion"),
        ({"turned": [1, 1, 0, 0]}, "length 1"),
    ):
        with pytest.raises(StuntError, match=says):
            stunt.Performance(script(**wrong))
    with pytest.raises(StuntError, match="r_palm"):
        stunt.Stage({"ada": stunt.Body("human39", sites=(stunt.SegmentSite("r_palm", "thorax"),))})


def arm(seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray, stunt.Stage]:
    """Return where a sensor on the forearm is and how it is turned as the arm moves, and its stage."""
    turned = tuple(from_rotation_vector(np.array([0.2, 0.4, 0.0])).tolist())
    site = stunt.SegmentSite("imu", "r_forearm", (0.0, 0.03, -0.1), turned)
    stage = stunt.Stage({"ada": stunt.Body("human39", sites=(site,))})
    who, data = stage.character("ada"), stage.data
    times = np.arange(0.0, seconds, 1.0 / HZ)
    wave = 0.5 - 0.5 * np.cos(2.0 * np.pi * times / seconds)
    places, turns = np.zeros((len(times), 3)), np.zeros((len(times), 4))
    for k, share in enumerate(wave):
        data.qpos[who.joints["r_shoulder_flexion"].qpos] = 0.6 * share
        data.qpos[who.joints["r_elbow_flexion"].qpos] = 0.2 + 0.8 * share
        data.qpos[who.joints["r_shoulder_rotation"].qpos] = 0.4 * share
        mujoco.mj_kinematics(stage.model, data)
        places[k] = data.site_xpos[who.sites["imu"]]
        mujoco.mju_mat2Quat(turns[k], data.site_xmat[who.sites["imu"]])
    return places, turns, stage


def performed(
    file: str, *, drive: dict[str, str], sites: dict, seconds: float = 2.0, **more: object
) -> tuple[stunt.Take, dict]:
    held = ("lumbar_flexion", "lumbar_bend", "lumbar_rotation")
    part = {"joints": dict.fromkeys(held, 0), "settling": 0.1, "markers": {"file": file, "drive": drive, **more}}
    who = {**worn(sites), "start": {"r_elbow_flexion": "0.2 rad"}, "self_collision": False}
    script = {"characters": {"ada": who}, "seconds": seconds, "performance": {"ada": {"trajectories": part}}}
    take = stunt.perform(stunt.script_from_data(script))
    take = take if isinstance(take, stunt.Take) else take.take
    return take, make_report(take, wall_seconds=None)["characters"]["ada"]


def test_one_sensor_leads_a_forearm_in_place_and_turn(tmp_path: Path) -> None:
    places, turns, stage = arm()
    site = stage.scene.characters["ada"].sites[0]
    sites = {"imu": {"on": site.on, "at": list(site.at), "turned": list(site.turned)}}
    found = {}
    for name, known in (("both", turns), ("place", None)):
        file = table(tmp_path / f"{name}.csv", {"R": (places, known)}, lost={"R": range(40, 46)})
        take, report = performed(file, drive={"R": "imu"}, sites=sites)
        entry = next(path for path in report["trajectories"] if path.get("site") == "imu")
        who = stage.character("ada")
        rotation = who.joints["r_shoulder_rotation"]
        late = take.time > 0.5
        frames = np.minimum(np.round(take.time * HZ).astype(int), len(turns) - 1)
        wanted = 0.4 * (0.5 - 0.5 * np.cos(np.pi * frames / HZ))
        found[name] = entry, np.degrees(np.abs(take.qpos[:, rotation.qpos] - wanted)[late].max())
    (both, with_turn), (_, without) = found["both"], found["place"]
    print(f"rms {both['rms']:.2f} mm, {both['turn_rms_deg']:.2f}°")
    print(f"the arm's rotation is {with_turn:.1f}° off, {without:.1f}° without orientations")
    assert both["rms"] < 5.0 and both["turn_rms_deg"] < 1.5
    assert with_turn < 4.0 < without


def test_relative_sensors_turn_a_site_as_far_as_they_turn(tmp_path: Path) -> None:
    places, turns, _ = arm()
    strapped = from_rotation_vector(np.array([0.5, 0.0, 1.0]))  # another way round than the site, somewhere else
    file = table(tmp_path / "r.csv", {"R": (places + [1.0, 0.0, 0.2], multiply(turns, strapped))})
    site = {"imu": {"on": "r_forearm", "at": [0, 0.03, -0.1]}}
    _, report = performed(file, drive={"R": "imu"}, sites=site, relative=True)
    entry = next(path for path in report["trajectories"] if path.get("site") == "imu")
    assert entry["rms"] < 5.0 and entry["turn_rms_deg"] < 1.5


def test_sensors_that_are_solved_together_say_how_segments_are_turned(tmp_path: Path) -> None:
    places, turns, stage = arm()
    who, data = stage.character("ada"), stage.data
    still = {name: data.site_xpos[who.sites[name]].copy() for name in ("chest", "head_top")}
    sensors = {"R": (places, turns)} | {n: (np.tile(p, (len(places), 1)), None) for n, p in still.items()}
    site = {"imu": {"on": "r_forearm", "at": [0, 0.03, -0.1]}}
    drive = {"R": "imu", "chest": "chest", "head_top": "head_top"}
    off = {}
    for name, known in (("both", turns), ("place", None)):
        file = table(tmp_path / f"{name}.csv", sensors | {"R": (places, known)})
        take, _ = performed(file, drive=drive, sites=site)
        wanted = 0.2 * (1.0 - np.cos(np.pi * np.minimum(take.time, 2.0 - 1.0 / HZ)))
        joint = who.joints["r_shoulder_rotation"]
        off[name] = np.degrees(np.abs(take.qpos[:, joint.qpos] - wanted)[take.time > 0.3].mean())
    print(f"upper arm's rotation: {off['both']:.1f}° off, {off['place']:.1f}° without orientations")
    assert off["both"] < 0.5 * off["place"]  # how it is strapped on is found from the motion itself


def test_a_table_that_is_not_one_is_refused_in_one_sentence(tmp_path: Path) -> None:
    good = "time,R.x,R.y,R.z,R.qw,R.qx,R.qy,R.qz\n0,1,2,3,1,0,0,0\n0.01,1,2,3,1,0,0,0\n0.02,1,2,3,,,,\n"
    file = tmp_path / "s.csv"
    file.write_text(good)
    read = read_sensors(file)
    assert read.names == ("R",) and read.hz == pytest.approx(100.0)
    assert read.positions[0, 0].tolist() == [1, 2, 3] and np.isnan(read.positions[2]).all()
    for cell in ("0.02,1,2,", "0.02,,2,3", "0.02,1,,3"):  # of which a single number is missing
        file.write_text(good.replace("0.02,1,2,3,,,,", f"{cell},1,0,0,0"))
        assert np.isnan(read_sensors(file).positions[2]).all()
    for old, new, says in (
        ("time", "t", "first row"), ("R.qz", "R.w", "column 'R.w'"), (",R.z", ",R.zz", "R.zz"),
        ("0.01", "0.015", "evenly"), ("0.02,1,2,3,,,,", "0.02,1,2,3", "row 4"), ("0,1,2,3,1,0", "0,1,2,x,1,0", "'x'"),
        ("2,3,1,0,0,0\n0.01", "2,3,1,1,0,0\n0.01", "length"),
        ("R.x", "S.x", "S.x"), ("0,1,2,3", "0,1,2,1e308", "beyond 1e\\+06"),
    ):  # fmt: skip
        file.write_text(good.replace(old, new, 1))
        with pytest.raises(StuntError, match=says):
            read_sensors(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StuntError, match="table"):
        read_sensors(file)
    rng = np.random.default_rng(0)
    for _ in range(200):
        data = bytearray(good.encode())
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
        file.write_bytes(bytes(data))
        try:
            read_sensors(file)
        except StuntError:
            pass


def test_points_beside_a_sensor_turn_with_it() -> None:
    turn = from_rotation_vector(np.array([[0.0, 0.0, 0.5 * math.pi]]))
    assert rotate(turn, [0.1, 0.0, 0.0])[0] == pytest.approx([0.0, 0.1, 0.0])
    assert to_rotation_vector(turn)[0] == pytest.approx([0.0, 0.0, 0.5 * math.pi])
