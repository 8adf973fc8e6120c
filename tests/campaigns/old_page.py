"""Every browser test of what once lost work, against a studio that loses it again as version 0.1 did: each has to fail.

    python -m tests.campaigns.old_page [--only WORDS …]

The package is copied, the old behaviour put back into the copy, and the test run on it. Prints a row for each.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = "tests/studio/test_page_keeps.py"
PATIENCE = 40
"""Seconds a test waits for what never comes; every test passes with it on the studio as it is."""


@dataclass(frozen=True)
class Old:
    """How it was: what the studio did, where, the present text and the one that does it again, and the test."""

    was: str
    file: str
    now: str
    then: str
    test: str
    also: tuple[tuple[str, str, str], ...] = ()


OLD = (
    Old(
        "a failed Save takes the autosave away first, and keeps the impossible name",
        "filing.py",
        "        document.check(target, document.now.text, over=over)\n",
        "        document.autosave.unlink(missing_ok=True)\n        document.path = target\n"
        "        document.check(target, document.now.text, over=over)\n",
        "test_a_save_that_fails_says_so_keeps_everything_and_the_next_works",
    ),
    Old(
        "a file changed outside is not noticed", "paper/document.py",
        "        stamp, before = stamp_of(self.path), self.outside\n",
        "        stamp = before = self._stamp = stamp_of(self.path)\n",
        "test_a_file_changed_outside_is_noticed_and_never_written_over_unasked",
    ),
    Old(
        "Save writes over what was not read", "paper/document.py",
        'elif self.outside == "changed" or self.saved is None or there != as_bytes(self.saved):', "elif False:",
        "test_a_file_changed_outside_is_noticed_and_never_written_over_unasked",
    ),
    Old(
        "beats are chosen by their place in the list", "page/main.js",
        "    this.outline = message.outline;\n",
        "    const list = () => this.outline?.characters[this.choice.character]?.beats.map((b) => b.id) ?? [];\n"
        "    const was = list();\n    this.outline = message.outline;\n    const is = list();\n"
        "    this.choice.beats = new Set([...this.choice.beats].map((id) => is[was.indexOf(id)]));\n",
        "test_delete_takes_what_was_chosen_whatever_comes_before_it",
    ),
    Old(
        "an answer about an older slider value overwrites the newer one", "page/pose.js",
        '      if (kind !== "show") {\n        this.angles = { ...answer.angles, ...this.since };',
        "      if (true) {\n        this.angles = answer.angles;",
        "test_a_slider_saves_what_it_shows_in_100_of_100_drags",
    ),
    Old(
        "every loop's end builds the panel anew under the hand", "page/main.js",
        "    this.pose.showResult();\n",
        "    Object.assign(this.pose, { typed: undefined, typing: null, pressed: false });\n    this.pose.build();\n",
        "test_typing_while_it_loops_is_never_reset_and_fires_no_shortcut",
    ),
    Old(
        "undo while posing undoes the script", "page/main.js",
        '    if (!this.pose.undo()) this.do("undo");', '    this.do("undo");',
        "test_sliders_work_by_keyboard_undo_undoes_the_pose_and_leaving_asks",
    ),
    Old(
        "an edited pose is left without a question", "page/pose.js",
        "    if (!this.edited) return true;\n    const name", "    return true;\n    const name",
        "test_sliders_work_by_keyboard_undo_undoes_the_pose_and_leaving_asks",
    ),
    Old(
        "Save leaves out what the hand did, and does not say so", "filing.py",
        'if count and touches not in ("keep", "leave"):', "if False:", "test_what_the_hand_did_is_saved_or_asked_about",
    ),
    Old(
        "a tension dot makes one number of a mapping", "paper/edits.py",
        'inside = _shown_tension(section.get(key), first=index >= 0) if key == "tension" else ()', "inside = ()",
        "test_a_tension_dot_leaves_the_other_limbs_alone_and_every_lane_can_be_reached",
    ),
    Old(
        "a pose like another is written with all it inherits", "page/pose.js",
        "angles: changed(this.origin), gone", "angles: this.angles, gone",
        "test_sliders_work_by_keyboard_undo_undoes_the_pose_and_leaving_asks",
        (("paper/edits.py", 'before = degrees_of(read_poses(node_from_plain(data["poses"], "poses"))[name])',
          "before = {joint: angle for joint, angle in have.items() if joint != 'like'}"),),
    ),
    Old(
        "an emptied number field is a zero", "page/tools.js",
        'input.value.trim() === "" ? NaN : Number(input.value)', "Number(input.value)",
        "test_an_emptied_field_of_the_inspector_changes_nothing",
    ),
    Old(
        "two pages do not know of each other", "page/main.js",
        '$("pages").hidden = pages < 2;', '$("pages").hidden = true;',
        "test_two_pages_know_of_each_other_and_each_has_its_selection",
    ),
    Old(
        "there is no other name, no way back, no list of unsaved work", "page/files.js",
        '["Save as …", () => this.saveAs()], ["Rename …", () => this.rename()],', "",
        "test_other_names_going_back_and_unsaved_work",
    ),
    Old(
        "an example is opened with the edits of last time", "openings.py",
        "        return Document(free_path(folder, source.stem), text, on_disk=False, beside=source), source\n",
        "        if autosave_of(folder / source.name).exists():\n"
        "            return Document.open(folder / source.name), source\n"
        "        return Document(folder / source.name, text, on_disk=False, beside=source), source\n",
        "test_an_example_is_opened_as_it_came",
    ),
    Old(
        "a second dropped file of the same name is the first one", "filing.py",
        "kept = await self._aside(openings.unlike, folder / file, content)", "kept = folder / file",
        "test_a_second_dropped_file_of_the_same_name_is_the_new_file",
    ),
)  # fmt: skip


def passes(tests: list[str], source: Path) -> bool:
    """Whether tests pass on a package."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"{TESTS}::{name}" for name in tests),
    ]
    environment = {**os.environ, "PYTHONPATH": str(source), "STUDIO_PATIENCE": str(PATIENCE)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode not in (0, 1) or "skipped" in done.stdout:
        raise RuntimeError(done.stdout[-1500:] + done.stderr[-500:])
    return done.returncode == 0


def fails(old: Old) -> bool:
    """Whether its test fails where the old behaviour is back."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "src" / "stunt"
        shutil.copytree(ROOT / "src" / "stunt", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for file, now, then in ((old.file, old.now, old.then), *old.also):
            path = copy / "studio" / file
            text = path.read_text(encoding="utf-8")
            if text.count(now) != 1:
                raise RuntimeError(f"{file} does not say once: {now}")
            path.write_text(text.replace(now, then), encoding="utf-8")
        return not passes([old.test], copy.parent)


def main() -> int:
    """Put each back, and run its test; return how many did not notice."""
    parser = argparse.ArgumentParser(description="Put back what once lost work; see that tests notice.")
    parser.add_argument("--only", nargs="*", default=[], help="words of what was")
    args = parser.parse_args()
    chosen = [old for old in OLD if not args.only or any(word in old.was for word in args.only)]
    if not passes(sorted({old.test for old in chosen}), ROOT / "src"):
        raise RuntimeError("a test fails on the studio as it is")
    missed = 0
    for old in chosen:
        noticed = fails(old)
        missed += not noticed
        print(f"| {old.was} | `{old.test}` | {'fails' if noticed else 'DOES NOT NOTICE'} |", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
