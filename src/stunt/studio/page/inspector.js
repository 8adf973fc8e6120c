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

export function keyRows(title, keys, written, set) {
  return [
    el("h3", { textContent: title }),
    ...keys.map((key) => el("label", { className: "row key", title: `${key.help} (${key.value}${key.unit ? ` ${key.unit}` : ""})` },
      el("span", { textContent: key.key }), field(key, written[key.key], (value) => set({ [key.key]: value })), key.unit,
      key.default !== "" && written[key.key] !== undefined ? el("button", {
        type: "button", className: "usual", textContent: "↺", title: `As usual: ${key.default}`, onclick: () => set({ [key.key]: null }),
      }) : null)),
  ];
}
