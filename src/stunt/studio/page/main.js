// The page: one object that knows the state, and the parts that show it.

import { Curves } from "./curves.js";
import { dropping, help, library } from "./dialogs.js";
import { Files } from "./files.js";
import { keys } from "./keys.js";
import { PoseEditor } from "./pose.js";
import { Line } from "./socket.js";
import { Timeline } from "./timeline.js";
import { $, el, menu, nothing, notice, numberOf, toast } from "./tools.js";
import { Touch } from "./touch.js";
import { Viewport } from "./viewport.js";

class Studio {
  constructor() {
    // Beats, events and clips are chosen by their numbers, which stay theirs whatever is edited.
    this.choice = { character: null, limb: null, ...nothing() };
    this.deeds = Promise.resolve();
    this.making = null; // a choice that is being made: a beat that is asked for, and not there yet
    [this.time, this.simulated, this.seconds, this.playing, this.revision] = [0, 0, 0, false, 0];
    this.setTheme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.line = new Line();
    this.view = new Viewport($("canvas"));
    this.pose = new PoseEditor(this);
    this.timeline = new Timeline(this);
    this.curves = new Curves(this);
    this.touch = new Touch(this);
    this.files = new Files(this);
    dropping(this);
    this.listen();
    this.buttons();
    keys(this);
    this.timing = { edits: [] };
    this.pending = 0; // requests that have not been answered
  }

  // -- what the studio says

  listen() {
    const { line } = this;
    line.on("document", (message) => this.documentIs(message));
    line.on("scene", (scene) => this.sceneIs(scene));
    line.on("results", (results) => this.resultsAre(results));
    line.on("pose", (frame) => this.frameIs(frame));
    line.on("error", ({ error }) => this.complain(error));
    line.on("trouble", ({ error }) => this.complain(`a mistake of the studio: ${error}`));
    line.on("refused", ({ error }) => toast(error, true));
    line.on("kinds", ({ exports }) => { this.exports = exports; });
    line.on("export", (about) => this.exported(about));
    line.on("line", ({ open, ended }) => notice("line", !open && el("span", { textContent: ended
      ? "This studio has ended. Start it again and open the address it prints; unsaved edits are kept beside the script."
      : "The studio does not answer; what you do now is not done. Waiting for it …" })));
    line.on("audience", ({ pages }) => {
      $("pages").hidden = pages < 2;
      $("pages").textContent = `${pages} pages`;
      $("pages").title = `This studio is open in ${pages} pages: edits show in all of them, and each has its own selection.`;
    });
  }

  documentIs(message) {
    this.outline = message.outline;
    this.revision = message.revision;
    this.text = message.text;
    $("file-name").textContent = message.name;
    $("file-name").title = message.path;
    $("file").classList.toggle("dirty", message.dirty);
    document.title = `${message.dirty ? "● " : ""}${message.outline.title || message.name} – Stunt studio`;
    this.history = message.history;
    this.showHistory();
    $("touches").hidden = !message.outline.touches.length;
    $("touch-count").textContent = `${message.outline.touches.length} by hand`;
    $("script-text").textContent = message.text;
    [this.path, this.name, this.folders] = [message.path, message.name, message.folders];
    this.files.documentIs(message);
    if (this.opened !== message.opened) {
      const first = this.opened === undefined;
      this.opened = message.opened;
      this.making = null;
      this.choice = { character: null, limb: null, ...nothing() };
      this.body = null;
      $("selected").hidden = true;
      this.pose.sceneLeft();
      if (message.recovered) toast(message.on_disk ? "Unsaved edits of the last session are here again; Revert goes back to the file." : "Unsaved work of the last session is here again.");
      else this.waiting(first);
    }
    this.prune();
    this.pose.documentIs();
    this.notes();
    this.redraw();
  }

  showHistory() {
    const { undo, redo } = this.history, posing = this.pose.angles && this.pose.past.length ? "the pose" : null;
    $("undo").disabled = undo === null && !posing;
    $("redo").disabled = redo === null && !this.pose.future.length;
    $("undo").title = posing ?? undo ? `Undo: ${posing ?? undo} (Ctrl+Z)` : "Nothing to undo";
    $("history-note").textContent = undo ?? "";
  }

