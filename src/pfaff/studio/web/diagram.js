// Bifurcation diagrams that grow point by point; points are looked at, special ones lead on.

import { brief } from "./numbers.js";
import { Card, make, option } from "./card.js";
import { Plot } from "./plot.js";

const MARKS = {
  fold: ["circle", "vermilion"], "branch point": ["star", "orange"], hopf: ["square", "green"], divergence: ["triangle", "purple"],
  "period doubling": ["square", "green"], "symmetry breaking": ["diamond", "orange"], torus: ["triangle", "purple"],
};
const WORDS = { orbits: "Follow the cycles born here", switch: "Switch to the branch that crosses", curve: "Follow it in two parameters" };

export class DiagramCard extends Card {
  constructor(studio, facts) {
    super(studio, "diagram", "Bifurcation diagram", { kinds: ["svg", "png", "nc", "csv"] });
    this.facts = facts;
    this.objects = [];
    this.plot = new Plot(make("div"), { height: 330, pick: (item) => this.picked(item) });
    this.controls();
    this.list = make("div", { class: "points", "aria-label": "special points" });
    this.leads = make("div", { class: "leads", hidden: true });
    this.keys = make("p", { class: "keys" });
    this.add(this.row, this.plot.element, this.keys, this.list, this.leads);
    this.clear();
  }

  controls() {
    this.verb = make("select", { "aria-label": "what is followed" },
      option("cycles", "Cycles from the Hopf point"), option("branch", "Equilibria"), option("response", "Forced response"));
    if (this.facts.kind === "system") this.verb.append(option("steady", "Steady motions"));
    this.along = make("select", { "aria-label": "along which speed, coordinate or parameter" });
    for (const each of [...this.facts.states, ...this.facts.parameters]) this.along.append(option(each.name, each.letters));
    this.along.value = this.facts.states.find((each) => each.name.endsWith("_dot"))?.name ?? "";
    this.from = make("input", { type: "text", inputmode: "decimal", id: "grow-from", value: this.facts.kind === "system" ? "0" : "" });
    this.end = make("input", { type: "text", inputmode: "decimal", id: "grow-to" });
    this.grow = make("button", { type: "button", class: "primary", text: "Grow", onclick: () => this.begin() });
    this.stop = make("button", { type: "button", text: "Cancel", hidden: true, onclick: () => this.studio.cancel("diagram") });
    this.reset = make("button", { type: "button", text: "Clear", onclick: () => { this.clear(); this.studio.grow([]); } });
    this.axis = make("select", { "aria-label": "what is shown against the load" }, option("period", "period"));
    for (const each of this.facts.states) this.axis.append(option(each.name, each.letters));
    this.axis.value = this.facts.states[0]?.name ?? "period";
    this.axis.addEventListener("change", () => this.paint());
    const begins = make("label", { hidden: true }, "from", this.from);
    const along = make("label", { hidden: true }, "along", this.along);
    this.verb.addEventListener("change", () => {
      begins.hidden = ["cycles", "steady"].includes(this.verb.value);
      along.hidden = this.verb.value !== "steady";
    });
    this.row = make("div", { class: "row" }, this.verb, along, begins, make("label", {}, "to", this.end), this.grow, this.stop, this.reset,
      make("label", {}, "show", this.axis));
  }

  begin() {
    const to = this.end.value.trim() || this.studio.view.to || String(this.studio.loadHigh());
    this.end.value = to;
    const { load, start } = this.studio.view;
    if (this.verb.value === "steady") { this.studio.grow([`steady:${this.along.value}:${to}`], start); return; }
    const from = this.verb.value !== "cycles" && load && this.from.value.trim() ? { [load]: this.from.value.trim() } : {};
    this.studio.grow([`${this.verb.value}${load ? `:${load}` : ""}:${to}`], from);
  }

  clear() {
    this.objects = [];
    this.chosen = null;
    this.leads.hidden = true;
    this.list.replaceChildren();
    this.plot.before = {};
    this.paint();
    this.says("Nothing is followed yet. Choose how far, and grow a branch.");
  }

  busy(is) {
    this.running = is;
    this.stop.hidden = !is;
    this.grow.disabled = is;
    this.leads.querySelectorAll("button").forEach((each) => { each.disabled = is; });
    this.element.toggleAttribute("aria-busy", is);
  }

  fail() { this.busy(false); }

  show(data, answer) {
    if (data.begun === true) { this.objects = []; this.busy(true); this.says("starting…"); return; }
    if (data.step === undefined) { this.busy(false); this.paint(); this.studio.again("point", "special"); return; }
    const object = (this.objects[data.step] ??= { points: [], special: [] });
    if (data.begun) Object.assign(object, data.begun);
    if (data.point) {
      object.points[data.place] = data.point;
      this.says(`${object.points.filter(Boolean).length} points, ${data.point.status}`);
    }
    if (data.special) { Object.assign(object, { special: data.special, born: data.born, status: data.status }); this.listed(); }
    if (answer.more) this.soon(); else this.paint();
  }

