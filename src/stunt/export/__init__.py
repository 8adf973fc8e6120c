"""A take out into other tools: `stunt.export.export(take, "dance.glb")`; the suffix says which format.

>>> from stunt.export import export
>>> export("takes/ymca", "ymca.glb", fps=60)  # doctest: +SKIP
[PosixPath('ymca.glb')]
"""

from stunt.export.options import Options, Up, Video
from stunt.export.registry import FORMATS, Format
from stunt.export.write import export

__all__ = ["FORMATS", "Format", "Options", "Up", "Video", "export"]