  // Unsaved work that lies about is said once, at the beginning.
  async waiting(first) {
    if (!first) return;
    const others = ((await this.do("unsaved")) ?? []).filter((entry) => !entry.here);
    if (others.length) toast(`Unsaved work lies here: ${others.map((o) => o.name).slice(0, 3).join(", ")}${others.length > 3 ? " …" : ""} (click the file's name, Unsaved work).`);
  }

  // What is chosen and no longer there is not chosen any more; nothing takes its place.
  prune() {
    const { characters, events } = this.outline, { choice } = this;
    if (!(choice.character in characters)) this.choice = { character: Object.keys(characters)[0] ?? null, limb: null, ...nothing() };
    const about = characters[this.choice.character];
    const has = (list, id) => (list ?? []).some((entry) => entry.id === id);
    this.choice.beats = new Set([...this.choice.beats].filter((id) => has(about?.beats, id)));
    if (!has(about?.clips, this.choice.clip)) this.choice.clip = null;
    if (!has(events, this.choice.event)) this.choice.event = null;
  }

  sceneIs(scene) {
    const another = this.built !== this.opened;
    this.built = this.opened;
    this.scene = scene;
    if (!scene.bodies.includes(this.body)) {
      this.body = null;
      $("selected").hidden = true;
    }
    this.view.build(scene, another);
    this.view.chased = this.choice.character;
    this.view.last = null;
    // Whoever can walk away is followed, until the user says otherwise.
    const walks = Object.values(scene.characters).some((c) => c.free);
    if (another && walks !== $("follow").classList.contains("on")) $("follow").click();
    this.curves.build();
    this.pose.build();
    this.pose.stageChanged();
    this.redraw();
    $("banner").hidden = true;
  }

  resultsAre(results) {
    this.results = results;
    this.seconds = results.seconds;
    if (results.error) this.complain(results.error);
    this.timeline.draw();
    this.notes();
    this.caption();
    this.pose.showResult();
    if (results.done) {
      this.curves.fetch();
      this.trails();
      if (this.edited && results.revision >= this.edited.revision) {
        this.timing.edits.push(performance.now() - this.edited.at);
        this.edited = null;
      }
    }
  }

  frameIs(frame) {
    [this.time, this.simulated] = [frame[2], frame[3]];
    this.shownRevision = frame[1];
    const seconds = frame[4], playing = Boolean(frame[5]);
    if (Math.abs(seconds - this.seconds) > 1e-4) {
      this.seconds = seconds;
      this.timeline.draw();
    }
    if (playing !== this.playing) {
      this.playing = playing;
      $("play").textContent = playing ? "❚❚" : "▶";
    }
    $("loop").classList.toggle("on", Boolean(frame[7]));
    const speed = [...$("speed").options].find((o) => Math.abs(Number(o.value) - frame[6]) < 1e-4);
    if (speed && document.activeElement !== $("speed")) $("speed").value = speed.value;
    $("time").textContent = this.time.toFixed(3);
    $("seconds").textContent = this.seconds.toFixed(2);
    $("progress").firstElementChild.style.width = `${(100 * this.simulated) / Math.max(this.seconds, 1e-3)}%`;
    $("waiting").hidden = true;
    this.view.show(frame);
    this.timeline.move();
    this.caption();
    this.curves.paint();
  }

  complain(text) {
    $("banner").hidden = false;
    $("banner-text").textContent = text;
    $("waiting").hidden = true;
  }

  caption() {
    const now = (this.results?.in_charge ?? []).filter((e) => e.time <= this.time + 1e-6);
    const last = new Map(now.map((e) => [e.character ?? "", e]));
    const words = [...last.values()].map((e) => {
      const who = e.mode ? `${e.who} · ${e.mode}` : e.who;
      return last.size > 1 ? `${e.character}: ${who}` : who;
    });
    $("caption").textContent = words.filter(Boolean).join("   ·   ");
  }

