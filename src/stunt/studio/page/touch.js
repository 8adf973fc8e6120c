// The mouse on the stage: select, pull, push, throw; and drag the limbs of the pose double.

import { THREE } from "../three.js";
import { $, drag, readable } from "./tools.js";

export class Touch {
  constructor(studio) {
    this.studio = studio;
    studio.view.canvas.addEventListener("pointerdown", (event) => this.down(event), true);
    $("throw-ball").onclick = () => this.throw("ball");
    $("throw-crate").onclick = () => this.throw("crate");
    $("keep").onclick = () => this.do("keep");
    $("forget").onclick = () => this.do("forget");
  }

  do(op, data = {}) {
    return this.studio.do(op, data);
  }

  down(event) {
    if (event.button !== 0 || event.ctrlKey || event.metaKey) return;
    const { view, pose } = this.studio;
    const double = pose.angles ? view.pick(event, "pose") : null;
    if (double) return this.reach(event, double);
    const hit = view.pick(event);
    if (!hit || hit.number === 0) return;
    event.stopImmediatePropagation(); // the camera stays where it is
    this.select(hit);
    if (event.shiftKey) this.push(hit);
    else if (!pose.angles) this.pull(event, hit);
  }

  select(hit) {
    const character = this.studio.view.owner[hit.number];
    const [, part] = hit.name.split("/");
    const about = this.studio.scene.characters[character];
    const limb = about && Object.keys(about.limbs).find((l) => l === limbOf(part ?? ""));
    this.studio.body = hit.name;
    this.studio.choose({ character: character ?? this.studio.choice.character, limb: limb ?? null });
    $("selected").hidden = false;
    $("selected").textContent = character ? `${character}: ${readable(part ?? "")}` : readable(hit.name);
  }

  get target() {
    const { body, choice, scene } = this.studio;
    if (body && this.studio.scene.bodies.includes(body)) return body;
    const character = choice.character ?? Object.keys(scene.characters)[0];
    const names = Object.keys(scene.characters[character]?.bodies ?? {});
    const part = names.find((n) => n === "thorax") ?? names.find((n) => /chest|torso|spine/.test(n)) ?? names[0];
    return `${character}/${part}`;
  }

  // Straight away from the eye, at the point that was clicked.
  push(hit) {
    const size = Number($("push-size").value) || 20;
    const way = this.studio.view.camera.getWorldDirection(new THREE.Vector3());
    way.z *= 0.3;
    way.normalize().multiplyScalar(size);
    this.do("push", { target: this.nameOf(hit.name), at: this.studio.time, impulse: way.toArray(), point: hit.local.toArray() });
  }

  nameOf(body) {
    if (this.studio.view.owner[this.studio.scene.bodies.indexOf(body)]) return body;
    const number = this.studio.scene.bodies.indexOf(body);
    return Object.entries(this.studio.scene.props).find(([, b]) => b === number)?.[0] ?? body;
  }

  pull(event, hit) {
    const { view, line } = this.studio, through = hit.point.clone();
    let last = 0;
    drag(event, (dx, dy, e) => {
      const goal = view.onPlane(e, through), now = performance.now();
      const from = view.bodies[hit.number].body.localToWorld(hit.local.clone());
      view.pull(from, goal);
      if (now - last < 30) return;
      last = now;
      line.say("pull", { data: { target: this.nameOf(hit.name), point: hit.local.toArray(), goal: goal.toArray() } });
    }, (far) => {
      view.pull(null);
      if (far) this.do("pull", { data: null });
    });
  }

  reach(event, hit) {
    event.stopImmediatePropagation();
    const { view, pose } = this.studio, through = hit.point.clone();
    const body = hit.name.split("/")[1], point = hit.local.toArray();
    const angles = { ...pose.angles }; // every move starts from the pose the drag began with
    let begun = false;
    const go = (e, last = false) => pose.ask({ angles, reach: { body, point, goal: view.onPlane(e, through).toArray() } }, last);
    drag(event, (dx, dy, e) => {
      if (!begun) pose.step();
      begun = true;
      go(e);
    }, (far, e) => { if (far) go(e, true); });
  }

  throw(what) {
    const { view, studio } = { view: this.studio.view, studio: this.studio };
    const target = this.target, number = studio.scene.bodies.indexOf(target);
    const [x, y] = view.placeOf(Math.max(number, 0));
    const eye = view.camera.position, way = Math.atan2(eye.y - y, eye.x - x) + 0.35;
    this.do("throw", { what, target, at: studio.time, side: [x + 3 * Math.cos(way), y + 3 * Math.sin(way)] });
  }
}

function limbOf(part) {
  const side = /^[lr]_/.test(part) ? part.slice(0, 2) : "";
  if (/hand|arm|humerus|clavicle|finger|thumb|elbow|wrist/.test(part)) return `${side}arm`;
  if (/thigh|shin|shank|calf|foot|toe|leg|knee|ankle/.test(part)) return `${side}leg`;
  if (/head|neck/.test(part)) return "head";
  return "trunk";
}
