"""What own feet take long to work out is kept on the disk by all that it depends on, and is the same from there."""

import dataclasses

import numpy as np
import pytest

import stunt
from stunt.drive.own import doctor, reference


@pytest.fixture
def made(monkeypatch, tmp_path):
    """How often references were made and rehearsals played; the user's cache is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    counts = {"references": 0, "rehearsals": 0}
    for module, name, what in ((reference, "make_reference", "references"), (doctor, "_rehearsed", "rehearsals")):
        monkeypatch.setattr(module, name, _counted(getattr(module, name), counts, what))
    return counts


def _counted(function, counts, what):
    def counting(*args, **options):
        counts[what] += 1
        return function(*args, **options)

    return counting


def told_of(clip, strength=1.5):
    scene = stunt.Scene({"ada": stunt.Body(clip, root="free", strength=strength)}, physics_hz=480, control_hz=120)
    stage = stunt.Stage(scene)
    ada = stage.actor("ada")
    ada.follow(clip, assist="own")
    motions = ada.body.motions
    motion = ada.body.motion
    return motions.reference_of(motion), motions.doubt_about(motion)


def leaves(value):
    for field in dataclasses.fields(value):
        found = getattr(value, field.name)
        yield from leaves(found) if dataclasses.is_dataclass(found) else (found,)


def test_what_was_worked_out_once_is_found_on_the_disk_bit_for_bit(made, tmp_path):
    clip = stunt.load_clip("idle").trimmed(0.0, 1.0)
    one, why = told_of(clip)
    first = dict(made)
    other, again = told_of(clip)
    assert why == again and made == first and first["references"] == 1 and first["rehearsals"] >= 1
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert type(a) is type(b) and np.array_equal(a, b)
        assert not isinstance(a, np.ndarray) or a.dtype == b.dtype


def test_another_strength_is_rehearsed_anew_and_a_broken_file_counts_as_missing(made, tmp_path):
    clip = stunt.load_clip("idle").trimmed(0.0, 0.5)
    told_of(clip)
    before = dict(made)
    told_of(clip, strength=1.0)
    assert made["rehearsals"] > before["rehearsals"] and made["references"] == before["references"]
    for path in tmp_path.rglob("*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    told_of(clip)
    assert made["references"] == before["references"] + 1