  notes() {
    const { results, outline } = this;
    if (!results || !outline) return;
    const beats = Object.entries(results.beats).flatMap(([who, list]) => list.map((b) => ({ who, ...b })));
    const worst = beats.reduce((a, b) => (a && a.error_deg > b.error_deg ? a : b), null);
    const note = (kind, text) => el("div", { className: `note ${kind}`, textContent: text });
    $("tab-notes").replaceChildren(
      el("h3", { textContent: "Beats" }),
      beats.length ? note(worst.error_deg < 1 ? "good" : worst.error_deg < 5 ? "warning" : "bad",
        `${beats.length} beats, worst ${worst.error_deg.toFixed(2)}° off: ${worst.pose} at ${worst.time.toFixed(2)} s`) : note("", "no beats yet"),
      el("h3", { textContent: "Warnings" }),
      ...(results.warnings.length ? results.warnings.map((w) => note("warning", w)) : [note("good", "none")]),
      el("h3", { textContent: "What happened" }),
      ...results.log.slice(0, 60).map((e) => note("", `${e.time.toFixed(2)} s  ${e.kind} ${e.target ?? e.pose ?? e.prop ?? e.character ?? ""}`)),
      ...results.hits.slice(0, 40).map((h) => note("", `${h.time.toFixed(2)} s  hit ${h.character ?? ""}/${h.body ?? ""}`)),
    );
  }

  // -- what the user wants

  // Deeds are done one after the other, in the order in which they were asked for.
  inOrder(deed) {
    this.pending += 1;
    const done = this.deeds.then(deed).finally(() => { this.pending -= 1; });
    this.deeds = done.catch(() => {});
    return done;
  }

  edit(name, args) {
    return this.inOrder(() => this.send(name, args));
  }

  // Sends an edit at once; only for deeds whose turn it is.
  async send(name, args) {
    this.edited = { at: performance.now(), revision: Infinity };
    try {
      const answer = await this.line.ask("edit", { name, args });
      this.edited = { at: this.edited?.at ?? performance.now(), revision: answer.revision };
      if (this.results?.done && this.results.revision >= answer.revision) this.resultsAre(this.results);
      return answer;
    } catch (error) {
      toast(error.message, true);
      this.redraw();
      return null;
    }
  }

  // Makes beats and chooses them, unless the user has chosen something else meanwhile.
  make(character, deed) {
    const making = this.inOrder(async () => {
      const answer = await deed();
      const beats = (this.outline?.characters[character]?.beats ?? []).filter((b) => !b.cycle && answer?.made?.includes(b.id));
      const choice = beats.length ? { ...this.choice, character, ...nothing(), beats: new Set(beats.map((b) => b.id)) } : null;
      if (this.making === making) {
        this.making = null;
        if (choice) this.take(choice);
      }
      return choice;
    });
    this.making = making;
    return making;
  }

  // What is chosen now, as a deed that has to wait must take it: what is being made counts as chosen already.
  chosen() {
    const now = { ...this.choice, beats: new Set(this.choice.beats) };
    const made = this.making;
    return async () => (made && (await made)) || now;
  }

  choose(change) {
    this.making = null;
    this.take(change);
  }

  take(change) {
    Object.assign(this.choice, change);
    if ("character" in change || "limb" in change) {
      this.view.chased = this.choice.character;
      this.view.last = null;
      this.curves.build();
      this.curves.fetch();
    }
    this.pose.build(true);
    this.timeline.draw();
  }

  redraw() {
    this.timeline.draw();
    this.pose.build();
  }

  seek(time) {
    this.line.say("play", { seek: time });
  }

  // Does something in its turn, and says what went wrong; null then.
  async do(op, data) {
    try {
      return (await this.ordered(op, data)) ?? {};
    } catch (error) {
      toast(error.message, true);
      return null;
    }
  }

  ordered(op, data) {
    return op === "ask" ? this.line.ask(op, data) : this.inOrder(() => this.line.ask(op, data));
  }

  undo() {
    if (!this.pose.undo()) this.do("undo");
  }

  redo() {
    if (!this.pose.redo()) this.do("redo");
  }

  save() {
    document.activeElement?.blur(); // what is being typed counts
    return this.files.save();
  }

  exported({ state, path, number, error, share }) {
    const name = path.split(/[\\/]/).pop();
    $("busy").textContent = state === "writing" ? `writing ${name} … ${share ? `${Math.round(100 * share)} %` : ""}` : "";
    if (state === "done") toast(`written: ${path}`, false, { href: `export/${number}`, name, text: "download" });
    if (state === "failed") toast(`${name}: ${error}`, true);
  }

