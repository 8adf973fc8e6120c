"""A part's capture markers: read, gaps bridged or refused, and the body fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.spec import MarkerPaths
from stunt.drive.prepare.content import KnownByContent, digest
from stunt.errors import InvalidValueError, Place, StuntError, UnknownNameError
from stunt.maths.rotations import Floats, rotate
from stunt.motion.markers import Markers, read_c3d
from stunt.motion.sensors import read_sensors
from stunt.motion.trajectory import Trajectory
from stunt.stage.loop import StageLoop

if TYPE_CHECKING:
    from stunt.drive.markers.fit import MarkerFit

LONGEST_GAP: Final = 0.2
"""A marker that is not seen for longer [s] is an error: nobody knows where it went meanwhile."""
TOGETHER: Final = 3
"""From so many markers on, strings are solved together; one or two are P1's, each with a controller of its own."""
_OTHER_SIZE: Final = 0.02
"""A person who is larger or smaller than the body by more is told of."""
_ARM: Final = 0.1
"""A sensor that knows how it is turned counts as points so far beside it too [m], where strings are solved together."""
_BESIDE: Final = 0.1
"""So is a marker that is fitted farther beside its site [m]: no skin is so thick."""


@dataclass(frozen=True, eq=False)
class Captured:
    """Markers that drive sites. F frames, m markers.

    Attributes:
        names: Of the markers.
        sites: What each drives.
        hz: Frames per second.
        seen: Where they are [m], NaN where they were not seen, (F, m, 3).
        turns: How those that know are turned, quaternions, likewise, (F, m, 4).
    """

    names: list[str]
    sites: list[str]
    hz: float
    seen: Floats
    turns: Floats

    @property
    def points(self) -> Captured:
        """The same as points alone: who knows how it is turned has one more on its x axis, and one on its y axis."""
        names, sites, seen = list(self.names), list(self.sites), [self.seen]
        for n in np.flatnonzero(~np.isnan(self.turns).all(axis=(0, 2))):
            for axis in np.eye(3)[:2]:
                names.append(self.names[n])
                sites.append(self.sites[n])
                seen.append((self.seen[:, n] + rotate(self.turns[:, n], _ARM * axis))[:, None])
        return Captured(names, sites, self.hz, np.concatenate(seen, axis=1), np.full((1, len(names), 4), np.nan))

    def turn(self, marker: str, start: float, place: Place) -> Trajectory | None:
        """Return how a marker is turned over time; None where it does not know."""
        turns = self.turns[:, self.names.index(marker)]
        known = ~np.isnan(turns[:, 0])
        times = start + np.arange(len(turns)) / self.hz
        return Trajectory.through(times[known].tolist(), turns[known], place=place) if known.any() else None

    @property
    def gaps(self) -> list[tuple[str, float, float]]:
        """Times at which a marker was not seen: which, from when on, and for how long [s]."""
        found = []
        for n, name in enumerate(self.names):
            lost = np.concatenate([[False], np.isnan(self.seen[:, n, 0]), [False]])
            edges = np.flatnonzero(np.diff(lost.astype(int)))
            found += [
                (name, int(a) / self.hz, int(b - a) / self.hz) for a, b in zip(edges[::2], edges[1::2], strict=True)
            ]
        return found

    def told(self) -> list[str]:
        """Say what was bridged, in sentences."""
        gaps = self.gaps
        if not gaps:
            return []
        longest = max(gaps, key=lambda gap: gap[2])
        count, markers = len(gaps), len({name for name, _, _ in gaps})
        return [
            f"{count} gap{'s' * (count > 1)} of {markers} marker{'s' * (markers > 1)} bridged, the longest of "
            f"{longest[2]:.2f} s ({longest[0]}, from {longest[1]:.2f} s)."
        ]


