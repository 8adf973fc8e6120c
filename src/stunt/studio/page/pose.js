// The pose editor: joint sliders within their limits, a hand or foot dragged in the view, mirror, and the pose library.
// What is edited here is no part of the script until it is saved; it has its own undo, and is never left without a word.

import { ask } from "./dialogs.js";
import { beatRows, chosenRows, tensionRow } from "./inspector.js";
import { $, el, numberOf, readable, toast } from "./tools.js";

const told = (angles) => JSON.stringify(Object.entries(angles ?? {}).sort());

export class PoseEditor {
  constructor(studio) {
    this.studio = studio;
    this.box = $("tab-pose");
    this.working = Promise.resolve();
    this.folds = {};
    this.clear();
    this.guard();
  }

  clear() {
    this.angles = null; // of the pose being edited, in degrees
    this.origin = null; // as they were when they were opened or saved
    [this.name, this.beatId, this.whose] = ["", null, null];
    [this.past, this.future, this.jobs] = [[], [], []];
    this.asking = false;
    this.typed = undefined;
  }

  // Whatever is being typed, dragged or pressed in the panel is not built anew under the hand.
  guard() {
    this.box.addEventListener("input", (event) => { this.typing = event.target; });
    const done = () => {
      this.typing = null;
      if (this.stale) setTimeout(() => { if (this.stale) this.build(); });
    };
    this.box.addEventListener("change", done);
    this.box.addEventListener("focusout", done);
    this.box.addEventListener("pointerdown", () => { this.pressed = true; });
    for (const kind of ["pointerup", "pointercancel"]) {
      addEventListener(kind, () => setTimeout(() => {
        this.pressed = false;
        if (this.stale) this.build();
      }));
    }
  }

  get character() {
    return this.whose ?? this.studio.choice.character ?? Object.keys(this.studio.scene?.characters ?? {})[0];
  }

  get beat() {
    const { choice } = this.studio;
    return choice.beats.size === 1 ? this.beatOf([...choice.beats][0]) : null;
  }

  beatOf(id) {
    return this.studio.outline?.characters[this.character]?.beats.find((b) => b.id === id && !b.cycle) ?? null;
  }

  get edited() {
    return Boolean(this.angles) && told(this.angles) !== told(this.origin);
  }

  // The library's pose that a new beat would get: the one being edited, if it has a name there.
  named(character) {
    if (character !== this.character || !this.angles) return null;
    return this.name in (this.studio.outline?.poses ?? {}) ? this.name : null;
  }

  // -- the panel

  build(forced = false) {
    if (forced && this.typing?.isConnected) this.typing.blur(); // what was typed counts
    if (!forced && (this.pressed || this.typing?.isConnected)) {
      this.stale = true;
      return;
    }
    [this.stale, this.typing] = [false, null];
    const about = this.studio.scene?.characters[this.character], outline = this.studio.outline;
    if (!about || !outline) return this.box.replaceChildren(el("div", { className: "empty", textContent: "Nobody is on the stage." }));
    const poses = Object.keys(outline.poses), beat = this.beat;
    const parts = [el("h3", { textContent: this.character })];
    if (beat) parts.push(...beatRows(this, beat, poses));
    if (outline.characters[this.character]) parts.push(...tensionRow(this, outline.characters[this.character]));
    parts.push(...chosenRows(this, outline));
    parts.push(this.chooser(poses));
    if (this.angles) parts.push(...this.editor(about));
    else parts.push(el("div", { className: "empty", textContent: "Choose a pose to edit it: with sliders, or by dragging a hand or foot in the view. Click a beat on the timeline to change when and how it is hit." }));
    const scroll = this.box.scrollTop, focus = this.focused();
    this.box.replaceChildren(...parts.filter(Boolean));
    this.box.scrollTop = scroll;
    focus();
  }

