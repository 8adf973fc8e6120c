// The pose editor: joint sliders within their limits, a hand or foot dragged in the view, mirror, and the pose library.

import { keyRows } from "./inspector.js";
import { $, el, readable, toast } from "./tools.js";

export class PoseEditor {
  constructor(studio) {
    this.studio = studio;
    this.box = $("tab-pose");
    this.angles = null; // of the pose being edited, in degrees
    this.name = "";
    this.asking = false;
  }

  get character() {
    return this.studio.choice.character ?? Object.keys(this.studio.scene?.characters ?? {})[0];
  }

  get beat() {
    const { choice, outline } = this.studio;
    if (choice.beats.size !== 1) return null;
    return outline?.characters[choice.character]?.beats.find((b) => choice.beats.has(b.index) && !b.cycle) ?? null;
  }

  // The library's pose that a new beat would get: the one being edited, if it has a name there.
  named(character) {
    if (character !== this.character || !this.angles) return null;
    return this.name in (this.studio.outline?.poses ?? {}) ? this.name : null;
  }

  build() {
    const about = this.studio.scene?.characters[this.character], outline = this.studio.outline;
    if (!about || !outline) return this.box.replaceChildren(el("div", { className: "empty", textContent: "Nobody is on the stage." }));
    const poses = Object.keys(outline.poses), beat = this.beat;
    const parts = [el("h3", { textContent: this.character })];
    if (beat) parts.push(...this.beatRows(beat, poses, outline.characters[this.character]));
    else parts.push(...this.tensionRow(outline.characters[this.character]));
    parts.push(...this.chosenRows(outline));
    parts.push(this.chooser(poses));
    if (this.angles) parts.push(...this.editor(about));
    else parts.push(el("div", { className: "empty", textContent: "Choose a pose to edit it: with sliders, or by dragging a hand or foot in the view. Click a beat on the timeline to change when and how it is hit." }));
    const scroll = this.box.scrollTop;
    this.box.replaceChildren(...parts);
    this.box.scrollTop = scroll;
  }

  beatRows(beat, poses, about) {
    const edit = (name, more) => this.studio.edit(name, { character: this.character, ...more });
    const pose = el("select", { id: "beat-pose", onchange: () => edit("set_beat_pose", { index: beat.index, pose: pose.value }) },
      ...(poses.includes(beat.pose) ? [] : [el("option", { value: "", textContent: beat.pose })]),
      ...poses.map((p) => el("option", { value: p, textContent: p, selected: p === beat.pose })));
    const time = el("input", { id: "beat-time", type: "number", step: 0.01, min: 0.01, value: beat.time.toFixed(3), onchange: () =>
      edit("move_beats", { indices: [beat.index], by: Number(time.value) - beat.time }) });
    const hold = el("input", { id: "beat-hold", type: "number", step: 0.05, min: 0.02, value: beat.hold, onchange: () =>
      edit("set_hold", { index: beat.index, hold: Number(hold.value) }) });
    const result = this.studio.results?.beats[this.character]?.find((r) => r.index === beat.number);
    const met = result && Math.abs(result.time - beat.time) < 1e-3;
    return [
      el("div", { className: "row" }, `Beat ${beat.index + 1}`, pose),
      el("div", { className: "row" }, "at", time, "s, back in", hold, "s"),
      met ? el("div", { className: `note ${result.error_deg < 1 ? "good" : result.error_deg < 5 ? "warning" : "bad"}`, id: "beat-result" },
        `${result.error_deg.toFixed(3)}° off, worst: ${readable(result.worst_joint)}`) : null,
    ].filter(Boolean);
  }

  // The keys of the clip or event that is chosen on the timeline.
  chosenRows(outline) {
    const { choice } = this.studio, index = choice.clip ?? choice.event;
    if (index === null) return [];
    const entry = choice.clip !== null ? outline.characters[this.character]?.clips[index] : outline.events[index];
    if (!entry) return [];
    const kind = choice.clip !== null ? "clips" : entry.kind;
    return keyRows(kind === "clips" ? `Clip ${index + 1}` : `Event ${index + 1}: ${kind}`, outline.keys[kind], entry.written, (values) =>
      kind === "clips" ? this.studio.edit("set_clip", { character: this.character, index, values })
        : this.studio.edit("set_event", { index, values }));
  }

