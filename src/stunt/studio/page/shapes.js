// MuJoCo's shapes as three.js geometry: all shapes of a body in one, coloured by vertex, so that a body is one draw call.

import { THREE } from "../three.js";

const FINE = { round: 16, rings: 12, cap: 5 };
const COARSE = { round: 7, rings: 5, cap: 1 }; // for crowds on machines without a graphics card
const SPECK = 0.016; // what is smaller than this is left out of a crowd [m]

function shapeOf(geom, scene, detail) {
  const [a, b, c] = geom.size;
  switch (geom.kind) {
    case "sphere": return new THREE.SphereGeometry(a, detail.round, detail.rings);
    case "ellipsoid": return new THREE.SphereGeometry(1, detail.round, detail.rings).scale(a, b, c);
    case "capsule": return new THREE.CapsuleGeometry(a, 2 * b, detail.cap, detail.round).rotateX(Math.PI / 2);
    case "cylinder": return new THREE.CylinderGeometry(a, a, 2 * b, detail.round + 4).rotateX(Math.PI / 2);
    case "box": return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    case "mesh": return meshOf(scene.meshes[geom.mesh]);
    case "heightfield": return fieldOf(scene.heightfields[geom.field]);
    default: return null;
  }
}

function meshOf({ vertices, faces }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(vertices, 3));
  geometry.setIndex(faces);
  geometry.computeVertexNormals();
  return geometry;
}

function fieldOf({ rows, columns, size, heights }) {
  const geometry = new THREE.PlaneGeometry(2 * size[0], 2 * size[1], columns - 1, rows - 1);
  const place = geometry.attributes.position;
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
    place.setZ((rows - 1 - r) * columns + c, heights[r * columns + c] * size[2]);
  }
  geometry.computeVertexNormals();
  return geometry;
}

export function bodyGeometry(geoms, scene, coarse) {
  const parts = [];
  const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
  for (const geom of geoms) {
    if (coarse && geom.kind !== "box" && geom.size[0] < SPECK) continue;
    const shape = shapeOf(geom, scene, coarse ? COARSE : FINE);
    if (!shape) continue;
    const [w, x, y, z] = geom.turn;
    shape.applyMatrix4(matrix.compose(new THREE.Vector3(...geom.at), turn.set(x, y, z, w), one));
    const colour = new THREE.Color().setRGB(...geom.color.slice(0, 3), THREE.SRGBColorSpace);
    const count = shape.attributes.position.count, colours = new Float32Array(3 * count);
    for (let k = 0; k < count; k++) colours.set([colour.r, colour.g, colour.b], 3 * k);
    shape.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    parts.push(shape);
  }
  return parts.length ? merged(parts) : null;
}

function merged(parts) {
  const result = new THREE.BufferGeometry();
  const index = [];
  let first = 0;
  for (const part of parts) {
    const own = part.index ? part.index.array : Array.from({ length: part.attributes.position.count }, (_, k) => k);
    for (const k of own) index.push(first + k);
    first += part.attributes.position.count;
  }
  for (const name of ["position", "normal", "color"]) {
    const all = new Float32Array(3 * first);
    let at = 0;
    for (const part of parts) {
      all.set(part.attributes[name].array, at);
      at += part.attributes[name].array.length;
    }
    result.setAttribute(name, new THREE.BufferAttribute(all, 3));
  }
  result.setIndex(index);
  result.computeBoundingSphere();
  return result;
}