  // Remembers which field has the focus, and gives it back to the one that takes its place.
  focused() {
    const old = document.activeElement;
    if (!this.box.contains(old)) return () => {};
    const joint = old.closest("[data-joint]")?.dataset.joint;
    const find = joint ? `[data-joint="${CSS.escape(joint)}"] input[type=${old.type}]` : old.id ? `#${CSS.escape(old.id)}` : null;
    const where = old.type === "text" ? [old.selectionStart, old.selectionEnd] : null;
    return () => {
      const field = find && this.box.querySelector(find);
      field?.focus({ preventScroll: true });
      if (field && where) field.setSelectionRange(...where);
    };
  }

  // How well the chosen beat was met: the one line of the panel that every run changes.
  result() {
    const beat = this.beat, found = beat && this.studio.results?.beats[this.character]?.find((r) => r.index === beat.number);
    const met = found && Math.abs(found.time - beat.time) < 1e-3;
    if (!met) return { hidden: true, textContent: "" };
    return {
      hidden: false, className: `note ${found.error_deg < 1 ? "good" : found.error_deg < 5 ? "warning" : "bad"}`,
      textContent: `${found.error_deg.toFixed(3)}° off, worst: ${readable(found.worst_joint)}`,
    };
  }

  showResult() {
    if ($("beat-result")) Object.assign($("beat-result"), this.result());
  }

  chooser(poses) {
    const select = el("select", { id: "pose-choice", onchange: () => this.edit(select.value) },
      el("option", { value: "", textContent: "edit a pose …" }),
      ...poses.map((p) => el("option", { value: p, textContent: p, selected: this.angles && p === this.name })));
    return el("div", { className: "row" }, select,
      el("button", { id: "capture", textContent: "Capture", title: "Start from the pose the body is in now", onclick: () => this.capture() }));
  }

  editor(about) {
    const hint = this.beatId === null ? "name" : "this beat's own";
    const name = el("input", { type: "text", id: "pose-name", value: this.typed ?? this.name, placeholder: hint, spellcheck: false });
    name.oninput = () => { this.typed = name.value; };
    const rows = [
      el("div", { className: "row" }, name,
        el("button", { id: "pose-save", className: "primary", textContent: "Save pose", onclick: () => this.save() }),
        el("button", { id: "pose-mirror", textContent: "Mirror", title: "Exchange left and right", onclick: () => { this.step(); this.ask({ mirror: true }, true); } }),
        el("button", { id: "pose-done", textContent: "Done", title: "Leave the pose", onclick: () => this.leave() })),
      el("div", { className: "dim row", textContent: "Drag a hand or foot of the orange double; the limb follows." }),
    ];
    for (const [limb, joints] of Object.entries(about.limbs)) {
      const open = this.folds[limb] ?? (joints.some((j) => j in this.angles) || limb === this.studio.choice.limb);
      const fold = el("details", { open }, el("summary", { textContent: readable(limb) }),
        ...joints.filter((j) => about.joints[j].kind !== "ball").map((j) => this.slider(j, about.joints[j])));
      fold.firstChild.onclick = () => { this.folds[limb] = !fold.open; };
      rows.push(fold);
    }
    return rows;
  }

  slider(joint, about) {
    const [low, high] = about.range ?? [-180, 180], step = about.kind === "slide" ? 0.001 : 0.5;
    const value = this.angles[joint] ?? 0, shown = (angle) => String(Number(angle.toFixed(about.kind === "slide" ? 3 : 2)));
    const range = el("input", { type: "range", min: low, max: high, step, value });
    const number = el("input", { type: "number", min: low, max: high, step: "any", defaultValue: shown(value) });
    const row = el("div", { className: `joint${joint in this.angles ? " named" : ""}` },
      el("label", { textContent: readable(joint), title: `${joint}: ${low}° to ${high}°` }), range, number);
    row.dataset.joint = joint;
    const set = (angle) => {
      angle = Math.min(Math.max(angle, low), high);
      this.angles = { ...this.angles, [joint]: angle };
      this.since[joint] = angle;
      row.classList.add("named");
      this.ask();
      return angle;
    };
    let dragging = false;
    range.oninput = () => {
      if (!dragging) this.step(); // a drag is one step back
      dragging = true;
      number.defaultValue = number.value = shown(set(Number(range.value)));
    };
    range.onchange = () => { dragging = false; };
    number.onchange = () => {
      const angle = numberOf(number);
      if (angle === null) return;
      this.step();
      range.value = set(angle);
      number.defaultValue = number.value = shown(this.angles[joint]);
    };
    return row;
  }

