"""Marker files as a capture room gives them: sites of a moving body, sampled, noisy, with gaps, beside the skin."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

import stunt
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.fit import fit_motion

TEN = ("chest", "head_top", "l_elbow", "r_elbow", "l_palm", "r_palm", "l_heel", "r_heel", "l_toe", "r_toe")
"""Where the markers are."""
HZ = 100.0


def truth(clip, *, height=None, hz=HZ, sites=TEN, skin=0.0, seed=0):
    """Return where markers of a person who moves as a clip are (F, m, 3) [m], the poses (F, nq), and the stage.

    `skin`: every marker sits so far beside its site [m], whichever way, and moves with its segment.
    """
    stage = stunt.Stage(stunt.Scene({"ada": stunt.CharacterSpec("human39", root="free", height=height)}))
    person, model, data = stage.character("ada"), stage.model, stage.data
    motion = motion_of_clip(clip if isinstance(clip, stunt.Clip) else stunt.load_clip(clip), person)
    motion = fit_motion(model, person, motion).motion  # a person stands on the soles
    times = np.arange(0.0, motion.duration, 1.0 / hz)
    frames = np.arange(len(motion.qpos)) / motion.fps
    turns = motion.qpos[:, 3:7].copy()
    turns[1:] *= np.cumprod(np.sign((turns[1:] * turns[:-1]).sum(axis=1)))[:, None]
    motion = replace(motion, qpos=np.concatenate([motion.qpos[:, :3], turns, motion.qpos[:, 7:]], axis=1))
    poses = np.stack([np.interp(times, frames, column) for column in motion.qpos.T], axis=1)
    way = np.random.default_rng(seed).normal(size=(len(sites), 3))
    way *= skin / np.linalg.norm(way, axis=1, keepdims=True)
    points, first = np.zeros((len(times), len(sites), 3)), person.root.qpos
    for k, pose in enumerate(poses):
        data.qpos[first : first + len(pose)] = pose
        mujoco.mj_kinematics(model, data)
        for n, name in enumerate(sites):
            site = person.sites[name]
            points[k, n] = data.site_xpos[site] + data.site_xmat[site].reshape(3, 3) @ way[n]
    return points, poses, stage


def moving_person(height=None, skin=0.0, seconds=1.2):
    """Return where markers of a person are who stands, bows a little and lifts an arm (F, m, 3) [m], and the poses."""
    stage = stunt.Stage(stunt.Scene({"ada": stunt.CharacterSpec("human39", root="free", height=height)}))
    who, model, data = stage.character("ada"), stage.model, stage.data
    start, rng = data.qpos.copy(), np.random.default_rng(3)
    way = rng.normal(size=(len(TEN), 3))
    way *= skin / np.linalg.norm(way, axis=1, keepdims=True)
    times = np.arange(0.0, seconds, 1.0 / HZ)
    wave = 0.5 - 0.5 * np.cos(2.0 * np.pi * times / seconds)
    poses, points = np.tile(start, (len(times), 1)), np.zeros((len(times), len(TEN), 3))
    turned = {"lumbar_flexion": 0.2, "r_shoulder_flexion": 0.9, "r_elbow_flexion": 0.8, "neck_flexion": 0.2}
    for name, far in turned.items():
        poses[:, who.joints[name].qpos] += far * wave
    for k, pose in enumerate(poses):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        for n, name in enumerate(TEN):
            site = who.sites[name]
            points[k, n] = data.site_xpos[site] + data.site_xmat[site].reshape(3, 3) @ way[n]
    return points, poses


def spoiled(points, seed, *, noise=0.001, lost=0.05, longest=0.2, hz=HZ):
    """Return markers with noise [m] and gaps (NaN): a share of every marker's frames, each gap up to `longest` [s]."""
    rng, seen = np.random.default_rng(seed), points + 0.0
    seen += rng.normal(0.0, noise, points.shape)
    most = max(1, round(longest * hz))
    for n in range(points.shape[1]):
        while np.isnan(seen[:, n, 0]).mean() < lost:
            start, length = int(rng.integers(1, len(seen) - most - 1)), int(rng.integers(1, most + 1))
            if not np.isnan(seen[max(0, start - 1) : start + length + 1, n, 0]).any():
                seen[start : start + length, n] = np.nan
    return seen


def write_c3d(path, points, names, hz=HZ):
    """Write markers [m] as a C3D file in millimetres; lost ones have a residual of −1."""
    frames, count = points.shape[:2]

    def entry(number, name, content):
        return struct.pack("bb", len(name), number) + name + struct.pack("<h", 2 + len(content)) + content

    def texts(name, words):
        width = max(map(len, words))
        packed = b"".join(word.encode().ljust(width) for word in words)
        return entry(1, name, struct.pack("bBBB", -1, 2, width, len(words)) + packed + b"\0")

    parameters = entry(-1, b"POINT", b"\0") + texts(b"LABELS", names) + texts(b"UNITS", ["mm"])
    parameters += entry(1, b"RATE", struct.pack("<bBf", 4, 0, hz) + b"\0")
    parameters = bytes([1, 0x50, 2, 84]) + parameters + b"\0"
    head = bytes([2, 0x50]) + struct.pack("<HHHHHfHHf", count, 0, 1, frames, 0, -1.0, 4, 0, hz)
    lost = np.isnan(points[..., :1])
    rows = np.concatenate([np.where(lost, 0.0, 1000.0 * points), np.where(lost, -1.0, 0.0)], axis=2)
    Path(path).write_bytes(head.ljust(512, b"\0") + parameters.ljust(1024, b"\0") + rows.astype("<f4").tobytes())
    return Path(path)
