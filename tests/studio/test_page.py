"""The studio from the page alone, in a real browser: what an animator does, and sees."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from stunt.examples import example
from stunt.record.take import Take
from stunt.script.file import load_script
from stunt.script.performance import Performance

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "studio"
CLIP = Path(__file__).parents[2] / "src" / "stunt" / "examples" / "clips"


@pytest.fixture
def picture(page, tmp_path, request):
    """Take a picture of the page; into the documentation where that is asked for (see docs/studio.md)."""
    folder = IMAGES if request.config.getoption("--pictures", default=False) else tmp_path
    folder.mkdir(parents=True, exist_ok=True)

    def shoot(name):
        page.page.mouse.move(640, 700)
        page.page.wait_for_timeout(250)
        page.page.screenshot(path=folder / f"{name}.png")

    return shoot


def test_ymca_plays_to_its_end_and_shows_its_beat_errors(page, picture):
    page.page.locator("#speed").select_option("4")
    page.page.keyboard.press("Space")
    page.until("studio.playing")
    page.until("!studio.playing && studio.time > 6")
    keys = page.page.locator(".beat[data-error]:not([data-error=''])").all()
    errors = [float(key.get_attribute("data-error")) for key in keys]
    print(f"ten beats on the timeline, worst {max(errors):.4f}°")
    assert len(errors) == 10 and max(errors) < 0.1
    assert page.page.locator(".beat.good[data-error]").count() == 10
    page.page.locator("#speed").select_option("1")
    page.state("studio.seek(1.41)")
    page.until("Math.abs(studio.time - 1.41) < 0.01")
    picture("page-light")


def test_a_beat_dragged_later_is_met_at_its_new_time(page, picture):
    before = page.beats()[4]
    per_second = page.state("studio.timeline.scale.perSecond")
    page.drag(page.middle(".beat[data-beat='4']:not(.limb-beat) path"), (0.2 * per_second, 0), modifiers=["Alt"])
    page.settled()
    after = page.beats()
    print(f"'ready' moved from {before['time']:.3f} to {after[4]['time']:.3f} s; {after[4]['error_deg']:.4f}° off")
    print(f"on screen after {page.state('studio.timing.edits.at(-1)'):.0f} ms")
    assert after[4]["time"] == pytest.approx(before["time"] + 0.2, abs=0.01)
    assert after[4]["error_deg"] < 0.1
    assert after[5]["time"] == pytest.approx(page.state("studio.outline.characters.dancer.beats[5].time"))
    assert after[5]["time"] == pytest.approx(3.2825, abs=1e-3)  # the others stay where they were
    assert page.page.locator(".beat.good[data-beat='4'][data-error]").count() == 1
    assert page.state("studio.results.restarted_at") > 1.0  # not from zero
    page.page.locator(".beat[data-beat='4']:not(.limb-beat) path").click()
    assert "off" in page.page.locator("#beat-result").inner_text()


def test_raised_tension_changes_its_curve_and_the_gains(page, picture):
    page.page.locator("#tabs [data-tab=curves]").click()
    page.until("studio.curves.charts[0].data")
    gains = "Math.max(...Object.values(studio.curves.charts[0].data.series)[0].slice(-40))"
    loose, line = page.state(gains), page.page.locator(".tension-line").get_attribute("d")
    page.drag(page.middle(".handle[data-hold='9']"), (0, -14))
    page.settled()
    page.until("studio.curves.charts[0].data.revision >= studio.revision")
    print(f"stiffness while holding the last pose: {loose:.1f} -> {page.state(gains):.1f} N·m/rad")
    assert page.page.locator(".tension-line").get_attribute("d") != line
    assert page.state(gains) > 1.5 * loose
    picture("curves")


def test_the_chest_can_be_pushed_and_the_push_undone(page, picture):
    chest = "studio.do('ask', {op: 'trail', body: studio.scene.bodies.indexOf('dancer/thorax')})"
    page.state("studio.seek(2.72)")
    page.until("Math.abs(studio.time - 2.72) < 0.01")
    page.page.locator("#push-size").fill("60")
    page.page.keyboard.press("Escape")
    before, way = page.state("studio.text"), np.array(page.state(chest))
    page.page.keyboard.down("Shift")
    page.page.mouse.click(*page.on_screen("dancer/thorax"))
    page.page.keyboard.up("Shift")
    page.until("studio.outline.touches.length === 1")
    page.settled()
    pushed = [e for e in page.state("studio.results.log") if e["kind"] == "push"]
    moved = np.linalg.norm(np.array(page.state(chest)) - way, axis=1)
    print(f"pushed {pushed[0]['target']} at {pushed[0]['time']:.2f} s; it gave way by {100 * moved.max():.1f} cm")
    assert pushed[0]["target"].startswith("dancer/")
    assert np.linalg.norm(pushed[0]["impulse"]) == pytest.approx(60, rel=0.01)
    assert page.page.locator(".event.touch").count() == 1
    assert moved.max() > 0.01 and moved[: int(len(moved) * 2.6 / 6.1)].max() == 0.0
    page.page.keyboard.press("Control+z")
    page.until("studio.outline.touches.length === 0")
    page.settled()
    assert page.state("studio.text") == before
    assert np.array_equal(page.state(chest), way)


def test_a_pull_with_the_mouse_is_kept_in_the_script_and_replayed_exactly(page, studio, picture):
    page.state("studio.seek(0.2)")
    x, y = page.on_screen("dancer/thorax")
    mouse = page.page.mouse
    mouse.move(x, y)
    mouse.down()
    for k in range(14):
        mouse.move(x + 9 * k, y - 2 * k)
        page.until(f"studio.time > {0.2 + 0.03 * k}")  # as the hand goes on, so does the stage
    picture_at = page.state("studio.time")
    mouse.up()
    page.until("studio.outline.touches.length > 3")
    page.settled()
    errors = [beat["error_deg"] for beat in page.beats()]
    page.page.locator("#keep").click()
    page.until("studio.outline.touches.length === 0 && studio.outline.events.length > 3")
    page.settled()
    assert [beat["error_deg"] for beat in page.beats()] == errors
    page.page.keyboard.press("Control+s")
    page.until("!document.getElementById('file').classList.contains('dirty')")
    take = Performance(load_script(page.state("document.getElementById('file-name').title"))).run()
    played = [round(e["error_deg"], 4) for e in take.events if e["kind"] == "beat"]
    print(f"pulled until {picture_at:.2f} s; beat errors {played}")
    assert played == errors


def test_a_ball_can_be_thrown(page, picture):
    page.state("studio.seek(1.2)")
    page.until("Math.abs(studio.time - 1.2) < 0.01")
    page.page.locator("#throw-ball").click()
    page.until("studio.outline.touches.length === 1")
    page.until("'ball' in (studio.scene.props ?? {})")
    page.settled()
    hits = page.state("studio.results.hits")
    print(f"{len(hits)} hits, the first at {hits[0]['time']:.2f} s")
    assert hits[0]["time"] == pytest.approx(1.8, abs=0.1)


def test_a_dropped_bvh_is_seen_by_the_doctor_before_it_is_used(page, picture):
    walk = CLIP / "walk.bvh"
    page.page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            for (const kind of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        ["my walk.bvh", walk.read_text(encoding="utf-8")],
    )
    page.page.locator("#dialog table.facts").wait_for(timeout=300_000)
    shown = page.page.locator("#dialog").inner_text()
    assert "joints" in shown and "frames at" in shown
    assert page.state("studio.outline.title") == "YMCA"  # nothing is used yet
    picture("doctor")
    page.page.locator("#use-clip").click()
    page.until("studio.outline.characters.double?.clips.length === 1", 60)
    page.settled()
    assert page.page.locator(".clip").count() == 1
    page.state("studio.seek(0.5)")
    picture("clip")


def test_take_and_report_are_exported(page, studio):
    files = {}
    for words, suffix in (("take", ".npz"), ("report", ".json"), ("BVH", ".bvh")):
        page.page.locator("#export-button").click()
        page.page.locator("#menu button", has_text=f"{words} ({suffix})").click()
        link = page.page.locator(f".toast a[download$='{suffix}']").first
        link.wait_for(timeout=300_000)
        with page.page.expect_download() as download:
            link.click()
        files[suffix] = download.value.path()
    assert files[".bvh"].read_text(encoding="utf-8").startswith("HIERARCHY")
    assert json.loads(files[".json"].read_text(encoding="utf-8"))["characters"]
    take = Take.load(files[".npz"])
    whole = Performance(load_script(example("ymca").path)).run()
    assert np.array_equal(take.qpos, whole.qpos)  # what the page shows is what `stunt perform` plays


def test_a_reload_loses_nothing(page, studio):
    page.state("studio.edit('move_beats', {character: 'dancer', indices: [9], by: 0.3})")
    page.until("studio.outline.characters.dancer.beats[9].time > 5.9")
    page.settled()
    page.page.keyboard.press("Escape")
    text, beats = page.state("studio.text"), page.beats()
    page.page.reload()
    page.until("window.studio?.view?.stats.first")
    page.until("studio.results?.done")
    assert page.state("studio.text") == text
    assert page.beats() == beats
    page.page.keyboard.press("Control+z")
    page.until("studio.outline.characters.dancer.beats[9].time < 5.7")


def test_the_page_asks_for_nothing_from_the_internet(page, studio):
    assert page.asked and all(url.startswith((studio.url, "blob:", "data:")) for url in page.asked)


def test_saved_scripts_keep_comments_and_what_was_not_touched(page, studio):
    page.state("studio.edit('move_beats', {character: 'dancer', indices: [0], by: 0.05})")
    page.until("studio.outline.characters.dancer.beats[0].time > 0.5")
    page.settled()
    page.page.keyboard.press("Control+s")
    page.until("!document.getElementById('file').classList.contains('dirty')")
    saved = Path(page.state("document.getElementById('file-name').title"))
    lines, old = saved.read_text(encoding="utf-8").splitlines(), example("ymca").text().splitlines()
    changed = [(a, b) for a, b in zip(old, lines, strict=True) if a != b]
    print(changed)
    assert len(changed) == 2  # the beat, and the one after it, which stays where it was
    shutil.rmtree(saved.parent / "takes", ignore_errors=True)


def test_beats_are_added_copied_and_deleted_with_keys_and_mouse(page):
    page.page.locator("#snap").select_option("0.1")
    lane = page.page.locator(".lane.who").bounding_box()
    scale = page.state("[studio.timeline.scale.perSecond, 14]")
    page.page.locator("#pose-choice").select_option("M")
    page.until("studio.pose.angles && !studio.pose.asking")
    page.page.mouse.dblclick(lane["x"] + scale[1] + 2.3 * scale[0], lane["y"] + 35)
    page.until("studio.outline.characters.dancer.beats.length === 11")
    assert page.state("studio.outline.characters.dancer.beats[4].pose") == "M"
    assert page.state("studio.outline.characters.dancer.beats[4].time") == pytest.approx(2.3)
    page.state("studio.pose.close()")
    page.settled()
    page.drag(page.middle(".beat[data-beat='4']:not(.limb-beat) path"), (0.3 * scale[0], 0), modifiers=["Control"])
    page.until("studio.outline.characters.dancer.beats.length === 12")
    page.settled()
    page.page.locator(".beat[data-beat='4']:not(.limb-beat) path").click()
    page.page.keyboard.press("Delete")
    page.until("studio.outline.characters.dancer.beats.length === 11")
    for count in (12, 11, 10):
        page.page.keyboard.press("Control+z")
        page.until(f"studio.outline.characters.dancer.beats.length === {count}")
    page.page.keyboard.press("Control+Shift+z")
    page.until("studio.outline.characters.dancer.beats.length === 11")


def test_a_limb_gets_a_time_of_its_own(page):
    per_second = page.state("studio.timeline.scale.perSecond")
    page.drag(page.middle(".limb-beat[data-limb='l_arm'][data-beat='4']"), (-0.2 * per_second, 0), modifiers=["Alt"])
    page.until("studio.outline.characters.dancer.beats.length === 11")
    page.settled()
    beats = page.state("studio.outline.characters.dancer.beats")
    assert beats[4]["time"] == pytest.approx(beats[5]["time"] - 0.2, abs=0.02)
    assert all(joint.startswith("l_") for joint in beats[4]["joints"])
    assert not any(joint.startswith("l_") for joint in beats[5]["joints"])
    assert max(beat["error_deg"] for beat in page.beats()) < 0.1


def test_beats_snap_to_a_tapped_tempo(page):
    for tap in range(5):
        page.state(f"(() => {{ performance.now = () => {1e6 + 500.0 * tap}; }})()")  # half a second by the page's clock
        page.page.keyboard.press("t")
    page.state("delete performance.now")
    beat = page.state("studio.timeline.tempo.beat")
    assert page.page.locator("#snap").input_value() == "tempo" and beat == pytest.approx(0.5)
    per_second = page.state("studio.timeline.scale.perSecond")
    page.drag(page.middle(".beat[data-beat='9']:not(.limb-beat) path"), (0.31 * per_second, 0))
    page.settled()
    time = page.state("studio.outline.characters.dancer.beats[9].time")
    print(f"{60 / beat:.0f} bpm; the beat is at {time:.3f} s, {time / beat:.3f} beats")
    assert time / beat == pytest.approx(round(time / beat), abs=2e-3)


def test_a_pose_is_made_with_a_slider_a_dragged_hand_and_a_mirror(page, picture):
    page.page.locator("#pose-choice").select_option("Y")
    page.until("studio.pose.angles && !studio.pose.asking")
    slider = page.page.locator("[data-joint=lumbar_bend] input[type=number]")
    slider.fill("12")
    slider.press("Enter")
    page.until("studio.pose.angles.lumbar_bend === 12 && !studio.pose.asking")
    where = "studio.view.bodies.find((b) => b.name === 'dancer/r_hand').pose.position"
    before = page.state(f"{where}.toArray()")
    place = page.state(
        f"(() => {{ const v = studio.view, p = {where}.clone().project(v.camera), r = v.canvas.getBoundingClientRect();"
        " return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height]; })()"
    )
    page.drag(place, (-40, 90), steps=10)
    page.until("!studio.pose.asking")
    after = page.state(f"{where}.toArray()")
    print(f"the hand went {100 * np.linalg.norm(np.subtract(after, before)):.0f} cm")
    assert after[2] < before[2] - 0.1
    picture("pose")
    right, bend = page.state("[studio.pose.angles.r_elbow_flexion, studio.pose.angles.lumbar_bend]")
    assert bend == pytest.approx(12, abs=4)  # the trunk hardly moves
    page.page.locator("#pose-mirror").click()
    page.until(f"studio.pose.angles.l_elbow_flexion === {right}")
    page.page.locator("#pose-name").fill("reach")
    page.page.locator("#pose-save").click()
    page.until("'reach' in studio.outline.poses")
    assert page.state("studio.outline.poses.reach.lumbar_bend") == pytest.approx(-bend, abs=0.01)
    page.state("studio.pose.close()")


def test_every_way_of_looking_works_in_the_dark_too(page, picture):
    page.page.locator("#theme").click()
    page.state("studio.seek(1.41)")
    for name in ("ghost", "trails", "contacts", "follow"):
        page.page.locator(f"#{name}").click()
    page.until("studio.view.frame[9] === 1 && studio.view.ways.children.length > 0")
    page.page.locator("#tabs [data-tab=curves]").click()
    page.until("studio.curves.charts.every((c) => c.data)")
    picture("dark")
    for value in ("0", "1", "2", ""):
        page.page.locator("#paint").select_option(value)
        page.page.wait_for_timeout(60)
    for name in ("ghost", "trails", "contacts", "follow", "theme"):
        page.page.locator(f"#{name}").click()


def test_the_library_opens_examples_and_help_lists_the_keys(page, picture):
    page.page.keyboard.press("?")
    assert "undo" in page.page.locator("#dialog").inner_text()
    page.page.keyboard.press("Escape")
    page.page.locator("#library-button").click()
    page.page.locator("[data-example=flinch]").wait_for()
    picture("library")
    page.page.locator("[data-example=flinch]").click()
    page.until("studio.outline.title === 'Flinch'")
    page.settled()
    page.state("studio.seek(2.3)")
    page.until("document.getElementById('caption').textContent === 'cover'")  # who is in charge
    picture("flinch")


def test_a_clip_is_trimmed_on_the_timeline(page):
    page.open("walk_clip")
    page.until("studio.outline.characters.double.clips.length === 1")
    length = page.state("studio.outline.characters.double.clips[0].length")
    per_second = page.state("studio.timeline.scale.perSecond")
    page.drag(page.middle(".clip .edge[data-edge=end]"), (-0.3 * per_second, 0))
    page.settled()
    assert page.state("studio.outline.characters.double.clips[0].length") == pytest.approx(length - 0.3, abs=0.02)
    assert page.state("studio.results.seconds") < length + 0.2