  async trails() {
    this.view.clearTrails();
    if (!this.view.options.trails || !this.scene) return;
    const chosen = this.body ? [this.scene.bodies.indexOf(this.body)]
      : this.scene.bodies.map((n, k) => (/(hand|wrist)$/.test(n) ? k : -1)).filter((k) => k >= 0).slice(0, 6);
    const colours = [0xd9571f, 0x3a6fd8, 0x1f9d61, 0xa04bc4, 0xc99700, 0x00949e];
    for (const [n, body] of chosen.entries()) {
      const points = await this.do("ask", { op: "trail", body });
      if (points) this.view.trail(body, points, colours[n % colours.length]);
    }
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
    this.view?.theme();
    this.curves?.paint();
  }

  option(id, act) {
    $(id).onclick = () => {
      const on = $(id).classList.toggle("on");
      this.view.options[id] = on;
      act?.(on);
      if (this.view.frame) this.view.show(this.view.frame);
    };
  }

  toBeat(way) {
    const times = [0, ...(this.outline?.characters[this.choice.character]?.beats ?? []).map((b) => b.time), this.seconds];
    const next = way > 0 ? times.find((t) => t > this.time + 1e-3) : times.findLast((t) => t < this.time - 1e-3);
    if (next !== undefined) this.seek(next);
  }

  buttons() {
    $("play").onclick = () => this.line.say("play", { playing: !this.playing });
    $("to-start").onclick = () => this.seek(0);
    $("step-back").onclick = () => this.line.say("play", { step: -1 });
    $("step-on").onclick = () => this.line.say("play", { step: 1 });
    $("loop").onclick = () => this.line.say("play", { loop: !$("loop").classList.contains("on") });
    $("speed").onchange = () => { this.line.say("play", { speed: Number($("speed").value) }); $("speed").blur(); };
    $("undo").onclick = () => this.undo();
    $("redo").onclick = () => this.redo();
    $("push-size").onchange = () => { if (numberOf($("push-size")) !== null) $("push-size").defaultValue = $("push-size").value; };
    $("script-copy").onclick = async () => {
      await navigator.clipboard.writeText(this.text);
      toast("the script is copied");
    };
    addEventListener("beforeunload", (event) => { if (this.pose.edited) event.preventDefault(); });
    $("save").onclick = () => this.save();
    $("export-button").onclick = () => menu($("export-button"),
      (this.exports ?? []).map(({ kind, words }) => [words, () => this.do("export", { kind })]));
    $("library-button").onclick = () => library(this);
    $("theme").onclick = () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    $("help-button").onclick = help;
    $("banner-close").onclick = () => { $("banner").hidden = true; };
    $("frame").onclick = () => this.view.frameOn(this.body ? this.choice.character : null);
    this.option("follow", () => { this.view.last = null; });
    this.option("ghost", (on) => this.line.say("ghost", { on }));
    this.option("trails", () => this.trails());
    this.option("contacts");
    $("shadows").onclick = () => this.view.shadows($("shadows").classList.toggle("on"));
    if (!this.view.slow) $("shadows").click();
    $("paint").onchange = () => {
      const words = { "": ["", ""], 0: ["relaxed", "braced"], 1: ["no torque", "full strength"], 2: ["on target", "20° off"] };
      this.view.paint($("paint").value);
      $("legend").hidden = $("paint").value === "";
      [$("legend-low").textContent, $("legend-high").textContent] = words[$("paint").value];
      $("paint").blur();
    };
    for (const tab of $("tabs").children) tab.onclick = () => {
      for (const other of $("tabs").children) {
        other.classList.toggle("on", other === tab);
        $(`tab-${other.dataset.tab}`).hidden = other !== tab;
      }
      if (tab.dataset.tab === "curves") { this.curves.build(); this.curves.fetch(); }
    };
  }

  duplicate() {
    const chosen = this.chosen(), { time } = this;
    this.make(this.choice.character, async () => {
      const { character, beats } = await chosen();
      return beats.size ? this.send("copy_beats", { character, ids: [...beats], time }) : null;
    });
  }
}

window.studio = new Studio();
