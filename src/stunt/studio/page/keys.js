// The keyboard: shortcuts, unless a field, a slider or a button that was reached by Tab has a use for the key itself.

import { help, library } from "./dialogs.js";
import { $, nothing } from "./tools.js";

export function keys(studio) {
  const plain = {
    " ": () => $("play").click(), ArrowLeft: () => studio.line.say("play", { step: -1 }), ArrowRight: () => studio.line.say("play", { step: 1 }),
    Home: () => studio.seek(0), End: () => studio.seek(studio.seconds), Delete: () => studio.timeline.remove(), Backspace: () => studio.timeline.remove(),
    l: () => $("loop").click(), f: () => $("frame").click(), g: () => $("ghost").click(), t: () => studio.timeline.tap(), o: () => library(studio),
    b: () => studio.timeline.addBeat(studio.time), d: () => studio.duplicate(), "?": help, Escape: () => studio.choose(nothing()),
  };
  let pressed = null; // a button that was clicked keeps the focus, but not the space bar; one that was reached by Tab has it
  addEventListener("pointerdown", (event) => { pressed = event.target.closest?.("button, summary"); }, true);
  const own = (target, key) => {
    if (target.type === "range") return /^(Arrow|Home|End|Page)/.test(key);
    if (target.matches?.("button, summary, a")) return target !== pressed && (key === " " || key === "Enter");
    return /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName ?? "");
  };
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const saves = (event.ctrlKey || event.metaKey) && key === "s";
    if (own(event.target, event.key) && !saves) return;
    let act = null;
    if (event.ctrlKey || event.metaKey) {
      act = { z: () => (event.shiftKey ? studio.redo() : studio.undo()), y: () => studio.redo(), s: () => studio.save() }[key];
    } else if (event.shiftKey && key.startsWith("Arrow")) act = () => studio.toBeat(key === "ArrowRight" ? 1 : -1);
    else act = plain[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
