// The player of pfaff: `mount(element, scene)` shows a scene that moves, in the plane or in space, with its histories.
//
// The handle it returns has play(), pause(), seek(time), update(scene), destroy(), and reads time, playing and rate
// (pictures a second, as measured). Nothing is fetched. What the keys do stands in KEYS, which the button "Keys" shows.

import { Scene, single } from "./scene.js";
import { Camera } from "./camera.js";
import { Painter } from "./paint.js";
import { Histories, short } from "./histories.js";

const LIGHT = {
  paper: "#ffffff", ink: "#1d2023", faint: "#7b838b", grid: "#e4e7ea", shade: "rgba(40, 50, 60, 0.13)",
  body: "#0072b2", pale: "#8cc3e2", shine: "#d7ecf8", force: "#d55e00", edge: "#c9ced3",
  cycle: ["#0072b2", "#d55e00", "#00835f", "#a36f00", "#b0558a", "#2b86bd"],
};
const DARK = {
  paper: "#14171a", ink: "#e8eaec", faint: "#8f98a1", grid: "#2b3138", shade: "rgba(0, 0, 0, 0.45)",
  body: "#5fb8ec", pale: "#1d4c69", shine: "#c9e7fa", force: "#ff8b4a", edge: "#3c444c",
  cycle: ["#5fb8ec", "#ff8b4a", "#3fd0a5", "#f0b840", "#e59cc3", "#9ad4f5"],
};
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const STEP = 0.02; // of the film, by an arrow key
// What a key does on the picture, and in which films: "plane", "space" or both.
const KEYS = [
  ["Space", "plays and pauses"],
  ["← →", "go back and on in time", "plane"],
  ["← → ↑ ↓", "turn the picture", "space"],
  ["Shift and arrows", "move the picture", "plane"],
  ["Shift and ← →", "go back and on in time", "space"],
  [", and .", "go back and on by one step"],
  ["+ and −", "come nearer and go away"],
  ["Home", "looks from where one looked first"],
];
const STYLE = `
.pfaff-player { position: relative; font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  border: 1px solid var(--edge); border-radius: 6px; overflow: hidden; }
.pfaff-player canvas { display: block; width: 100%; touch-action: pan-y; }
.pfaff-player canvas.stage { cursor: grab; }
.pfaff-player canvas.histories { cursor: col-resize; }
.pfaff-player canvas:focus-visible, .pfaff-player :is(button, select, input):focus-visible {
  outline: 2px solid var(--body); outline-offset: -2px; }
.pfaff-player .bar { display: flex; gap: 0.5em; align-items: center; padding: 0.35em 0.6em; flex-wrap: wrap;
  border-top: 1px solid var(--edge); }
.pfaff-player .bar input[type=range] { flex: 1 1 8em; min-width: 6em; accent-color: var(--body); }
.pfaff-player button, .pfaff-player select { font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--edge); border-radius: 4px; padding: 0.15em 0.6em; cursor: pointer; min-height: 2em; }
.pfaff-player select option { color: black; background: white; }
.pfaff-player button[aria-pressed=true] { background: var(--grid); }
.pfaff-player .play { min-width: 4.6em; }
.pfaff-player .clock { min-width: 6.5em; font-variant-numeric: tabular-nums; white-space: nowrap; }
.pfaff-player .keys { margin: 0; padding: 0.5em 0.9em; border-top: 1px solid var(--edge); display: grid; gap: 0.1em 1.2em;
  grid-template-columns: max-content 1fr; font-size: 0.9em; }
.pfaff-player .keys[hidden] { display: none; }
.pfaff-player .keys dd { margin: 0; color: var(--faint); }
.pfaff-player .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }`;