def read_markers(asked: MarkerPaths) -> Captured:
    """Read the markers a part asks for.

    Raises:
        StuntError: One of them is not in the file, or is not seen for too long.
    """
    table = asked.file.lower().endswith(".csv")
    read = read_sensors(asked.file, asked.place) if table else read_c3d(asked.file, asked.place)
    for marker, _ in asked.drive:
        if marker not in read.names:
            raise UnknownNameError("marker", marker, read.names, asked.place)
    names, sites = [marker for marker, _ in asked.drive], [site for _, site in asked.drive]
    chosen = [read.names.index(name) for name in names]
    turns = np.full((len(read.positions), len(names), 4), np.nan) if read.turns is None else read.turns[:, chosen]
    captured = Captured(names, sites, read.hz, read.positions[:, chosen], turns)
    for name, start, long in captured.gaps:
        if long > LONGEST_GAP + 1e-9:
            expected = (
                f"seen again within {LONGEST_GAP:g} s; fill the gap in your capture program, or leave the marker out"
            )
            raise InvalidValueError(
                f"marker '{name}' from {start:.2f} s on", f"lost for {long:.2f} s", expected, asked.place
            )
    return captured


def bridged(captured: Captured) -> Markers:
    """Return markers with their gaps bridged by smooth curves."""
    from stunt.drive.markers.fit import with_guesses

    return Markers(tuple(captured.names), captured.hz, with_guesses(captured.seen)[..., :3])


def fastened(asked: MarkerPaths, captured: Captured) -> Captured:
    """Return what strings are fastened to, where they are solved together: relative markers tell no orientation."""
    return captured if asked.relative else captured.points


_KNOWN = KnownByContent["MarkerFit"](8)


def fitted(stage: StageLoop, character: Character, asked: MarkerPaths, captured: Captured) -> MarkerFit:
    """Return the body fitted to its markers, from the pose it has now."""
    from stunt.drive.markers.fit import fit_markers

    captured = fastened(asked, captured)
    seen, numbers = captured.seen, [character.sites[site] for site in captured.sites]
    if asked.relative:
        seen = seen - seen[:1] + stage.data.site_xpos[numbers]
    own = own_slices(character)[0]
    still = BodyMotion("markers", captured.hz, stage.data.qpos[None, own].copy())
    how = (captured.sites, asked.fit, asked.relative, seen.tobytes())
    return _KNOWN.get(
        digest(stage.model, character, still, *how),
        lambda: fit_markers(
            character, numbers, seen, captured.hz, start=stage.data.qpos.copy(), scaled=asked.fit == "markers",
            skin=not asked.relative,
        ),
    )  # fmt: skip


def told_of(name: str, asked: MarkerPaths, captured: Captured, fit: MarkerFit) -> list[str]:
    """Say what the user should know of a fit, in sentences."""
    told = [f"{name}: {sentence}" for sentence in captured.told()]
    if asked.fit != "markers" and abs(fit.size - 1.0) > _OTHER_SIZE:
        what = "larger" if fit.size > 1.0 else "smaller"
        told.append(
            f"{name}: the person under the markers is {abs(fit.size - 1.0):.0%} {what} than the body; "
            "`fit: body` scales the body, `fit: markers` the markers."
        )
    beside = np.linalg.norm(fit.offsets[: len(captured.names)], axis=1)
    far = [
        f"{captured.names[n]} ({1000.0 * beside[n]:.0f} mm from {captured.sites[n]})"
        for n in np.flatnonzero(beside > _BESIDE)
    ]
    if far:
        told.append(
            f"{name}: markers are far beside their sites: {', '.join(far)}. "
            "They may be swapped, or the person may have another size."
        )
    return told


def height_for(stage: StageLoop, character: Character, asked: MarkerPaths) -> float:
    """Return how much larger the person under the markers is than the body."""
    captured = read_markers(asked)
    if len(captured.names) < TOGETHER:
        raise StuntError(f"`fit: body` needs {TOGETHER} markers or more; here are {len(captured.names)}.", asked.place)
    return fitted(stage, character, asked, captured).size
