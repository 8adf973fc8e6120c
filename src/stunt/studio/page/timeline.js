// The timeline: draws lanes, and turns drags, clicks and keys on them into edits of the script.

import {
  drawBeats, drawClips, drawCues, drawEvents, drawLevels, drawLimb, drawRuler, drawStates, drawTension, lanesOf, levelAt, leveled,
  tensionAt,
} from "./lanes.js";
import { $, clamp, drag, el, readable, svg, toast } from "./tools.js";

const LEFT = 14;

export class Timeline {
  constructor(studio) {
    this.studio = studio;
    this.svg = $("svg");
    this.folded = false;
    this.zoom = 1;
    this.taps = [];
    this.tempo = null;
    this.svg.addEventListener("pointerdown", (e) => this.down(e));
    $("scroll").addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    $("fold").onclick = () => this.fold();
    $("fit").onclick = () => { this.zoom = 1; this.draw(); };
    $("tap").onclick = () => this.tap();
    $("add-beat").onclick = () => this.addBeat(studio.time);
    new ResizeObserver(() => this.draw()).observe($("scroll"));
  }

  get scale() {
    const room = Math.max($("scroll").clientWidth - 2 * LEFT - 20, 100);
    const perSecond = (room * this.zoom) / Math.max(this.end, 0.1);
    return { perSecond, x: (time) => LEFT + time * perSecond, time: (x) => (x - LEFT) / perSecond };
  }

  get end() {
    return this.studio.seconds || 1;
  }

  draw() {
    const { outline, scene, results, choice } = this.studio;
    if (!outline) return;
    this.lanes = lanesOf(outline, scene, this.folded);
    const scale = this.scale, height = this.lanes.at(-1).top + this.lanes.at(-1).height;
    const width = Math.max(scale.x(this.end) + LEFT + 20, $("scroll").clientWidth - 1);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    const parts = [];
    for (const lane of this.lanes) {
      parts.push(svg("rect", {
        class: `lane ${lane.kind}`, x: 0, y: lane.top, width, height: lane.height, "data-lane": lane.kind,
        "data-character": lane.character ?? "",
      }));
    }
    for (const lane of this.lanes) parts.push(...this.contents(lane, outline, scene, results, choice, scale, width, height));
    this.known = svg("rect", { class: "known", x: LEFT, y: 19, height: 3, width: 0 });
    this.head = svg("g", {}, svg("line", { class: "playhead", y1: 0, y2: height }), svg("path", { class: "playhead-top", d: "M-5,0H5V6L0,12-5,6Z" }));
    this.bubble = svg("g", { visibility: "hidden" });
    this.svg.replaceChildren(...parts, this.known, this.head, this.bubble);
    this.drawHeads(outline, choice);
    const reason = this.noBeats(choice.character);
    $("add-beat").disabled = Boolean(reason);
    $("add-beat").title = reason || "Add a beat at the playhead (B)";
    this.move();
  }

  contents(lane, outline, scene, results, choice, scale, width, height) {
    const about = outline.characters[lane.character];
    const chosen = choice.character === lane.character ? choice.beats : new Set();
    switch (lane.kind) {
      case "ruler": return drawRuler(lane, scale, width, this.end, height);
      case "events": return drawEvents(lane, outline, scale, choice.event);
      case "who": return [
        ...drawStates(lane, results?.in_charge ?? [], scale, this.end),
        ...drawClips(lane, about, scale, choice.character === lane.character ? choice.clip : null),
        ...drawCues(lane, about, scale),
        ...drawBeats(lane, about, results?.beats[lane.character], scale, chosen),
      ];
      case "tension": return leveled(about)
        ? drawLevels(lane, about, scale, this.end) : drawTension(lane, about, scale, this.end);
      default: return drawLimb(lane, about, scene.characters[lane.character].limbs[lane.limb], scale, chosen);
    }
  }

  drawHeads(outline, choice) {
    $("heads").replaceChildren(...this.lanes.map((lane) => {
      const on = choice.character === lane.character;
      const text = { ruler: "", events: "events", who: lane.character, tension: "tension", limb: readable(lane.limb ?? "") }[lane.kind];
      const head = el("div", { className: `head ${lane.kind}`, textContent: text });
      head.style.height = `${lane.height}px`;
      if (lane.kind === "who") head.classList.toggle("on", on);
      if (lane.kind === "limb") head.classList.toggle("on", on && choice.limb === lane.limb);
      if (lane.character) head.onclick = () => this.studio.choose({ character: lane.character, limb: lane.limb ?? null });
      return head;
    }));
  }

  // The playhead moves many times a second: nothing else is drawn again for it.
  move() {
    if (!this.head) return;
    const { time, simulated } = this.studio;
    this.head.setAttribute("transform", `translate(${this.scale.x(time)},0)`);
    this.known.setAttribute("width", Math.max(simulated * this.scale.perSecond, 0));
  }

