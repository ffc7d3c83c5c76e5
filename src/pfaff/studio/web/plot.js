// A plot on a canvas: axes, curves, dots and marks; points that can be picked by mouse, touch and keys.

import { brief, roomy, ticks } from "./numbers.js";

const LEFT = 62;
const BOTTOM = 36;
const TOP = 10;
const RIGHT = 12;
const REACH = 18; // pixels within which a point is picked

const SHAPES = {
  circle: (c, x, y, s) => c.arc(x, y, s, 0, 2 * Math.PI),
  square: (c, x, y, s) => c.rect(x - 0.88 * s, y - 0.88 * s, 1.76 * s, 1.76 * s),
  diamond: (c, x, y, s) => polygon(c, x, y, 1.25 * s, 4, 0),
  triangle: (c, x, y, s) => polygon(c, x, y, 1.25 * s, 3, -Math.PI / 2),
  star: (c, x, y, s) => {
    for (let k = 0; k < 10; k += 1) {
      const r = k % 2 ? 0.55 * s : 1.45 * s;
      c[k ? "lineTo" : "moveTo"](x + r * Math.sin((k * Math.PI) / 5), y - r * Math.cos((k * Math.PI) / 5));
    }
    c.closePath();
  },
  cross: (c, x, y, s) => { c.moveTo(x - s, y - s); c.lineTo(x + s, y + s); c.moveTo(x + s, y - s); c.lineTo(x - s, y + s); },
};

function polygon(context, x, y, size, corners, turn) {
  for (let k = 0; k < corners; k += 1) {
    const angle = turn + (2 * Math.PI * k) / corners;
    context[k ? "lineTo" : "moveTo"](x + size * Math.cos(angle), y + size * Math.sin(angle));
  }
  context.closePath();
}

// A text in which what follows a low line stands below, as in M_L.
function lettered(context, text, x, y) {
  const parts = text.split(/_(\w+)/);
  const font = context.font;
  const small = font.replace(/^\S+/, "9px");
  const widths = parts.map((part, k) => { context.font = k % 2 ? small : font; return context.measureText(part).width; });
  context.textAlign = "left";
  let at = x - widths.reduce((a, b) => a + b, 0) / 2;
  parts.forEach((part, k) => {
    context.font = k % 2 ? small : font;
    context.fillText(part, at, y + (k % 2 ? 3 : 0));
    at += widths[k];
  });
  context.font = font;
}

export class Plot {
  // `pick(item)` is called with what was given along with a point, `place(x, y)` with a place between points.
  constructor(element, { height = 250, pick = null, place = null, equal = false } = {}) {
    Object.assign(this, { element, height, pick, place, equal, content: { layers: [] }, at: -1, items: [] });
    element.classList.add("plot");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    this.tip.setAttribute("role", "status");
    this.probe = Object.assign(document.createElement("span"), { hidden: true });
    element.append(this.canvas, this.tip, this.probe);
    this.known = {};
    this.listen();
  }

  // A colour of the page's style, as the theme has it.
  colour(name) {
    if (!this.known[name]) {
      this.probe.style.color = `var(--${name})`;
      this.known[name] = getComputedStyle(this.probe).color;
    }
    return this.known[name];
  }

  restyle() {
    this.known = {};
    this.paint();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.hover(this.nearest(event)));
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("click", (event) => {
      const found = this.nearest(event);
      if (found >= 0) this.pick(this.items[found].data);
      else if (this.place) this.placed(event);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (step && this.items.length) {
        event.preventDefault();
        this.hover((this.at + step + this.items.length) % this.items.length);
      } else if ((event.key === "Enter" || event.key === " ") && this.items[this.at]) {
        event.preventDefault();
        this.pick(this.items[this.at].data);
      }
    });
    canvas.addEventListener("blur", () => this.hover(-1));
    new ResizeObserver(() => this.element.clientWidth !== this.width && this.paint()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    new MutationObserver(() => this.restyle()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, found] = [REACH ** 2, -1];
    this.items.forEach((item, k) => {
      const far = (this.x(item.x) - x) ** 2 + (this.y(item.y) - y) ** 2;
      if (far < best) [best, found] = [far, k];
    });
    return found;
  }

  placed(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = [(event.clientX - box.left - LEFT) / (this.width - LEFT - RIGHT),
      (this.height - BOTTOM - (event.clientY - box.top)) / (this.height - TOP - BOTTOM)];
    if (share.some((each) => each < 0 || each > 1)) return;
    const [[a, b], [c, d]] = this.ranges;
    this.place(a + share[0] * (b - a), c + share[1] * (d - c));
  }

