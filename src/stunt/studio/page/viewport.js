// The stage in 3D: bodies, ghost, the pose being edited, trails, contact forces; camera and picking.

import { OrbitControls, THREE } from "../three.js";
import { bodyGeometry } from "./shapes.js";
import { clamp, css } from "./tools.js";

export const HEAD = 16;
const HEAT = ["#3b6fd4", "#35b37e", "#e8b43a", "#d8402f"].map((c) => new THREE.Color(c));
const MOST_CONTACTS = 200;

function software() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

function heat(value) {
  const place = clamp(value, 0, 1) * (HEAT.length - 1), low = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[low].clone().lerp(HEAT[low + 1], place - low);
}

export class Viewport {
  constructor(canvas) {
    this.canvas = canvas;
    this.slow = software();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.slow, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(this.slow ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.world = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.05, 200);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(4.6, 1.5, 1.75);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.target.set(0, 0, 0.95);
    this.controls.addEventListener("change", () => { this.changed = true; });
    this.bodies = [];
    this.options = { ghost: false, contacts: false, trails: false, follow: false, paint: "", shadows: false };
    this.stats = { frames: 0, poses: 0, since: performance.now(), shown: 0 };
    this.light();
    this.extras();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
    this.theme();
    const loop = () => {
      requestAnimationFrame(loop);
      this.render();
    };
    loop();
  }