  tensionRow(about) {
    if (about.tension === null || !about.beats.length) return [];
    const edit = (factor) => this.studio.edit("set_holds", { character: this.character, factor });
    return [el("div", { className: "row" }, `Tension: back in ${about.tension.toFixed(2)} s`,
      el("button", { id: "tighter", textContent: "tighter", onclick: () => edit(1.6) }),
      el("button", { id: "looser", textContent: "looser", onclick: () => edit(1 / 1.6) }))];
  }

  chooser(poses) {
    const select = el("select", { id: "pose-choice", onchange: () => this.edit(select.value) },
      el("option", { value: "", textContent: "edit a pose …" }),
      ...poses.map((p) => el("option", { value: p, textContent: p, selected: this.angles && p === this.name })));
    return el("div", { className: "row" }, select,
      el("button", { id: "capture", textContent: "Capture", title: "Start from the pose the body is in now", onclick: () => this.capture() }));
  }

  editor(about) {
    const name = el("input", { type: "text", id: "pose-name", value: this.name, placeholder: "name" });
    const rows = [
      el("div", { className: "row" }, name,
        el("button", { id: "pose-save", className: "primary", textContent: "Save pose", onclick: () => this.save(name.value.trim()) }),
        el("button", { id: "pose-mirror", textContent: "Mirror", title: "Exchange left and right", onclick: () => this.ask({ mirror: true }, true) }),
        el("button", { textContent: "Done", onclick: () => this.close() })),
      el("div", { className: "dim row", textContent: "Drag a hand or foot of the orange double; the limb follows." }),
    ];
    for (const [limb, joints] of Object.entries(about.limbs)) {
      const open = joints.some((j) => j in this.angles) || limb === this.studio.choice.limb;
      rows.push(el("details", { open }, el("summary", { textContent: readable(limb) }),
        ...joints.filter((j) => about.joints[j].kind !== "ball").map((j) => this.slider(j, about.joints[j]))));
    }
    return rows;
  }

  slider(joint, about) {
    const [low, high] = about.range ?? [-180, 180], step = about.kind === "slide" ? 0.001 : 0.5;
    const value = this.angles[joint] ?? 0;
    const range = el("input", { type: "range", min: low, max: high, step, value });
    const number = el("input", { type: "number", min: low, max: high, step, value: Number(value.toFixed(1)) });
    const row = el("div", { className: `joint${joint in this.angles ? " named" : ""}` },
      el("label", { textContent: readable(joint), title: `${joint}: ${low}° to ${high}°` }), range, number);
    row.dataset.joint = joint;
    const set = (text, other) => {
      const angle = Math.min(Math.max(Number(text), low), high);
      this.angles[joint] = angle;
      other.value = angle;
      row.classList.add("named");
      this.ask();
    };
    range.oninput = () => set(range.value, number);
    number.onchange = () => set(number.value, range);
    return row;
  }

  edit(name) {
    if (!name) return this.close();
    this.name = name;
    this.angles = { ...this.studio.outline.poses[name] };
    this.build();
    this.ask();
  }

  async capture() {
    this.angles = await this.studio.line.askStage("angles", { character: this.character });
    this.name = "";
    this.build();
    this.ask();
  }

  close() {
    this.angles = null;
    this.studio.view.double(null);
    this.build();
  }

  // Shows the pose in the view; at most one question is under way, and the last one wins.
  async ask(more = {}, rebuild = false) {
    if (!this.angles) return;
    if (this.asking) {
      this.next = [more, rebuild];
      return;
    }
    this.asking = true;
    try {
      const character = this.character;
      const answer = await this.studio.line.askStage("pose", { character, angles: this.angles, ...more });
      if (this.angles) {
        this.angles = answer.angles;
        this.studio.view.double(answer.poses, character);
        if (rebuild) this.build();
      }
    } catch (error) {
      toast(error.message, true);
    } finally {
      this.asking = false;
      const next = this.next;
      this.next = null;
      if (next) this.ask(...next);
    }
  }

  save(name) {
    this.name = name;
    this.studio.edit("save_pose", { name, angles: this.angles });
  }

  stageChanged() {
    if (this.angles) this.ask();
  }
}