  hover(k) {
    if (k === this.at) return;
    this.at = k;
    const item = this.items[k];
    this.tip.hidden = !item;
    if (item) {
      this.tip.textContent = item.text;
      const x = this.x(item.x);
      this.tip.style.left = x > this.width / 2 ? "" : `${x + 12}px`;
      this.tip.style.right = x > this.width / 2 ? `${this.width - x + 12}px` : "";
      this.tip.style.top = `${Math.max(this.y(item.y) - 28, 0)}px`;
    }
    this.paint();
  }

  // What is shown: { x: {label, range}, y: {label, range}, layers, text }.
  show(content) {
    this.content = content;
    this.items = content.layers.flatMap((layer) => layer.items ?? []);
    this.canvas.setAttribute("aria-label", content.text ?? "");
    this.canvas.classList.toggle("picks", Boolean(this.items.length || this.place));
    if (this.items.length) this.canvas.tabIndex = 0; else this.canvas.removeAttribute("tabindex");
    this.canvas.setAttribute("role", this.items.length ? "application" : "img"); // whether it takes keys
    if (this.at >= this.items.length) this.hover(-1);
    this.paint();
  }

  extent(axis) {
    const asked = this.content[axis]?.range;
    if (asked) return asked;
    let [low, high] = [Infinity, -Infinity];
    for (const layer of this.content.layers) {
      if (layer.aside) continue;
      const values = layer.items ? layer.items.map((item) => item[axis]) : layer[axis] ?? [];
      for (const value of typeof values === "number" ? [] : values) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    for (const value of this.content[axis]?.include ?? []) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low > high) [low, high] = [0, 1];
    this.before ??= {};
    this.before[axis] = roomy([low, high], this.before[axis]);
    return this.before[axis];
  }

  x(value) { const [a, b] = this.ranges[0]; return LEFT + ((value - a) / (b - a)) * (this.width - LEFT - RIGHT); }

  y(value) { const [a, b] = this.ranges[1]; return this.height - BOTTOM - ((value - a) / (b - a)) * (this.height - TOP - BOTTOM); }