  // -- which pose

  open(angles, { name = "", beatId = null, origin = angles }) {
    const character = this.character;
    this.clear();
    Object.assign(this, { angles: { ...angles }, origin: { ...origin }, name, beatId, whose: character, since: {} });
    this.build(true);
    this.ask();
    this.studio.showHistory();
  }

  async edit(name) {
    if (!(await this.settled(name ? "Edit another pose" : "Leave the pose"))) return this.build(true);
    if (!name) return this.close();
    this.open(this.studio.outline.poses[name], { name });
  }

  async editBeat(id) {
    const beat = this.beatOf(id);
    if (!beat || !(await this.settled("Edit another pose"))) return;
    this.whose = null;
    this.open(beat.angles, beat.pose in this.studio.outline.poses ? { name: beat.pose } : { beatId: id });
  }

  async capture() {
    if (!(await this.settled("Capture a pose"))) return;
    this.whose = null;
    try {
      this.open(await this.studio.line.askStage("angles", { character: this.character }), { origin: {} });
    } catch (error) {
      toast(error.message, true);
    }
  }

  async leave() {
    if (await this.settled("Leave the pose")) this.close();
  }

  close() {
    this.forget();
    this.clear();
    this.studio.view.double(null);
    this.build(true);
    this.studio.showHistory();
  }

  // Asks about a pose that is edited and not saved; whether what was wanted may go on.
  async settled(deed) {
    await this.working;
    if (!this.edited) return true;
    const name = el("input", { type: "text", value: this.typed ?? this.name, placeholder: "name", spellcheck: false });
    const needs = this.beatId === null && !(this.typed ?? this.name);
    const choice = await ask(`${deed}: what about the pose?`, [
      el("p", { textContent: `The pose ${this.name ? `“${this.name}” ` : ""}you are editing is not in the script yet.` }),
      needs ? el("label", { className: "row" }, "Name", name) : null,
    ], [["", "Go on editing"], ["leave", deed.startsWith("Save") ? "Save without it" : "Throw it away"], ["save", "Save pose", true]]);
    if (choice === "save") return this.save(needs ? name.value : undefined);
    if (choice === "leave" && !deed.startsWith("Save")) this.close();
    return choice === "leave";
  }

  async save(typed = this.typed ?? this.name) {
    await this.working;
    const name = typed.trim(), { studio } = this, poses = studio.outline.poses;
    const changed = (base) => Object.fromEntries(Object.entries(this.angles).filter(([joint, angle]) => base[joint] !== angle));
    let done;
    if (!name && this.beatId !== null) {
      done = await studio.edit("set_beat_angles", { character: this.character, id: this.beatId, angles: this.angles });
    } else if (!name) {
      toast("the pose needs a name", true);
      return false;
    } else if (name === this.name) {
      const gone = Object.keys(this.origin).filter((joint) => !(joint in this.angles));
      done = await studio.edit("save_pose", { name, angles: changed(this.origin), gone });
    } else {
      if (name in poses && !(await ask(`Replace the pose ${name}?`, [el("p", { textContent: "There is already a pose of that name; every beat that hits it would change." })],
        [["", "Cancel"], ["yes", "Replace it"]]))) return false;
      const gone = Object.keys(poses[name] ?? {}).filter((joint) => !(joint in this.angles));
      done = await studio.edit("save_pose", { name, angles: this.angles, gone });
      if (done && this.beatId !== null) done = await studio.edit("set_beat_pose", { character: this.character, id: this.beatId, pose: name });
      if (done) this.beatId = null;
    }
    if (!done) return false;
    if (name) this.name = name;
    this.typed = undefined;
    this.origin = { ...this.angles };
    this.forget();
    this.build();
    return true;
  }

