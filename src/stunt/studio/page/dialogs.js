// Windows over the page: the library, the doctor's findings on a dropped file, help.

import { $, el, toast } from "./tools.js";

export function show(title, body, ...buttons) {
  const dialog = $("dialog");
  dialog.replaceChildren(
    el("header", {}, el("h2", { textContent: title }), el("button", { textContent: "×", title: "Close", onclick: () => dialog.close() })),
    el("div", { className: "body" }, ...body),
    ...(buttons.length ? [el("footer", {}, ...buttons)] : []),
  );
  if (!dialog.open) dialog.showModal();
  return dialog;
}

let asked = Promise.resolve(), question = null;

// Asks one question at a time; gives the chosen button's value, "" for Escape, undefined if it was withdrawn.
export function ask(title, body, buttons, key = "") {
  const next = asked.then(() => new Promise((answer) => {
    const dialog = $("question");
    const end = (value) => {
      question = null;
      dialog.close();
      answer(value);
    };
    question = { key, end };
    const feet = buttons.map(([value, text, primary]) => {
      const button = el("button", { type: "button", className: primary ? "primary" : "", textContent: text, onclick: () => end(value) });
      button.dataset.answer = value;
      return button;
    });
    dialog.replaceChildren(el("header", {}, el("h2", { textContent: title })), el("div", { className: "body" }, ...body.filter(Boolean)),
      el("footer", {}, ...feet));
    dialog.oncancel = (event) => {
      event.preventDefault();
      end("");
    };
    dialog.onkeydown = (event) => {
      const primary = feet.find((foot) => foot.className === "primary");
      if (event.key === "Enter" && event.target.tagName === "INPUT" && primary) {
        event.preventDefault();
        primary.click();
      }
    };
    dialog.showModal();
    (dialog.querySelector("input") ?? feet.find((foot) => foot.className === "primary") ?? feet[0]).focus();
  }));
  asked = next.catch(() => {});
  return next;
}

// Withdraws a question that has answered itself.
export function dismiss(key) {
  if (question?.key === key) question.end(undefined);
}

export async function library(studio) {
  const { examples, scripts, clips, unsaved } = await studio.line.ask("library");
  const open = (name) => {
    $("dialog").close();
    studio.files.open(name);
  };
  const cards = examples.map((e) => {
    const card = el("button", { className: "card", title: e.words, onclick: () => open(e.name) },
      e.picture ? el("img", { src: `picture/${e.name}.jpg`, alt: "", loading: "lazy" }) : el("div", { className: "none" }),
      el("span", {}, el("b", { textContent: e.title }), el("small", { textContent: e.words })));
    card.dataset.example = e.name;
    return card;
  });
  const chip = (text, title, name) => el("button", { className: "chip", textContent: text, title, onclick: () => open(name) });
  const waiting = unsaved.filter((entry) => entry.path !== studio.path);
  show("Library", [
    ...(waiting.length ? [el("h3", { textContent: "Unsaved work" }), el("div", { className: "list" },
      ...waiting.map((u) => chip(`${u.title} — ${u.name}`, `Unsaved edits of ${u.path}`, u.path)))] : []),
    ...(scripts.length ? [el("h3", { textContent: "Your scripts" }), el("div", { className: "list" },
      ...scripts.map((s) => chip(`${s.title} — ${s.name}`, s.path, s.path)))] : []),
    el("h3", { textContent: "Examples" }), el("div", { className: "cards" }, ...cards),
    el("h3", { textContent: "Clips" }), el("div", { className: "list" },
      ...clips.map((c) => chip(c.name, c.path, c.source === "package" || c.source === "pybullet" ? c.name : c.path))),
    el("p", { className: "dim", textContent: "Drop a motion file (BVH, AMC, C3D …) anywhere on the page to use it." }),
  ]);
}

const number = (value, digits = 2) => (value === null || value === undefined ? "–" : Number(value).toFixed(digits));

