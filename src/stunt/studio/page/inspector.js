// What is chosen, key by key, as the script's keys are declared: value, range, unit, default and help.

import { el, numberOf } from "./tools.js";

const field = (key, value, set) => {
  if (key.options.length) {
    const select = el("select", { onchange: () => set(select.value || null) },
      el("option", { value: "", textContent: key.default }),
      ...key.options.map((o) => el("option", { value: o, textContent: o, selected: o === value })));
    return select;
  }
  if (key.default === "true" || key.default === "false") {
    const box = el("input", { type: "checkbox", checked: value ?? key.default === "true", onchange: () => set(box.checked) });
    return box;
  }
  if (key.least === null && key.most === null || typeof (value ?? 0) !== "number") {
    return el("span", { textContent: value === undefined ? key.default : JSON.stringify(value) });
  }
  const input = el("input", {
    type: "number", step: "any", min: key.least ?? "", max: key.most ?? "", defaultValue: value ?? "", placeholder: key.default,
    onchange: () => { if (numberOf(input) !== null) set(Number(input.value)); },
  });
  input.id = `key-${key.key}`;
  return input;
};

function keyRows(title, keys, written, set) {
  return [
    el("h3", { textContent: title }),
    ...keys.map((key) => el("label", { className: "row key", title: `${key.help} (${key.value}${key.unit ? ` ${key.unit}` : ""})` },
      el("span", { textContent: key.key }), field(key, written[key.key], (value) => set({ [key.key]: value })), key.unit,
      key.default !== "" && written[key.key] !== undefined ? el("button", {
        type: "button", className: "usual", textContent: "↺", title: `As usual: ${key.default}`, onclick: () => set({ [key.key]: null }),
      }) : null)),
  ];
}

// The beat that is chosen: its pose, when it is hit, how soon the body is back, and how well it was met.
export function beatRows(editor, { id, index, pose: of, time: at, hold: held }, poses) {
  const edit = (name, more) => editor.studio.edit(name, { character: editor.character, ...more });
  const pose = el("select", { id: "beat-pose", onchange: () => edit("set_beat_pose", { id, pose: pose.value }) },
    ...(poses.includes(of) ? [] : [el("option", { value: "", textContent: of })]),
    ...poses.map((p) => el("option", { value: p, textContent: p, selected: p === of })));
  const time = el("input", { id: "beat-time", type: "number", step: 0.01, min: 0.01, defaultValue: at.toFixed(3), onchange: () => {
    const beat = editor.beatOf(id), wanted = numberOf(time);
    if (beat && wanted !== null) edit("move_beats", { ids: [id], by: wanted - beat.time });
  } });
  const hold = el("input", { id: "beat-hold", type: "number", step: 0.05, min: 0.02, defaultValue: held, onchange: () => {
    const wanted = numberOf(hold);
    if (wanted !== null) edit("set_hold", { id, hold: wanted });
  } });
  return [
    el("div", { className: "row" }, `Beat ${index + 1}`, pose,
      el("button", { id: "beat-edit", textContent: "Edit", title: "Edit the pose of this beat", onclick: () => editor.editBeat(id) })),
    el("div", { className: "row" }, "at", time, "s, back in", hold, "s"),
    el("div", { id: "beat-result", ...editor.result() }),
  ];
}

// The keys of the clip or event that is chosen on the timeline.
export function chosenRows(editor, outline) {
  const { choice } = editor.studio, id = choice.clip ?? choice.event, clips = choice.clip !== null;
  if (id === null) return [];
  const entries = clips ? outline.characters[choice.character]?.clips ?? [] : outline.events;
  const index = entries.findIndex((entry) => entry.id === id);
  if (index < 0) return [];
  const entry = entries[index], kind = clips ? "clips" : entry.kind;
  return keyRows(clips ? `Clip ${index + 1}` : `Event ${index + 1}: ${kind}`, outline.keys[kind], entry.written, (values) =>
    clips ? editor.studio.edit("set_clip", { character: choice.character, id, values }) : editor.studio.edit("set_event", { id, values }));
}

export function tensionRow(editor, about) {
  if (about.tension === null || !about.beats.length) return [];
  const edit = (factor) => editor.studio.edit("set_holds", { character: editor.character, factor });
  return [el("div", { className: "row" }, `Tension: back in ${about.tension.toFixed(2)} s`,
    el("button", { id: "tighter", textContent: "tighter", onclick: () => edit(1.6) }),
    el("button", { id: "looser", textContent: "looser", onclick: () => edit(1 / 1.6) }))];
}
