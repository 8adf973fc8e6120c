"""Falling with the hands out toward the ground: the arms break the fall, the head is kept away from it."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stunt.drive.balance.capture import capture_point
from stunt.drive.balance.soles import past_lowest
from stunt.drive.body.actor import BodyActor
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, REFLEX, RUNNING, Bid, Status, succeeded
from stunt.supervise.parameters import Degrees, Metres, Seconds
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.base import Aim, Behaviour, flat, under_data
from stunt.supervise.reflexes.lie import at_rest
from stunt.supervise.reflexes.posture import (
    SIDES,
    SPINE,
    head,
    leg,
    limb,
    past_feet,
    sign_of,
    together,
    trunk,
    with_limb,
)
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

TRUNK = frozenset(("pelvis", "lumbar", "spine2", "thorax", "head"))
FEET = frozenset(("l_foot", "r_foot", "l_toe", "r_toe"))
LEGS = FEET | frozenset(("l_shank", "r_shank", "l_thigh", "r_thigh"))
HELD = (*SPINE, "neck", "head")
UP = 0.6
"""A root below this share of its standing height has fallen already, or is getting up."""
STRAINED = 0.05
"""For so long the root has to need more than its spring stands until it is asked whether balance is lost [s]."""
LOST = 0.45
"""Where the weight goes further than this from where the motion's does no foot catches it [m]."""
STRAYED = 0.2
"""Weight that goes so far from where the motion's does is not left to ankles and hips alone [m]."""
FOLDS = (0.6, 1.1)
"""Between these tilts [rad] the knees of who falls forward fold."""
LATE = 0.15
"""Where the motion's went since so long ago counts too [s]: at any moment of it, a push-off passes all in between."""
_SINCE = tuple(LATE * share for share in (0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0))
LEAPS = 0.4
"""So long before and after a motion is in the air or tipped over, its own feet are where its weight comes down [s]."""
FREELY = -5.0
"""Its root falls about as freely as anything there [m/s²]."""
FLIGHT = 0.06
"""Before and after a moment, over which it is judged whether a motion is in the air then [s]."""
UPRIGHT = 0.7
"""Cosine of the tilt from which on a motion does not stand."""
UPWARD = np.array([0.0, 0.0, 1.0])
OFF_BALANCE = 0.4
"""From this tilt on [rad] a body that nobody else can handle is let fall well."""
PAST, GONE = 0.1, 0.25
"""Or from so far past its feet [m]; further than that, no motion that is followed brings it back."""
BRACED = 0.5
"""Tension while falling: limbs hold their posture but give way."""
LANDED = 0.25
"""Tension once the hands touch: arms give like springs."""
LET_GO = 0.06
"""Tension once the trunk is down, or the hands have had their time."""
NECK = 0.8
"""Tension of the neck until the blow is over: the head is kept off the floor."""
ON_HANDS = 0.35
"""Longest time the hands take the weight [s]."""
SPENT = 0.8
"""Slower than this the fall is over, and limbs let go [m/s]."""
SETTLES = 1.2
"""So long after it came down it lays its head on the floor [s]."""
FASTEST = 8.0
"""No bone is asked to turn faster [rad/s]: captured people's thighs turn by 23° within 33 ms at most, arms by 33°."""