export function doctor(studio, { file, diagnosis: d }) {
  const facts = [
    ["File", `${file} (${d.format})`], ["Length", `${number(d.seconds)} s: ${d.frames} frames at ${number(d.fps, 1)} per second`],
    ["Skeleton", `${d.joints} joints, ${d.vocabulary === "unknown" ? "names of its own" : `named as in ${d.vocabulary}`}`], ["Height", d.height_m === null ? "not known" : `${number(d.height_m)} m`],
    ["Feet", d.foot_slide_m === null ? "not found" : `slip ${number(d.foot_slide_m)} m in all`],
    ["Axes, unit", `${d.up} is up, one unit is ${number(d.metres_per_unit, 4)} m`],
    ...Object.entries(d.assumed).map(([key, words]) => [`Assumed: ${key}`, words]),
  ];
  const table = el("table", { className: "facts" }, ...facts.map(([a, b]) => el("tr", {}, el("td", { textContent: a }), el("td", { textContent: b }))));
  const followers = Object.entries(studio.outline?.characters ?? {}).filter(([, c]) => c.clips.length).map(([name]) => name);
  const use = async (character) => {
    $("dialog").close();
    const found = character ? await studio.do("use", { file, character }) : await studio.files.open(file, "use", { file });
    if (found) toast(character ? `${character} follows ${found.name} next` : `${found.name} is on the stage`);
  };
  const usable = !d.missing.length;
  show(`The doctor on ${file}`, [
    ...(d.warnings.length ? d.warnings.map((w) => el("div", { className: "note warning", textContent: w }))
      : [el("div", { className: "note good", textContent: "Nothing looks wrong with it." })]),
    table,
  ],
  el("button", { textContent: "Leave it", onclick: () => $("dialog").close() }),
  ...followers.map((name) => el("button", { textContent: `${name} follows it next`, onclick: () => use(name) })),
  el("button", { id: "use-clip", className: "primary", textContent: "Use it: a new performance", disabled: !usable, onclick: () => use(null) }));
}

export function dropping(studio) {
  let depth = 0;
  const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => { if (files(event)) { depth += 1; $("drop").hidden = false; } });
  addEventListener("dragleave", () => { depth = Math.max(depth - 1, 0); $("drop").hidden = depth === 0; });
  addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
  addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    depth = 0;
    $("drop").hidden = true;
    for (const file of event.dataTransfer.files) await take(studio, file);
  });
}

async function take(studio, file) {
  $("busy").textContent = `the doctor looks at ${file.name} …`;
  try {
    const answer = await fetch(`drop/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const found = await answer.json();
    if (found.error) throw new Error(found.error);
    doctor(studio, found);
  } catch (error) {
    toast(`${file.name}: ${error.message}`, true);
  } finally {
    $("busy").textContent = "";
  }
}

const KEYS = [
  ["Space", "play, pause"], ["← →", "one frame"], ["Shift ← →", "to the next beat"], ["Home / End", "start, end"],
  ["L", "loop"], ["B", "add a beat at the playhead"], ["Delete", "delete what is chosen"], ["D", "copy the beat to the playhead"],
  ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"], ["Ctrl S", "save"], ["T", "tap the tempo"], ["F", "frame the selection"],
  ["G", "ghost of the target"], ["O", "library"], ["?", "this help"],
];
const MOUSE = [
  ["Drag a beat", "moves it; with Shift all after it too, with Ctrl a copy; Alt does not snap"],
  ["Drag a limb's key", "gives the limb a time of its own"], ["Drag a blue dot", "up: held more tightly; double-click: as usual"],
  ["Double-click a lane", "adds a beat"], ["Drag a body", "pulls it"], ["Shift-click a body", "pushes it, away from you"],
  ["Drag the floor", "turns the view; right button moves it, wheel zooms"], ["Ctrl wheel on the timeline", "zooms"],
];

export function help() {
  const rows = (list) => list.flatMap(([key, text]) => [el("kbd", { textContent: key }), el("span", { textContent: text })]);
  show("Keys and mouse", [el("div", { className: "keys" }, ...rows(KEYS)), el("p"), el("div", { className: "keys" }, ...rows(MOUSE))]);
}