  // Points come faster than pictures are shown.
  soon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.paint(); this.studio.plane.curves(this.objects); });
  }

  listed() {
    const buttons = this.objects.flatMap((object, k) => (object.kind === "curve" ? [] : [
      ...(object.born ? [this.button(k, null, { kind: "hopf", values: { [object.load]: object.born }, leads: ["curve"], status: `Hopf point at ${object.load} = ${brief(object.born, 10)}` })] : []),
      ...object.special.map((special, i) => this.button(k, i, special)),
    ]));
    this.list.replaceChildren(...buttons);
  }

  button(k, i, special) {
    const [name, value] = Object.entries(special.values)[0];
    return make("button", { type: "button", "aria-pressed": "false", title: special.status, text: `${special.kind} ${name} = ${brief(value, 7)}`,
      onclick: (event) => { this.press(event.target); this.special(k, i, special); } });
  }

  press(button) {
    this.list.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
  }

  picked(item) {
    if (item.special) this.special(item.k, item.i, item.special);
    else this.studio.select(`point:${item.k}.${item.i}`);
  }

  // Where a special point leads on.
  special(k, i, special) {
    this.says(special.status);
    if (i !== null) this.studio.select(`special:${k}.${i}`);
    const source = i === null ? `@${k}` : `@${k}.${i}`;
    const rows = special.leads.map((verb) => this.lead(verb, source, this.objects[k].load));
    this.leads.replaceChildren(make("strong", { text: `${special.kind}: ` }), ...(rows.length ? rows : ["nothing leads on from here"]));
    this.leads.hidden = false;
  }

  lead(verb, source, load) {
    const end = make("input", { type: "text", inputmode: "decimal", "aria-label": "to" });
    const others = make("select", { "aria-label": "second parameter" },
      ...this.facts.parameters.filter((each) => each.name !== load).map((each) => option(each.name, each.letters)));
    const suggest = () => {
      const about = this.facts.parameters.find((each) => each.name === others.value);
      end.value = String(verb === "curve" ? about?.high ?? 1 : this.end.value);
    };
    others.addEventListener("change", suggest);
    suggest();
    const go = make("button", { type: "button", text: WORDS[verb], disabled: this.running, onclick: () => {
      const name = verb === "curve" ? `:${others.value}` : "";
      this.studio.grow([...this.studio.view.steps, `${verb}${source}${name}:${end.value.trim()}`]);
    } });
    return make("div", { class: "row" }, go, ...(verb === "curve" ? [make("label", {}, "with", others)] : []), make("label", {}, "to", end));
  }

  // What is chosen, or the first state that these branches have: equilibria leave out coordinates that are free.
  shownState(shown) {
    const points = shown.flatMap((object) => object.points.filter(Boolean));
    const known = (name) => points.some((point) => Number.isFinite(name === "period" ? point.period : point.high?.[name]));
    if (points.length && !known(this.axis.value)) {
      const other = this.facts.states.find((each) => known(each.name));
      if (other) this.axis.value = other.name;
    }
    return this.axis.value;
  }

  paint() {
    const shown = this.objects.filter((object) => object && object.kind !== "curve");
    const state = this.shownState(shown);
    this.plot.element.hidden = !shown.length;
    const load = shown[0]?.load ?? this.studio.view?.load ?? "load";
    const layers = [];
    this.objects.forEach((object, k) => object?.kind !== "curve" && object && this.layers(object, k, state, layers));
    const letters = (name) => [...this.facts.parameters, ...this.facts.states].find((each) => each.name === name)?.letters ?? name;
    const label = state === "period" ? "period" : letters(state);
    const text = shown.length ? shown.map((object) => object.status ?? "growing").join("; ") : "no branch yet";
    this.plot.show({ x: { label: `load ${letters(load)}`, include: [] }, y: { label }, layers, text: `bifurcation diagram, ${label} against ${load}: ${text}` });
    const cycles = shown.some((object) => object.kind === "cycles") && state !== "period" ? "  cycles: largest and smallest value" : "";
    this.keys.textContent = shown.length ? `—— stable  – – unstable${cycles}` : "";
  }

  layers(object, k, state, layers) {
    const value = (point) => point.values[object.load];
    const parts = state === "period" ? [(point) => point.period] : [(point) => point.high?.[state], (point) => point.low?.[state]];
    const points = object.points.map((point, i) => ({ point, i })).filter(({ point }) => point);
    for (const part of parts) {
      if (!points.some(({ point }) => Number.isFinite(part(point)))) continue;
      for (const run of runs(points)) {
        const [x, y] = [run.map(({ point }) => value(point)), run.map(({ point }) => part(point))];
        const stable = run[Math.min(1, run.length - 1)].point.stable;
        layers.push({ kind: "line", x, y, colour: stable ? "blue" : "vermilion", dash: stable ? [] : [6, 4] });
      }
    }
    const [first] = parts;
    const chosen = this.studio.view?.selected;
    const items = points.filter(({ point }) => Number.isFinite(first(point))).map(({ point, i }) => ({
      x: value(point), y: first(point), quiet: true, text: point.status, data: { k, i }, chosen: chosen === `point:${k}.${i}` }));
    layers.push({ kind: "marks", items });
    const special = object.special.map((each, i) => ({ x: value(each), y: first(each), shape: MARKS[each.kind]?.[0] ?? "star",
      colour: MARKS[each.kind]?.[1] ?? "purple", size: 6, text: each.status, data: { k, i, special: each },
      chosen: chosen === `special:${k}.${i}` }));
    layers.push({ kind: "marks", items: special.filter((item) => Number.isFinite(item.y)) });
  }
}

// Stretches of one stability, each with the first point of the next.
function runs(points) {
  const found = [];
  points.forEach((each, k) => {
    const last = found.at(-1);
    if (!last || last[Math.min(1, last.length - 1)].point.stable !== each.point.stable) found.push(last ? [points[k - 1], each] : [each]);
    else last.push(each);
  });
  return found;
}
