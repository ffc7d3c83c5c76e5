// What is played: the numbers of a scene as arrays, and where everything stands at any time between its frames.

const decode = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
};

const decodeAll = (group) => Object.fromEntries(Object.entries(group).map(([name, text]) => [name, decode(text)]));

export class Scene {
  constructor(data) {
    Object.assign(this, data);
    this.t = decode(data.t);
    this.count = this.t.length;
    this.points = decodeAll(data.points);
    this.angles = decodeAll(data.angles);
    this.balls = decodeAll(data.balls);
    this.rounds = data.rounds.map((each) => ({
      ...each, radius: decode(each.radius), axle: decode(each.axle), spoke: decode(each.spoke),
    }));
    this.meshes = data.meshes.map((each) => ({ ...each, axes: decode(each.axes) }));
    this.arrows = data.arrows.map((each) => ({ tail: decode(each.tail), tip: decode(each.tip) }));
    this.roll = decode(data.roll);
    this.corners = decode(data.corners);
    this.histories = data.histories.map((panel) => ({
      ...panel, curves: panel.curves.map((curve) => ({ ...curve, values: decode(curve.values) })),
    }));
    this.readings = data.readings.map((each) => ({ ...each, values: decode(each.values) }));
  }

  // Frame and share between it and the next at a fraction of the film from 0 to 1.
  moment(fraction) {
    const place = Math.min(Math.max(fraction, 0), 1) * (this.count - 1);
    const frame = Math.min(Math.floor(place), Math.max(this.count - 2, 0));
    return { frame, share: this.count > 1 ? place - frame : 0 };
  }

  fractionOf(time) {
    let low = 0;
    let high = this.count - 1;
    const forward = this.t[high] >= this.t[0] ? 1 : -1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (forward * this.t[middle] <= forward * time) low = middle; else high = middle;
    }
    const step = this.t[high] - this.t[low];
    const share = step ? Math.min(Math.max((time - this.t[low]) / step, 0), 1) : 0;
    return this.count > 1 ? (low + share) / (this.count - 1) : 0;
  }
}

// Row number `frame` of an array with rows of a size, moved towards the next by a share.
export function row(array, size, { frame, share }) {
  const here = frame * size;
  const next = here + size < array.length ? here + size : here;
  const out = new Array(size);
  for (let i = 0; i < size; i += 1) out[i] = array[here + i] + share * (array[next + i] - array[here + i]);
  return out;
}

export const single = (array, moment) => row(array, 1, moment)[0];

// A row as a point of space; a drawing in the plane lies in z = 0.
export function point(array, dimension, moment) {
  const at = row(array, dimension, moment);
  return dimension === 3 ? at : [at[0], at[1], 0];
}
