// Two parameters: maps of a measure, and curves of special points. A click sets the case there.

import { brief, decoded } from "./numbers.js";
import { Card, make, option } from "./card.js";
import { Plot, shade } from "./plot.js";

export class PlaneCard extends Card {
  constructor(studio, facts) {
    super(studio, "map", "Two parameters", { kinds: ["svg", "png", "nc", "csv"] });
    this.facts = facts;
    this.plot = new Plot(make("div"), { height: 300, place: (x, y) => this.place(x, y), pick: (item) => studio.set(item) });
    this.scale = make("p", { class: "keys" });
    this.controls();
    this.add(this.row, this.plot.element, this.scale);
    this.plot.element.hidden = true;
    this.says("Choose two parameters, and draw a map; or follow a special point of the diagram.");
  }

  controls() {
    const list = (k) => {
      const select = make("select", { "aria-label": k ? "vertical axis" : "horizontal axis" });
      for (const each of this.facts.parameters) select.append(option(each.name, each.letters));
      const others = this.facts.parameters.filter((each) => !each.load && each.number);
      select.value = (others[k] ?? this.facts.parameters[k])?.name ?? "";
      return select;
    };
    const field = (text) => make("input", { type: "text", inputmode: "decimal", "aria-label": text });
    this.x = list(0);
    this.y = list(1);
    this.ends = ["from, horizontal", "to, horizontal", "from, vertical", "to, vertical"].map(field);
    this.measure = make("select", { "aria-label": "measure" }, ...this.facts.measures.map((each) => option(each, each.replace("_", " "))));
    for (const each of this.facts.stored?.names ?? []) this.measure.append(option(`store/${each}`, `${each} (store)`));
    const suggest = (select, [low, high]) => {
      const about = this.facts.parameters.find((each) => each.name === select.value);
      const axis = this.facts.stored?.axes?.[select.value];
      [low.value, high.value] = axis ?? [about?.floor === 0 || about?.low === 0 ? brief((about.high || 1) / 20, 3) : about?.low ?? 0, about?.high ?? 1];
    };
    [[this.x, this.ends.slice(0, 2)], [this.y, this.ends.slice(2)]].forEach(([select, fields]) => {
      select.addEventListener("change", () => suggest(select, fields));
      suggest(select, fields);
    });
    this.button = make("button", { type: "button", class: "primary", text: "Draw map", onclick: () => this.draw() });
    this.stop = make("button", { type: "button", text: "Cancel", hidden: true, onclick: () => this.studio.cancel("map") });
    this.row = make("div", { class: "row" }, make("label", {}, this.measure, "over", this.x), make("label", {}, "from", this.ends[0]),
      make("label", {}, "to", this.ends[1]), make("label", {}, "and", this.y), make("label", {}, "from", this.ends[2]),
      make("label", {}, "to", this.ends[3]), this.button, this.stop);
  }

  draw() {
    this.plot.before = {};
    this.studio.chart([this.x.value, this.y.value, ...this.ends.map((each) => each.value.trim()), this.measure.value].join(";"));
  }

  display(view) {
    if (!view.plane) return;
    const [x, y, a, b, c, d, measure] = view.plane.split(";");
    Object.assign(this.x, { value: x });
    this.y.value = y;
    [a, b, c, d].forEach((each, k) => { this.ends[k].value = each; });
    this.measure.value = measure;
  }

  fail() { this.stop.hidden = true; }

  show(data, answer) {
    if (data.begun) { this.says("computing…"); this.stop.hidden = false; return; }
    if (!answer.more) this.stop.hidden = true;
    if (data.values) { this.map = { ...data, numbers: decoded(data.values) }; this.paint(); }
  }

  // Curves of the diagram in two parameters.
  curves(objects) {
    const found = objects.filter((object) => object?.kind === "curve" && object.points.some(Boolean));
    if (!found.length && !this.lines?.length) return;
    this.lines = found;
    this.paint();
  }

  place(x, y) {
    const axes = this.axes;
    if (axes) this.studio.set({ [axes[0]]: String(Number(x.toPrecision(4))), [axes[1]]: String(Number(y.toPrecision(4))) });
  }

  letters(name) {
    return this.facts.parameters.find((each) => each.name === name)?.letters ?? name;
  }

  paint() {
    const curve = this.lines?.at(-1);
    this.axes = this.map ? this.map.names : curve ? [curve.other, curve.load] : null;
    this.plot.element.hidden = !this.axes;
    if (!this.axes) return;
    const layers = [];
    const words = [];
    const [x, y] = this.axes;
    if (this.map) this.heat(layers, words);
    for (const line of this.lines ?? []) {
      const points = line.points.filter((each) => each && x in each.values && y in each.values);
      if (!points.length) continue;
      layers.push({ kind: "line", x: points.map((each) => each.values[x]), y: points.map((each) => each.values[y]), colour: this.map ? "paper" : "blue", width: 2.2 });
      layers.push({ kind: "marks", items: [
        ...points.map((each) => ({ x: each.values[x], y: each.values[y], quiet: true, text: each.status, data: texts(each.values) })),
        ...line.special.map((each) => ({ x: each.values[x], y: each.values[y], shape: "star", colour: "vermilion", size: 6, text: each.status, data: texts(each.values) })),
      ] });
      words.push(line.status ?? "growing");
      if (!this.map) this.says(line.status ?? `${points.length} points`);
    }
    const range = (axis) => (this.map ? { range: [this.map[axis][0], this.map[axis].at(-1)] } : {});
    const here = this.studio.numbers();
    if (here) layers.push({ kind: "marks", aside: true, items: [{ x: here[x], y: here[y], shape: "cross", colour: this.map ? "paper" : "ink", size: 6, text: "the case", data: {} }] });
    this.plot.show({ x: { label: this.letters(x), ...range("x") }, y: { label: this.letters(y), ...range("y") }, layers, text: words.join("; ") });
  }

  heat(layers, words) {
    const { numbers, measure } = this.map;
    const finite = numbers.filter(Number.isFinite);
    if (!finite.length) { this.scale.replaceChildren(`no ${measure.replace("_", " ")} yet`); return; }
    const [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
    layers.push({ kind: "image", x: this.map.x, y: this.map.y, xs: this.map.x, ys: this.map.y, values: numbers, low, high });
    words.push(`${measure} from ${brief(low)} to ${brief(high)}`);
    const swatches = [0, 0.25, 0.5, 0.75, 1].map((share) => {
      const swatch = make("span", { text: "■ " });
      swatch.style.color = shade(share);
      return make("span", {}, swatch, brief(low + share * (high - low), 4));
    });
    this.scale.replaceChildren(`${measure.replace("_", " ")}:`, ...swatches, "× the case; a click sets it");
  }
}

const texts = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(Number(value.toPrecision(12)))]));
