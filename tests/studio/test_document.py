"""Edits change what they are about and nothing else; nothing that was done is ever lost."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stunt.drive.beats.spec import resolve_beats
from stunt.examples import example, examples
from stunt.script.file import script_from_text
from stunt.studio.paper.document import Document
from stunt.studio.paper.edits import EDITS, keep_touches
from stunt.studio.paper.splice import Delete, EditError, Insert, Set, edited, plain

YMCA = example("ymca").text()
WITH_COMMENTS = """\
# A comment at the top
stunt: 1   # version
title: "Quoted: yes"

characters: {ada: human39}   # one line
poses:
  up:   {r_elbow_flexion:   90}   # odd spaces
performance:
  ada:
    beats:
      # before the first
      - {pose: up, after: 0.5}   # after the first
      - pose: up                 # a block
        after: 0.5
      # at the end
"""


def done(text, what, /, **args):
    _, edits = EDITS[what](plain(text), **args)
    return edited(text, edits)


def times(text, character="dancer"):
    return [round(b.time, 4) for b in resolve_beats(script_from_text(text, "x.yaml").parts[character])]


def changed(old, new):
    return [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] in "+-"]


@pytest.mark.parametrize("entry", examples(), ids=lambda entry: entry.name)
def test_an_edit_changes_one_line_of_any_example(entry):
    text = entry.text()
    assert len(changed(text, edited(text, [Set(("title",), "Another")]))) == 2
    assert edited(text, [Set(("title",), plain(text)["title"])]).splitlines() != [] and edited(text, []) == text


def test_comments_spaces_and_quotes_around_an_edit_survive():
    beat, angle = ("performance", "ada", "beats", 1, "after"), ("poses", "up", "r_elbow_flexion")
    new = edited(WITH_COMMENTS, [Set(beat, 0.75), Set(angle, 80)])
    assert changed(WITH_COMMENTS, new) == [
        "-   up:   {r_elbow_flexion:   90}   # odd spaces",
        "+   up:   {r_elbow_flexion:   80}   # odd spaces",
        "-         after: 0.5",
        "+         after: 0.75",
    ]
    grown = edited(WITH_COMMENTS, [Insert(("performance", "ada", "beats"), 1, {"pose": "up", "after": 0.2})])
    assert changed(WITH_COMMENTS, grown) == ["+       - {pose: up, after: 0.2}"]
    shrunk = edited(WITH_COMMENTS, [Delete(("performance", "ada", "beats", 1))])
    assert len(changed(WITH_COMMENTS, shrunk)) == 2 and "# at the end" in shrunk


def test_thousands_of_changes_at_once_are_refused_before_they_are_tried():
    with pytest.raises(EditError, match="5,000 changes"):
        edited("poses: {a: {}}", [Set(("poses", "a", f"j{k}"), 1.0) for k in range(5000)])


def test_a_value_shared_by_an_alias_is_not_edited_behind_its_back():
    text = "a: &x {k: 1}\nb: *x\n"
    with pytest.raises(EditError, match="alias"):
        edited(text, [Set(("b", "k"), 2)])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-2.0, 2.0)), min_size=1, max_size=3), st.booleans())
def test_moved_beats_stay_in_order_and_the_others_where_they_are(moves, ripple):
    text = YMCA
    for index, by in moves:
        before = times(text)
        text = done(text, "move_beats", character="dancer", indices=[index], by=by, ripple=ripple)
        after = times(text)
        assert len(after) == len(before) and all(b > a for a, b in zip(after, after[1:], strict=False))
        if not ripple and before[index] + by > 0.01:
            kept = [t for k, t in enumerate(before) if k != index]
            assert sum(any(abs(t - u) < 2e-3 for u in after) for t in kept) >= len(kept) - 1
    script_from_text(text, "x.yaml")


def test_beats_are_added_copied_and_deleted_in_place():
    more = done(YMCA, "add_beat", character="dancer", time=2.0, beat={"pose": "Y"})
    assert times(more) == sorted([*times(YMCA), 2.0])
    assert times(done(YMCA, "copy_beat", character="dancer", index=2, time=5.0)) == sorted([*times(YMCA), 5.0])
    fewer = done(YMCA, "delete_beats", character="dancer", indices=[0, 3])
    assert times(fewer) == [t for k, t in enumerate(times(YMCA)) if k not in (0, 3)]
    with pytest.raises(EditError, match="no beat 77"):
        done(YMCA, "delete_beats", character="dancer", indices=[77])


def test_one_limb_can_have_a_time_of_its_own():
    beat = script_from_text(YMCA, "x").parts["dancer"].beats[0]
    arm = {j: 30.0 for j in beat.pose.angles if j.startswith("r_")}
    rest = {j: 10.0 for j in beat.pose.angles if not j.startswith("r_")}
    text = done(YMCA, "split_limb", character="dancer", index=0, time=0.6, limb=arm, rest=rest)
    assert times(text) == sorted([*times(YMCA), 0.6])
    assert set(script_from_text(text, "x").parts["dancer"].beats[1].pose.angles) == set(arm)


def test_poses_events_clips_and_tension_are_edited():
    text = done(YMCA, "save_pose", name="bow", angles={"lumbar_flexion": 40.123})
    assert script_from_text(text, "x").poses["bow"].angles["lumbar_flexion"] == pytest.approx(0.7003, abs=1e-3)
    shove = example("shove").text()
    assert plain(done(shove, "move_event", index=1, at=1.5))["events"][1]["at"] == 1.5
    assert len(plain(done(shove, "delete_event", index=0))["events"]) == 5
    walk = example("walk_clip").text()
    (name,) = plain(walk)["performance"]
    trimmed = plain(done(walk, "set_clip", character=name, index=0, values={"from": 0.2}))
    assert trimmed["performance"][name]["clips"]["play"][0]["from"] == 0.2
    tight = plain(done(shove, "set_tension_pose", character="braced_60", index=0, values={"tension": 0.9}))
    assert tight["performance"]["braced_60"]["tension_poses"]["poses"][0]["tension"] == 0.9


def test_what_the_hand_did_is_kept_with_what_it_threw():
    touches = [
        {"push": "dancer/thorax", "at": 1.0, "impulse": [10, 0, 0]},
        {"throw": "ball", "target": "dancer/thorax", "at": 1.0, "hits_at": 1.6,
         "prop": {"shape": "sphere", "radius": 0.11, "mass": 0.6, "at": [3, 0, 0.2]}},
    ]  # fmt: skip
    text = edited(YMCA, keep_touches(plain(YMCA), touches)[1])
    script = script_from_text(text, "x")
    assert len(script.scene.events) == 2 and "ball" in script.scene.props


def test_undo_and_redo_go_through_every_version(tmp_path):
    document = Document(tmp_path / "a.yaml", YMCA, on_disk=False)
    versions = [YMCA]
    for k in range(5):
        versions.append(edited(versions[-1], [Set(("title",), f"t{k}")]))
        document.change(f"edit {k}", text=versions[-1])
    for text in reversed(versions[:-1]):
        document.undo()
        assert document.now.text == text
    assert document.undo() is None
    for text in versions[1:]:
        document.redo()
        assert document.now.text == text


def test_unsaved_edits_lie_beside_the_file_and_are_there_again(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(YMCA, encoding="utf-8")
    document = Document.open(path)
    new = edited(YMCA, [Set(("title",), "unsaved")])
    touch = {"push": "dancer/thorax", "at": 1.0, "impulse": [1, 0, 0]}
    document.change("title", text=new)
    document.change("push", touches=(touch,))
    assert path.read_text(encoding="utf-8") == YMCA  # the file itself is not touched before it is saved
    again = Document.open(path)
    assert again.recovered and again.now.text == new and again.now.touches == (touch,)
    again.undo()
    assert again.now.text == YMCA
    again.redo()
    again.change("forget", touches=())
    again.save()
    assert path.read_text(encoding="utf-8") == new and not again.autosave.exists()


def test_a_broken_autosave_is_ignored(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(YMCA, encoding="utf-8")
    (tmp_path / ".a.autosave.yaml").write_text("# touches: [nonsense\n{{{", encoding="utf-8")
    assert Document.open(path).now.text == YMCA
