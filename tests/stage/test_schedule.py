"""Nobody is polled: who is due says so, and who is only saved does not act."""

import pytest

from stunt.drive.beats.spec import Script
from stunt.examples import example
from stunt.script.file import load_script
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.stage.schedule import NEVER, Schedule


class Clock:
    """Acts every so many ticks; counts how often it was asked."""

    def __init__(self, stage: StageLoop, period: int, log: list[str], name: str) -> None:
        self.stage, self.period, self.log, self.name = stage, period, log, name
        self.next, self.asked, self.acted = period, 0, 0

    def due(self) -> int | None:
        self.asked += 1
        return self.next

    def act(self) -> None:
        assert self.stage.tick == self.next
        self.log.append(self.name)
        self.acted += 1
        self.next += self.period

    def save(self) -> int:
        return self.next

    def restore(self, state: int) -> None:
        self.next = state


@pytest.fixture()
def stage() -> StageLoop:
    return StageLoop(Scene({"ada": CharacterSpec("human39")}))


def test_a_member_is_asked_when_it_joins_and_after_each_act_only(stage):
    clock = Clock(stage, 16, [], "a")
    stage.crew.append(clock)
    for _ in range(40):
        stage.advance(8)
    assert clock.acted == 20 and clock.asked == 21


def test_those_who_are_due_at_once_act_in_the_order_of_the_crew(stage):
    log = []
    stage.crew.append(Clock(stage, 4, log, "b"))
    stage.crew.insert(0, Clock(stage, 8, log, "a"))
    stage.advance(8)
    assert log == ["b", "a", "b"]


def test_whoever_changes_its_plans_announces_it(stage):
    log = []
    late = Clock(stage, 1000, log, "late")
    stage.crew.append(late)
    stage.advance(10)
    late.next = 12
    stage.crew.announce(late)
    stage.advance(10)
    assert log == ["late"]


def test_who_leaves_acts_no_more(stage):
    log = []
    one, two = Clock(stage, 4, log, "one"), Clock(stage, 4, log, "two")
    stage.crew.append(one)
    stage.crew.append(two)
    stage.advance(4)
    stage.crew.remove(one)
    assert one not in stage.crew and list(stage.crew) == [two] and stage.crew.index(two) == 0
    stage.advance(4)
    assert log == ["one", "two", "two"]
    stage.crew.remove(two)
    assert stage.crew.next == NEVER and not len(stage.crew)
    with pytest.raises(ValueError, match="not of the crew"):
        stage.crew.remove(two)


def test_who_is_kept_is_saved_and_never_asked(stage):
    class Memory:
        value = 1

        def save(self):
            return self.value

        def restore(self, state):
            self.value = state

    memory = Memory()
    stage.keep(memory)
    state = stage.save()
    memory.value = 2
    stage.advance(8)
    stage.restore(state)
    assert memory.value == 1


class Polling(Schedule):
    """Asks everybody all the time, and complains where the schedule did not know."""

    def let_act(self, tick: int) -> None:
        super().let_act(tick)
        self.check()

    def check(self) -> None:
        for entry in self._entries:
            due = entry.member.due()
            assert entry.due == (NEVER if due is None else due), f"{entry.member} changed its plans in silence"


@pytest.mark.parametrize("name", ["ymca", "crouch", "desk", "walk_clip", "trip", "catch", "drag", "kick_partner"])
def test_nobody_in_the_house_changes_its_plans_in_silence(name, monkeypatch):
    monkeypatch.setattr("stunt.stage.loop.Schedule", Polling)
    script: Script = load_script(example(name).path)
    performance = Performance(script, foretell=False)
    for _ in range(90):
        performance.stage.advance(max(1, round(1 / 60 / performance.stage.step_time)))
        performance.stage.crew.check()
