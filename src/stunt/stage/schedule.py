"""Who acts on the stage, in which order, and when each is due next.

Nobody is polled. A member of the crew is asked when it is due next at three moments only: when it joins, after it has
acted, and when it announces that its plans have changed. Whoever has no times of its own, but something that must
survive a save, is no crew: it is kept (`StageLoop.keep`).
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Final, Protocol

from stunt.errors import InvalidValueError, StuntError

NEVER: Final = 2**62
"""The tick of who is not due at all."""


class Saved(Protocol):
    """Whoever has something that must survive a save."""

    def save(self) -> Any:
        """Return a copy of what must survive a restore."""

    def restore(self, state: Any) -> None:
        """Put a saved state back."""


class Timed(Protocol):
    """Whoever acts at certain times."""

    def due(self) -> int | None:
        """Return the tick of the next call to `act`; None if there is none. Must be after the last one.

        Where that changes other than by `act`, `stage.crew.announce(self)` says so.
        """

    def act(self) -> None:
        """Do what is due now."""


class Crew(Timed, Saved, Protocol):
    """Whoever acts on the stage at certain times, and is saved with it."""


class _Entry:
    """A member and the tick at which it is due."""

    __slots__ = ("due", "member")

    def __init__(self, member: Crew) -> None:
        self.member = member
        self.ask()

    def ask(self) -> None:
        due = self.member.due()
        if type(due) is not int and due is not None:
            if isinstance(due, bool) or not isinstance(due, Integral):
                who = type(self.member).__name__
                raise InvalidValueError(f"due() of {who}", due, "a whole number of ticks, or None")
            due = int(due)
        self.due = NEVER if due is None else due


class Schedule:
    """The crew, in the order in which they act when several are due at once.

    Attributes:
        next: The tick at which the first of them is due; `NEVER` where nobody is.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self._entries: list[_Entry] = []
        self.next = NEVER

    def append(self, member: Crew) -> None:
        """Let somebody join, after the others."""
        self.insert(len(self._entries), member)

    def insert(self, place: int, member: Crew) -> None:
        """Let somebody join at a place in the order."""
        self._entries.insert(place, _Entry(member))
        self._find_next()

    def remove(self, member: Crew) -> None:
        """Let somebody leave."""
        del self._entries[self.index(member)]
        self._find_next()

    def index(self, member: object) -> int:
        """Return somebody's place in the order.

        Raises:
            ValueError: It is not of the crew.
        """
        for place, entry in enumerate(self._entries):
            if entry.member is member:
                return place
        raise ValueError(f"{member!r} is not of the crew")

    def announce(self, member: Crew) -> None:
        """Hear that somebody's plans have changed; who has not joined yet is asked when it does."""
        for entry in self._entries:
            if entry.member is member:
                entry.ask()
                self._find_next()

    def ask_everybody(self) -> None:
        """Ask all when they are due: after a restore, or where compiled code may have rung somebody's bell."""
        for entry in self._entries:
            entry.ask()
        self._find_next()

    def let_act(self, tick: int) -> None:
        """Let those act who are due, each at most once."""
        for entry in self._entries:
            if entry.due <= tick:
                entry.member.act()
                entry.ask()
                if entry.due <= tick:
                    raise StuntError(
                        f"{type(entry.member).__name__} of the crew has just acted at tick {tick}, and says it is due "
                        f"at tick {entry.due}: `due` must return a later one, or None."
                    )
        self._find_next()

    def _find_next(self) -> None:
        self.next = min([entry.due for entry in self._entries], default=NEVER)

    def __iter__(self) -> Iterator[Crew]:
        """Go through the members in order."""
        return iter([entry.member for entry in self._entries])

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self._entries)

    def __getitem__(self, place: int) -> Crew:
        """Return the member at a place in the order."""
        return self._entries[place].member

    def __setitem__(self, place: int, member: Crew) -> None:
        """Put somebody else at a place in the order."""
        self._entries[place] = _Entry(member)
        self._find_next()

    def __contains__(self, member: object) -> bool:
        """Whether somebody is of the crew."""
        return any(entry.member is member for entry in self._entries)