  snapped(time, event) {
    const choice = $("snap").value;
    if (choice === "0" || event?.altKey) return time;
    if (choice !== "tempo") return Math.round(time / Number(choice)) * Number(choice);
    if (!this.tempo) return time;
    return this.tempo.start + Math.round((time - this.tempo.start) / this.tempo.beat) * this.tempo.beat;
  }

  // A tempo tapped while it plays has its beats where they were tapped; else they are counted from the start.
  tap() {
    const now = performance.now() / 1000;
    if (this.taps.length && now - this.taps.at(-1).wall > 2) this.taps = [];
    this.taps.push({ wall: now, time: this.studio.time });
    if (this.taps.length < 3) {
      $("tempo").textContent = "…";
      return;
    }
    const beat = (now - this.taps[0].wall) / (this.taps.length - 1);
    const speed = Number($("speed").value), start = this.studio.playing ? this.taps[0].time % (beat * speed) : 0;
    this.tempo = { beat: beat * (this.studio.playing ? speed : 1), start };
    $("tempo").textContent = `${Math.round(60 / beat)} bpm`;
    $("snap").value = "tempo";
  }

  fold() {
    this.folded = !this.folded;
    $("fold").classList.toggle("on", !this.folded);
    this.draw();
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = $("scroll"), x = event.clientX - box.getBoundingClientRect().left, time = this.scale.time(x + box.scrollLeft);
    this.zoom = clamp(this.zoom * Math.exp(-event.deltaY * 0.002), 1, 40);
    this.draw();
    box.scrollLeft = this.scale.x(time) - x;
  }

  timeOf(event) {
    return this.scale.time(event.clientX - this.svg.getBoundingClientRect().left);
  }

  say(x, y, text) {
    const wide = text.length * 6.4 + 12;
    const word = svg("text", { class: "tip-text", y: 4 });
    word.textContent = text;
    this.bubble.replaceChildren(svg("rect", { class: "tip", x: -wide / 2, y: -9, width: wide, height: 18, rx: 5 }), word);
    this.bubble.setAttribute("transform", `translate(${clamp(x, wide / 2, 1e5)},${Math.max(y, 10)})`);
    this.bubble.setAttribute("visibility", "visible");
  }

  // -- what is under the pointer

  down(event) {
    if (event.button !== 0) return;
    const target = event.target, last = this.last;
    // The first click draws everything anew, and then browsers see no double-click on what was there.
    this.last = { at: event.timeStamp, x: event.clientX, y: event.clientY };
    if (last && event.timeStamp - last.at < 400 && Math.hypot(event.clientX - last.x, event.clientY - last.y) < 5) {
      this.last = null;
      if (this.twice(event)) return;
    }
    const beat = target.closest(".beat"), clip = target.closest(".clip"), mark = target.closest(".event");
    if (target.classList.contains("handle")) return this.dragHandle(event, target);
    if (beat) return beat.dataset.limb ? this.dragLimb(event, beat) : this.dragBeat(event, beat);
    if (clip) return clip.dataset.cue !== undefined ? this.dragCue(event, clip) : this.dragClip(event, clip);
    if (mark) return this.dragEvent(event, mark);
    if (target.dataset.lane === "ruler" || target.dataset.lane === "events") return this.scrub(event);
    if (target.dataset.character) this.studio.choose({ character: target.dataset.character, beats: new Set() });
    this.scrub(event);
  }

  scrub(event) {
    const go = (e) => this.studio.seek(clamp(this.timeOf(e), 0, this.end));
    go(event);
    drag(event, (dx, dy, e) => go(e));
  }

