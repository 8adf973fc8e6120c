"""Who has a character's joints: beats, tension and trajectories share a body, and whoever spoke last has a joint."""

from __future__ import annotations

from typing import Any

from stunt.drive.balance.ankles import AnkleBalance
from stunt.drive.balance.support import GroundSense
from stunt.drive.beats.performer import Performer
from stunt.drive.beats.spec import MachineSpec, Part
from stunt.drive.beats.state_machine import StateMachine
from stunt.drive.paths.follower import Follower
from stunt.drive.paths.laid_out import set_out
from stunt.drive.paths.spec import TrajectoryPart
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import TensionPart, cues
from stunt.drive.tension.warnings import foresee
from stunt.stage.loop import StageLoop


class JointDrivers:
    """The drivers of one character's joints, each made when it is first needed.

    Attributes:
        part: How beats are hit.
        performer: Who hits them; None: nobody yet.
        tension: Who holds joints by tension, likewise.
        follower: Who leads joints and sites along trajectories, likewise.
        machines: State machines that say which beats.
    """

    def __init__(self, stage: StageLoop, name: str) -> None:
        """Look after a character's joints; nothing drives them yet."""
        self._stage, self._name = stage, name
        self.part = Part()
        self.performer: Performer | None = None
        self.tension: TensionPerformer | None = None
        self.follower: Follower | None = None
        self.machines: list[StateMachine] = []
        self._idle = False

    def hit_beats(self) -> Performer:
        """Return who hits beats; joints that nobody has it holds where they are."""
        if self.performer is None:
            self.performer = Performer(self._stage, self._name, part=self.part)
        elif self._idle:
            self.performer.take_again()
        self._idle = False
        return self.performer

    def run(self, machine: MachineSpec) -> StateMachine:
        """Let a state machine say which beats are hit, from the last one asked for so far on."""
        performer = self.hit_beats()
        self.machines.append(StateMachine(performer, machine, start_at=performer.last_beat))
        return self.machines[-1]

    def hold(self, part: TensionPart | None = None) -> TensionPerformer:
        """Return who holds joints by tension, made with a part if there is none yet."""
        self._wake_up()
        if self.tension is None:
            self.tension = TensionPerformer(self._stage, self._name, part or TensionPart())
        return self.tension

    def hold_part(self, part: TensionPart) -> list[str]:
        """Play a part of poses under tension; return what the user should know of it, sentences.

        A body with a free root feels the ground, and balances by its ankles where the part says so.
        """
        performer = self.hold(part)
        told = self._foreseen(performer)
        if performer.character.root is not None:
            GroundSense(performer)
            if part.balance:
                AnkleBalance(performer)
        return told

    def hold_other(self, part: TensionPart) -> list[str]:
        """Go on with another part of poses under tension (see `TensionPerformer.recast`); return likewise."""
        performer = self.hold()
        performer.recast(part)
        return self._foreseen(performer)

    def _foreseen(self, performer: TensionPerformer) -> list[str]:
        return [finding.sentence(self._name) for finding in foresee(performer, cues(performer.part))]

    def lead(self, part: TrajectoryPart | None = None) -> Follower:
        """Return who leads joints and sites along trajectories, with those of a part on theirs."""
        self._wake_up()
        if self.follower is None:
            self.follower = Follower(self._stage, self._name)
        if part is not None:
            set_out(self.follower, part)
        return self.follower

    def _wake_up(self) -> None:
        """Hold joints that a driver of the whole body has left."""
        if self._idle:
            self.hit_beats()

    def forget(self) -> None:
        """Let somebody else move the body: nothing that was asked for is done any more."""
        if self.performer is not None:
            self.performer.forget()
            self.performer.give_up()
        for driver in (*self.machines, self.tension, self.follower):
            if driver is not None:
                driver.forget()

    def left_alone(self) -> None:
        """Hear that nobody moves the body as a whole any more."""
        self._idle = True

    @property
    def logs(self) -> list[list[dict[str, Any]]]:
        """What happened, as events of a take."""
        drivers = (*self.machines, self.tension, self.follower)
        return [driver.log for driver in drivers if driver is not None]
