"""Who has each joint of a body: two at once are refused, hand-overs are noted.

Ways of moving that share a body hand joints to each other, and the take's events say which, when, from whom and to
whom. What a body follows as a whole gives the joints it was told to have to nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from stunt.errors import NOWHERE, Place, StuntError

if TYPE_CHECKING:
    from stunt.stage.loop import StageLoop

HAND_OVER: Final = frozenset({"beats", "tension_poses"})
"""Ways of moving that hand joints to each other: whoever spoke last has one, and the take's events say so."""
CLIPS: Final = "clips"
"""What moves the body as a whole: clips it follows, or a pool of controllers."""


def check_owners(name: str, claims: Mapping[str, Mapping[str, Place]]) -> None:
    """See that every joint has one owner.

    Args:
        name: Whose joints.
        claims: By way of moving, the joints it has and where that is said.

    Raises:
        StuntError: Two have the same joint, and cannot hand it to each other; the message names both places.
    """
    for (one, ours), (other, theirs) in combinations(claims.items(), 2):
        both = [joint for joint in ours if joint in theirs]
        if not both or {one, other} <= HAND_OVER:
            continue
        places = ((one, str(ours[both[0]])), (other, str(theirs[both[0]])))
        where = " and ".join(f"`{way}`" + (f" ({place})" if place else "") for way, place in places)
        more = f" and {len(both) - 1} other joints" if len(both) > 1 else ""
        raise StuntError(
            f"'{both[0]}'{more} of '{name}' cannot be moved by two at once: {where}. Give one of them `joints:` "
            "without it, or leave it out of the other.", ours[both[0]],
        )  # fmt: skip


class Owners:
    """Who has each joint of one character.

    Attributes:
        name: Whose joints.
        log: Hand-overs, as events of a take.
        followed: The joints that what it follows has, where it leaves others to others; else none.
    """

    def __init__(self, stage: StageLoop, name: str) -> None:
        """Look after a character's joints, which nobody has yet."""
        self._stage, self.name = stage, name
        self.log: list[dict[str, Any]] = []
        self.followed: frozenset[str] = frozenset()
        self._ways: dict[str, str] = {}

    def check(self, joints: Iterable[str], place: Place = NOWHERE) -> None:
        """See that somebody may have joints.

        Raises:
            StuntError: What the body follows has one of them.
        """
        theirs = [name for name in joints if name in self.followed]
        if theirs:
            raise StuntError(
                f"'{theirs[0]}' of '{self.name}' is moved by what it follows, which was told to have it (`joints`). "
                "Follow with fewer joints, or leave it out here.", place,
            )  # fmt: skip

    def take(self, way: str, joints: Iterable[str]) -> None:
        """Note that a way of moving has joints from now on; what another one had is handed over."""
        given: dict[str, list[str]] = {}
        for name in joints:
            before = self._ways.get(name, way)
            if before != way:
                given.setdefault(before, []).append(name)
            self._ways[name] = way
        for before, names in given.items():
            entry = {
                "time": self._stage.time, "kind": "hand_over", "character": self.name, "from": before, "to": way,
                "joints": names,
            }  # fmt: skip
            last = self.log[-1] if self.log else {}
            if {**last, "joints": names} == entry:  # each joint sets out on its own
                last["joints"] = [*last["joints"], *(name for name in names if name not in last["joints"])]
            else:
                self.log.append(entry)

    def share(self, joints: Collection[str] | None) -> None:
        """Hear which joints have what the body follows from now on, beside others; None: all, or nobody follows."""
        self.followed = frozenset(joints or ())
        if joints is None:
            self._ways.clear()
        else:
            self.take(CLIPS, joints)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return [dict(entry) for entry in self.log], self.followed, dict(self._ways)

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        log, self.followed, ways = state
        self.log[:], self._ways = [dict(entry) for entry in log], dict(ways)