  // -- one step back

  step() {
    this.past.push(this.angles);
    this.future = [];
    this.studio.showHistory();
  }

  undo() {
    return this.turn(this.past, this.future);
  }

  redo() {
    return this.turn(this.future, this.past);
  }

  // Takes the pose back or forth; false where no pose is edited, and the script's own steps are meant.
  turn(from, to) {
    if (!this.angles || !(this.past.length || this.future.length)) return false;
    if (!from.length) {
      toast("The pose has no more steps; Done leaves it, and then the script's own follow.");
      return true;
    }
    this.jobs = [];
    this.round += 1; // what is under way is about another pose
    to.push(this.angles);
    this.angles = from.pop();
    this.since = {};
    this.build(true);
    this.ask();
    this.studio.showHistory();
    return true;
  }

  // -- the stage

  round = 0;
  since = {};

  // Shows the pose in the view, after a change that the stage works out. Questions are asked one after the other; of those
  // that wait and only show or reach, the last one counts. What the hand sets meanwhile is never overwritten by an answer.
  ask(more = {}, rebuild = false) {
    if (!this.angles) return;
    this.keep();
    const kind = more.mirror ? "mirror" : more.reach ? "reach" : "show", last = this.jobs.at(-1);
    if (last && last.kind === kind && kind !== "mirror") rebuild ||= this.jobs.pop().rebuild;
    this.jobs.push({ kind, more, rebuild });
    if (!this.asking) this.working = this.work();
  }

  async work() {
    this.asking = true;
    try {
      while (this.angles && this.jobs.length) await this.answer(this.jobs.shift());
    } finally {
      this.asking = false;
    }
  }

  async answer({ kind, more, rebuild }) {
    const { character, round } = this, of = this.origin;
    this.since = {};
    try {
      const answer = await this.studio.line.askStage("pose", { character, angles: this.angles, ...more });
      if (!this.angles || round !== this.round || of !== this.origin) return;
      if (kind !== "show") {
        this.angles = { ...answer.angles, ...this.since };
        this.keep();
      }
      this.studio.view.double(answer.poses, character);
      if (rebuild) this.build();
    } catch (error) {
      toast(error.message, true);
    }
  }

  stageChanged() {
    if (this.angles) this.ask();
    else this.recall();
  }

  // A pose nobody has changed here follows the script, whoever changed that.
  documentIs() {
    const pose = this.studio.outline.poses[this.name];
    if (!this.angles || this.edited || !this.name || !pose || told(pose) === told(this.angles)) return;
    this.angles = { ...pose };
    this.origin = { ...pose };
    [this.past, this.future] = [[], []];
    this.ask();
  }

  // -- a pose that is being edited outlives the page, and another scene in between

  get place() {
    return `pose of ${this.studio.path}`;
  }

  keep() {
    const { angles, origin, name, typed, beatId, whose } = this;
    if (this.edited) sessionStorage.setItem(this.place, JSON.stringify({ angles, origin, name, typed, beatId, whose }));
    else this.forget();
  }

  forget() {
    sessionStorage.removeItem(this.place);
  }

  sceneLeft() {
    this.clear();
    this.studio.view.double(null);
  }

  recall() {
    const kept = sessionStorage.getItem(this.place);
    if (!kept || this.angles) return;
    const { angles, origin, name, typed, beatId, whose } = JSON.parse(kept);
    if (!(whose in this.studio.scene.characters)) return;
    this.whose = whose;
    this.open(angles, { origin, name, beatId: this.beatOf(beatId) ? beatId : null });
    this.typed = typed;
    this.build(true);
    toast("The pose you were editing is here again.");
  }
}
