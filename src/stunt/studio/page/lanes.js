// The timeline's picture: which lanes there are, and everything drawn on them, from the script's outline.

import { css, readable, svg } from "./tools.js";

export const HEIGHT = { ruler: 22, events: 26, who: 46, tension: 42, limb: 17 };
const TENSION = [0.03, 3]; // seconds to come back: top and bottom of the lane, on a logarithmic scale

// Whether tension is a level of its own here, and not the seconds of the beat law.
export const leveled = (about) => about.tension_start !== null && about.tension_start !== undefined;

export function lanesOf(outline, scene, folded) {
  const lanes = [{ kind: "ruler" }, { kind: "events" }];
  for (const [name, about] of Object.entries(outline.characters)) {
    lanes.push({ kind: "who", character: name });
    if (about.beats.length || leveled(about)) lanes.push({ kind: "tension", character: name });
    const limbs = scene?.characters[name]?.limbs ?? {};
    const moves = about.beats.length || about.tension_poses.length;
    if (!folded && moves) for (const limb of Object.keys(limbs)) lanes.push({ kind: "limb", character: name, limb });
  }
  let top = 0;
  for (const lane of lanes) {
    lane.top = top;
    lane.height = HEIGHT[lane.kind];
    top += lane.height;
  }
  return lanes;
}

export function tensionY(lane, seconds) {
  const share = Math.log(seconds / TENSION[0]) / Math.log(TENSION[1] / TENSION[0]);
  return lane.top + 5 + Math.min(Math.max(share, 0), 1) * (lane.height - 10);
}

export function tensionAt(lane, y) {
  const share = Math.min(Math.max((y - lane.top - 5) / (lane.height - 10), 0), 1);
  return TENSION[0] * (TENSION[1] / TENSION[0]) ** share;
}

export const levelY = (lane, level) => lane.top + 5 + (1 - Math.min(Math.max(level, 0), 1)) * (lane.height - 10);
export const levelAt = (lane, y) => Math.min(Math.max(1 - (y - lane.top - 5) / (lane.height - 10), 0), 1);

export function grade(error) {
  if (error === undefined || error === null) return "";
  return error < 1 ? "good" : error < 5 ? "fair" : "bad";
}

const degrees = (error) => (error < 0.01 ? "<0.01°" : error < 10 ? `${error.toFixed(2)}°` : `${error.toFixed(0)}°`);

export function drawRuler(lane, scale, width, end, height) {
  const steps = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
  const step = steps.find((s) => s * scale.perSecond > 62) ?? 120;
  const parts = [svg("rect", { class: "ruler", x: 0, y: lane.top, width, height: lane.height, "data-lane": "ruler" })];
  for (let k = 0; k * step <= end + step; k++) {
    const x = scale.x(k * step);
    parts.push(svg("line", { class: "grid big", x1: x, x2: x, y1: lane.top + 12, y2: height }));
    const text = svg("text", { x: x + 4, y: lane.top + 14 });
    text.textContent = step < 1 ? (k * step).toFixed(2) : String(k * step);
    parts.push(text);
  }
  return parts;
}

export function drawBeats(lane, about, results, scale, chosen) {
  const known = new Map((results ?? []).map((r) => [r.number ?? r.index, r]));
  return about.beats.map((beat) => {
    const result = known.get(beat.number);
    const fits = result && Math.abs(result.time - beat.time) < 1e-3;
    const error = fits ? result.error_deg : undefined;
    const repeat = beat.cycle ? " repeat" : "", on = chosen.has(beat.id) && !beat.cycle ? " chosen" : "";
    const key = svg("g", {
      class: `beat ${grade(error)}${repeat}${on}`, "data-character": lane.character, "data-beat": beat.index, "data-id": beat.id,
      "data-cycle": beat.cycle, "data-time": beat.time, "data-error": error ?? "",
      transform: `translate(${scale.x(beat.time)},${lane.top + 22})`,
    });
    key.append(svg("path", { d: "M0,-8 8,0 0,8 -8,0Z" }));
    const name = svg("text", { y: -11 }), word = svg("text", { class: "error", y: 19 }), tip = svg("title");
    name.textContent = beat.pose;
    word.textContent = error === undefined ? "" : degrees(error);
    tip.textContent = fits
      ? `${beat.pose} at ${beat.time.toFixed(3)} s: ${error.toFixed(3)}° off (${readable(result.worst_joint)})` +
        (result.saturated.length ? `; at their limit: ${result.saturated.map(readable).join(", ")}` : "")
      : `${beat.pose} at ${beat.time.toFixed(3)} s`;
    key.append(name, word, tip);
    return key;
  });
}

