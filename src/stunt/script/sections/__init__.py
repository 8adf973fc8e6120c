"""Sections of a part, one way of moving each: how they are read, written and started.

Each joins `stunt.script.kinds.KINDS` when it is imported; whoever reads, writes or plays scripts imports this package.
"""

from stunt.script.sections import clips, supervisor, tension, trajectories

__all__ = ["clips", "supervisor", "tension", "trajectories"]
