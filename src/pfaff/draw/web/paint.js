// A scene on a canvas: bodies from the farthest to the nearest, with sizes of symbols as shares of the scene's scale.

import { point, row, single } from "./scene.js";

const HINGE = 0.05;
const BLOCK = 0.22;
const WHEEL = 0.2;
const BAR = 0.055;
const CYLINDER = 0.14;
const RIM = 48;
const PIECE = 0.2; // of the scale: pieces of a line in space that are drawn at distances of their own
const MOST_PIECES = 60;
const RECENT = 0.04; // of the film: the part of the path that is highlighted

const add = (a, b, factor = 1) => a.map((each, i) => each + factor * b[i]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const onGround = (at) => [at[0], at[1], 0];

export class Painter {
  constructor(context, camera, scene, colours) {
    Object.assign(this, { context, camera, scene, colours });
    this.bar = scene.dimension === 3 ? 0.4 * BAR : BAR;
  }

  // The whole picture at a moment.
  paint(moment, width, height) {
    const { context, scene, camera } = this;
    this.moment = moment;
    this.parts = [];
    camera.aim(row(scene.corners, scene.dimension, moment), width, height);
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, width, height);
    if (camera.flat) this.ruler(width, height); else if (scene.ground) this.squares();
    this.at = Object.fromEntries(Object.entries(scene.points).map(([name, array]) => [name, this.point(array)]));
    if (scene.ground && camera.pitch > 0) this.shadows();
    this.trace();
    scene.springs.forEach(([a, b]) => this.spring(this.at[a], this.at[b]));
    scene.rounds.forEach((each) => this.round(each));
    scene.meshes.forEach((each) => this.mesh(each));
    scene.outlines.forEach((names) => this.line([...names, names[0]].map((name) => this.at[name]), this.colours.body, 1.6, 2.5));
    Object.entries(scene.balls).forEach(([name, radii]) => this.ball(this.at[name], single(radii, moment)));
    scene.links.forEach(([a, b]) => this.link(this.at[a], this.at[b]));
    scene.curves.forEach((names) => this.curve(names.map((name) => this.at[name])));
    Object.entries(scene.marks).forEach(([name, kind]) => this[kind]?.(name, this.at[name]));
    scene.arrows.forEach((each) => this.arrow(this.point(each.tail), this.point(each.tip)));
    this.parts.sort((a, b) => b.depth - a.depth || a.order - b.order).forEach((part) => part.draw());
  }

  point(array) {
    return point(array, this.scene.dimension, this.moment);
  }

  angle(name) {
    const angles = this.scene.angles[name];
    return angles ? single(angles, this.moment) : 0;
  }

  // Something to draw at its distance; what has the same distance goes in order.
  put(depth, order, draw) {
    this.parts.push({ depth, order, draw });
  }

  depth(points) {
    return points.reduce((sum, at) => sum + (this.camera.see(at)?.[3] ?? 0), 0) / points.length;
  }

  // A path through points of space; false where one lies behind the eye.
  path(points, closed) {
    const seen = points.map((at) => this.camera.see(at));
    if (seen.some((each) => each === null)) return false;
    this.context.beginPath();
    seen.forEach(([x, y], i) => (i ? this.context.lineTo(x, y) : this.context.moveTo(x, y)));
    if (closed) this.context.closePath();
    return true;
  }

  stroke(colour, width) {
    Object.assign(this.context, { strokeStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
    this.context.stroke();
  }

  fill(colour, alpha = 1) {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = colour;
    this.context.fill();
    this.context.globalAlpha = 1;
  }

  // In space each piece has its own distance: a ball hides what of a line lies behind it.
  line(points, colour, width, order = 2.6) {
    (this.camera.flat ? [points] : this.pieces(points)).forEach((piece) => {
      this.put(this.depth(piece), order, () => this.path(piece) && this.stroke(colour, width));
    });
  }

  pieces(points) {
    return points.slice(1).flatMap((to, i) => {
      const way = add(to, points[i], -1);
      const count = Math.min(Math.ceil(Math.hypot(...way) / (PIECE * this.scene.scale)) || 1, MOST_PIECES);
      return Array.from({ length: count }, (_, k) => [add(points[i], way, k / count), add(points[i], way, (k + 1) / count)]);
    });
  }

  polygon(points, face, edge, width, order = 2.5, alpha = 1) {
    this.put(this.depth(points), order, () => {
      if (!this.path(points, true)) return;
      if (face) this.fill(face, alpha);
      if (edge) this.stroke(edge, width);
    });
  }

  dot(at, size, face, edge, order) {
    const seen = this.camera.see(at);
    if (!seen) return;
    this.put(seen[3] * 0.999, order, () => {
      this.context.beginPath();
      this.context.arc(seen[0], seen[1], Math.max(size * seen[2], 1.5), 0, 2 * Math.PI);
      this.fill(face);
      if (edge) this.stroke(edge, 1.2);
    });
  }

  link(a, b, order = 3, share = this.bar) {
    const [from, to] = [this.camera.see(a), this.camera.see(b)];
    if (!from || !to) return;
    const width = Math.max(share * this.scene.scale * (from[2] + to[2]), 3);
    this.put(this.depth([a, b]), order, () => {
      this.path([a, b]);
      this.stroke(this.colours.body, width);
      this.stroke(this.colours.pale, width - 2.2);
    });
  }

  // A body that bends, smooth through its points: their chords are its tangents.
  curve(points) {
    const seen = points.map((at) => this.camera.see(at));
    if (seen.some((each) => each === null)) return;
    const width = Math.max(0.4 * BAR * this.scene.scale * 2 * seen[0][2], 3);
    const slope = (k) => [0, 1].map((i) => {
      const [before, after] = [Math.max(k - 1, 0), Math.min(k + 1, seen.length - 1)];
      return (seen[after][i] - seen[before][i]) / (after - before) / 3;
    });
    this.put(this.depth(points), 3, () => {
      this.context.beginPath();
      this.context.moveTo(seen[0][0], seen[0][1]);
      for (let k = 1; k < seen.length; k += 1) {
        const [from, to, out, into] = [seen[k - 1], seen[k], slope(k - 1), slope(k)];
        this.context.bezierCurveTo(from[0] + out[0], from[1] + out[1], to[0] - into[0], to[1] - into[1], to[0], to[1]);
      }
      this.stroke(this.colours.body, width);
      this.stroke(this.colours.pale, width - 2.2);
    });
  }

  spring(a, b) {
    const [from, to] = [this.camera.see(a), this.camera.see(b)];
    if (!from || !to) return;
    const along = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(...along) || 1;
    const swing = (0.25 * BLOCK * this.scene.scale * (from[2] + to[2])) / length;
    this.put(this.depth([a, b]), 1.5, () => {
      this.context.beginPath();
      this.context.moveTo(from[0], from[1]);
      for (let i = 0; i <= 15; i += 1) {
        const share = 0.1 + (0.8 * i) / 15;
        const side = i === 0 || i === 15 ? 0 : i % 2 ? swing : -swing;
        this.context.lineTo(from[0] + share * along[0] - side * along[1], from[1] + share * along[1] + side * along[0]);
      }
      this.context.lineTo(to[0], to[1]);
      this.stroke(this.colours.ink, 1.3);
    });
  }

  rim(at, radius, axle, spoke, count = RIM) {
    const across = cross(axle, spoke);
    return Array.from({ length: count }, (_, k) => {
      const angle = (2 * Math.PI * k) / count;
      return add(add(at, spoke, radius * Math.cos(angle)), across, radius * Math.sin(angle));
    });
  }

  round(each) {
    const at = this.at[each.at];
    const [axle, spoke] = [row(each.axle, 3, this.moment), row(each.spoke, 3, this.moment)];
    const radius = single(each.radius, this.moment);
    const rim = this.rim(at, radius, axle, spoke);
    if (!each.wheel) this.polygon(rim, this.colours.pale, this.colours.body, 2, 2.4, 0.75);
    else this.polygon(rim, null, this.colours.body, 3.2, 2.5);
    const count = each.wheel ? 12 : each.turns ? 1 : 0;
    this.rim(at, radius, axle, spoke, Math.max(count, 1)).slice(0, count).forEach((end, k) => {
      const colour = each.turns && k === 0 ? this.colours.force : this.colours.body;
      this.put(this.depth(rim) - 1e-6, 2.6, () => this.path([at, end]) && this.stroke(colour, k ? 0.8 : 1.6));
    });
  }

  mesh(each) {
    const size = this.scene.dimension;
    const [at, axes] = [this.at[each.at], row(each.axes, size * size, this.moment)];
    each.curves.forEach((curve) => {
      const points = curve.map((p) => {
        const turned = [0, 1, 2].map((i) => p.reduce((sum, x, j) => sum + (i < size ? axes[i * size + j] * x : 0), 0));
        return add(at, turned);
      });
      this.line(points, this.colours.body, 1.3);
    });
  }

  ball(at, radius) {
    const seen = this.camera.see(at);
    if (!seen) return;
    this.put(seen[3], 2.5, () => {
      const [x, y, pixels] = seen;
      this.context.beginPath();
      this.context.arc(x, y, radius * pixels, 0, 2 * Math.PI);
      if (this.scene.dimension === 3) {
        const r = radius * pixels;
        const shade = this.context.createRadialGradient(x - 0.35 * r, y - 0.4 * r, 0.1 * r, x, y, r);
        shade.addColorStop(0, this.colours.shine);
        shade.addColorStop(1, this.colours.body);
        this.fill(shade);
      }
      this.stroke(this.colours.body, 1.3);
    });
  }

  arrow(tail, tip) {
    const [from, to] = [this.camera.see(tail), this.camera.see(tip)];
    if (!from || !to) return;
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (length < 1) return;
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const head = Math.min(12, length);
    this.put(-1, 7, () => {
      this.context.beginPath();
      this.context.moveTo(from[0], from[1]);
      this.context.lineTo(to[0] - 0.7 * head * ux, to[1] - 0.7 * head * uy);
      this.stroke(this.colours.force, 2.4);
      this.context.beginPath();
      this.context.moveTo(to[0], to[1]);
      this.context.lineTo(to[0] - head * ux - 0.45 * head * uy, to[1] - head * uy + 0.45 * head * ux);
      this.context.lineTo(to[0] - head * ux + 0.45 * head * uy, to[1] - head * uy - 0.45 * head * ux);
      this.fill(this.colours.force);
    });
  }

  // The path of each traced point so far, the last stretch of it in colour.
  trace() {
    const { frame, share } = this.moment;
    const since = Math.max(0, frame - Math.round(RECENT * this.scene.count));
    this.scene.traced.forEach((name) => {
      const array = this.scene.points[name];
      const size = this.scene.dimension;
      const draw = (first, colour, width) => {
        this.context.beginPath();
        let pen = false;
        for (let k = first; k <= frame; k += 1) {
          const seen = this.camera.see(point(array, size, { frame: k, share: 0 }));
          if (!seen) { pen = false; continue; }
          if (pen) this.context.lineTo(seen[0], seen[1]); else this.context.moveTo(seen[0], seen[1]);
          pen = true;
        }
        const last = this.camera.see(point(array, size, { frame, share }));
        if (pen && last) this.context.lineTo(last[0], last[1]);
        this.stroke(colour, width);
      };
      draw(0, this.colours.faint, 1.2);
      draw(since, this.colours.force, 1.6);
    });
  }

  squares() {
    const step = handy(Math.max(...this.scene.size) / 8);
    const [x, y] = this.camera.target.map((each) => Math.round(each / step) * step);
    const half = 10;
    for (let k = 0; k <= half; k += 1) {
      this.context.globalAlpha = 1 - (0.75 * k) / (half + 1);
      this.context.beginPath();
      for (const side of k ? [-k, k] : [0]) {
        this.gridline([x + side * step, y - half * step, 0], [x + side * step, y + half * step, 0]);
        this.gridline([x - half * step, y + side * step, 0], [x + half * step, y + side * step, 0]);
      }
      this.stroke(this.colours.grid, 1);
    }
    this.context.globalAlpha = 1;
  }

  // In pieces, of which those behind the eye are left out.
  gridline(a, b) {
    const pieces = 12;
    let pen = false;
    for (let i = 0; i <= pieces; i += 1) {
      const seen = this.camera.see(a.map((each, axis) => each + (i / pieces) * (b[axis] - each)));
      if (seen && pen) this.context.lineTo(seen[0], seen[1]); else if (seen) this.context.moveTo(seen[0], seen[1]);
      pen = seen !== null;
    }
  }

  shadows() {
    const { scene, moment } = this;
    scene.rounds.forEach((each) => {
      const [axle, spoke] = [row(each.axle, 3, moment), row(each.spoke, 3, moment)];
      const rim = this.rim(this.at[each.at], single(each.radius, moment), axle, spoke).map(onGround);
      if (!this.path(rim, true)) return;
      if (each.wheel) this.stroke(this.colours.shade, 3); else this.fill(this.colours.shade);
    });
    Object.entries(scene.balls).forEach(([name, radii]) => {
      const rim = this.rim(onGround(this.at[name]), single(radii, moment), [0, 0, 1], [1, 0, 0], 24);
      if (this.path(rim, true)) this.fill(this.colours.shade);
    });
    scene.links.forEach(([a, b]) => {
      if (this.path([onGround(this.at[a]), onGround(this.at[b])])) this.stroke(this.colours.shade, 4);
    });
  }

  // Lines at round numbers, with the numbers at the edges: how large things are.
  ruler(width, height) {
    const { context, camera } = this;
    const step = handy(70 / camera.pixels);
    const [left, top] = [camera.target[0] - camera.middle[0] / camera.pixels, camera.target[1] + camera.middle[1] / camera.pixels];
    Object.assign(context, { font: "11px system-ui, sans-serif", lineWidth: 1, strokeStyle: this.colours.grid });
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    const numbers = [];
    const number = (k, x, y) => numbers.push([(k * step).toFixed(digits).replace(/^-(?=.*[1-9])/, "\u2212").replace("-", ""), x, y]);
    context.beginPath();
    for (let k = Math.ceil(left / step); k * step < left + width / camera.pixels; k += 1) {
      const x = Math.round((k * step - left) * camera.pixels) + 0.5;
      context.moveTo(x, 0); context.lineTo(x, height);
      if (x < width - 28) number(k, x + 3, height - 4);
    }
    for (let k = Math.floor(top / step); k * step > top - height / camera.pixels; k -= 1) {
      const y = Math.round((top - k * step) * camera.pixels) + 0.5;
      context.moveTo(0, y); context.lineTo(width, y);
      if (y > 14 && y < height - 20) number(k, 3, y - 3);
    }
    context.stroke();
    // On paper of their own, lest a line be read as a minus, or hide one.
    Object.assign(context, { lineWidth: 4, lineJoin: "round", strokeStyle: this.colours.paper, fillStyle: this.colours.faint });
    numbers.forEach((each) => { context.strokeText(...each); context.fillText(...each); });
  }

  // From here on, methods have the names of marks.
  hinge(name, at) { this.dot(at, HINGE * this.scene.scale * (this.camera.flat ? 1 : 0.7), this.colours.paper, this.colours.body, 5); }

  mass(name, at) { this.dot(at, 2 * HINGE * this.scene.scale, this.colours.body, null, 5); }

  contact(name, at) { this.dot(at, HINGE * this.scene.scale * (this.camera.flat ? 1 : 0.7), this.colours.force, this.colours.paper, 6); }

  block(name, at) { this.support(name, at, this.colours.paper); }

  ground(name, at) { this.support(name, at, this.colours.grid); }

  support(name, at, face) {
    const half = BLOCK * this.scene.scale;
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => add(at, [x * half, y * half, 0]));
    const far = 1e3 * this.scene.scale;
    this.line([add(at, [-far, -half, 0]), add(at, [far, -half, 0])], this.colours.faint, 1.3, 0.2);
    this.polygon(corners, face, this.colours.body, 1.2, 2);
    this.hinge(name, at);
  }

  wall(name, at) {
    const half = BLOCK * this.scene.scale;
    const corners = [[-1, -2], [0, -2], [0, 2], [-1, 2]].map(([x, y]) => add(at, [x * half, y * half, 0]));
    this.polygon(corners, this.colours.grid, null, 0, 1);
    this.line([corners[1], corners[2]], this.colours.ink, 1.5, 2);
  }

  direction(name) { return [Math.cos(this.angle(name)), Math.sin(this.angle(name)), 0]; }

  wheel(name, at) {
    const along = this.direction(name);
    const half = WHEEL * this.scene.scale;
    const width = 2.4 * BAR * this.scene.scale * this.camera.pixels;
    this.put(0, 6, () => this.path([add(at, along, -half), add(at, along, half)]) && this.stroke(this.colours.ink, width));
  }

  skate(name, at) {
    const along = this.direction(name);
    const side = [-along[1], along[0], 0];
    const [tip, thick] = [1.1 * WHEEL * this.scene.scale, 0.7 * BAR * this.scene.scale];
    const outline = [add(at, along, -tip), add(at, side, thick), add(at, along, tip), add(at, side, -thick)];
    this.polygon(outline, this.colours.ink, this.colours.ink, 1, 6);
  }

  bow(name, at) {
    const along = this.direction(name);
    const side = [-along[1], along[0], 0];
    this.scene.touches.filter(([bow]) => bow === name).forEach(([, contact]) => {
      this.line([at, this.at[contact]], this.colours.body, 1.3, 2.5);
    });
    this.link(add(at, side, -this.scene.reach), add(at, side, this.scene.reach), 4);
  }

  cylinder(name, at) {
    const along = this.direction(name);
    const [side, radius, far] = [[-along[1], along[0], 0], CYLINDER * this.scene.scale, 50 * this.scene.scale];
    const ends = [add(at, along, -far), add(at, along, far)];
    const edge = (share) => ends.map((end) => add(end, side, share * radius));
    this.polygon([...edge(-1), ...edge(1).reverse()], this.colours.grid, this.colours.faint, 1.2, 0.6, 0.6);
    const turned = single(this.scene.roll, this.moment) / radius;
    for (let k = 0; k < 6; k += 1) {
      const angle = turned + (Math.PI * k) / 3;
      if (Math.cos(angle) > 0) this.line(edge(Math.sin(angle)), this.colours.faint, 0.8, 0.7);
    }
  }
}

// 1, 2 or 5 times a power of ten, next above a size.
export function handy(size) {
  const power = 10 ** Math.floor(Math.log10(size || 1));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= size * (1 - 1e-9));
}
