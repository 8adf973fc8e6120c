// Curves of the selected joints over time, in step with the playhead: a chart per quantity.

import { $, css, drag, el, readable } from "./tools.js";

const QUANTITIES = [
  ["angle", "Angle"], ["error", "Tracking error"], ["torque", "Torque and limit"], ["share", "Share of strength"],
  ["stiffness", "Gain: stiffness"], ["damping", "Gain: damping"], ["assistance", "Assistance"],
];
const COLOURS = ["#3a6fd8", "#d9571f", "#1f9d61", "#a04bc4", "#c99700", "#00949e", "#d14a86", "#6b7a34"];

export class Curves {
  constructor(studio) {
    this.studio = studio;
    this.joints = new Map(); // by character: the joints the user chose
    this.charts = ["stiffness", "torque"].map((quantity) => ({ quantity }));
    this.box = $("tab-curves");
    new ResizeObserver(() => this.paint()).observe(this.box);
  }

  get character() {
    return this.studio.choice.character ?? Object.keys(this.studio.scene?.characters ?? {})[0];
  }

  chosen() {
    const about = this.studio.scene?.characters[this.character];
    if (!about) return [];
    const own = this.joints.get(this.character);
    if (own?.size) return [...own].filter((joint) => joint in about.joints);
    const limb = about.limbs[this.studio.choice.limb ?? ""] ?? about.limbs.r_arm ?? Object.values(about.limbs)[0];
    // First those that the beats or poses name.
    const named = new Set((this.studio.outline?.characters[this.character]?.beats ?? []).flatMap((b) => b.joints));
    return [...limb.filter((j) => named.has(j)), ...limb.filter((j) => !named.has(j))].slice(0, 4);
  }

  build() {
    const about = this.studio.scene?.characters[this.character];
    if (!about) return this.box.replaceChildren(el("div", { className: "empty", textContent: "Nobody is on the stage." }));
    const chosen = this.chosen();
    const chips = chosen.map((joint, n) => {
      const dot = el("i");
      dot.style.background = COLOURS[n % COLOURS.length];
      return el("button", { className: "chip on", title: "Take it out", onclick: () => this.toggle(joint) }, dot, readable(joint));
    });
    const add = el("select", { onchange: () => { if (add.value) this.toggle(add.value); } },
      el("option", { value: "", textContent: "+ joint" }),
      ...Object.keys(about.joints).filter((j) => !chosen.includes(j)).map((j) => el("option", { value: j, textContent: readable(j) })));
    add.id = "add-joint";
    this.box.replaceChildren(
      el("h3", { textContent: this.character }), el("div", { className: "chips" }, ...chips, add),
      ...this.charts.flatMap((chart) => this.chart(chart)),
      el("button", { textContent: "+ Chart", onclick: () => { this.charts.push({ quantity: "angle" }); this.build(); this.fetch(); } }),
    );
    this.paint();
  }

  chart(chart) {
    const select = el("select", { className: "quantity", onchange: () => { chart.quantity = select.value; chart.data = null; this.fetch(); } },
      ...QUANTITIES.map(([value, text]) => el("option", { value, textContent: text, selected: value === chart.quantity })));
    const away = el("button", { textContent: "×", title: "Take this chart away", onclick: () => {
      this.charts.splice(this.charts.indexOf(chart), 1);
      this.build();
    } });
    chart.reading = el("span", { className: "dim" });
    chart.canvas = el("canvas", { className: "chart" });
    chart.canvas.dataset.quantity = chart.quantity;
    chart.canvas.addEventListener("pointerdown", (event) => {
      const go = (e) => {
        const box = chart.canvas.getBoundingClientRect();
        this.studio.seek(Math.max(0, Math.min((e.clientX - box.left - 40) / (box.width - 48), 1)) * this.studio.seconds);
      };
      go(event);
      drag(event, (dx, dy, e) => go(e));
    });
    return [el("div", { className: "row" }, select, chart.reading, away), chart.canvas];
  }

