// The studio in a cell of a notebook: the same cards, and the notebook's own wire.

import { make } from "./card.js";
import { Parameters } from "./parameters.js";
import { CurvesCard, SpectrumCard } from "./small_motions.js";
import { StructureCard } from "./structure.js";

let cells = 0; // on this page, so that what has a name has it once

class Explorer {
  constructor(model, element) {
    cells += 1;
    Object.assign(this, { model, number: 0, latest: {}, prefix: `cell${cells}-` });
    element.classList.add("pfaff-explorer");
    const light = document.body.dataset.jpThemeLight; // JupyterLab's own theme, where there is one
    if (light) element.dataset.theme = light === "true" ? "light" : "dark";
    this.sliders = make("section", { class: "card", "aria-label": "Parameters" });
    this.verdict = make("p", { class: "says", role: "status" });
    this.cells = make("div", { class: "column" });
    element.replaceChildren(make("div", { class: "explorer" }, this.sliders, this.cells), this.verdict);
    model.on("msg:custom", ({ text }) => this.hear(JSON.parse(text)));
    this.send("open", { address: "" });
  }

  send(kind, fields) {
    this.number += 1;
    this.model.send({ text: JSON.stringify({ kind, id: this.number, ...fields }) });
    return this.number;
  }

  hear(answer) {
    if (answer.card === "page") { this.opened(answer.data); return; }
    if (answer.id < (this.latest[answer.card] ?? 0)) return;
    this.latest[answer.card] = answer.id;
    if (answer.card === "critical") { this.cards?.curves.marked(answer); return; }
    if (answer.card === "lines") { this.known = answer.data.numbers; this.cards?.curves.soon(); return; }
    if (answer.card === "motion") { this.moved(answer); return; }
    this.cards?.[answer.card]?.hear(answer);
    if (answer.card === "spectrum") { this.verdict.textContent = answer.error || answer.status; this.parameters.blame(answer.error); }
  }

  moved(answer) {
    const { structure } = this.cards;
    if (answer.data.film) structure.start(answer.data.film);
    if (answer.data.curves) structure.hear(answer);
    if (answer.error || answer.status) structure.says(answer.error || answer.status, Boolean(answer.error));
  }

  opened({ facts, view }) {
    Object.assign(this, { facts, view });
    this.parameters = new Parameters(this.sliders, facts, (values) => this.set(values), { prefix: this.prefix });
    this.cards = { structure: new StructureCard(this, facts), spectrum: new SpectrumCard(this), curves: new CurvesCard(this) };
    this.cells.append(...Object.values(this.cards).map((card) => card.element));
    this.cells.querySelectorAll(".save").forEach((each) => each.remove());
    this.look();
  }

  set(values) {
    this.view = { ...this.view, values: { ...this.view.values, ...values } };
    this.look();
  }

  setLoad(load) {
    if (!this.view.load) return;
    this.set({ [this.view.load]: String(Number(load.toPrecision(6))) });
    this.parameters.show(this.view);
  }

  select(selected) {
    this.view = { ...this.view, selected };
    if (selected === "motion") this.send("simulate", { view: this.view });
    this.look();
  }

  choose(item) { if (item) this.select(item); }

  look() {
    this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.send("look", { view: this.view }); });
  }

  pull(point, at) { this.send("pull", { view: this.view, point, at }); }

  held(start) { this.view = { ...this.view, start, selected: "motion" }; }

  letGo() { this.select("motion"); }

  loadNumber() {
    const told = this.facts.parameters.find((each) => each.name === this.view.load)?.number;
    return this.known?.[this.view.load] ?? told ?? 0;
  }

  painted() {}
}

export function render({ model, el }) {
  const explorer = new Explorer(model, el);
  return () => explorer.cards?.structure.player?.destroy();
}
