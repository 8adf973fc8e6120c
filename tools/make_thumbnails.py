"""The library's pictures: one of each example, at its most telling moment. `python tools/make_thumbnails.py`."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from stunt.examples import example, example_names
from stunt.record.raycast.camera import Camera, points_of_performance
from stunt.record.raycast.render import Raycaster
from stunt.record.take import Take
from stunt.script.file import load_script
from stunt.script.performance import Performance
from stunt.studio.openings import PICTURES

SIZE = (352, 242)


def moment(take: Take) -> int:
    """Return the frame that says most: where the joints are farthest from where they were at the start."""
    early = take.qpos[: max(len(take.time) * 7 // 8, 1)]  # the end is mostly rest
    far = np.abs(early - take.qpos[0]).sum(axis=1)
    return int(np.argmax(far))


def draw(name: str, folder: Path = PICTURES) -> Path:
    """Perform an example and draw its picture."""
    take = Performance(load_script(example(name).path), foretell=False).run()
    model = take.model()
    frame = moment(take)
    data = mujoco.MjData(model)
    data.qpos[:] = take.qpos[frame]
    mujoco.mj_forward(model, data)
    points = points_of_performance(model, take.qpos[frame : frame + 1], take.cast.names)
    camera = Camera.frame_on(
        points, math.radians(28.0), math.radians(9.0), fov_y=math.radians(30.0), aspect=SIZE[0] / SIZE[1]
    )
    picture = Raycaster(model).render(data.geom_xpos, data.geom_xmat, camera, *SIZE, samples=3)
    path = folder / f"{name}.jpg"
    Image.fromarray(picture).save(path, quality=86, optimize=True)
    return path


def main(names: Sequence[str] = ()) -> None:
    """Draw the pictures of some examples, or of all."""
    for name in names or example_names():
        sys.stdout.write(f"{draw(name)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
