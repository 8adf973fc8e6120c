"""A performance wound back and given an edited script goes on, bit for bit, as if it had been played from zero."""

import dataclasses

import numpy as np
import pytest

from stunt.examples import example
from stunt.script.file import script_from_text
from stunt.script.performance import Performance
from stunt.script.revise import NEVER, first_change
from stunt.stage.event_specs import Push
from stunt.studio.backstage.rehearsal import Rehearsal


def script_of(*changes, name="ymca"):
    text = example(name).text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return script_from_text(text, str(example(name).path))


def same(one, other):
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("events", "meta"):
            assert a == b, field.name
        elif field.name == "cast":
            assert a.to_data() == b.to_data()
        elif a is None or b is None:
            assert a is b, field.name
        elif field.name != "model_bytes":
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), field.name


LAST = "      - {pose: at_ease, after: 0.9375}"
EDITS = {
    "a beat moved": ((LAST, "      - {pose: at_ease, after: 1.1}"),),
    "a beat added": ((LAST, "      - {pose: ready, after: 0.4}\n      - {pose: at_ease, after: 0.5375}"),),
    "a beat deleted": ((LAST, ""),),
    "a hold": ((LAST, "      - {pose: at_ease, after: 0.9375, hold: 0.1}"),),
    "another pose": ((LAST, "      - {pose: C, after: 0.9375}"),),
    "a push": ((LAST, LAST + "\nevents:\n  - {push: dancer/thorax, at: 4.0, impulse: [20, 0, 0]}"),),
    "a shorter end": (("rate: 480", "rate: 480\nseconds: 4.9"),),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_plays_on_from_a_saved_state_as_it_would_from_zero(edit):
    rehearsal = Rehearsal(script_of())
    rehearsal.play_to(99.0)
    edited = script_of(*EDITS[edit])
    rehearsal.change(edited)
    print(f"{edit}: played on from {rehearsal.restarted_at:.2f} s of {rehearsal.seconds:.2f} s")
    assert rehearsal.restarted_at > 3.0
    rehearsal.play_to(99.0)
    same(rehearsal.take(), Performance(edited).run())
    rehearsal.change(script_of())
    rehearsal.play_to(99.0)
    same(rehearsal.take(), Performance(script_of()).run())


def test_tension_of_the_whole_part_and_the_stage_itself_are_played_from_the_start():
    for change in (("tension: 0.4", "tension: 0.2"), ("rate: 480", "rate: 240"), ("body: human39", "body: human38")):
        assert first_change(script_of(), script_of(change)) == 0.0
    assert first_change(script_of(), script_of()) == NEVER
    assert first_change(script_of(), script_of(("title: YMCA", "title: Another"))) == NEVER


def test_a_beat_that_a_throw_aims_by_counts_from_the_throw():
    catch = script_of(name="catch")
    moved = script_of(("{pose: reach, at: 0.6}", "{pose: reach, at: 0.65}"), name="catch")
    throws = [event.at for event in catch.scene.events if hasattr(event, "hits_at")]
    assert first_change(catch, moved) <= min(throws)


def test_a_push_by_hand_is_the_same_as_one_in_the_script():
    rehearsal = Rehearsal(script_of())
    rehearsal.play_to(99.0)
    rehearsal.stand_at(2.0)
    push = Push("dancer/thorax", 2.0, force=(150.0, 30.0, 0.0), duration=0.25, point=(0.0, 0.05, 0.1))
    rehearsal.touch(push)
    rehearsal.play_to(99.0)
    script = script_of()
    same(
        rehearsal.take(),
        Performance(dataclasses.replace(script, scene=dataclasses.replace(script.scene, events=(push,)))).run(),
    )


@pytest.mark.parametrize("name", ["flinch", "shove", "walk_clip"])
def test_any_way_of_moving_is_wound_back_bit_for_bit(name):
    script = script_of(name=name)
    rehearsal = Rehearsal(script)
    rehearsal.play_to(99.0)
    assert rehearsal.rewind(rehearsal.simulated - 0.3)
    assert rehearsal.simulated < rehearsal.seconds
    rehearsal.play_to(99.0)
    same(rehearsal.take(), Performance(script).run())


MOVED = "{pose: raised_head, at: 1.7, lasts: 0.6, tension: braced}"
LET_GO = "tension: {arms: relaxed, clavicles: loose, head: easy}"
TENSION_EDITS = {
    "a pose moved": ((MOVED, MOVED.replace("1.7", "1.9")), 1.7),
    "a pose moved to before": ((MOVED, MOVED.replace("1.7", "1.3")), 1.3),
    "a pose tightened": ((MOVED, MOVED.replace("braced", "easy")), 1.7),
    "a pose too loose": ((LET_GO, LET_GO.replace("relaxed", "0.1 N·m/rad").replace("easy", "0.1 N·m/rad")), 1.6),
    "a pose added": ((MOVED, MOVED + "\n        - {pose: bow_head, at: 2.4, lasts: 0.3}"), 2.4),
    "a pose taken away": (("\n        - " + MOVED, ""), 1.7),
    "a pose begun while another is on its way": ((MOVED, MOVED.replace("1.7", "1.0")), 0.5),
}


@pytest.mark.parametrize("edit", TENSION_EDITS)
def test_an_edit_of_tension_plays_on_from_a_saved_state_as_it_would_from_zero(edit):
    change, when = TENSION_EDITS[edit]
    before, edited = script_of(name="nod_sag_shrug"), script_of(change, name="nod_sag_shrug")
    assert first_change(before, edited) == first_change(edited, before) == when
    rehearsal = Rehearsal(before)
    rehearsal.play_to(99.0)
    rehearsal.change(edited)
    assert 0.0 < rehearsal.restarted_at < when
    rehearsal.play_to(99.0)
    same(rehearsal.take(), Performance(edited).run())


def test_what_is_held_by_tension_is_edited_again_and_taken_back():
    first, second = (script_of(TENSION_EDITS[edit][0], name="nod_sag_shrug") for edit in list(TENSION_EDITS)[:2])
    rehearsal = Rehearsal(script_of(name="nod_sag_shrug"))
    for script in (first, second, first):
        rehearsal.play_to(99.0)
        rehearsal.change(script)
        assert rehearsal.restarted_at > 0.0
    rehearsal.play_to(99.0)
    same(rehearsal.take(), Performance(first).run())


def test_tension_that_holds_from_the_start_is_played_from_the_start():
    tense, other = script_of(name="nod_sag_shrug"), script_of(("{all: tight,", "{all: firm,"), name="nod_sag_shrug")
    assert first_change(tense, other) == 0.0
