"""Nothing an animator did is lost: files that cannot be written, files others change, choices that keep meaning."""

import asyncio
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from studio_helpers import ENVIRONMENT, run

from stunt.drive.beats.spec import resolve_beats
from stunt.errors import StuntError
from stunt.examples import example
from stunt.script.file import load_script, script_from_text
from stunt.studio import openings
from stunt.studio.clients import Client
from stunt.studio.paper import keeping
from stunt.studio.paper.document import Document
from stunt.studio.paper.edits import EDITS
from stunt.studio.paper.keeping import NotReadError, NotWrittenError
from stunt.studio.paper.splice import Set, edited, plain

pytest.importorskip("nicegui", reason="the studio's extra is not installed")
YMCA, CLIPS = example("ymca").text(), example("ymca").path.parent / "clips"
NEW = edited(YMCA, [Set(("title",), "new")])


class Stage:
    """Stands for the simulation's process: is told everything, and says nothing."""

    def say(self, op, **data):
        pass

    async def ask(self, op, **data):
        return None

    def close(self):
        pass


def session_of(document, folder):
    from stunt.studio.session import Session

    session = Session(document, document.beside, folder)
    session._link = Stage()
    return session


@pytest.fixture
def document(tmp_path):
    (tmp_path / "a.yaml").write_text(YMCA, encoding="utf-8")
    found = Document.open(tmp_path / "a.yaml")
    found.change("title", text=NEW)
    return found


async def asked(session, client, op, **data):
    """Ask as a page does; returns the reply."""
    await session.hear(client, json.dumps({"op": op, "number": 7, "data": data}))
    words, _ = await asyncio.wait_for(client.next(), 20)
    return next(word for word in map(json.loads, words) if word["kind"] == "reply")


def untouched(document, folder):
    """A failed Save left everything as it was, and the next one works."""
    assert document.path == folder / "a.yaml" and document.path.read_text(encoding="utf-8") == YMCA
    assert document.now.text == NEW and document.dirty
    assert Document.open(document.path).now.text == NEW  # the autosave has the last edit
    document.save()
    assert document.path.read_text(encoding="utf-8") == NEW and not document.autosave.exists() and not document.dirty


# ---- two studios


def test_a_script_belongs_to_one_studio_at_a_time_however_that_ends(document, tmp_path):
    code = "import sys; from pathlib import Path; from stunt.studio.paper.keeping import OpenScript\n"
    code += f"held = OpenScript(Path({str(tmp_path / 'b.yaml')!r})); print(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", code]
    other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    other.stdout.readline()
    session = session_of(document, tmp_path)

    async def refused():
        replies = [await asked(session, Client("a"), op, name="b.yaml") for op in ("save", "rename")]
        (tmp_path / "b.yaml").write_text(YMCA, encoding="utf-8")
        (tmp_path / ".b.autosave.yaml").write_text(NEW, encoding="utf-8")
        replies.append(await asked(session, Client("a"), "open", name=str(tmp_path / "b.yaml")))
        replies.append(await asked(session, Client("a"), "throw_away", path=str(tmp_path / "b.yaml")))
        return replies

    for reply in run(refused()):
        assert "open in another studio" in reply["error"]
    assert (tmp_path / ".b.autosave.yaml").exists() and document.path == tmp_path / "a.yaml"
    assert openings.free_path(tmp_path, "a") == tmp_path / "a-2.yaml"
    other.kill()
    other.wait()
    assert run(asked(session, Client("a"), "open", name=str(tmp_path / "b.yaml"))).get("error") is None
    assert session.document.now.text == NEW and not (tmp_path / ".a.yaml.studio").exists()
    session.close()
    assert not list(tmp_path.glob(".*.studio"))


# ---- a Save that fails


