"""A crowd on a plaza: fifty people stroll in rings, dodge each other and are pushed; the nearest are under forces.

Everybody has a pool of controllers: three ways of walking (straight on, to the left, to the right), played from data or
tracked by forces, and the reflexes of falling and getting up. `stunt.Crowd` decides who is under forces; this program
only says which way everybody would like to go, and pushes them.
"""

import math
import time
from functools import cache

import numpy as np

import stunt
from stunt.supervise.data.clip import clip_player

FRAME = 1.0 / 60.0
THINK = 0.5
"""How often everybody thinks about where to go [s]."""
NEAR, WIDE = 2.5, 1.2
"""Whoever is so near [m], and within this angle of where one is going [rad], is in the way."""
OFF, ON = 0.4, 0.15
"""Further off the way than this one begins to turn, and nearer to it one stops [rad]; hips swing by some 0.1."""
RING, APART = 3.0, 3.5
"""How far apart the rings are in which people stroll [m], and how far apart they start on one [m]."""
PACES, PHASES = (0.95, 1.05), (0.0, 0.35, 0.7)
"""How fast people walk, against the clip, and with which share of a stride they begin: nobody walks in step."""
WAYS = ("straight", "left", "right")
REFLEXES = ("fall", "roll", "lie", "get_up", "rag_doll")


def starts(people: int) -> list[tuple[float, float]]:
    """Return where people start: radius [m] and angle [rad], ring by ring from the inside."""
    found: list[tuple[float, float]] = []
    ring = 1
    while len(found) < people:
        count = min(int(math.tau * RING * ring / APART), people - len(found))
        found += [(RING * ring, math.tau * (k + 0.5 * (ring % 2)) / count) for k in range(count)]
        ring += 1
    return found


@cache
def walks(pace: float, phase: float) -> dict[str, stunt.Clip]:
    """Return ways of walking, some times as fast as the clips, straight on from a phase between 0 and 1."""
    curve = stunt.load_clip("walk_curve").trimmed(70 / 60, 210 / 60)
    clip = stunt.load_clip("walk").looped()
    pose = clip.at((phase + np.linspace(0.0, 1.0, clip.frames)) * clip.duration)
    ways = {"straight": clip.with_motion(pose.root, pose.rotations), "left": curve, "right": curve.mirrored()}
    return {way: clip.sped_up(pace).looped() for way, clip in ways.items()}


class Plaza:
    """People who stroll, and are pushed.

    Attributes:
        stage: Where they are.
        crowd: Who decides which of them are under forces.
        pushed: Who was pushed, and when [s].
    """

    def __init__(
        self, people: int = 50, forces: int = 20, seed: int = 1, record: bool | float = False, pushes: float = 1.0
    ) -> None:
        """Let people begin to stroll.

        Args:
            people: How many.
            forces: How many of them, the nearest to the middle, are under forces at all times.
            seed: Of how everybody walks, and of the pushes.
            record: Whether to record a take; or at how many frames per second.
            pushes: How many there are in a second, on average.
        """
        self._rng, places = np.random.default_rng(seed), np.array(starts(people))
        self._radius, angle = places.T
        self._sense = np.where(np.round(self._radius / RING) % 2, 1.0, -1.0)  # every other ring goes the other way
        self.people = [f"p{k}" for k in range(people)]
        bodies = {
            name: stunt.Body("walk", root="free", strength=1.5, at=(r * math.cos(a), r * math.sin(a)), facing=facing)
            for name, r, a, facing in zip(
                self.people, self._radius, angle, angle + self._sense * math.pi / 2, strict=True
            )
        }
        self.stage = stunt.Stage(bodies, hz=120, seed=seed, record=record, sleep=True)
        for name in self.people:
            ways = walks(self._rng.choice(PACES), self._rng.choice(PHASES))
            pool = [
                clip_player(self.stage, name, clip, name=way, priority=10 if way == "straight" else 5)
                for way, clip in ways.items()
            ]
            self.stage.actor(name).supervise([*pool, *REFLEXES])
        self.crowd = stunt.Crowd(self.stage, forces)
        self.pushed: list[tuple[float, str]] = []
        self._pushes = pushes
        self._roots = np.array([self.stage.character(name).root.qpos for name in self.people])

    def step(self) -> None:
        """Go on for a frame: let some people think, now and then push one, then let physics run."""
        now, count = self.stage.time, len(self.people)
        first, last = int(count * (now - FRAME) / THINK), int(count * now / THINK)
        self._think([k % count for k in range(first, last)])
        if self._rng.uniform() < self._pushes * FRAME:
            self._push()
        self.stage.step(FRAME)

    def _think(self, thinkers: list[int]) -> None:
        """Let some choose a way, if they walk: along their ring, and past whoever is in front of them."""
        place, facing = self._places()
        for k in thinkers:
            actor = self.stage.actor(self.people[k])
            now = actor.supervisor.running.removesuffix(" (tracking)")
            way = self._way(k, place, float(facing[k]), OFF if now == "straight" else ON)
            if now in WAYS and now != way:
                actor.request(way, patience=THINK)

    def _way(self, k: int, place: np.ndarray, facing: float, enough: float) -> str:
        """Return which way somebody would like to go, who is so far off its way as makes a turn [rad]."""
        away = place - place[k]
        far = np.hypot(*away.T)
        seen = wrapped(np.arctan2(away[:, 1], away[:, 0]) - facing)
        ahead = np.flatnonzero((far < NEAR) & (np.abs(seen) < WIDE) & (far > 0.0))
        if len(ahead):  # to the right of who is in the way, unless that one is more to the right oneself
            return "right" if seen[ahead[far[ahead].argmin()]] > -0.2 else "left"
        x, y = place[k]
        inward = np.clip(0.4 * (math.hypot(x, y) - self._radius[k]), -1.2, 1.2)
        off = float(wrapped(math.atan2(y, x) + self._sense[k] * (math.pi / 2 + inward) - facing))
        return "straight" if abs(off) < enough else "left" if off > 0.0 else "right"

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where everybody is [m], (people, 2), and which way it faces [rad], (people,)."""
        qpos = self.stage.data.qpos[self._roots[:, None] + np.arange(7)]
        w, x, y, z = qpos[:, 3:].T
        return qpos[:, :2], np.arctan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z))

    def _push(self) -> None:
        """Push somebody, lightly or hard, from anywhere."""
        name, angle = self._rng.choice(self.people), self._rng.uniform(0.0, math.tau)
        size = self._rng.uniform(15.0, 110.0)
        impulse = (size * math.cos(angle), size * math.sin(angle), 0.0)
        self.stage.push(f"{name}/thorax", impulse=impulse, duration=0.1)
        self.pushed.append((self.stage.time, str(name)))


def wrapped(angle: np.ndarray) -> np.ndarray:
    """Return angles between −π and π."""
    return (angle + math.pi) % math.tau - math.pi


def main(seconds: float = 10.0, people: int = 50, forces: int = 20, record: bool | float = False) -> Plaza:
    """Let a crowd stroll for a while; say how it went and how long it took."""
    plaza = Plaza(people, forces, record=record)
    fewest, cost = people, []
    while plaza.stage.time < seconds:
        began = time.thread_time()
        plaza.step()
        cost.append((time.thread_time() - began) / FRAME)
        fewest = min(fewest, len(plaza.crowd.under_forces))
    print(f"{people} people, at least {fewest} under forces; {len(plaza.pushed)} pushes")
    print(f"processor time over real time: mean {np.mean(cost):.2f}, 99 of 100 frames {np.quantile(cost, 0.99):.2f}")
    return plaza


if __name__ == "__main__":
    main()