  paint() {
    const { canvas, element, height } = this;
    const width = element.clientWidth;
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = width;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.ranges = [this.extent("x"), this.extent("y")];
    if (this.equal) this.evened();
    this.axes(context);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP - 2, width - LEFT - RIGHT, height - TOP - BOTTOM + 4);
    context.clip();
    for (const layer of this.content.layers) this[layer.kind](context, layer);
    context.restore();
    this.ring(context);
  }

  // One unit is as long in both directions.
  evened() {
    const [across, up] = [this.width - LEFT - RIGHT, this.height - TOP - BOTTOM];
    const [[a, b], [c, d]] = this.ranges;
    const unit = Math.max((b - a) / across, (d - c) / up);
    const [x, y] = [(a + b) / 2, (c + d) / 2];
    this.ranges = [[x - (unit * across) / 2, x + (unit * across) / 2], [y - (unit * up) / 2, y + (unit * up) / 2]];
  }

  axes(context) {
    const { width, height } = this;
    const [[a, b], [c, d]] = this.ranges;
    Object.assign(context, { font: "12px system-ui, sans-serif", lineWidth: 1, fillStyle: this.colour("faint") });
    context.strokeStyle = this.colour("grid");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of ticks(a, b, (width - LEFT) / 80)) {
      const x = Math.round(this.x(tick)) + 0.5;
      context.beginPath(); context.moveTo(x, TOP); context.lineTo(x, height - BOTTOM); context.stroke();
      context.fillText(brief(tick), x, height - BOTTOM + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(c, d, (height - TOP - BOTTOM) / 45)) {
      const y = Math.round(this.y(tick)) + 0.5;
      context.beginPath(); context.moveTo(LEFT, y); context.lineTo(width - RIGHT, y); context.stroke();
      context.fillText(brief(tick), LEFT - 6, y);
    }
    context.strokeStyle = this.colour("edge");
    context.strokeRect(LEFT + 0.5, TOP + 0.5, width - LEFT - RIGHT - 1, height - TOP - BOTTOM - 1);
    context.fillStyle = this.colour("ink");
    context.textAlign = "center";
    context.textBaseline = "bottom";
    lettered(context, this.content.x?.label ?? "", LEFT + (width - LEFT - RIGHT) / 2, height - 3);
    context.save();
    context.translate(11, TOP + (height - TOP - BOTTOM) / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    lettered(context, this.content.y?.label ?? "", 0, 0);
    context.restore();
  }

  line(context, { x, y, colour = "blue", dash = [], width = 1.8 }) {
    context.beginPath();
    context.setLineDash(dash);
    Object.assign(context, { strokeStyle: this.colour(colour), lineWidth: width, lineJoin: "round" });
    for (let k = 0; k < x.length; k += 1) context[k ? "lineTo" : "moveTo"](this.x(x[k]), this.y(y[k]));
    context.stroke();
    context.setLineDash([]);
  }

  // Very many small dots, two colours at most: a second where `other` says so.
  dots(context, { x, y, other = null, colour = "blue", second = "vermilion", size = 1.1 }) {
    for (const [which, name] of [[0, colour], [1, second]]) {
      context.fillStyle = this.colour(name);
      for (let k = 0; k < x.length; k += 1) {
        if ((other?.[k] ? 1 : 0) !== which) continue;
        const s = which ? 1.35 * size : size; // larger, so that colour is not alone
        context.fillRect(this.x(x[k]) - s, this.y(y[k]) - s, 2 * s, 2 * s);
      }
    }
  }

  rule(context, { x, y, colour = "faint", dash = [], label = "", row = 0, strong = false }) {
    context.beginPath();
    context.setLineDash(dash);
    Object.assign(context, { strokeStyle: this.colour(colour), lineWidth: strong ? 2 : 1 });
    const across = y !== undefined;
    if (across) { context.moveTo(LEFT, this.y(y)); context.lineTo(this.width - RIGHT, this.y(y)); }
    else { context.moveTo(this.x(x), TOP); context.lineTo(this.x(x), this.height - BOTTOM); }
    context.stroke();
    context.setLineDash([]);
    if (!label) return;
    Object.assign(context, { fillStyle: this.colour(colour), font: "12px system-ui, sans-serif", textBaseline: "top" });
    const late = this.x(x) > this.width - 110;
    context.textAlign = late ? "right" : "left";
    Object.assign(context, { strokeStyle: this.colour("paper"), lineWidth: 4, lineJoin: "round" });
    context.strokeText(label, this.x(x) + (late ? -4 : 4), TOP + 3 + 15 * row);
    context.fillText(label, this.x(x) + (late ? -4 : 4), TOP + 3 + 15 * row);
  }

  circle(context) {
    Object.assign(context, { strokeStyle: this.colour("faint"), lineWidth: 1.2 });
    context.beginPath();
    context.ellipse(this.x(0), this.y(0), this.x(1) - this.x(0), this.y(0) - this.y(1), 0, 0, 2 * Math.PI);
    context.stroke();
  }

  marks(context, { items }) {
    for (const item of items) {
      if (item.quiet) continue;
      context.beginPath();
      SHAPES[item.shape ?? "circle"](context, this.x(item.x), this.y(item.y), item.size ?? 5);
      const colour = this.colour(item.colour ?? "blue");
      if (item.shape === "cross") { Object.assign(context, { strokeStyle: colour, lineWidth: 2 }); context.stroke(); continue; }
      Object.assign(context, { fillStyle: item.hollow ? this.colour("paper") : colour, strokeStyle: item.hollow ? colour : this.colour("paper") });
      context.lineWidth = item.hollow ? 2 : 1.2;
      context.fill();
      context.stroke();
    }
  }

  // A rectangle of numbers over two axes; what is none is left out.
  image(context, { xs, ys, values, low, high }) {
    const edges = (at) => at.map((each, k) => (k ? (each + at[k - 1]) / 2 : each)).concat(at[at.length - 1]);
    const [across, up] = [edges(xs), edges(ys)];
    values.forEach((value, k) => {
      if (!Number.isFinite(value)) return;
      const [i, j] = [k % xs.length, Math.floor(k / xs.length)];
      context.fillStyle = shade((value - low) / (high - low || 1));
      const [x, y] = [this.x(across[i]), this.y(up[j + 1])];
      context.fillRect(x, y, this.x(across[i + 1]) - x + 0.6, this.y(up[j]) - y + 0.6);
    });
  }

  ring(context) {
    const item = this.items[this.at] ?? this.items.find((each) => each.chosen);
    if (!item) return;
    Object.assign(context, { strokeStyle: this.colour("ink"), lineWidth: 1.6 });
    context.beginPath();
    context.arc(this.x(item.x), this.y(item.y), 9, 0, 2 * Math.PI);
    context.stroke();
  }
}

// From dark blue to yellow, evenly in lightness.
const STOPS = [[68, 20, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
export function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const k = Math.min(Math.floor(at), STOPS.length - 2);
  return `rgb(${STOPS[k].map((each, i) => Math.round(each + (at - k) * (STOPS[k + 1][i] - each))).join(" ")})`;
}