@pytest.mark.parametrize("other", ["", "b.yaml"])
def test_a_save_with_any_system_call_failing_or_killed_there_loses_nothing(other):
    if not shutil.which("strace"):
        pytest.skip("strace is not installed (Debian: apt-get install strace)")
    script = Path(__file__).with_name("saving_under_fire.py")
    done = subprocess.run([sys.executable, script, other], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if "cannot attach" in done.stderr:
        pytest.skip(f"this machine lets nobody trace: {done.stderr[-200:]}")
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    failed, killed = sum(bool(c.get("failed")) for c in cases), sum("killed" in c for c in cases)
    print(f"{len(cases)} cases, {failed} failed, {killed} killed")
    assert len(cases) > 40 and {"rename", "write", "fsync"} <= {c["where"].split(":")[0] for c in cases}, done.stderr
    target = other or "a.yaml"
    for found in cases:
        there, where = found["there"], found["where"]
        kept = "title: new" in there.get(".a.autosave.yaml", "")
        if "killed" in found:
            whole = "title: new" in there.get(target, "")
            assert whole or kept, where
            assert found["reopened"].count("title: new") or (other and whole), where
        elif found["failed"]:
            assert not found["failed"].startswith("RAW"), where
            assert "title: old" in there["a.yaml"] and (not other or other not in there), where
            assert kept and found["path"] == "a.yaml" and found["dirty"] and found["again"] is True, where
        else:
            assert "title: new" in there[target] and found["path"] == target and not found["dirty"], where
            assert not other or "title: old" in there["a.yaml"], where


def test_a_word_of_nothing_is_answered_and_the_next_edit_goes_on(document, tmp_path):
    session, client = session_of(document, tmp_path), Client(1)

    def nothing(data):
        return next(iter(()))

    async def both():
        EDITS["nothing"] = nothing  # no future can hold what this raises
        try:
            first = await asked(session, client, "edit", name="nothing", args={})
            empty = await asked(session, client, "edit", name="add_event", args={"event": []})
            wrong = await asked(session, client, "edit", name="add_event", args={"event": {"push": ["x"]}})
            return first, empty, wrong, await asked(session, client, "edit", name="set_seconds", args={"seconds": 3})
        finally:
            del EDITS["nothing"]

    first, empty, wrong, last = run(both())
    assert "make no sense" in first["error"] and "an event says what it is" in empty["error"]
    assert wrong["error"].startswith("a.yaml:") and "/" not in wrong["error"].split(" ")[0]  # no folders to the page
    assert "error" not in last


def test_names_that_no_file_can_have_leave_everything_as_it_was(document, tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    for name in ("x" * 300 + ".yaml", "folder.yaml"):
        with pytest.raises(NotWrittenError):
            document.save(tmp_path / name)
    untouched(document, tmp_path)


def test_a_read_only_file_is_not_replaced(document, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(NotWrittenError, match="read-only"):
        document.save()
    monkeypatch.undo()
    untouched(document, tmp_path)


def test_edits_go_on_where_nothing_can_be_kept_and_are_kept_once_there_is_room(document, tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping, "written_aside", full)
    third = edited(NEW, [Set(("title",), "third")])
    document.change("title", text=third)
    assert document.now.text == third and "no space left" in document.unkept
    document.undo()
    document.redo()
    with pytest.raises(NotWrittenError, match="no space left"):
        document.save()
    monkeypatch.undo()
    document.keep_aside()
    assert not document.unkept and Document.open(document.path).now.text == third


def test_what_cannot_be_kept_beside_the_file_is_kept_elsewhere_at_the_end(document, tmp_path, caplog):
    document.autosave.unlink()
    document.autosave.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    session = session_of(document, elsewhere)
    document.change("title", text=edited(NEW, [Set(("title",), "third")]))
    assert document.unkept
    session.close()
    (kept,) = elsewhere.iterdir()
    assert "title: third" in kept.read_text(encoding="utf-8") and str(kept) in caplog.text


def test_what_the_file_system_refuses_is_said_in_words_and_no_page_is_dropped(document, tmp_path):
    (tmp_path / "dir.yaml").mkdir()
    questions = [
        ("open", {"name": "dir.yaml"}), ("open", {"name": str(tmp_path / "dir.yaml")}), ("open", {"name": "x" * 5000}),
        ("open", {"name": "x" * 5000 + ".yaml"}),
        ("save", {"name": "x" * 300 + ".yaml"}), ("save", {"name": "a\0.yaml"}),
        ("save", {"name": "\ud800.yaml"}), ("save", {"name": "dir.yaml"}), ("save", {"name": "../a.yaml"}),
        ("save", {"name": "b.yaml", "folder": "/etc"}), ("play", {"step": 1e999}), ("rename", {"name": "dir.yaml"}),
        ("rename", {"name": "y" * 400 + ".yaml"}), ("throw_away", {"path": "/etc/passwd"}), ("use", {"file": "x"}),
    ]  # fmt: skip

    async def play():
        session = session_of(document, tmp_path)
        for number, (op, data) in enumerate(questions):
            client = Client(number)
            reply = await asked(session, client, op, **data)
            assert reply.get("error") and "Traceback" not in reply["error"] and len(reply["error"]) < 2000, (op, data)
            assert not client.gone
        client = Client(99)
        await session.hear(client, '{"op": "library", "number": 1e999}')
        assert not client.gone

    run(play())
    untouched(document, tmp_path)


# ---- a file that somebody else changes


def test_save_never_writes_over_what_was_not_read_unless_told(document, tmp_path):
    theirs = YMCA.replace("rate: 480", "rate: 240")
    assert not document.look()
    document.path.write_text(theirs, encoding="utf-8")
    with pytest.raises(NotReadError):
        document.save()
    assert document.look() and document.outside == "changed"
    assert any(line.startswith("+rate: 240") for line in document.compare())
    with pytest.raises(NotReadError):
        document.save()
    assert document.path.read_text(encoding="utf-8") == theirs
    document.keep_mine()
    document.save()
    assert document.path.read_text(encoding="utf-8") == NEW
    document.path.write_text(theirs, encoding="utf-8")
    assert document.look()
    document.reload(document.theirs())
    assert document.now.text == theirs and not document.dirty and not document.outside
    document.undo()
    assert document.now.text == NEW and document.dirty
    document.save()


def test_a_file_that_went_away_is_said_and_written_again(document):
    document.path.unlink()
    assert document.look() and document.outside == "gone"
    document.save()
    assert document.path.read_text(encoding="utf-8") == NEW and not document.outside


def test_edits_found_again_beside_a_file_that_changed_meanwhile_are_not_saved_over_it(document):
    theirs = YMCA.replace("rate: 480", "rate: 240")
    document.path.write_text(theirs, encoding="utf-8")
    again = Document.open(document.path)
    assert again.recovered and again.now.text == NEW and again.outside == "changed"
    with pytest.raises(NotReadError):
        again.save()
    again.save(over=True)
    assert again.path.read_text(encoding="utf-8") == NEW


def test_the_session_notices_and_asks(document, tmp_path):
    async def play():
        session = session_of(document, tmp_path)
        client = Client(1)
        document.path.write_text(YMCA + "# theirs\n", encoding="utf-8")
        await session._watch_once()
        assert session._document_data()["outside"] == "changed"
        assert (await asked(session, client, "save"))["data"]["asks"] == "changed"
        (tmp_path / "b.yaml").write_text("mine", encoding="utf-8")
        assert (await asked(session, client, "save", name="b.yaml"))["data"]["asks"] == "there"
        assert (tmp_path / "b.yaml").read_text(encoding="utf-8") == "mine"
        await asked(session, client, "push", target="dancer/thorax", at=1.0, impulse=[9, 0, 0], point=[0, 0, 0])
        assert (await asked(session, client, "save"))["data"] == {"asks": "touches", "count": 1}
        saved = await asked(session, client, "save", touches="keep", over=True)
        assert len(load_script(saved["data"]["path"]).scene.events) == 1 and not document.dirty

    run(play())


def test_line_ends_stay_as_they_were(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(YMCA.replace("\n", "\r\n").encode())
    document = Document.open(path)
    document.change("title", text=edited(document.now.text, [Set(("title",), "new")]))
    document.save()
    assert path.read_bytes() == NEW.replace("\n", "\r\n").encode()


# ---- names, unsaved work, examples


def test_rename_moves_file_and_unsaved_work_and_never_onto_another(document, tmp_path):
    (tmp_path / "b.yaml").write_text("other", encoding="utf-8")
    with pytest.raises(NotReadError):
        document.rename(tmp_path / "b.yaml")
    document.rename(tmp_path / "c.yaml")
    assert not (tmp_path / "a.yaml").exists() and not (tmp_path / ".a.autosave.yaml").exists()
    assert (tmp_path / "c.yaml").read_text(encoding="utf-8") == YMCA and Document.open(
        tmp_path / "c.yaml"
    ).now.text == NEW


def test_unsaved_work_is_listed_and_a_name_with_some_is_not_taken(document, tmp_path):
    example_text, _ = openings.open_anything("ymca", tmp_path)
    example_text.change("title", text=NEW)
    again, _ = openings.open_anything("ymca", tmp_path)
    assert again.now.text == YMCA and not again.recovered and again.path != example_text.path  # as it came
    found = {entry["name"]: entry["saved"] for entry in openings.unsaved([tmp_path])}
    assert found == {"a.yaml": True, "ymca.yaml": False}
    opened, beside = openings.open_anything(str(example_text.path), tmp_path)
    assert opened.now.text == NEW and opened.dirty and beside == example("ymca").path
    with pytest.raises(NotReadError, match="unsaved work"):
        document.save(tmp_path / "ymca.yaml")
    document.save(tmp_path / "ymca.yaml", over=True)
    assert [entry["name"] for entry in openings.unsaved([tmp_path])] == ["ymca-2.yaml"]  # moved out of the way


def test_an_autosave_that_is_no_script_is_put_aside_not_over(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(YMCA, encoding="utf-8")
    (tmp_path / ".a.autosave.yaml").write_text("title: {half", encoding="utf-8")
    document = Document.open(path)
    document.change("title", text=NEW)
    assert (tmp_path / ".a-2.autosave.yaml").read_text(encoding="utf-8") == "title: {half"
    assert Document.open(path).now.text == NEW


# ---- files that go along


def follower(clip, **more):
    part = {"clips": {"play": [{"clip": clip}]}}
    return json.dumps(
        {"characters": {"ada": {"body": "skeleton", "root": "free"}}, "performance": {"ada": part}, **more}
    )


def test_a_clip_is_named_as_seen_from_the_script_so_the_folder_can_be_moved(tmp_path):
    here, far = tmp_path / "here", tmp_path / "far"
    (here / "clips").mkdir(parents=True)
    far.mkdir()
    shutil.copy(CLIPS / "walk.bvh", here / "clips" / "mine.bvh")
    shutil.copy(CLIPS / "walk.bvh", far / "theirs.bvh")
    (here / "theirs.bvh").write_text("another file", encoding="utf-8")
    for reference in (here / "clips" / "mine.bvh", far / "theirs.bvh"):
        document, _ = openings.open_clip(str(reference), here)
        assert str(tmp_path) not in document.now.text
        saved = session_of(document, here)._save(None, False)
        assert str(tmp_path) not in saved.read_text(encoding="utf-8")
    assert (here / "theirs.bvh").read_text(encoding="utf-8") == "another file"
    assert (here / "theirs-2.bvh").read_bytes() == (far / "theirs.bvh").read_bytes()
    shutil.rmtree(far)
    here.rename(tmp_path / "moved")
    for name in ("mine", "theirs"):
        script = load_script(tmp_path / "moved" / f"{name}.yaml")
        assert Path(script.parts["double"].sections["clips"].play[0].clip).is_relative_to(tmp_path / "moved")


@pytest.mark.parametrize("title", ["../payload.txt", "notes.txt"])
def test_save_as_takes_companions_along_and_nothing_leaves_the_folder(tmp_path, title):
    here, there = tmp_path / "here", tmp_path / "sub" / "there"
    here.mkdir()
    there.mkdir(parents=True)
    shutil.copy(CLIPS / "walk.bvh", tmp_path / "up.bvh")
    (tmp_path / "payload.txt").write_text("secret", encoding="utf-8")
    (here / "notes.txt").write_text("private", encoding="utf-8")
    (here / "a.yaml").write_text(follower("../up.bvh", title=title), encoding="utf-8")
    document = Document.open(here / "a.yaml")
    session = session_of(document, there)
    saved = session._save(there / "a.yaml", False)
    session.close()
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file() and there in path.parents) == [
        "a.yaml",
        "up.bvh",
    ]
    assert sorted(path.name for path in (tmp_path / "sub").iterdir()) == ["there"]
    assert plain(saved.read_text(encoding="utf-8"))["performance"]["ada"]["clips"]["play"][0]["clip"] == "up.bvh"
    load_script(saved)


def test_what_a_body_or_clip_needs_goes_along(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "parts").mkdir(parents=True)
    there.mkdir()
    (here / "parts" / "box.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n", encoding="utf-8"
    )
    (here / "model.xml").write_text(
        '<mujoco><compiler meshdir="parts"/><asset><mesh name="b" file="box.obj"/></asset>'
        '<worldbody><body name="b"><joint name="j"/><geom type="mesh" mesh="b"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )  # fmt: skip
    (here / "secret.txt").write_text("not named", encoding="utf-8")
    assert [path.name for path in openings.belongings(here / "model.xml")] == ["box.obj"]
    (here / "a.yaml").write_text(json.dumps({"characters": {"ada": "model.xml"}, "seconds": 1}), encoding="utf-8")
    session = session_of(Document.open(here / "a.yaml"), there)
    saved = session._save(there / "a.yaml", False)
    session.close()
    names = sorted(path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file())
    assert names == ["a.yaml", "model.xml", "parts/box.obj"] and load_script(saved)


def test_companions_of_a_save_that_fails_are_taken_back(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    shutil.copy(CLIPS / "walk.bvh", here / "w.bvh")
    (here / "a.yaml").write_text(follower("w.bvh"), encoding="utf-8")
    document = Document.open(here / "a.yaml")
    monkeypatch.setattr(Document, "save", lambda *args, **options: (_ for _ in ()).throw(NotWrittenError("no")))
    with pytest.raises(StuntError):
        session_of(document, there)._save(there / "a.yaml", False)
    assert not list(there.iterdir())


def test_a_second_dropped_file_of_the_same_name_is_the_new_file(tmp_path):
    (tmp_path / "a.yaml").write_text(YMCA, encoding="utf-8")
    walk, idle = (CLIPS / "walk.bvh").read_bytes(), next(CLIPS.glob("idle*")).read_bytes()

    async def play():
        session = session_of(Document.open(tmp_path / "a.yaml"), tmp_path)
        client, names = Client(1), []
        for content in (walk, idle, walk):
            await session.receive_file("my walk.bvh", content)
            names.append((await asked(session, client, "use", file="my_walk.bvh"))["data"]["name"])
            clip = session._script(session.document.now.text).parts["double"].sections["clips"].play[0].clip
            assert Path(clip).read_bytes() == content
        assert names == ["my_walk.bvh", "my_walk-2.bvh", "my_walk.bvh"]

    run(play())


def test_takes_are_no_clips(tmp_path):
    (tmp_path / "takes" / "x").mkdir(parents=True)
    for name in ("take.npz", "report.json"):
        (tmp_path / "takes" / "x" / name).write_text("{}", encoding="utf-8")
    assert not {"take", "report"} & {entry["name"] for entry in openings.listing(tmp_path)["clips"]}


# ---- chosen by what it is, not by where it stands


def named_beats(text):
    """Return a script whose beats can be told apart, whatever becomes of their order and times."""
    count = len(plain(text)["performance"]["dancer"]["beats"])
    return edited(text, [Set(("performance", "dancer", "beats", k, "hold"), 0.3 + 0.001 * k) for k in range(count)])


def test_a_number_means_the_same_beat_through_200_edits_of_two_pages(tmp_path):
    (tmp_path / "a.yaml").write_text(named_beats(YMCA), encoding="utf-8")
    luck = random.Random(7)

    async def play():
        session = session_of(Document.open(tmp_path / "a.yaml"), tmp_path)
        pages = [Client(1), Client(2)]
        await session._look()
        meant: dict[int, float] = {}

        def beats():
            return session._outline["characters"]["dancer"]["beats"]

        for turn in range(200):
            present = {beat["id"]: beat["hold"] for beat in beats()}
            assert len(present) == len(beats())
            for number, hold in present.items():
                assert meant.setdefault(number, hold) == hold, turn
            page, number = luck.choice(pages), luck.choice(list(meant))
            what = luck.choice(["add", "move", "move", "delete", "undo", "undo", "redo", "copy"])
            edit = {"character": "dancer", "ids": [number]}
            match what:
                case "add":
                    beat = {"pose": "Y", "hold": round(1.0 + 0.001 * turn, 3)}
                    await asked(session, page, "edit", name="add_beat",
                                args={"character": "dancer", "time": luck.uniform(0.1, 6), "beat": beat})  # fmt: skip
                case "move":
                    await asked(session, page, "edit", name="move_beats", args={**edit, "by": luck.uniform(-2, 2)})
                case "copy":
                    await asked(session, page, "edit", name="copy_beats", args={**edit, "time": luck.uniform(0.1, 6)})
                case "delete" if len(present) > 3:
                    reply = await asked(session, page, "edit", name="delete_beats", args=edit)
                    gone = set(present) - {beat["id"] for beat in beats()}
                    assert gone == ({number} if number in present else set())
                    assert ("error" in reply) == (number not in present)
                case _:
                    await asked(session, page, "redo" if what == "redo" else "undo")
        print(f"{len(meant)} beats were known, {len(beats())} are left")
        assert len(meant) > 30

    run(play())


# ---- edits that leave the rest alone


def done(text, what, /, **args):
    _, edits = EDITS[what](plain(text), **args)
    return edited(text, edits)


def test_a_tension_dot_changes_one_value_of_a_mapping():
    for name in ("go_left", "lift", "crouch", "nod_sag_shrug"):
        text = example(name).text()
        for character, part in plain(text)["performance"].items():
            poses = (part.get("tension_poses") or {}).get("poses") or []
            for index in range(-1, len(poses)):
                new = done(text, "set_tension_pose", character=character, index=index, values={"tension": 0.31})
                before, after = leaves(plain(text)), leaves(plain(new))
                changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
                assert len(changed) == 1 and after[changed.pop()] == 0.31, (name, character, index)
    left = example("go_left").text()
    who = next(iter(plain(left)["performance"]))
    point = plain(done(left, "set_tension_pose", character=who, index=1, values={"tension": 0.5}))
    held = point["performance"][who]["tension_poses"]["poses"][1]["tension"]
    assert held == {"l_arm": 0.5, "head": "tight", "trunk": "braced"}


def leaves(data, path=()):
    if isinstance(data, dict | list):
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        return {place: leaf for key, value in pairs for place, leaf in leaves(value, (*path, key)).items()}
    return {path: data}


def test_a_pose_like_another_keeps_being_so():
    text = example("arm_swing_bent").text()
    from stunt.studio.paper.edits import degrees_of

    whole = degrees_of(script_from_text(text, "x").poses["front"])
    joint = next(name for name in whole if name != "r_shoulder_flexion")
    new = done(text, "save_pose", name="front", angles={**whole, joint: whole[joint] + 7})
    assert plain(new)["poses"]["front"] == {"like": "back", "r_shoulder_flexion": 90, joint: round(whole[joint] + 7, 2)}
    assert done(text, "save_pose", name="front", angles=whole) == text
    alone = plain(done(text, "save_pose", name="front", angles={"r_shoulder_flexion": 90}, gone=[joint]))
    assert alone["poses"]["front"] == {"r_shoulder_flexion": 90}  # what is inherited can only be left with all of it


def test_a_beat_is_called_by_the_pose_it_hits():
    made = done(YMCA, "add_beat", character="dancer", time=0.2, beat={"angles": {"neck_bend": 3}, "name": "captured"})
    made = done(made, "add_beat", character="dancer", time=0.3, beat={"angles": {"neck_bend": 5}, "name": "captured"})
    assert [beat.get("name") for beat in plain(made)["performance"]["dancer"]["beats"][:2]] == [
        "captured",
        "captured_2",
    ]
    own = done(made, "set_beat_angles", character="dancer", index=0, angles={"neck_bend": 4.0})
    assert plain(own)["performance"]["dancer"]["beats"][0]["angles"] == {"neck_bend": 4}
    named = done(made, "set_beat_pose", character="dancer", index=0, pose="Y")
    assert resolve_beats(script_from_text(named, "x").parts["dancer"])[0].pose.name == "Y"
    assert set(plain(named)["performance"]["dancer"]["beats"][0]) == {"pose", "after"}


def test_copies_keep_their_spacing():
    before = [b.time for b in resolve_beats(script_from_text(YMCA, "x").parts["dancer"])]
    new = done(YMCA, "copy_beats", character="dancer", indices=[0, 1, 3], time=10.0)
    after = [b.time for b in resolve_beats(script_from_text(new, "x").parts["dancer"])]
    assert after[:10] == pytest.approx(before) and [t - 10.0 for t in after[10:]] == pytest.approx(
        [before[k] - before[0] for k in (0, 1, 3)], abs=1e-3
    )