  toggle(joint) {
    const set = new Set(this.chosen());
    if (set.has(joint)) set.delete(joint);
    else set.add(joint);
    this.joints.set(this.character, set);
    this.build();
    this.fetch();
  }

  // Asks the stage for fresh curves, where they are to be seen.
  async fetch() {
    if (this.box.hidden || !this.studio.scene) return;
    const [character, joints] = [this.character, this.chosen()];
    await Promise.all(this.charts.map(async (chart) => {
      try {
        chart.data = await this.studio.line.askStage("curves", { character, joints, quantity: chart.quantity });
      } catch { /* another edit is under way; its results ask again */ }
    }));
    this.paint();
  }

  paint() {
    if (this.box.hidden) return;
    for (const chart of this.charts) if (chart.canvas?.isConnected) this.paintOne(chart);
  }

  paintOne({ canvas, data, reading }) {
    const ratio = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "10px system-ui, sans-serif";
    if (!data) return;
    const values = Object.values(data.series).flat().filter((v) => v !== null);
    for (const limit of Object.values(data.limits)) if (data.quantity === "share") values.push(limit);
    let [low, high] = [Math.min(0, ...values), Math.max(0.001, ...values)];
    // Gains grow without bound where little time is left to a beat; the rest must stay readable.
    const most = values.length ? [...values].sort((a, b) => a - b)[Math.floor(0.96 * (values.length - 1))] : 0;
    if (/stiffness|damping/.test(data.quantity) && high > 3 * most && most > 0) high = 1.5 * most;
    const room = (high - low) * 0.06;
    [low, high] = [low - (low < 0 ? room : 0), high + room];
    const end = this.studio.seconds || 1;
    const x = (time) => 40 + (time / end) * (width - 48), y = (v) => height - 14 - ((v - low) / (high - low)) * (height - 22);
    pen.strokeStyle = css("--line");
    pen.fillStyle = css("--dim");
    for (const value of ticks(low, high)) {
      pen.beginPath();
      pen.moveTo(40, y(value));
      pen.lineTo(width - 8, y(value));
      pen.stroke();
      pen.textAlign = "right";
      pen.fillText(short(value), 36, y(value) + 3);
    }
    pen.textAlign = "left";
    pen.fillText(data.unit, 44, 11);
    pen.save();
    pen.rect(40, 0, width - 48, height - 12);
    pen.clip();
    Object.entries(data.series).forEach(([name, series], n) => {
      pen.strokeStyle = COLOURS[n % COLOURS.length];
      pen.lineWidth = 1.4;
      line(pen, data.time, series, x, y);
      const limit = data.limits[name];
      if (limit && limit < high) {
        pen.setLineDash([4, 3]);
        for (const value of data.quantity === "torque" ? [limit, -limit] : [limit]) {
          if (value < low || value > high) continue;
          line(pen, [0, end], [value, value], x, y);
        }
        pen.setLineDash([]);
      }
    });
    pen.restore();
    pen.strokeStyle = css("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x(this.studio.time), 0);
    pen.lineTo(x(this.studio.time), height - 12);
    pen.stroke();
    const first = Object.values(data.series)[0] ?? [];
    const at = first[Math.round((this.studio.time / end) * (first.length - 1))];
    reading.textContent = at === undefined || at === null ? "" : `${short(at)} ${data.unit}`;
  }
}

function line(pen, times, values, x, y) {
  pen.beginPath();
  let down = false;
  times.forEach((time, k) => {
    if (values[k] === null) down = false;
    else if (down) pen.lineTo(x(time), y(values[k]));
    else {
      pen.moveTo(x(time), y(values[k]));
      down = true;
    }
  });
  pen.stroke();
}

function ticks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) found.push(v);
  return found;
}

const short = (v) => (Math.abs(v) >= 1e5 ? `${(v / 1000).toFixed(0)}k` : Math.abs(v) >= 1000 ? `${(v / 1000).toFixed(1)}k` : Math.abs(v) >= 10 ? v.toFixed(0) : v.toFixed(Math.abs(v) < 1 ? 2 : 1));
