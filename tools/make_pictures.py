"""The pictures of the documentation, from fresh runs: `python -m tools.make_pictures [WORD…]`; without words all.

Filmstrips of examples and the papers' figures. The pages of the studio are photographed by a browser:
`pytest tests/studio --pictures`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PIL import Image

from papers.p0.figures import FIGURES as P0
from papers.p1.figures import FIGURES as P1
from papers.p2 import figures as p2
from papers.p3.figures import FIGURES as P3
from papers.p4 import figures as p4
from papers.runs import shipped
from stunt.record.filmstrip import filmstrip
from stunt.script.performance import perform

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
STRIPS: Final = {
    "": ("ymca",),
    "p1": ("bow", "desk", "marionette", "soldier"),
    "p2": ("trip", "kick_partner", "goalkeeper", "duck", "boxing_match", "path_walk"),
    "p4": ("go_left", "wave", "nod_sag_shrug", "shove", "pushed_from_behind", "crouch", "lift"),
}
"""Which examples' filmstrips stand in which folder."""
_COLORS = 256


def strip(name: str, into: Path) -> list[Path]:
    """Perform an example and draw its filmstrip, from where its paper's figure looks at it."""
    return [filmstrip(perform(shipped(name)), into / f"{name}.png", side=p2.SIDES.get(name))]


def path_from_above(into: Path) -> list[Path]:
    """Draw the walk along a drawn path, from above."""
    return [p2.draw_path("there and back", into).rename(into / "path_walk_above.png")]


def drawings() -> dict[str, tuple[str, Callable[[Path], list[Path]]]]:
    """Return what can be drawn: by its name, its folder below `docs/images` and what draws it into one."""
    found = {name: (folder, partial(strip, name)) for folder, names in STRIPS.items() for name in names}
    found["path from above"] = ("p2", path_from_above)
    for folder, figures in (("p0", P0), ("p1", P1), ("p3", P3)):
        found |= {f"{folder} {name}": (folder, draw) for name, draw in figures.items()}
    return found | {"p4 figures": ("p4", p4.make)}


def keep(pictures: Sequence[Path], folder: Path) -> list[Path]:
    """Put pictures into the documentation, as small as they can be without anybody seeing it."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = []
    for picture in pictures:
        if picture.suffix == ".png":
            kept.append(folder / picture.name)
            Image.open(picture).convert("RGB").quantize(_COLORS).save(kept[-1], optimize=True)
    return kept


def main(words: Sequence[str] = ()) -> None:
    """Draw the pictures whose names contain one of some words, or all."""
    for name, (folder, draw) in drawings().items():
        if not words or any(word in name for word in words):
            with tempfile.TemporaryDirectory() as scratch:
                for path in keep(draw(Path(scratch)), IMAGES / folder):
                    sys.stdout.write(f"{path.relative_to(IMAGES.parent)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
