"""The picture of a walk from above."""

from PIL import Image

from stunt.figures.from_above import draw_from_above
from stunt.motion.graph.along import walk_along
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.own import own_walk_graph


def test_a_walk_is_drawn_from_above(tmp_path):
    walked = walk_along(own_walk_graph(), DrawnPath.through([(0, 0), (2, 0), (3, 2)]))
    with Image.open(draw_from_above(walked, tmp_path)) as picture:
        assert picture.width > 800
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