export function drawLimb(lane, about, joints, scale, chosen) {
  const parts = [];
  const mine = new Set(joints);
  for (const beat of about.beats) {
    if (!beat.joints.some((joint) => mine.has(joint))) continue;
    const on = chosen.has(beat.id) && !beat.cycle ? " chosen" : "";
    parts.push(svg("g", {
      class: `beat limb-beat${beat.cycle ? " repeat" : ""}${on}`, "data-character": lane.character, "data-beat": beat.index, "data-id": beat.id,
      "data-cycle": beat.cycle, "data-limb": lane.limb, transform: `translate(${scale.x(beat.time)},${lane.top + lane.height / 2})`,
    }, svg("path", { d: "M0,-5 5,0 0,5 -5,0Z" })));
  }
  for (const cue of about.tension_poses) {
    if (!cue.joints.some((joint) => mine.has(joint))) continue;
    const x = scale.x(cue.start);
    parts.push(svg("rect", {
      x, y: lane.top + 5, width: Math.max(scale.x(cue.end) - x, 2), height: lane.height - 10, rx: 3, fill: css("--curve"), opacity: 0.35,
    }));
  }
  return parts;
}

// The tension of the beat law: a step at every beat. Up is tighter.
export function tensionPoints(about) {
  const points = [{ index: -1, id: "", time: 0, seconds: about.tension, own: true }];
  for (const beat of about.beats) {
    points.push({ index: beat.index, id: beat.id, cycle: beat.cycle, time: beat.time, seconds: beat.hold, own: beat.own_hold });
  }
  return points;
}

export function drawTension(lane, about, scale, end) {
  const points = tensionPoints(about).map((p) => ({ ...p, x: scale.x(p.time), y: tensionY(lane, p.seconds) }));
  let line = `M${points[0].x},${points[0].y}`;
  for (let k = 1; k < points.length; k++) line += `H${points[k].x}V${points[k].y}`;
  line += `H${scale.x(end)}`;
  const floor = lane.top + lane.height;
  const parts = [
    svg("path", { class: "tension-area", d: `${line}V${floor}H${points[0].x}Z` }),
    svg("path", { class: "tension-line", d: line, "data-character": lane.character }),
  ];
  for (const p of points) {
    if (p.cycle) continue;
    const dot = svg("circle", {
      class: `handle${p.own ? " own" : ""}`, cx: p.x, cy: p.y, r: 5, "data-character": lane.character, "data-hold": p.index, "data-id": p.id,
      "data-seconds": p.seconds,
    });
    const tip = svg("title");
    tip.textContent = `comes back in ${p.seconds.toFixed(2)} s; drag up to hold more tightly, double-click for the usual`;
    dot.append(tip);
    parts.push(dot);
  }
  return parts;
}

// Tension as a level of its own (`tension_poses`): ramps from pose to pose.
export function drawLevels(lane, about, scale, end) {
  let level = about.tension_start ?? 0.5;
  let line = `M${scale.x(0)},${levelY(lane, level)}`;
  const handles = [{ index: -1, id: "", x: scale.x(0), level, limb: about.tension_limb }];
  for (const cue of about.tension_poses) {
    line += `H${scale.x(cue.start)}`;
    level = cue.level ?? level;
    line += `L${scale.x(cue.end)},${levelY(lane, level)}`;
    handles.push({ index: cue.index, id: cue.id ?? "", x: scale.x(cue.end), level, limb: cue.limb });
  }
  line += `H${scale.x(end)}`;
  const floor = lane.top + lane.height;
  const parts = [
    svg("path", { class: "tension-area", d: `${line}V${floor}H${scale.x(0)}Z` }),
    svg("path", { class: "tension-line", d: line, "data-character": lane.character }),
  ];
  for (const h of handles) {
    const dot = svg("circle", {
      class: "handle own", cx: h.x, cy: levelY(lane, h.level), r: 5, "data-character": lane.character, "data-level": h.index,
      "data-id": h.id, "data-value": h.level,
    });
    const tip = svg("title");
    tip.textContent = `tension ${h.level.toFixed(2)}${h.limb && h.limb !== "all" ? ` of ${readable(h.limb)}` : ""}`;
    dot.append(tip);
    parts.push(dot);
  }
  return parts;
}

export function drawCues(lane, about, scale, chosen) {
  return about.tension_poses.map((cue) => {
    const x = scale.x(cue.start), width = Math.max(scale.x(cue.end) - x, 6);
    const group = svg("g", { class: "clip cue", "data-character": lane.character, "data-cue": cue.index, "data-id": cue.id ?? "", "data-start": cue.start });
    const name = svg("text", { x: x + 5, y: lane.top + 27 });
    name.textContent = cue.pose;
    group.append(
      svg("rect", { x, y: lane.top + 10, width, height: lane.height - 20, rx: 4 }), name,
      svg("rect", { class: "edge", "data-edge": "end", x: x + width - 5, y: lane.top + 10, width: 5, height: lane.height - 20 }),
    );
    return group;
  });
}

