// Small motions: eigenvalues in the complex plane, and against the load with the critical loads marked.

import { brief, counted, decoded } from "./numbers.js";
import { Card, make } from "./card.js";
import { Plot } from "./plot.js";

export class SpectrumCard extends Card {
  constructor(studio) {
    super(studio, "spectrum", "Spectrum", { kinds: ["svg", "png", "csv"], first: true });
    this.plot = new Plot(make("div"), { height: 230, pick: (item) => studio.choose?.(item) });
    this.keys = make("p", { class: "keys" });
    this.add(this.plot.element, this.keys);
  }

  show({ re, im, growing, places, faster, zeros, circle, lead }, answer) {
    const { selected } = this.studio.view;
    const chosen = selected === "lead" ? String(lead) : selected.match(/^mode:(\d+)$/)?.[1];
    const items = re.map((x, k) => ({
      x, y: im[k], shape: growing[k] ? "square" : "circle", colour: growing[k] ? "vermilion" : "blue",
      size: 5.5, text: `${brief(x, 6)} ${im[k] < 0 ? "−" : "+"} ${brief(Math.abs(im[k]), 6)} i`, data: `mode:${places[k]}`,
      chosen: !circle && String(places[k]) === chosen,
    }));
    const layers = [circle ? { kind: "circle", aside: true } : { kind: "rule", x: 0, aside: true }];
    if (zeros) layers.push({ kind: "marks", aside: true, items: [{ x: 0, y: 0, shape: "cross", colour: "faint", size: 4, text: counted(zeros, "structural zero"), data: null }] });
    layers.push({ kind: "marks", items });
    const [x, y] = circle ? ["real part of the multiplier", "imaginary part"] : ["growth rate", "frequency"];
    this.plot.equal = circle;
    const include = circle ? [-1.1, 1.1] : [0];
    const size = Math.max(...re.map((x, k) => Math.hypot(x, im[k])));
    const flat = !circle && Math.max(...re.map(Math.abs)) < 1e-9 * size; // rounding, which would fill the picture
    const words = circle ? "Floquet multipliers" : "eigenvalues";
    if (this.kind !== circle) this.plot.before = {};
    this.kind = circle;
    const across = flat ? { range: [-size / 10, size / 10] } : { include };
    this.plot.show({ x: { label: x, ...across }, y: { label: y, include }, layers, text: `${re.length} ${words}: ${answer.status}` });
    const told = growing.some(Boolean) ? "■ growing  ● decaying or neutral" : "● decaying or neutral";
    this.keys.textContent = (circle ? "■ outside the unit circle  ● inside or on it" : told) + (zeros ? `  × ${counted(zeros, "structural zero")}` : "")
      + (faster ? `  (${faster} faster ones are not shown)` : "");
    this.studio.painted(answer);
  }
}

export class CurvesCard extends Card {
  constructor(studio) {
    super(studio, "curves", "Eigenvalues against the load", { kinds: ["svg", "png"] });
    this.growth = new Plot(make("div"), { height: 190, place: (load) => studio.setLoad(load) });
    this.frequency = new Plot(make("div"), { height: 190, place: (load) => studio.setLoad(load) });
    this.critical = make("ul", { class: "keys" });
    this.add(this.growth.element, this.frequency.element, this.critical);
    this.marks = [];
    this.seen(false);
  }

  seen(is) {
    this.growth.element.hidden = this.frequency.element.hidden = !is;
  }

  show(data) {
    const [loads, re, im, growing] = [data.loads, data.re, data.im, data.growing].map(decoded);
    const x = Float32Array.from(re, (_, k) => loads[Math.floor(k / data.count)]);
    Object.assign(this, { data, x, re, im: im.map(Math.abs), other: growing });
    this.soon();
  }

  // Once for each picture of the screen.
  soon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.paint(); });
  }

  // Critical loads come later, from another lane.
  marked(answer) {
    if (answer.data?.begun) { this.element.setAttribute("aria-busy", "true"); return; }
    this.element.removeAttribute("aria-busy");
    this.marks = answer.data?.marks ?? [];
    const told = this.words.textContent === answer.error; // the same is wrong with the curves
    this.critical.replaceChildren(...(answer.error && !told ? [make("li", { text: answer.error })] : this.marks.map((mark) => make("li", { text: mark.status }))));
    this.paint();
  }

  paint() {
    if (!this.data) return;
    this.seen(true);
    const { x, re, im, other, data } = this;
    const here = this.studio.loadNumber();
    const range = [data.low, data.to];
    const marks = this.marks.filter((mark) => mark.value !== null).map((mark, k) => ({
      kind: "rule", x: mark.value, colour: ["vermilion", "purple", "green"][k % 3], dash: [5, 4], aside: true, row: k, label: `${mark.kind} ${brief(mark.value, 6)}`,
    }));
    const now = { kind: "rule", x: here, colour: "ink", strong: true, aside: true };
    const label = `load ${data.letters}`;
    const words = this.marks.map((mark) => mark.status).join("; ");
    this.growth.show({ x: { range }, y: { label: "growth rate", include: [0] }, text: `growth rates against ${label}: ${words}`,
      layers: [{ kind: "rule", y: 0, aside: true }, { kind: "dots", x, y: re, other }, now, ...marks] });
    this.frequency.show({ x: { label, range }, y: { label: "frequency", include: [0] }, text: `frequencies against ${label}`,
      layers: [{ kind: "dots", x, y: im, other }, ...marks.map((each) => ({ ...each, label: "" })), now] });
  }
}