class Fall(Behaviour):
    """Take a character that cannot stay up any more, until it lies.

    Attributes:
        tipping: From this tilt on it counts as falling [rad].
        beyond: Or when the capture point is so far from both feet [m].
        rest: How long it lies still until it is over [s].
    """

    name = "fall"
    priority = REFLEX
    interrupts = True
    wakes = "forces"
    longest = 6.0
    practice: ClassVar[Practice] = Practice(("falling",), "says")

    def __init__(self, name: str = "", *, tipping: Degrees = 0.85, beyond: Metres = 0.45, rest: Seconds = 0.2) -> None:
        """Say from which tilt on [rad], or how far past its feet [m], it falls, and how long it lies still then [s]."""
        super().__init__(name)
        self.tipping, self.beyond, self.rest = tipping, beyond, rest
        self._toward = np.array([1.0, 0.0])
        self._rest_since = self._landed = -1.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body tips over."""
        if under_data(now):
            return None
        felt, actor = self.feel(now), now.stage.actors[now.character.name]
        if (
            felt.height > UP
            and not actor.low
            and actor.broken_for > STRAINED
            and strayed(actor, felt.com, felt.velocity) > LOST
        ):
            return Bid(0.9, f"is swept off its feet at {float(np.linalg.norm(felt.velocity[:2])):.1f} m/s")
        if not actor.low and goes_down(felt):
            return Bid(0.9, f"goes down at {-felt.velocity[2]:.1f} m/s, {math.degrees(felt.tilt):.0f}° tilted")
        if falls(felt, self.tipping, self.beyond):
            return Bid(0.9, f"tips over: {math.degrees(felt.tilt):.0f}°, {out_of_reach(felt):.2f} m past its feet")
        if actor.follows and actor.broken_for > STRAINED and actor.leans > OFF_BALANCE and not actor.low:
            gone = out_of_reach(felt)
            if felt.height > UP and gone > self.beyond:  # held by a foot: it tips over before it goes down
                return Bid(0.6, f"leans {math.degrees(actor.leans):.0f}° from its motion, {gone:.2f} m past its feet")
        past = past_feet(self.anatomy, felt)
        if felt.height > UP and not actor.low and not actor.follows and past > GONE:
            return Bid(0.9, f"{past:.2f} m past its feet")
        off = felt.tilt > OFF_BALANCE or felt.height < 0.8 or past > PAST
        if felt.height > UP and off:
            # Not lost yet, so nobody is interrupted; but if nobody else can take it from here, the hands go out.
            return Bid(0.3, f"off balance: {math.degrees(felt.tilt):.0f}°", priority=IDLE + 1)
        return None

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note where it falls to."""
        self._toward, self._rest_since, self._landed = self._direction(felt), -1.0, -1.0

    def _direction(self, felt: Felt) -> Floats:
        """Return where over the ground it falls, (2,)."""
        return flat(felt.velocity[:2] + 2.0 * felt.lean)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Reach for the ground on the side it comes from; give way on the hands, and let go once the trunk is down."""
        touched = felt.touching - LEGS
        if touched and self._landed < 0.0:
            self._landed = now.time
        since = now.time - self._landed if self._landed >= 0.0 else 0.0
        ahead, left = felt.level(self._toward)
        posture = falling(ahead, left, felt.tilt)
        if self._landed >= 0.0 and float(np.linalg.norm(felt.velocity)) < SPENT and since > ON_HANDS:
            if since > SETTLES:
                return Aim(self.lifted(at_rest(), felt.turn), LET_GO, 0.0, 0.4)
            lies = together(at_rest(), {name: posture[name] for name in HELD})
            return Aim(self.lifted(lies, felt.turn), LET_GO, 0.0, 0.25, FASTEST, held(LET_GO, LANDED))
        if self._landed < 0.0:
            self._toward = flat(0.8 * self._toward + 0.2 * self._direction(felt))
        lifted = self.lifted(posture, felt.turn)
        for side in SIDES:
            lifted = self._hand_out(felt, lifted, side)
        tension = BRACED if self._landed < 0.0 else LANDED
        return Aim(lifted, tension, 0.0, 0.06, FASTEST, held(tension, BRACED))

    def _hand_out(self, felt: Felt, lifted: Floats, side: str) -> Floats:
        """Put a hand between the body and the ground."""
        anatomy = self.anatomy
        shoulder = felt.places[anatomy.number(f"{side}_upper_arm")]
        across = np.array([-self._toward[1], self._toward[0]])
        ahead, left = felt.level(self._toward)
        wide = 0.12 * sign_of(side) * float(np.sign(ahead) or 1.0) * abs(ahead)
        spot = np.append(shoulder[:2] + 0.28 * self._toward + wide * across, 0.03)
        actual = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        # Elbows point away from the fall and outward, so that the arms fold instead of locking.
        out = felt.level(np.array([0.0, sign_of(side), 0.0])) * [1.0, -1.0, 1.0]
        elbow = rotations.rotate(rotations.conjugate(felt.turn), out + np.append(-0.6 * self._toward, 0.4))
        turned, _ = limb(anatomy, side, "arm", actual, felt.seen_from_root(spot), elbow)
        return with_limb(anatomy, lifted, turned)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over once the body lies, or stands after all."""
        slow = float(np.linalg.norm(felt.velocity)) < 0.35
        if felt.height > 0.8 and felt.tilt < 0.35 and slow and out_of_reach(felt) < 0.1:
            return succeeded("stayed up after all")
        if not (slow and felt.touching - FEET):
            self._rest_since = -1.0
        elif self._rest_since < 0.0:
            self._rest_since = now.time
        elif now.time - self._rest_since > self.rest:
            return succeeded("lies")
        return RUNNING


def strayed(actor: BodyActor, com: Floats, velocity: Floats, late: float = 0.0) -> float:
    """Return how far a body's weight is going from where its motion's does, by velocity and lean, over the ground [m].

    Args:
        actor: The body; one that follows nothing strays from nothing.
        com: Its centre of mass [m], (3,).
        velocity: Of that [m/s], (3,).
        late: How long after its motion it may be [s].
    """
    pace = pace_of(actor, late)
    if pace is None:
        return 0.0
    gone = np.linalg.norm(capture_point(com, velocity - pace, actor.floor) - com[:2])
    return float(gone) + 0.5 * float(com[2] - actor.floor) * math.sin(min(actor.leans, 0.5 * math.pi))


