"""Video: the right number of pictures, drawn with and without OpenGL, labels and the beat clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stunt.errors import ExportError
from stunt.export import Video, export
from stunt.export.formats.video_shots import Overlay, ShownBeat, candidates, find_opengl, make_shot, pictures
from stunt.export.options import Options
from stunt.export.sampling import sample

SMALL = (96, 72)


def decoded(path: Path) -> list[np.ndarray]:
    av = pytest.importorskip("av")
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.fixture(scope="module")
def mp4(tmp_path_factory, ada_take) -> Path:
    pytest.importorskip("av")
    folder = tmp_path_factory.mktemp("video")
    return export(ada_take, folder / "a.mp4", fps=20, video=Video(SMALL, renderer="software"))[0]


def test_an_mp4_has_a_picture_for_every_frame(mp4, ada_take):
    frames = decoded(mp4)
    assert len(frames) == round(ada_take.seconds * 20) + 1
    assert frames[0].shape == (72, 96, 3)
    assert np.abs(frames[0].astype(int) - frames[-1].astype(int)).max() > 60  # somebody fell


def test_a_gif_keeps_time_in_hundredths_of_a_second(tmp_path, ada_take):
    file = export(ada_take, tmp_path / "a.gif", fps=30, end=0.4, video=Video(SMALL, renderer="software"))[0]
    with Image.open(file) as picture:
        assert picture.n_frames == 13
        total = 0
        for number in range(picture.n_frames):
            picture.seek(number)
            total += picture.info["duration"]
    assert total == pytest.approx(1000 * 13 / 30, abs=10)


def test_several_takes_stand_side_by_side_until_the_longest_ends(tmp_path, ada_take, walk_take):
    pytest.importorskip("av")
    both = [ada_take, walk_take]
    look = Video(SMALL, renderer="software", camera="follow")
    file = export(both, tmp_path / "two.mp4", fps=10, video=look)[0]
    frames = decoded(file)
    assert frames[0].shape == (72, 2 * 96 + 4, 3)
    assert len(frames) == int(walk_take.seconds * 10) + 1


def test_labels_must_fit_the_takes(tmp_path, ada_take):
    with pytest.raises(ExportError, match="2 takes need 2 labels"):
        export([ada_take, ada_take], tmp_path / "a.gif", video=Video(labels=["one"]))


def test_a_video_has_no_root_motion(tmp_path, ada_take):
    with pytest.raises(ExportError, match="--camera follow"):
        export(ada_take, tmp_path / "a.gif", in_place=True)


def test_odd_sizes_are_made_even(tmp_path, ada_take):
    pytest.importorskip("av")
    file = export(ada_take, tmp_path / "odd.mp4", fps=10, end=0.2, video=Video((95, 71), renderer="software"))[0]
    assert decoded(file)[0].shape == (72, 96, 3)


def test_an_interrupted_video_leaves_nothing(tmp_path, ada_take):
    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    for suffix in (".gif", ".mp4"):
        if suffix == ".mp4":
            pytest.importorskip("av")
        with pytest.raises(KeyboardInterrupt):
            export(ada_take, tmp_path / f"a{suffix}", video=Video(SMALL, renderer="software"), progress=stop)
    assert not list(tmp_path.iterdir())


def test_the_following_camera_keeps_the_character_in_the_middle(walk_take):
    motion = sample(walk_take, Options(), 30.0)
    shot = make_shot(walk_take, motion, Options(video=Video(camera="follow")))
    body = next(b for b in range(motion.model.nbody) if motion.model.body(b).name.startswith("double/"))
    gone = np.linalg.norm(motion.positions[-1, body, :2] - motion.positions[0, body, :2])
    moved = np.linalg.norm(np.subtract(shot.camera(len(motion.times) - 1).target, shot.camera(0).target))
    assert gone > 0.5 and abs(moved - gone) < 0.4


def test_the_clock_lights_up_at_a_beat_and_forgets_beats_outside():
    blank = np.full((240, 320, 3), 255, np.uint8)
    beats = (ShownBeat(0.5, "up", 0.1), ShownBeat(9.0, "far", 0.1))
    overlay = Overlay((320, 240), "label", beats, (0.0, 1.0), True)
    before, at, late = (np.asarray(overlay.draw(blank, time)).astype(int) for time in (0.45, 0.5, 0.95))
    blue = [(picture[..., 2] - picture[..., 0] > 100).sum() for picture in (before, at, late)]
    assert blue[0] == 0 and blue[1] > blue[2] > 0


def test_opengl_draws_the_same_scene_where_there_is_one(ada_take):
    if find_opengl() is None:
        pytest.skip(f"no OpenGL here: tried {', '.join(candidates()) or 'nothing'}")
    motion = sample(ada_take, Options(end=0.0), 30.0)
    shapes = []
    for renderer in ("software", "opengl"):
        options = Options(video=Video((160, 120), renderer=renderer))
        picture = next(iter(pictures(make_shot(ada_take, motion, options), 1, options)))
        trousers = (np.abs(picture.astype(int) - picture.astype(int).mean(axis=2, keepdims=True)) < 25).all(axis=2)
        dark = picture.astype(int).sum(axis=2) < 260
        shapes.append(np.argwhere(trousers & dark).mean(axis=0))
    print(f"middle of the trousers, software {shapes[0]}, OpenGL {shapes[1]}")
    assert np.abs(shapes[0] - shapes[1]).max() < 12.0


def test_without_opengl_asking_for_it_names_the_remedy(tmp_path, ada_take, monkeypatch):
    monkeypatch.setattr("stunt.export.formats.video_shots.find_opengl", lambda: None)
    with pytest.raises(ExportError, match="--renderer software"):
        export(ada_take, tmp_path / "a.gif", video=Video(renderer="opengl"))
    assert not list(tmp_path.iterdir())
    assert export(ada_take, tmp_path / "a.gif", end=0.1, video=Video(SMALL))  # and by itself it takes the other
