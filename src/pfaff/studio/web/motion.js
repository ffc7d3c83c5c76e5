// A motion from initial values, or from where the structure was let go.

import { brief } from "./numbers.js";
import { Card, make, maths } from "./card.js";

const TINY = 1e-12; // below which a coordinate of an equilibrium is rounding

export class MotionCard extends Card {
  constructor(studio, facts) {
    super(studio, "motion", "Motion", { kinds: ["svg", "png", ...(facts.drawn ? ["html", "gif"] : []), "nc", "csv"] });
    this.fields = {};
    const grid = make("div", { class: "initial" });
    for (const each of facts.states) {
      const field = make("input", { type: "text", id: `start-${each.name}`, placeholder: "0", inputmode: "decimal", autocomplete: "off" });
      field.addEventListener("change", () => studio.change({ start: this.start() }));
      this.fields[each.name] = field;
      grid.append(make("label", { for: `start-${each.name}`, title: each.meaning || each.name }, maths(each.letters), field));
    }
    this.duration = make("input", { type: "text", id: "duration", inputmode: "decimal" });
    this.duration.addEventListener("change", () => studio.change({ duration: this.duration.value.trim() || "20" }));
    this.button = make("button", { type: "button", class: "primary", text: "Start", onclick: () => studio.simulate(this.start()) });
    this.rest = make("button", { type: "button", text: "Clear", onclick: () => { studio.change({ start: {} }); this.display(studio.view); } });
    this.stop = make("button", { type: "button", text: "Cancel", hidden: true, onclick: () => studio.cancel("motion") });
    this.bar = make("progress", { max: 1, hidden: true, "aria-label": "progress of the motion" });
    const row = make("div", { class: "row" }, make("label", {}, "for a time of", this.duration), this.button, this.rest, this.stop, this.bar);
    this.add(make("p", { class: "keys", text: "Initial values; the others are zero or follow from the constraints. A steady motion keeps them." }), grid, row);
  }

  start() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()]).filter(([, text]) => text));
  }

  display(view) {
    for (const [name, field] of Object.entries(this.fields)) if (document.activeElement !== field) field.value = view.start[name] ?? "";
    if (document.activeElement !== this.duration) this.duration.value = view.duration;
  }

  busy(is) {
    this.stop.hidden = this.bar.hidden = !is;
    if (is) this.bar.removeAttribute("value");
  }

  fail() { this.busy(false); }

  show(data, answer) {
    if (data.begun) { this.says("computing…"); return this.busy(true); }
    if (data.progress !== undefined) { this.bar.value = data.progress; return undefined; }
    this.busy(false);
    return this.studio.moved(data, answer);
  }
}

export class EquilibriaCard extends Card {
  constructor(studio, facts) {
    super(studio, "equilibria", "Equilibria", { kinds: facts.kind === "system" ? ["svg", "png"] : [] });
    this.button = make("button", { type: "button", class: "primary", text: facts.kind === "ode" ? "Find" : "Find all", onclick: () => studio.find() });
    this.stop = make("button", { type: "button", text: "Cancel", hidden: true, onclick: () => studio.cancel("equilibria") });
    this.table = make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "table of equilibria" });
    this.add(make("div", { class: "row" }, this.button, this.stop), this.table);
  }

  fail() { this.stop.hidden = true; }

  show(data) {
    if (data.begun) { this.says("searching…"); this.stop.hidden = false; return; }
    if (data.found !== undefined) return;
    this.stop.hidden = true;
    if (!data.rows?.length) { this.table.replaceChildren(); return; }
    const head = make("tr", {}, make("th"), ...data.letters.map((each) => make("th", {}, maths(each))));
    const rows = data.rows.map((row, k) => make("tr", {},
      make("td", {}, make("button", { type: "button", text: `Show ${k + 1}`, onclick: () => this.studio.select(`equilibrium:${k}`) })),
      ...row.map((each) => make("td", { text: brief(Math.abs(each) < TINY ? 0 : each, 6) }))));
    this.table.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
    this.studio.again("equilibrium");
  }
}