def pace_of(actor: BodyActor, late: float = 0.0) -> Floats | None:
    """Return how fast the motion a body follows goes, or went some seconds ago [m/s], (3,); None: none that is upright.

    Whoever turns a cartwheel is where no foot could be.
    """
    rows = actor.rows if actor.follows else None
    if rows is None:
        return None
    last = len(rows.path) - 1
    frame = min(max(int((actor.elapsed - late) * rows.fps), 0), max(last - 1, 0))
    if not _upright(actor, rows.turns[frame, 0]):
        return None
    return np.asarray((rows.path[min(frame + 1, last)] - rows.path[frame]) * rows.fps)


def strays(actor: BodyActor, felt: Felt) -> bool:
    """Whether its weight goes elsewhere than its motion's does, or just did: whoever is heavy stops late."""
    gone = min(strayed(actor, felt.com, felt.velocity, late) for late in _SINCE)
    return gone > STRAYED and not leaps(actor) and not tumbles(actor)


def tumbles(actor: BodyActor) -> bool:
    """Whether the motion a body follows is tipped over about now, as in a cartwheel: it comes down by its own feet."""
    assert actor.rows is not None
    fps, turns = actor.rows.fps, actor.rows.turns[:, 0]
    first, last = (round((actor.elapsed + side * LEAPS) * fps) for side in (-1, 1))
    return not _upright(actor, turns[np.clip(np.arange(first, last + 1), 0, len(turns) - 1)]).all()


def _upright(actor: BodyActor, turns: Floats) -> NDArray[np.bool_]:
    """Return whether a root that is turned so stands, (...)."""
    stood = rotations.conjugate(actor.stage.model.qpos0[actor.slices[0]][3:7])
    up = rotations.rotate(rotations.multiply(turns, np.broadcast_to(stood, turns.shape)), UPWARD)
    return np.asarray(up[..., 2] >= UPRIGHT)


def leaps(actor: BodyActor) -> bool:
    """Whether the motion a body follows is in the air about now."""
    assert actor.rows is not None
    fps, path = actor.rows.fps, actor.rows.path[:, 2]
    wide = max(1, round(FLIGHT * fps))
    first, last = (round((actor.elapsed + side * LEAPS) * fps) for side in (-1, 1))
    height = path[np.clip(np.arange(first - wide, last + wide + 1), 0, len(path) - 1)]
    bend = height[2 * wide :] - 2.0 * height[wide:-wide] + height[: -2 * wide]
    return bool(np.min(bend) < FREELY * (wide / fps) ** 2)


def out_of_reach(felt: Felt) -> float:
    """Return how far the capture point is from the middle of the feet, beyond what feet cover [m]."""
    return past_lowest(felt.capture, felt.com, felt.places)


def falls(felt: Felt, tipping: float, beyond: float) -> bool:
    """Whether a body that is up is past saving by its feet."""
    if felt.height < UP or felt.velocity[2] > -0.25:
        return False  # lies already, bends down, or rises
    return felt.tilt > tipping or (out_of_reach(felt) > beyond and felt.height < 0.95)


def held(tension: float, back: float | None = None) -> dict[str, float]:
    """Return how stiff neck and head, and the back if it is said how, are held beside a tension of all."""
    neck = {name: NECK / tension for name in ("neck", "head")}
    return neck if back is None else neck | {name: back / tension for name in SPINE}


def goes_down(felt: Felt) -> bool:
    """Whether a body that is low already, and does not mean to be, still falls."""
    return 0.3 < felt.height < UP and felt.velocity[2] < -0.3 and felt.tilt > 0.6


def falling(ahead: float, left: float, tilt: float = FOLDS[1]) -> dict[str, Floats]:
    """Return the posture of a fall toward a direction in the character's own heading; arms apart.

    Legs go away from where the body falls to, which turns the trunk back up: in the air nothing else can. Knees give.
    """
    front, back, side = max(ahead, 0.0), max(-ahead, 0.0), abs(left)
    total = front + back + side
    front, back, side = front / total, back / total, side / total
    way = float(np.sign(left))
    hip = -10.0 * front + 100.0 * back + 20.0 * side
    # Who topples forward stays on the legs until it leans: they carry it on, past what it tripped over.
    folds = float(np.interp(tilt, FOLDS, (0.15, 1.0)))
    knee = 70.0 * front * folds + 100.0 * back + 75.0 * side
    legs = [leg(s, hip, knee, 10.0 * back, -30.0 * side * way * sign_of(s)) for s in SIDES]
    neck = head(-45.0 * front + 60.0 * back + 5.0 * side, 40.0 * side * way)
    return together(*legs, trunk(-15.0 * front + 45.0 * back, 35.0 * side * way), neck)