  light() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0xa9adb8, 2.1);
    this.sky.position.set(0, 0, 1);
    this.sun = new THREE.DirectionalLight(0xfff4e6, 1.7);
    this.sun.position.set(5, -3, 7);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02;
    const room = this.sun.shadow.camera;
    [room.left, room.right, room.top, room.bottom, room.near, room.far] = [-5, 5, 5, -5, 0.5, 22];
    this.world.add(this.sky, this.sun, this.sun.target);
  }

  extras() {
    this.floor = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ vertexColors: true }));
    this.floor.renderOrder = 3; // after the bodies: what they hide is not painted
    this.shade = new THREE.Mesh(new THREE.PlaneGeometry(120, 120), new THREE.ShadowMaterial({ opacity: 0.28 }));
    this.shade.receiveShadow = true;
    this.shade.position.z = 0.002;
    this.shade.visible = false;
    const forces = new THREE.BufferGeometry();
    forces.setAttribute("position", new THREE.BufferAttribute(new Float32Array(MOST_CONTACTS * 6), 3));
    this.forces = new THREE.LineSegments(forces, new THREE.LineBasicMaterial({ color: 0xd8402f, depthTest: false }));
    this.forces.frustumCulled = false;
    this.forces.renderOrder = 5;
    this.ways = new THREE.Group();
    this.rope = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
      new THREE.LineBasicMaterial({ color: 0xf0793e, depthTest: false }),
    );
    this.rope.visible = false;
    this.rope.frustumCulled = false;
    this.stage = new THREE.Group();
    this.world.add(this.floor, this.shade, this.forces, this.ways, this.rope, this.stage);
    this.blob = new THREE.MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
    this.skin = new THREE.MeshLambertMaterial({ vertexColors: true });
    this.mist = new THREE.MeshLambertMaterial({ color: 0x4f86e8, transparent: true, opacity: 0.32, depthWrite: false });
    this.clay = new THREE.MeshLambertMaterial({ color: 0xf0793e, transparent: true, opacity: 0.86 });
  }

  theme() {
    const colour = new THREE.Color(css("--sky"));
    this.world.background = colour;
    this.floor.geometry.dispose();
    this.floor.geometry = tiles(new THREE.Color(css("--floor-a")), new THREE.Color(css("--floor-b")), colour);
    this.changed = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.changed = true;
  }

  // A new stage: build every body once; frames only move them.
  build(scene, another = true) {
    this.scene = scene;
    this.stage.clear();
    this.bodies = scene.bodies.map((name, number) => {
      const geometry = bodyGeometry(scene.geoms.filter((g) => g.body === number && g.kind !== "plane"), scene, this.slow && scene.bodies.length > 50);
      if (!geometry) return { name, number, meshes: [] };
      const body = new THREE.Mesh(geometry, this.skin);
      body.castShadow = true;
      body.receiveShadow = true;
      const ghost = new THREE.Mesh(geometry, this.mist), pose = new THREE.Mesh(geometry, this.clay);
      ghost.visible = pose.visible = false;
      body.userData.number = number;
      pose.userData.number = number;
      this.stage.add(body, ghost, pose);
      return { name, number, body, ghost, pose, paint: new THREE.MeshLambertMaterial() };
    });
    this.owner = scene.bodies.map((name) => Object.keys(scene.characters).find((c) => name.startsWith(`${c}/`)) ?? null);
    this.blobs = [];
    for (const about of [...Object.values(scene.characters).map((c) => [...Object.values(c.bodies)][0]), ...Object.values(scene.props)]) {
      const small = Object.values(scene.props).includes(about);
      const blob = new THREE.Mesh(disc(small ? 0.2 : 0.5), this.blob);
      blob.userData.body = about;
      blob.renderOrder = 4;
      blob.visible = scene.ground;
      this.blobs.push(blob);
      this.stage.add(blob);
    }
    this.floor.visible = scene.ground;
    this.ways.clear();
    this.paint(this.options.paint);
    this.unframed ||= another; // the camera stays where it is while the same scene is edited
  }

  // A frame from the stage; see frames.py for its layout.
  show(frame) {
    const n = frame[8];
    if (n !== this.bodies.length) return;
    this.frame = frame;
    this.stats.poses += 1;
    let at = HEAD;
    for (const body of this.bodies) if (body.body) place(body.body, frame, at + 7 * body.number);
    at += 7 * n;
    if (this.options.paint !== "") this.heat(frame, at);
    at += 3 * n;
    if (frame[9]) {
      for (const body of this.bodies) if (body.ghost) place(body.ghost, frame, at + 7 * body.number);
      at += 7 * n;
    }
    for (const { ghost, number } of this.bodies) {
      if (ghost) ghost.visible = Boolean(this.options.ghost && frame[9] && this.owner[number]);
    }
    this.contacts(frame, at, this.options.contacts ? frame[10] : 0);
    for (const blob of this.blobs) {
      const [x, y, z] = this.placeOf(blob.userData.body);
      blob.position.set(x, y, 0.004);
      blob.visible = this.scene.ground && !this.options.shadows && z < 3;
    }
    if (this.options.follow) this.chase();
    if (this.unframed) {
      this.unframed = false;
      this.frameOn();
    }
    this.changed = true;
  }

  placeOf(number) {
    const at = HEAD + 7 * number;
    return this.frame ? [this.frame[at], this.frame[at + 1], this.frame[at + 2]] : [0, 0, 0];
  }

  heat(frame, at) {
    for (const { body, paint, number } of this.bodies) {
      if (body && this.owner[number]) paint.color.copy(heat(frame[at + 3 * number + Number(this.options.paint)]));
    }
  }

  paint(which) {
    this.options.paint = which;
    for (const { body, paint, number } of this.bodies) {
      if (body) body.material = which !== "" && this.owner[number] ? paint : this.skin;
    }
    if (this.frame && which !== "") this.heat(this.frame, HEAD + 7 * this.frame[8]);
    this.changed = true;
  }

  contacts(frame, at, count) {
    const place = this.forces.geometry.attributes.position;
    for (let k = 0; k < count; k++) {
      const [x, y, z, fx, fy, fz] = frame.subarray(at + 6 * k, at + 6 * k + 6);
      const length = Math.hypot(fx, fy, fz), scale = length ? Math.min(length / 600, 1.2) / length : 0;
      place.setXYZ(2 * k, x, y, z);
      place.setXYZ(2 * k + 1, x + fx * scale, y + fy * scale, z + fz * scale);
    }
    this.forces.geometry.setDrawRange(0, 2 * count);
    place.needsUpdate = true;
  }

  shadows(on) {
    this.options.shadows = on;
    this.renderer.shadowMap.enabled = on;
    this.sun.castShadow = on;
    this.shade.visible = on;
    this.skin.needsUpdate = true;
    for (const { paint } of this.bodies) if (paint) paint.needsUpdate = true;
    if (this.frame) this.show(this.frame);
  }

  // The pose double of the pose editor; null hides it.
  double(poses, character) {
    for (const { pose, number } of this.bodies) {
      if (!pose) continue;
      pose.visible = Boolean(poses) && this.owner[number] === character;
      if (pose.visible) place(pose, poses, 7 * number);
    }
    for (const { body, number } of this.bodies) if (body) body.visible = !(poses && this.owner[number] === character);
    this.changed = true;
  }

  trail(number, points, colour) {
    const line = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(...p))),
      new THREE.LineBasicMaterial({ color: colour }),
    );
    this.ways.add(line);
    this.changed = true;
  }

  clearTrails() {
    this.ways.clear();
    this.changed = true;
  }

  pull(from, to) {
    this.rope.visible = Boolean(from);
    if (from) this.rope.geometry.setFromPoints([from, to]);
    this.changed = true;
  }

  // -- camera and picking

  members(character) {
    return this.bodies.filter(({ body, number }) => body && (character ? this.owner[number] === character : this.owner[number]));
  }

  frameOn(character = null) {
    const box = new THREE.Box3();
    let some = this.members(character);
    if (!some.length) some = this.bodies.filter(({ body }) => body);
    for (const { body } of some) {
      body.updateMatrixWorld();
      box.expandByPoint(body.position.clone().addScalar(0.25)).expandByPoint(body.position.clone().addScalar(-0.25));
    }
    if (this.members(character).length) {
      box.max.z += 0.3; // arms go up
      box.min.z = Math.max(box.min.z, -0.05);
    }
    if (box.isEmpty()) return;
    const centre = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3());
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const wide = Math.hypot(size.x, size.y) / 2 / (half * this.camera.aspect), tall = (size.z / 2 + 0.04) / half;
    const back = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(back, Math.max(wide + 0.3 * Math.max(size.x, size.y), tall) + Math.min(size.x, size.y) / 2);
    this.controls.update();
    this.changed = true;
  }

  chase() {
    const some = this.members(this.chased ?? null)[0];
    if (!some) return;
    const here = some.body.position;
    if (this.last) {
      const way = here.clone().sub(this.last);
      this.controls.target.add(way);
      this.camera.position.add(way);
    }
    this.last = here.clone();
  }

  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const point = new THREE.Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const ray = new THREE.Raycaster();
    ray.setFromCamera(point, this.camera);
    return ray;
  }

  pick(event, what = "body") {
    const meshes = this.bodies.map((b) => b[what]).filter((mesh) => mesh?.visible);
    const [hit] = this.ray(event).intersectObjects(meshes, false);
    if (!hit) return null;
    const number = hit.object.userData.number, local = hit.object.worldToLocal(hit.point.clone());
    return { number, name: this.bodies[number].name, point: hit.point, local, mesh: hit.object };
  }

  // Where the pointer's ray meets the plane through a point that faces the camera.
  onPlane(event, through) {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through);
    return this.ray(event).ray.intersectPlane(plane, new THREE.Vector3()) ?? through.clone();
  }

  screenOf(number) {
    const [x, y, z] = this.placeOf(number), box = this.canvas.getBoundingClientRect();
    const p = new THREE.Vector3(x, y, z).project(this.camera);
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  }

  render() {
    const now = performance.now();
    // A machine without a graphics card draws coarsely while things move, and finely once they stand.
    if (!this.changed && (!this.slow || this.fine || now - this.drawn < 300)) return;
    const fine = !this.changed;
    if (this.slow && fine !== this.fine) {
      this.renderer.setPixelRatio(fine ? 2 : 1);
      this.fine = fine;
    }
    this.changed = false;
    this.drawn = now;
    this.renderer.render(this.world, this.camera);
    this.stats.frames += 1;
    if (this.frame) this.stats.first ??= now;
  }
}

