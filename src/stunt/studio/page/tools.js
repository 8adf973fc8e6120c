// Small things every part of the page uses.

export const $ = (id) => document.getElementById(id);

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// What a number field says; null where it says nothing, and then it shows again what it showed before.
export function numberOf(input) {
  const value = input.value.trim() === "" ? NaN : Number(input.value);
  if (Number.isFinite(value)) return value;
  input.value = input.defaultValue;
  return null;
}

// A strip over the page, by its key: it stays until what it says is no longer so.
export function notice(key, text, ...buttons) {
  const old = $(`notice-${key}`);
  if (!text) return old?.remove();
  const strip = el("div", { id: `notice-${key}`, className: "notice", role: "alert" }, text, ...buttons);
  if (old?.textContent === strip.textContent) return;
  if (old) old.replaceWith(strip);
  else $("notices").append(strip);
}

// No beat, event or clip: what a choice is about, by their numbers.
export const nothing = () => ({ beats: new Set(), event: null, clip: null });

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function toast(text, bad = false, link = null) {
  const note = el("div", { className: bad ? "toast bad" : "toast", role: "status" }, text);
  if (link) note.append(" ", el("a", { href: link.href, download: link.name, textContent: link.text }));
  $("toasts").append(note);
  setTimeout(() => note.remove(), bad ? 9000 : 5000);
  while ($("toasts").children.length > 4) $("toasts").firstChild.remove();
}

export function menu(anchor, entries) {
  const box = $("menu");
  box.replaceChildren(
    ...entries.map(([text, action]) =>
      el("button", { textContent: text, onclick: () => { box.hidden = true; action(); } })),
  );
  const place = anchor.getBoundingClientRect();
  box.hidden = false;
  box.style.left = `${Math.min(place.left, innerWidth - 190)}px`;
  box.style.top = `${place.bottom + 4}px`;
  setTimeout(() => addEventListener("pointerdown", (event) => {
    if (!box.contains(event.target)) box.hidden = true;
  }, { once: true }));
}

export const readable = (name) => name.replaceAll("_", " ").replace(/^l /, "left ").replace(/^r /, "right ");

// A drag from pointerdown to pointerup; `moved` gets the way in pixels, `done` whether there was any.
export function drag(event, moved, done = () => {}) {
  const [x, y] = [event.clientX, event.clientY];
  let far = false;
  const move = (e) => {
    if (!far && Math.hypot(e.clientX - x, e.clientY - y) < 3) return;
    far = true;
    moved(e.clientX - x, e.clientY - y, e);
  };
  const up = (e) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", up);
    done(far, e);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", up);
}