// What a state machine or a supervisor did in the last run; to be read, not to be moved.
export function drawStates(lane, entries, scale, end) {
  const mine = entries.filter((e) => e.character === lane.character);
  return mine.map((entry, k) => {
    const x = scale.x(entry.time), width = Math.max(scale.x(mine[k + 1]?.time ?? end) - x - 2, 2);
    const name = svg("text", { x: x + 6, y: lane.top + 27 }), tip = svg("title");
    name.textContent = width > 30 ? entry.who : "";
    tip.textContent = `${entry.who} from ${entry.time.toFixed(2)} s: ${entry.why} ${entry.mode}`;
    return svg("g", { class: "state" }, svg("rect", { x, y: lane.top + 9, width, height: lane.height - 18, rx: 5 }), name, tip);
  });
}

export function drawClips(lane, about, scale, chosen) {
  return about.clips.map((clip) => {
    const x = scale.x(clip.start), width = Math.max(scale.x(clip.start + clip.length) - x, 8);
    const y = lane.top + 7, height = lane.height - 14;
    const group = svg("g", {
      class: `clip${chosen !== null && chosen === clip.id ? " chosen" : ""}`, "data-character": lane.character, "data-clip": clip.index, "data-id": clip.id,
      "data-start": clip.start, "data-length": clip.length,
    });
    const name = svg("text", { x: x + 10, y: lane.top + 27 }), tip = svg("title");
    name.textContent = clip.clip.split("/").pop() + (clip.loop ? " ⟳" : "");
    tip.textContent = `${clip.clip}: ${clip.length.toFixed(2)} s, from ${clip.from.toFixed(2)} s of the clip; blends in ${clip.blend} s`;
    group.append(svg("rect", { x, y, width, height, rx: 5 }));
    if (clip.index > 0) {
      const blend = scale.x(clip.start + clip.blend) - x;
      group.append(svg("path", { class: "blend", "data-edge": "blend", d: `M${x},${y + height}L${x + blend},${y}H${x}Z` }));
    }
    group.append(
      svg("rect", { class: "edge", "data-edge": "start", x, y, width: 6, height, rx: 2 }),
      svg("rect", { class: "edge", "data-edge": "end", x: x + width - 6, y, width: 6, height, rx: 2 }), name, tip,
    );
    return group;
  });
}

const SIGNS = {
  push: "M-6,-4H1V-8L8,0 1,8V4H-6Z", throw: "M0,-6A6,6 0 1 1 -0.01,-6Z", attach: "M-5,-5H5V5H-5Z", release: "M-6,5H6L0,-6Z",
  drag: "M-7,0L-2,-5V-2H2V-5L7,0 2,5V2H-2V5Z",
};

export function drawEvents(lane, outline, scale, chosen) {
  const draw = (event, number, touch) => {
    const group = svg("g", {
      class: `event${touch ? " touch" : ""}${!touch && chosen !== null && chosen === event.id ? " chosen" : ""}`, "data-event": touch ? "" : number,
      "data-id": touch ? "" : event.id,
      "data-touch": touch ? number : "", "data-at": event.at, "data-kind": event.kind,
      transform: `translate(${scale.x(event.at)},${lane.top + 13})`,
    });
    const tip = svg("title");
    tip.textContent = `${event.kind} ${event.target ?? event.prop} at ${event.at.toFixed(3)} s ${event.size ?? ""}`;
    const long = scale.x(event.end) - scale.x(event.at);
    if (long > 4) group.append(svg("rect", { x: 0, y: -1, width: long, height: 2, opacity: 0.5 }));
    group.append(svg("path", { d: SIGNS[event.kind] ?? SIGNS.push }), tip);
    return group;
  };
  return [...outline.events.map((e, n) => draw(e, n, false)), ...thin(outline.touches).map(([e, n]) => draw(e, n, true))];
}

// A pull is many short pushes; one mark for those that follow each other is enough.
function thin(touches) {
  const shown = [];
  touches.forEach((touch, number) => {
    const last = shown.at(-1)?.[0];
    if (last && last.kind === "push" && touch.kind === "push" && last.target === touch.target && touch.at - last.end < 0.05) {
      last.end = touch.end;
    } else shown.push([{ ...touch }, number]);
  });
  return shown;
}
