"""The picture of a walk from above."""

from PIL import Image

from papers.p2.figures import draw_from_above
from stunt.library.own_walks import own_walk_graph
from stunt.motion.graph.along import walk_along
from stunt.motion.graph.drawn_path import DrawnPath


def test_a_walk_is_drawn_from_above(tmp_path):
    walked = walk_along(own_walk_graph(), DrawnPath.through([(0, 0), (2, 0), (3, 2)]))
    with Image.open(draw_from_above(walked, tmp_path)) as picture:
        assert picture.width > 800
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