const make = (tag, attributes = {}, text = "") => {
  const element = Object.assign(document.createElement(tag), { textContent: text });
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  return element;
};

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The theme asked for, else that of the page, else that of the reader's system.
function dark(element, theme) {
  const page = element.closest("[data-theme=dark], [data-theme=light]")?.dataset.theme;
  const chosen = theme ?? page;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

class Player {
  constructor(element, data, options) {
    Object.assign(this, { element, options, fraction: 0, speed: 1, loop: true, visible: true, rate: 0, stamps: [] });
    this.playing = options.play ?? !calm();
    this.build();
    this.update(data);
    this.listen();
    this.tick = this.tick.bind(this);
    this.request = requestAnimationFrame(this.tick);
  }

  build() {
    this.root = make("div", { class: "pfaff-player" });
    this.root.append(make("style", {}, STYLE));
    const name = `keys-${Math.random().toString(36).slice(2)}`; // other films may stand on the same page
    this.stage = make("canvas", { class: "stage", role: "application", tabindex: "0", "aria-describedby": name });
    this.graph = make("canvas", { class: "histories", role: "slider", tabindex: "0", "aria-label": "time, on the curves",
      "aria-valuemin": 0, "aria-valuemax": 1000 });
    this.button = make("button", { class: "play", type: "button" });
    this.slider = make("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": "time" });
    this.clock = make("span", { class: "clock" });
    this.pace = make("select", { "aria-label": "speed" });
    SPEEDS.forEach((speed) => this.pace.append(make("option", { value: speed }, `${speed}×`)));
    this.again = make("button", { type: "button", "aria-pressed": "true", title: "start again at the end" }, "Loop");
    this.home = make("button", { type: "button", title: "look from where one looked first" }, "Reset view");
    this.help = make("button", { type: "button", "aria-expanded": "false", "aria-controls": name }, "Keys");
    this.keys = make("dl", { class: "keys", id: name, hidden: "" });
    this.words = make("p", { class: "unseen", role: "status" });
    const bar = make("div", { class: "bar" });
    bar.append(this.button, this.slider, this.clock, this.pace, this.again, this.home, this.help);
    this.root.append(this.stage, this.graph, bar, this.keys, this.words);
    this.element.replaceChildren(this.root);
  }

  // Another scene in the same place: camera, speed and the fraction that was reached stay.
  update(data) {
    const camera = this.camera;
    this.scene = data instanceof Scene ? data : new Scene(data);
    this.camera = new Camera(this.scene);
    if (camera && camera.flat === this.camera.flat) {
      Object.assign(this.camera, { yaw: camera.yaw, pitch: camera.pitch, zoom: camera.zoom, pan: camera.pan });
    }
    this.stage.setAttribute("aria-label", this.scene.text);
    const kind = this.camera.flat ? "plane" : "space";
    const shown = KEYS.filter(([, , where]) => !where || where === kind);
    this.keys.replaceChildren(...shown.flatMap(([key, does]) => [make("dt", {}, key), make("dd", {}, does)]));
    this.graph.hidden = !this.scene.histories.length;
    this.pace.value = String(this.speed);
    this.restyle();
    return this;
  }

  // Colours and sizes as page and reader want them.
  restyle() {
    this.colours = dark(this.element, this.options.theme) ? DARK : LIGHT;
    Object.entries(this.colours).forEach(([name, value]) => this.root.style.setProperty(`--${name}`, value));
    this.painter = new Painter(this.stage.getContext("2d"), this.camera, this.scene, this.colours);
    const width = this.root.clientWidth || 640;
    this.histories = new Histories(this.graph, this.scene, this.colours, width);
    const shape = this.scene.dimension === 2 ? this.scene.size[1] / this.scene.size[0] : 0.62;
    const height = this.options.height ?? Math.round(width * Math.min(Math.max(shape, 0.3), 0.75));
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(this.stage, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    Object.assign(this, { width, height });
    this.stage.style.height = `${height}px`;
    this.graph.style.height = `${this.histories.height}px`;
    this.histories.prepare(this.ratio);
    this.paint();
  }

  listen() {
    const signal = (this.stop = new AbortController()).signal;
    const on = (target, kind, act) => target.addEventListener(kind, act, { signal });
    on(this.button, "click", () => (this.playing ? this.pause() : this.play()));
    on(this.slider, "input", () => {
      const wanted = this.slider.value / 1000; // pausing paints, which sets the slider
      this.pause().go(wanted);
    });
    on(this.pace, "change", () => { this.speed = Number(this.pace.value); });
    on(this.again, "click", () => {
      this.loop = !this.loop;
      this.again.setAttribute("aria-pressed", String(this.loop));
    });
    on(this.home, "click", () => { this.camera.reset(); this.paint(); });
    on(this.help, "click", () => {
      this.keys.hidden = !this.keys.hidden;
      this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
    });
    on(this.stage, "keydown", (event) => this.act(event, this.acts(event.shiftKey)));
    on(this.graph, "keydown", (event) => this.act(event, this.moves()));
    on(this.stage, "pointerdown", (event) => this.stage.setPointerCapture(event.pointerId));
    on(this.stage, "pointermove", (event) => {
      if (!this.stage.hasPointerCapture(event.pointerId)) return;
      this.camera.drag(event.movementX, event.movementY);
      this.paint();
    });
    on(this.graph, "pointerdown", (event) => { this.graph.setPointerCapture(event.pointerId); this.scrub(event); });
    on(this.graph, "pointermove", (event) => this.graph.hasPointerCapture(event.pointerId) && this.scrub(event));
    this.stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.stage) return; // the page scrolls on
      event.preventDefault();
      this.camera.approach(Math.exp(-0.001 * event.deltaY));
      this.paint();
    }, { signal, passive: false });
    const again = () => this.restyle();
    on(matchMedia("(prefers-color-scheme: dark)"), "change", again);
    this.sizes = new ResizeObserver(() => this.root.clientWidth !== this.width && this.restyle());
    this.sizes.observe(this.root);
    this.themes = new MutationObserver(again);
    for (const each of [document.documentElement, document.body]) {
      this.themes.observe(each, { attributes: true, attributeFilter: ["data-theme"] });
    }
    this.sight = new IntersectionObserver(([entry]) => { this.visible = entry.isIntersecting; });
    this.sight.observe(this.root);
  }

  // Keys that go in time, on the curves and in part on the picture.
  moves() {
    const by = (share) => () => this.pause().go(this.fraction + share);
    return {
      " ": () => (this.playing ? this.pause() : this.play()),
      ArrowLeft: by(-STEP), ArrowRight: by(STEP), ArrowDown: by(-STEP), ArrowUp: by(STEP),
      ",": by(-1 / this.scene.count), ".": by(1 / this.scene.count), PageDown: by(-5 * STEP), PageUp: by(5 * STEP),
      Home: by(-1), End: by(1),
    };
  }

  // Keys on the picture, as KEYS says: its arrows go in time where there is nothing to turn.
  acts(shifted) {
    const { " ": space, ",": back, ".": on, ArrowLeft, ArrowRight } = this.moves();
    const flat = this.camera.flat;
    const turn = flat ? (x, y) => this.camera.drag(-20 * x, 20 * y) : (x, y) => this.camera.turn(0.1 * x, 0.1 * y);
    const turning = {
      ArrowLeft: () => turn(-1, 0), ArrowRight: () => turn(1, 0), ArrowUp: () => turn(0, 1), ArrowDown: () => turn(0, -1),
    };
    const nearer = () => this.camera.approach(1.1);
    return {
      " ": space, ",": back, ".": on, ...(flat === shifted ? turning : { ArrowLeft, ArrowRight }),
      "+": nearer, "=": nearer, "-": () => this.camera.approach(1 / 1.1), Home: () => this.camera.reset(),
    };
  }

  act(event, acts) {
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
    this.paint();
  }

  scrub(event) {
    this.pause().go(this.histories.fraction(event.clientX - this.graph.getBoundingClientRect().left));
  }

  get time() {
    return single(this.scene.t, this.scene.moment(this.fraction));
  }

  play() {
    if (this.fraction >= 1) this.fraction = 0;
    this.playing = true;
    this.last = undefined;
    this.paint();
    return this;
  }

  pause() {
    this.playing = false;
    this.paint();
    this.words.textContent = this.said;
    return this;
  }

  seek(time) {
    return this.go(this.scene.fractionOf(time));
  }

  go(fraction) {
    this.fraction = Math.min(Math.max(fraction, 0), 1);
    this.paint();
    return this;
  }

  // What is seen, in words, for those who do not see it.
  get said() {
    const moment = this.scene.moment(this.fraction);
    const numbers = [...this.scene.readings, ...this.scene.histories.flatMap((panel) => panel.curves)];
    return [`t = ${short(this.time)}`, ...numbers.map((each) => `${each.name} = ${short(single(each.values, moment))}`)].join(", ");
  }

  tick(now) {
    this.request = requestAnimationFrame(this.tick);
    const since = this.last === undefined ? 0 : now - this.last;
    this.last = now;
    if (!this.playing || !this.visible) return;
    this.fraction += (this.speed * since) / 1000 / this.scene.seconds;
    if (this.fraction > 1) {
      this.fraction = this.loop ? this.fraction % 1 : 1;
      if (!this.loop) this.pause();
    }
    this.paint();
    this.stamps.push(now);
    while (now - this.stamps[0] > 1000) this.stamps.shift();
    this.rate = this.stamps.length;
    this.root.dataset.rate = this.rate;
  }

  paint() {
    const moment = this.scene.moment(this.fraction);
    const context = this.stage.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.painter.paint(moment, this.width, this.height);
    this.histories.paint(moment);
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.slider.value = Math.round(1000 * this.fraction);
    const shown = [...this.scene.readings.map((each) => `${each.name} = ${short(single(each.values, moment))}`)];
    this.clock.textContent = [`t = ${fixed(this.time, this.scene)}`, ...shown].join(", ");
    this.slider.setAttribute("aria-valuetext", this.clock.textContent);
    this.graph.setAttribute("aria-valuenow", this.slider.value);
    this.graph.setAttribute("aria-valuetext", this.clock.textContent);
    this.root.dataset.time = this.time;
  }

  destroy() {
    cancelAnimationFrame(this.request);
    this.stop.abort();
    [this.sizes, this.themes, this.sight].forEach((each) => each.disconnect());
    this.root.remove();
  }
}

// As many digits as tell one picture from the next, so that the clock does not flicker in width.
function fixed(time, scene) {
  const span = Math.abs(scene.t[scene.count - 1] - scene.t[0]) || 1;
  return time.toFixed(Math.min(Math.max(2 - Math.floor(Math.log10(span)), 0), 6)).replace("-", "−");
}

export function mount(element, scene, options = {}) {
  element.player?.destroy();
  element.player = new Player(element, scene, options);
  return element.player;
}