  dragBeat(event, key) {
    const { character } = key.dataset, id = Number(key.dataset.id), start = Number(key.dataset.time);
    const choice = this.studio.choice, same = choice.character === character;
    let beats = same && choice.beats.has(id) ? new Set(choice.beats) : new Set([id]);
    if (event.ctrlKey || event.metaKey || event.shiftKey) beats = new Set([...(same ? choice.beats : []), id]);
    this.studio.choose({ character, beats, event: null, clip: null });
    if (Number(key.dataset.cycle)) return;
    let by = 0;
    drag(event, (dx, dy, e) => {
      const time = Math.max(this.snapped(start + dx / this.scale.perSecond, e), 0.01);
      by = time - start;
      this.shift(character, beats, by, e.shiftKey);
      this.say(this.scale.x(time), Number(this.laneOf("who", character).top) + 2, `${time.toFixed(3)} s${e.ctrlKey ? " copy" : e.shiftKey ? " and all after" : ""}`);
    }, (far, e) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (!far || Math.abs(by) < 1e-4) return this.draw();
      if (!(e.ctrlKey || e.metaKey)) return this.studio.edit("move_beats", { character, ids: [...beats], by, ripple: e.shiftKey });
      const first = this.studio.outline.characters[character].beats.filter((b) => beats.has(b.id) && !b.cycle)[0];
      this.studio.make(character, () => this.studio.send("copy_beats", { character, ids: [...beats], time: first.time + by }));
    });
  }

  laneOf(kind, character) {
    return this.lanes.find((lane) => lane.kind === kind && lane.character === character);
  }

  shift(character, beats, by, ripple) {
    const all = this.studio.outline.characters[character].beats.filter((b) => !b.cycle);
    const first = Math.min(...all.filter((b) => beats.has(b.id)).map((b) => b.index));
    for (const key of this.svg.querySelectorAll(`.beat[data-character="${CSS.escape(character)}"][data-cycle="0"]:not(.limb-beat)`)) {
      const index = Number(key.dataset.beat), moves = beats.has(Number(key.dataset.id)) || (ripple && index > first);
      const y = key.getAttribute("transform").split(",")[1];
      key.setAttribute("transform", `translate(${this.scale.x(Number(key.dataset.time) + (moves ? by : 0))},${y}`);
    }
  }

  // One limb of a beat, dragged in its own lane, gets a time of its own.
  dragLimb(event, key) {
    const { character, limb } = key.dataset, id = Number(key.dataset.id);
    const beat = this.studio.outline.characters[character].beats.find((b) => b.id === id && !b.cycle);
    this.studio.choose({ character, limb, beats: new Set([id]), event: null, clip: null });
    if (Number(key.dataset.cycle)) return;
    key = this.svg.querySelector(`.limb-beat[data-character="${CSS.escape(character)}"][data-limb="${limb}"][data-id="${id}"][data-cycle="0"]`);
    let time = beat.time;
    drag(event, (dx, dy, e) => {
      time = Math.max(this.snapped(beat.time + dx / this.scale.perSecond, e), 0.01);
      const y = key.getAttribute("transform").split(",")[1];
      key.setAttribute("transform", `translate(${this.scale.x(time)},${y}`);
      this.say(this.scale.x(time), parseFloat(y) - 14, `${readable(limb)} ${time.toFixed(3)} s`);
    }, (far) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (!far || Math.abs(time - beat.time) < 1e-4) return this.draw();
      const joints = new Set(this.studio.scene.characters[character].limbs[limb]);
      const split = (mine) => Object.fromEntries(Object.entries(beat.angles).filter(([j]) => joints.has(j) === mine));
      const [part, rest] = [split(true), split(false)];
      if (!Object.keys(rest).length) this.studio.edit("move_beats", { character, ids: [id], by: time - beat.time });
      else this.studio.make(character, () => this.studio.send("split_limb", { character, id, time, limb: part, rest }));
    });
  }

  dragHandle(event, dot) {
    const { character } = dot.dataset, lane = this.laneOf("tension", character);
    const top = this.svg.getBoundingClientRect().top, level = dot.dataset.level !== undefined;
    let value = null;
    drag(event, (dx, dy, e) => {
      const y = clamp(e.clientY - top, lane.top + 5, lane.top + lane.height - 5);
      value = level ? levelAt(lane, y) : tensionAt(lane, y);
      dot.setAttribute("cy", y);
      this.say(Number(dot.getAttribute("cx")), y - 16, level ? `tension ${value.toFixed(2)}` : `back in ${value.toFixed(2)} s`);
    }, (far) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (!far || value === null) return;
      if (level) this.studio.edit("set_tension_pose", { character, ...whose(dot, dot.dataset.level), values: { tension: Math.round(value * 100) / 100 } });
      else this.studio.edit("set_hold", { character, ...whose(dot, dot.dataset.hold), hold: value });
    });
  }

  dragCue(event, group) {
    const { character } = group.dataset, index = Number(group.dataset.cue);
    const cue = this.studio.outline.characters[character].tension_poses.find((c) => c.index === index);
    const edge = event.target.dataset.edge;
    let values = null;
    drag(event, (dx, dy, e) => {
      const way = dx / this.scale.perSecond;
      if (edge) values = { lasts: Math.max(this.snapped(cue.end + way, e) - cue.start, 0.02) };
      else values = { at: Math.max(this.snapped(cue.start + way, e), 0) };
      this.say(this.scale.x(edge ? cue.start + values.lasts : values.at), this.laneOf("who", character).top + 2,
        edge ? `lasts ${values.lasts.toFixed(2)} s` : `${values.at.toFixed(2)} s`);
      if (!edge) group.setAttribute("transform", `translate(${this.scale.x(values.at) - this.scale.x(cue.start)},0)`);
    }, (far) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (far && values) this.studio.edit("set_tension_pose", { character, ...whose(group, index), values });
    });
  }

  dragClip(event, group) {
    const { character } = group.dataset, index = Number(group.dataset.clip), id = Number(group.dataset.id);
    const clip = this.studio.outline.characters[character].clips[index], edge = event.target.dataset.edge;
    this.studio.choose({ character, clip: id, beats: new Set(), event: null });
    group = this.svg.querySelector(`.clip[data-character="${CSS.escape(character)}"][data-clip="${index}"]`);
    let values = null;
    drag(event, (dx, dy, e) => {
      const way = dx / this.scale.perSecond, stop = clip.from + clip.length;
      let text = "";
      if (edge === "start") {
        values = { from: clamp(clip.from + way, 0, stop - 0.05) };
        text = `from ${values.from.toFixed(2)} s of the clip`;
      } else if (edge === "end") {
        values = { to: Math.max(stop + way, clip.from + 0.05) };
        text = `to ${values.to.toFixed(2)} s of the clip`;
      } else if (edge === "blend") {
        values = { blend: clamp(clip.blend + way, 0, clip.length) };
        text = `blends in ${values.blend.toFixed(2)} s`;
      } else if (index > 0) {
        values = { at: Math.max(this.snapped(clip.start + way, e), 0.05) };
        text = `${values.at.toFixed(2)} s`;
        group.setAttribute("transform", `translate(${this.scale.x(values.at) - this.scale.x(clip.start)},0)`);
      } else text = "the first clip begins at 0";
      this.say(this.scale.x(clip.start) + dx + 40, this.laneOf("who", character).top + 2, text);
    }, (far) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (far && values) this.studio.edit("set_clip", { character, id, values });
    });
  }

  dragEvent(event, mark) {
    if (mark.dataset.touch !== "") return toast("made by hand: Keep writes it into the script, Undo takes it back");
    const id = Number(mark.dataset.id), start = Number(mark.dataset.at);
    this.studio.choose({ event: id, beats: new Set(), clip: null });
    let at = start;
    drag(event, (dx, dy, e) => {
      at = Math.max(this.snapped(start + dx / this.scale.perSecond, e), 0);
      this.svg.querySelector(`.event[data-id="${id}"]`)?.setAttribute("transform", `translate(${this.scale.x(at)},${this.lanes[1].top + 13})`);
      this.say(this.scale.x(at), this.lanes[1].top - 2, `${at.toFixed(3)} s`);
    }, (far) => {
      this.bubble.setAttribute("visibility", "hidden");
      if (far && Math.abs(at - start) > 1e-4) this.studio.edit("move_event", { id, at });
    });
  }

  twice(event) {
    const { target } = event;
    if (target.classList.contains("handle") && target.dataset.hold !== undefined) {
      this.studio.edit("set_hold", { character: target.dataset.character, ...whose(target, target.dataset.hold), hold: null });
      return true;
    }
    const { lane, character } = target.dataset;
    if (lane === "who" && character) {
      this.studio.choose({ character });
      this.addBeat(this.snapped(this.timeOf(event), event));
      return true;
    }
    return false;
  }

  // Why a character can have no beats; "" if it can.
  noBeats(character) {
    const about = this.studio.outline?.characters[character], joints = this.studio.scene?.characters[character]?.joints ?? {};
    if (!about) return "Nobody is on the stage.";
    if (about.beats.length) return "";
    if (about.machine) return `A state machine leads ${character}: beats have no place beside it.`;
    if (about.sections?.length) return `${character} is led by ${about.sections.map(readable).join(" and ")}: beats have no place beside that.`;
    if (!Object.values(joints).some((joint) => joint.kind !== "ball")) return `All joints of ${character} are balls: a beat cannot say their angles.`;
    return "";
  }

  // A new beat has the pose that is being edited, or the one the body is in.
  addBeat(time) {
    const { studio } = this;
    const character = studio.choice.character ?? Object.keys(studio.outline?.characters ?? {})[0];
    const reason = this.noBeats(character);
    if (reason) return toast(reason, true);
    const named = studio.pose?.named(character);
    studio.make(character, async () => {
      if (named) return studio.send("add_beat", { character, time, beat: { pose: named } });
      const angles = await studio.line.askStage("angles", { character, time }).catch((error) => { toast(error.message, true); });
      return angles && studio.send("add_beat", { character, time, beat: { angles, name: "captured" } });
    });
  }

  remove() {
    const { studio } = this, chosen = studio.chosen();
    studio.inOrder(async () => {
      const { character, beats, event, clip } = await chosen();
      if (beats.size) await studio.send("delete_beats", { character, ids: [...beats] });
      else if (event !== null) await studio.send("delete_event", { id: event });
      else if (clip !== null) await studio.send("delete_clip", { character, id: clip });
    });
  }
}

// Which item a mark on the timeline is about: its number, or -1 for the start, which is no item.
const whose = (mark, index) => (mark.dataset.id ? { id: Number(mark.dataset.id) } : { index: Number(index) });
