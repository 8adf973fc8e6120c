"""Nothing an animator did on the page is lost, in a real browser: saving, choosing, typing, posing, two pages."""

import json
import re
import socket

import pytest
from studio_helpers import Page, Studio

from stunt.examples import example
from stunt.script.file import load_script
from stunt.studio.paper.splice import plain

CLIPS = example("ymca").path.parent / "clips"
SHORT = """\
# A short one, so that it loops often.
stunt: 1
title: Short
characters: {ada: torso28}
poses:
  up: {r_elbow_flexion: 60, neck_bend: 5}
  more: {like: up, neck_bend: -5}
  down: {r_elbow_flexion: 5}
performance:
  ada:
    tension: 0.3
    beats:
      - {pose: up, after: 0.25}
      - {pose: down, after: 0.25}
      - {pose: up, after: 0.25}
events:
  - {push: ada/thorax, at: 0.6, impulse: [0.2, 0, 0]}
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    pytest.importorskip("nicegui", reason="the studio's extra is not installed")
    folder = tmp_path_factory.mktemp("keeps")
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    running = Studio(folder, "short.yaml", "--stay")
    yield running
    running.end()


@pytest.fixture
def page(module_page, studio):
    """The page with the short script as it was at first, saved under a name of its own."""
    page = module_page
    page.state("studio.line.say('play', {playing: false, loop: false, speed: 1, seek: 0})")
    for old in studio.folder.glob(".*.autosave.yaml"):
        old.unlink()
    fresh = studio.folder / f"short{len(list(studio.folder.glob('short*.yaml')))}.yaml"
    fresh.write_text(SHORT, encoding="utf-8")
    page.state("studio.pose.close()")
    page.state(f"studio.do('open', {{name: {str(fresh)!r}}})")
    page.until(f"studio.name === {fresh.name!r}")
    page.settled()
    page.file = fresh
    page.problems.clear()
    yield page
    assert not page.problems


@pytest.fixture
def other(page, studio):
    """A second page of the same studio."""
    second = Page(page.page.context.new_page())
    second.visit(studio.url)
    page.until("!document.getElementById('pages').hidden")
    yield second
    second.page.close()
    page.page.bring_to_front()
    page.until("document.getElementById('pages').hidden")
    assert not second.problems


def beats(page):
    return page.state("studio.outline.characters.ada.beats.map(({id, pose, time, hold}) => ({id, pose, time, hold}))")


def chosen(page):
    return page.state("[...studio.choice.beats]")


def click_beat(page, index):
    page.page.locator(f".beat[data-beat='{index}']:not(.limb-beat) path").click()


def answer(page, value):
    page.page.locator(f"#question [data-answer='{value}']").click()


def menu(page, words):
    page.page.locator("#file").click()
    page.page.locator("#menu button", has_text=words).click()


def saved(page):
    return plain(page.file.read_text(encoding="utf-8"))


def save(page):
    page.page.keyboard.press("Control+s")
    page.until("!document.getElementById('file').classList.contains('dirty')")


# ---- saving


def test_a_save_that_fails_says_so_keeps_everything_and_the_next_works(page, studio):
    (studio.folder / "taken.yaml").mkdir(exist_ok=True)
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.settled()
    for name in ("taken", "x" * 300):
        menu(page, "Save as")
        page.page.locator("#name-field").fill(name)
        page.page.keyboard.press("Enter")
        page.page.locator("#question h2", has_text="Not saved").wait_for()
        answer(page, "")
        assert page.state("studio.name") == page.file.name and page.page.locator("#file.dirty").count() == 1
        assert page.file.read_text(encoding="utf-8") == SHORT
        autosave = page.file.with_name(f".{page.file.stem}.autosave.yaml")
        assert "seconds: 1.5" in autosave.read_text(encoding="utf-8")
    save(page)
    assert saved(page)["seconds"] == 1.5 and not autosave.exists()


def test_what_the_hand_did_is_saved_or_asked_about(page):
    push = "{target: 'ada/thorax', at: 0.3, impulse: [1, 0, 0], point: [0, 0, 0]}"
    page.state(f"studio.do('push', {push})")
    page.until("studio.outline.touches.length === 1")
    page.page.keyboard.press("Control+s")
    page.page.locator("#question h2", has_text="hand").wait_for()
    answer(page, "")
    assert page.file.read_text(encoding="utf-8") == SHORT
    page.page.keyboard.press("Control+s")
    answer(page, "keep")
    page.until("!document.getElementById('file').classList.contains('dirty')")
    assert len(load_script(page.file).scene.events) == 2 and page.state("studio.outline.touches.length") == 0


def test_a_file_changed_outside_is_noticed_and_never_written_over_unasked(page):
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    theirs = SHORT.replace("tension: 0.3", "tension: 0.4")
    page.file.write_text(theirs, encoding="utf-8")
    page.until("document.getElementById('notice-outside')")
    page.page.keyboard.press("Control+s")
    page.page.locator("#question h2", has_text="changed outside").wait_for()
    answer(page, "")
    assert page.file.read_text(encoding="utf-8") == theirs
    page.page.locator("#outside-compare").click()
    assert "tension: 0.4" in page.page.locator("#question .theirs").inner_text()
    answer(page, "")
    page.page.locator("#outside-reload").click()
    page.until("studio.outline.characters.ada.tension === 0.4 && !document.getElementById('notice-outside')")
    page.page.keyboard.press("Control+z")
    page.until("studio.outline.seconds === 1.5")  # nothing of it is lost
    page.file.write_text(SHORT, encoding="utf-8")
    page.until("document.getElementById('notice-outside')")
    page.page.locator("#outside-mine").click()
    page.until("!document.getElementById('notice-outside')")
    save(page)
    assert saved(page)["seconds"] == 1.5


def test_an_edit_that_cannot_be_kept_on_disk_is_shown_said_and_kept_later(page):
    autosave = page.file.with_name(f".{page.file.stem}.autosave.yaml")
    autosave.mkdir()  # as full or read-only a disk as it gets for root, too
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.until("document.getElementById('notice-unkept') && studio.outline.seconds === 1.5")
    assert page.state("studio.text").count("seconds: 1.5") == 1
    autosave.rmdir()
    page.until("!document.getElementById('notice-unkept')")
    assert "seconds: 1.5" in autosave.read_text(encoding="utf-8")
    save(page)
    assert saved(page)["seconds"] == 1.5


def test_a_studio_that_is_killed_has_kept_the_edit_and_its_page_says_what_to_do(browser, tmp_path):
    (tmp_path / "short.yaml").write_text(SHORT, encoding="utf-8")
    with socket.socket() as probe:  # a port that no other test's studio will take between the two
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    first = Studio(tmp_path, "short.yaml", "--stay", "--port", port)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = Page(context.new_page())
    page.visit(first.url)
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.until("studio.outline.seconds === 1.5 && studio.pending === 0")
    first.process.kill()
    first.process.wait(60)
    page.until("document.getElementById('notice-line')?.textContent.includes('does not answer')")
    second = Studio(tmp_path, "short.yaml", "--stay", "--port", port)
    page.until("document.getElementById('notice-line')?.textContent.includes('has ended')")
    page.visit(second.url)
    assert page.state("studio.outline.seconds") == 1.5 and page.page.locator("#file.dirty").count() == 1
    assert (tmp_path / "short.yaml").read_text(encoding="utf-8") == SHORT
    assert second.said().count("refused a request") <= 3  # the old page does not knock for ever
    context.close()
    second.end()


def test_what_another_studio_has_open_is_said_and_its_unsaved_work_stays_its_own(page, browser, studio):
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.settled()
    with pytest.raises(RuntimeError, match=f"'{page.file.name}' is open in another studio"):
        Studio(studio.folder, page.file.name)
    page.state("studio.do('open', {name: 'wave'})")
    page.until("studio.name === 'wave.yaml'")
    page.state(f"studio.do('open', {{name: {page.file.name!r}}})")
    page.until("studio.outline.seconds === 1.5")
    (studio.folder / "log").mkdir()
    (studio.folder / "log" / "wave.yaml").write_text(SHORT, encoding="utf-8")
    second = Studio(studio.folder / "log", "wave.yaml", "--stay")
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    theirs = Page(context.new_page())
    theirs.visit(second.url)
    for op, data in (("open", {"name": str(page.file)}), ("open", {"name": f"../{page.file.name}"})):
        words = theirs.state(f"studio.line.ask({op!r}, {json.dumps(data)}).catch((error) => error.message)")
        assert "is open in another studio" in words and theirs.state("studio.name") == "wave.yaml"
    page.state("studio.do('open', {name: 'wave'})")
    page.until("studio.name === 'wave.yaml'")
    theirs.state(f"studio.do('open', {{name: {str(page.file)!r}}})")  # nobody has it any more
    theirs.until("studio.outline.seconds === 1.5")
    context.close()
    second.end()
    assert not list(studio.folder.glob(f".{page.file.name}.studio"))


def test_other_names_going_back_and_unsaved_work(page, studio):
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.settled()
    menu(page, "Revert")
    page.until("studio.outline.seconds === null && !document.getElementById('file').classList.contains('dirty')")
    page.page.keyboard.press("Control+z")
    page.until("studio.outline.seconds === 1.5")
    menu(page, "Rename")
    page.page.locator("#name-field").fill("renamed")
    page.page.keyboard.press("Enter")
    page.until("studio.name === 'renamed.yaml'")
    assert not page.file.exists() and (studio.folder / "renamed.yaml").read_text(encoding="utf-8") == SHORT
    page.state("studio.do('open', {name: 'wave'})")
    page.until("studio.name === 'wave.yaml'")
    page.settled()
    menu(page, "Unsaved work")
    row = page.page.locator("table.unsaved tr", has_text="renamed.yaml")
    row.locator(".open").click()
    page.until("studio.name === 'renamed.yaml' && studio.outline.seconds === 1.5")
    page.settled()
    menu(page, "Save as")
    page.page.locator("#name-field").fill("copied")
    page.page.keyboard.press("Enter")
    page.until("studio.name === 'copied.yaml' && !document.getElementById('file').classList.contains('dirty')")
    assert (studio.folder / "renamed.yaml").read_text(encoding="utf-8") == SHORT
    assert "seconds: 1.5" in (studio.folder / "copied.yaml").read_text(encoding="utf-8")
    (studio.folder / "renamed.yaml").unlink()
    (studio.folder / "copied.yaml").unlink()


def test_an_example_is_opened_as_it_came(page):
    for _ in range(2):
        page.state("studio.do('open', {name: 'wave'})")
        page.until("studio.name.startsWith('wave') && studio.outline.seconds !== 3.5")
        page.settled()
        assert page.state("studio.text") == example("wave").text()
        page.state("studio.edit('set_seconds', {seconds: 3.5})")
        page.until("studio.outline.seconds === 3.5")


# ---- what is chosen


def test_delete_takes_what_was_chosen_whatever_comes_before_it(page):
    click_beat(page, 1)
    (number,) = chosen(page)
    page.state("studio.edit('add_beat', {character: 'ada', time: 0.1, beat: {pose: 'more'}})")
    page.until("studio.outline.characters.ada.beats.length === 4")
    assert chosen(page) == [number]
    assert page.page.locator("#tab-pose .row", has_text="Beat 3").count() == 1
    page.page.keyboard.press("Delete")
    page.until("studio.outline.characters.ada.beats.length === 3")
    assert number not in [b["id"] for b in beats(page)] and [b["pose"] for b in beats(page)] == ["more", "up", "up"]
    assert chosen(page) == []
    page.page.keyboard.press("Delete")  # nothing is chosen: nothing goes
    page.page.keyboard.press("Control+z")
    page.until("studio.outline.characters.ada.beats.length === 4")
    assert number in [b["id"] for b in beats(page)]


def test_b_then_delete_acts_in_order_and_a_new_beat_is_chosen_and_editable(page):
    before = beats(page)
    click_beat(page, 2)
    page.state("studio.seek(0.1)")
    page.until("Math.abs(studio.time - 0.1) < 0.02")
    page.page.keyboard.press("b")
    page.page.keyboard.press("Delete")
    page.settled()
    assert beats(page) == before and page.state("studio.history.depth") == 2
    page.page.keyboard.press("b")
    page.until("studio.outline.characters.ada.beats.length === 4")
    page.settled()
    assert chosen(page) == [beats(page)[0]["id"]]
    page.page.locator("#beat-edit").click()
    field = page.page.locator("[data-joint=neck_bend] input[type=number]")
    field.fill("7")
    field.press("Enter")
    page.page.locator("#pose-save").click()
    page.until("studio.outline.characters.ada.beats[0].angles.neck_bend === 7")
    page.page.locator("#pose-done").click()
    page.page.locator("#beat-pose").select_option("up")
    page.until("studio.outline.characters.ada.beats[0].pose === 'up'")
    page.settled()
    assert page.page.locator(".beat[data-beat='0']:not(.limb-beat) text").first.text_content() == "up"
    assert page.page.locator("#beat-pose").input_value() == "up"


def test_two_pages_know_of_each_other_and_each_has_its_selection(page, other):
    assert page.page.locator("#pages").inner_text() == other.page.locator("#pages").inner_text() == "2 pages"
    page.page.bring_to_front()
    click_beat(page, 2)
    (mine,) = chosen(page)
    other.page.bring_to_front()
    click_beat(other, 0)
    other.page.keyboard.press("Delete")
    page.until("studio.outline.characters.ada.beats.length === 2")  # what one does the other sees
    assert chosen(page) == [mine] and chosen(other) == []
    page.page.bring_to_front()
    page.page.keyboard.press("Delete")
    other.until("studio.outline.characters.ada.beats.length === 1")
    assert mine not in [b["id"] for b in beats(page)] and beats(page)[0]["pose"] == "down"
    # Another scene: the other page is asked, may stay, or go along.
    for go in ("", "go"):
        page.page.bring_to_front()
        page.state("(studio.files.open('wave'), null)")
        page.page.locator("#question h2", has_text="Asked").wait_for()
        other.page.bring_to_front()
        other.page.locator("#question h2", has_text="Go along").wait_for()
        assert other.state("studio.name") == page.file.name
        other.page.locator(f"#question [data-answer='{go}']").click()
        page.page.bring_to_front()
        page.until("!document.getElementById('question').open")
    for each in (page, other):
        each.until("studio.name.startsWith('wave')")


# ---- typing and posing


def test_typing_while_it_loops_is_never_reset_and_fires_no_shortcut(page):
    page.page.locator("#pose-choice").select_option("up")
    page.until("studio.pose.angles && !studio.pose.asking")
    click_beat(page, 1)
    page.settled()
    page.state("(window.told = 0, studio.line.on('results', () => { window.told += 1; }), null)")
    page.state("studio.line.say('play', {loop: true, speed: 4, playing: true, seek: 0})")
    revision = page.state("studio.revision")
    fields = [
        ("#pose-name", "obdlgtf_my_new_pose_long_name"),
        ("#beat-time", "0.50000000000001"), ("#beat-hold", "0.30000000000001"),
        ("[data-joint=neck_bend] input[type=number]", "5.0000000000001"), ("#push-size", "20.000000000001"),
    ]  # fmt: skip
    for selector, text in fields:
        field = page.page.locator(selector)
        field.click()
        field.press("Control+a")
        for part in (text[:5], text[5:10], text[10:]):
            page.page.keyboard.type(part)
            told = page.state("window.told")
            page.until(f"window.told > {told}")  # a loop ended while the field was half filled
        assert field.input_value() == text, selector
        assert page.state(f"document.activeElement.matches({json.dumps(selector)})"), selector
        assert page.state("studio.revision") == revision and page.page.locator("dialog[open]").count() == 0
        page.page.keyboard.press("Control+a")
        page.page.keyboard.press("Delete")
        page.page.keyboard.press("Tab")
    page.state("studio.line.say('play', {loop: false, speed: 1, playing: false})")
    assert page.state("studio.revision") == revision  # emptied fields change nothing
    assert (
        page.page.locator("#beat-time").input_value() == "0.500"
        and page.page.locator("#push-size").input_value() == "20"
    )


def test_a_field_half_filled_stays_so_when_somebody_else_edits(page):
    click_beat(page, 1)
    page.page.locator("#beat-time").click()
    page.page.keyboard.press("Control+a")
    page.page.keyboard.type("0.")
    page.state("studio.line.ask('edit', {name: 'add_beat', args: {character: 'ada', time: 0.1, beat: {pose: 'more'}}})")
    page.until("studio.outline.characters.ada.beats.length === 4")
    page.page.keyboard.type("55")
    assert page.page.locator("#beat-time").input_value() == "0.55"
    click_beat(page, 3)  # what was typed counts, and for the beat it was typed for
    page.until("studio.outline.characters.ada.beats[2].time === 0.55")
    assert [beat["pose"] for beat in beats(page)] == ["more", "up", "down", "up"]


def test_an_emptied_field_of_the_inspector_changes_nothing(page):
    page.page.locator(".event path").first.click()
    text, field = page.state("studio.text"), page.page.locator("#key-at")
    field.fill("")
    field.press("Tab")
    assert field.input_value() == "0.6" and page.state("studio.text") == text


def test_a_slider_saves_what_it_shows_in_100_of_100_drags(page):
    page.page.locator("#pose-choice").select_option("up")
    page.until("studio.pose.angles && !studio.pose.asking")
    wrong = page.state(
        """(async () => {
            let seed = 12345, wrong = [];
            const luck = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
            const wait = (ms) => new Promise((done) => setTimeout(done, ms));
            const joints = [...document.querySelectorAll("#tab-pose .joint")].map((row) => row.dataset.joint);
            for (let round = 0; round < 20; round++) {
                const shown = {};
                for (let drag = 0; drag < 5; drag++) {
                    const joint = joints[Math.floor(luck() * joints.length)];
                    const row = document.querySelector(`[data-joint="${joint}"]`);
                    const range = row.querySelector("[type=range]");
                    for (let k = 0; k < 4; k++) {
                        range.value = Number(range.min) + luck() * (Number(range.max) - Number(range.min));
                        range.dispatchEvent(new Event("input", { bubbles: true }));
                        await wait(1 + 29 * luck());
                    }
                    range.dispatchEvent(new Event("change", { bubbles: true }));
                    shown[joint] = [Number(range.value), Number(row.querySelector("[type=number]").value)];
                }
                if (!(await studio.pose.save())) wrong.push("not saved");
                for (const [joint, values] of Object.entries(shown)) for (const value of values) {
                    const kept = studio.outline.poses.up[joint];
                    if (Math.abs(kept - value) > 0.006) wrong.push([round, joint, value, kept]);
                }
            }
            return wrong;
        })()"""
    )
    assert wrong == []
    page.settled()
    save(page)
    page.state("studio.pose.close()")


def test_sliders_work_by_keyboard_undo_undoes_the_pose_and_leaving_asks(page):
    page.state("studio.edit('set_seconds', {seconds: 1.5})")
    page.page.locator("#pose-choice").select_option("more")
    page.until("studio.pose.angles && !studio.pose.asking")
    page.page.locator("[data-joint=neck_bend] input[type=range]").focus()
    time = page.state("studio.time")
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    assert page.state("studio.pose.angles.neck_bend") == -4 and page.state("studio.time") == time
    page.page.keyboard.press("Control+z")
    assert page.state("studio.pose.angles.neck_bend") == -4.5 and page.state("studio.outline.seconds") == 1.5
    page.page.keyboard.press("Control+Shift+z")
    assert page.state("studio.pose.angles.neck_bend") == -4
    for leave in ("#pose-done", "#capture", "another pose", "another scene"):
        if leave == "another pose":
            page.page.locator("#pose-choice").select_option("down")
        elif leave == "another scene":
            page.state("(studio.files.open('wave'), null)")
        else:
            page.page.locator(leave).click()
        page.page.locator("#question h2", has_text="pose").wait_for()
        answer(page, "")
        page.until("!document.getElementById('question').open")
        assert page.state("studio.pose.angles.neck_bend") == -4 and page.state("studio.name") == page.file.name
    page.page.locator("#pose-done").click()
    answer(page, "save")
    page.until("studio.outline.poses.more.neck_bend === -4 && !studio.pose.angles")
    save(page)
    assert saved(page)["poses"]["more"] == {"like": "up", "neck_bend": -4}


def test_an_edited_pose_outlives_a_reload_and_another_scene(page, studio):
    page.page.locator("#pose-choice").select_option("up")
    page.until("studio.pose.angles && !studio.pose.asking")
    page.page.locator("[data-joint=neck_bend] input[type=range]").focus()
    page.page.keyboard.press("ArrowRight")
    page.until("!studio.pose.asking")
    page.visit(studio.url)
    page.until("studio.pose.angles?.neck_bend === 5.5 && studio.pose.edited")
    page.state("studio.do('open', {name: 'wave'})")  # as another page does it
    page.until("studio.name.startsWith('wave') && !studio.pose.angles")
    page.settled()
    page.state(f"studio.do('open', {{name: {str(page.file)!r}}})")
    page.until("studio.pose.angles?.neck_bend === 5.5 && studio.pose.edited")
    page.state("studio.pose.close()")


def test_a_tension_dot_leaves_the_other_limbs_alone_and_every_lane_can_be_reached(page):
    page.state("studio.do('open', {name: 'go_left'})")
    page.until("studio.name.startsWith('go_left')")
    page.settled()
    who = page.state("Object.keys(studio.outline.characters)[0]")
    dot = f".handle[data-character='{who}'][data-level='1']"
    page.page.locator(dot).scroll_into_view_if_needed()
    page.drag(page.middle(dot), (0, 8))
    page.until("!studio.pending && studio.history.undo === 'tension'")
    tension = plain(page.state("studio.text"))["performance"][who]["tension_poses"]["poses"][1]["tension"]
    assert tension["head"] == "tight" and tension["trunk"] == "braced" and isinstance(tension["l_arm"], float)
    # The last lane of the last character is seen once it is scrolled to.
    page.state("studio.do('open', {name: 'nod_sag_shrug'})")
    page.until("studio.name.startsWith('nod')")
    page.settled()
    seen = page.state(
        """(() => {
            const lane = [...document.querySelectorAll("#svg .lane")].at(-1);
            document.getElementById("lanes").scrollTop = 1e6;
            const box = lane.getBoundingClientRect();
            return document.elementFromPoint(box.left + 300, box.top + 8)?.closest("#svg") !== null;
        })()"""
    )
    assert seen


# ---- dropped files


def drop(page, name, content):
    page.page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [name, content],
    )
    page.page.locator("#use-clip").click()
    page.until("!document.getElementById('dialog').open && studio.outline.characters.double")


def test_a_second_dropped_file_of_the_same_name_is_the_new_file(page, studio):
    walk = (CLIPS / "walk.bvh").read_text(encoding="utf-8")
    count = int(re.search(r"Frames:\s*(\d+)", walk).group(1))
    head, _, rows = walk.partition("Frame Time")
    half = head.replace(f"Frames: {count}", f"Frames: {count // 2}")
    half += "Frame Time" + "\n".join(rows.split("\n")[: 1 + count // 2]) + "\n"
    drop(page, "mine.bvh", walk)
    page.settled()
    whole = page.state("studio.outline.characters.double.clips[0].length")
    drop(page, "mine.bvh", half)
    page.until(f"studio.outline.characters.double.clips[0].length < {0.7 * whole}")
    page.settled()
    assert str(studio.folder) not in page.state("studio.text")  # named as seen from the script
    reason = page.page.locator("#add-beat").get_attribute("title")
    assert page.page.locator("#add-beat").is_disabled() and "clips" in reason