function place(mesh, frame, at) {
  mesh.position.set(frame[at], frame[at + 1], frame[at + 2]);
  mesh.quaternion.set(frame[at + 4], frame[at + 5], frame[at + 6], frame[at + 3]);
}

// The floor as coloured tiles, fading into the sky: textures and fog cost a machine without a graphics card most.
function tiles(light, dark, sky) {
  const places = [], colours = [], reach = 22;
  for (let x = -reach; x < reach; x++) for (let y = -reach; y < reach; y++) {
    if (Math.hypot(x, y) > reach) continue;
    const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y], [x + 1, y + 1], [x, y + 1]];
    for (const [cx, cy] of corners) {
      const far = clamp((Math.hypot(cx, cy) - 5) / (reach - 7), 0, 1);
      const colour = ((x + y) & 1 ? light : dark).clone().lerp(sky, far);
      places.push(cx, cy, 0);
      colours.push(colour.r, colour.g, colour.b);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  return geometry;
}

// A soft shadow under a body: dark in the middle, nothing at the rim.
function disc(radius) {
  const rings = [[0, 0.42], [0.45, 0.3], [1, 0]], round = 20, places = [], colours = [], index = [];
  for (const [share, alpha] of rings) for (let k = 0; k < round; k++) {
    const angle = (2 * Math.PI * k) / round;
    places.push(radius * share * Math.cos(angle), radius * share * Math.sin(angle), 0);
    colours.push(0.01, 0.012, 0.02, alpha);
  }
  for (let ring = 0; ring < rings.length - 1; ring++) for (let k = 0; k < round; k++) {
    const [a, b] = [ring * round + k, ring * round + ((k + 1) % round)];
    index.push(a, a + round, b + round, a, b + round, b);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 4));
  geometry.setIndex(index);
  return geometry;
}
