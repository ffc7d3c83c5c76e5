// How space is seen: from above without perspective for drawings in the plane, from a turning camera for those in space.

const FIELD = 0.5; // half the angle of view, in radians
const HOME = { yaw: -1.08, pitch: 0.3, zoom: 1, pan: [0, 0] };

export class Camera {
  constructor(scene) {
    this.scene = scene;
    this.reset();
  }

  reset() {
    Object.assign(this, HOME, { pan: [...HOME.pan] });
  }

  get flat() {
    return this.scene.dimension === 2;
  }

  // Look at the window of this moment, in a picture of so many pixels.
  aim(corner, width, height) {
    const size = this.scene.size;
    this.middle = [width / 2 + this.pan[0], height / 2 + this.pan[1]];
    this.target = [0, 1, 2].map((axis) => (corner[axis] ?? 0) + (size[axis] ?? 0) / 2);
    if (this.flat) {
      this.pixels = this.zoom * Math.min(width / size[0], height / size[1]);
      return;
    }
    const radius = Math.hypot(...size) / 2;
    this.distance = (0.66 * radius) / Math.sin(FIELD) / this.zoom;
    this.pixels = Math.min(width, height) / (2 * Math.tan(FIELD)); // of a unit at a unit's distance
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    this.right = [-sy, cy, 0];
    this.up = [-sp * cy, -sp * sy, cp];
    this.back = [cp * cy, cp * sy, sp]; // from the target to the eye
  }

  // Place on the picture, pixels of a unit there, and distance from the eye; null behind the eye.
  see(at) {
    const x = at[0] - this.target[0];
    const y = at[1] - this.target[1];
    const z = at[2] - this.target[2];
    if (this.flat) return [this.middle[0] + this.pixels * x, this.middle[1] - this.pixels * y, this.pixels, 0];
    const depth = this.distance - (x * this.back[0] + y * this.back[1] + z * this.back[2]);
    if (depth < 0.02 * this.distance) return null;
    const pixels = this.pixels / depth;
    return [
      this.middle[0] + pixels * (x * this.right[0] + y * this.right[1]),
      this.middle[1] - pixels * (x * this.up[0] + y * this.up[1] + z * this.up[2]),
      pixels,
      depth,
    ];
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, -1.5), 1.5);
  }

  drag(dx, dy) {
    if (this.flat) this.pan = [this.pan[0] + dx, this.pan[1] + dy];
    else this.turn(-0.008 * dx, 0.008 * dy);
  }

  approach(factor) {
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.1), 40);
  }
}
