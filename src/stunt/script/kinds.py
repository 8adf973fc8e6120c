"""The sections of a part, in one list.

A section is one key under a character's part (`tension_poses`, `trajectories`, `clips`, …). Whoever brings a new one
writes one `SectionKind` and adds it here; whatever reads, writes, checks, plays, previews or shows parts finds it here.
"""

from __future__ import annotations

from typing import Final

from stunt.script.sections.clips import CLIPS
from stunt.script.sections.kind import SectionKind
from stunt.script.sections.supervisor import SUPERVISOR
from stunt.script.sections.tension import TENSION
from stunt.script.sections.trajectories import TRAJECTORIES

KINDS: Final[dict[str, SectionKind]] = {kind.key: kind for kind in (TENSION, TRAJECTORIES, CLIPS, SUPERVISOR)}
"""The sections this version performs, by key."""
