// Sliders, each with a field that takes exact text: 1/2, sqrt(2), 3*pi/4.

import { brief } from "./numbers.js";
import { make, maths, option } from "./card.js";

export class Parameters {
  // `change(values)` is called with texts by name.
  constructor(element, facts, change, { loads = null, prefix = "" } = {}) {
    Object.assign(this, { element, facts, change, prefix, rows: {} });
    const sorted = [...facts.parameters].sort((a, b) => Number(b.load) - Number(a.load));
    element.classList.add("card");
    element.replaceChildren(make("header", {}, make("h2", { text: "Parameters" })));
    if (loads) element.append(this.loads(facts, loads));
    for (const each of sorted) element.append(this.row(each));
    if (!sorted.length) element.append(make("p", { class: "says", text: "This system has no parameters." }));
  }

  // Which parameter grows, and how far.
  loads(facts, { load, to }) {
    const list = make("select", { "aria-label": "load: the parameter that grows", id: "load" });
    if (!facts.opening.load) list.append(option("", "none"));
    for (const each of facts.parameters) list.append(option(each.name, each.letters));
    list.value = facts.opening.load;
    list.addEventListener("change", () => load(list.value));
    const end = make("input", { type: "text", id: "to", inputmode: "decimal", "aria-label": "pictures and searches go up to" });
    end.addEventListener("change", () => to(end.value.trim()));
    this.list = list;
    this.end = end;
    return make("div", { class: "row" }, make("label", {}, "Load", list), make("label", {}, "up to", end));
  }

  row(about) {
    const { name, letters, meaning, unit, low, high } = about;
    const words = [meaning, unit && `[${unit}]`].filter(Boolean).join(" ");
    const label = make("label", { for: `${this.prefix}value-${name}`, title: name }, maths(letters), make("small", { text: words }));
    const field = make("input", { type: "text", id: `${this.prefix}value-${name}`, value: about.text, autocomplete: "off", spellcheck: "false" });
    const slider = make("input", { type: "range", id: `${this.prefix}slider-${name}`, "aria-label": `${name}, slider`, step: "any" });
    const row = make("div", { class: about.load ? "parameter load" : "parameter" }, label, field, slider);
    this.rows[name] = { about: { ...about }, field, slider, low, high, row };
    this.reach(name, about.number ?? 0);
    slider.addEventListener("input", () => {
      const text = tidy(Number(slider.value), this.rows[name]);
      field.value = text;
      field.removeAttribute("aria-invalid");
      this.say(name, Number(text));
      this.change({ [name]: text });
    });
    slider.addEventListener("keydown", (event) => this.key(event, name));
    field.addEventListener("change", () => this.typed(name));
    return row;
  }

  // Arrows move by a hundredth of the range, with Shift by a thousandth.
  key(event, name) {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const { slider, low, high } = this.rows[name];
    slider.value = Number(slider.value) + (way * (high - low)) / (event.shiftKey ? 1000 : 100);
    slider.dispatchEvent(new Event("input"));
  }

  // An emptied field goes back to what the system was opened with.
  typed(name) {
    const { field, about } = this.rows[name];
    const text = field.value.trim() || about.text;
    field.value = text;
    if (!text) return;
    const number = Number(text);
    if (Number.isFinite(number)) this.reach(name, number);
    this.change({ [name]: text });
  }

  // The slider at a number; its range goes along.
  reach(name, number) {
    const row = this.rows[name];
    if (number > row.high) row.high = handy(number);
    if (number < row.low) row.low = row.about.floor === null ? -handy(-number) : Math.min(row.low, number);
    Object.assign(row.slider, { min: row.low, max: row.high });
    row.slider.value = number;
    this.say(name, number);
  }

  say(name, number) {
    this.rows[name].slider.setAttribute("aria-valuetext", brief(number, 6));
  }

  // A range that is asked for, as of the load.
  stretch(name, high) {
    const row = this.rows[name];
    if (!row || !(high > row.low)) return;
    row.high = Math.max(high, Number(row.slider.value));
    row.slider.max = row.high;
  }

  // What a view says: texts as they were typed, sliders at the numbers they stand for.
  show(view, numbers) {
    for (const [name, { field, about }] of Object.entries(this.rows)) {
      const text = view.values[name] ?? about.text;
      if (document.activeElement !== field) field.value = text;
      const number = numbers?.[name] ?? Number(text);
      if (Number.isFinite(number) && document.activeElement !== this.rows[name].slider) this.reach(name, number);
    }
    if (this.list) {
      this.list.value = view.load;
      if (document.activeElement !== this.end) this.end.value = view.to;
    }
    for (const [name, { row }] of Object.entries(this.rows)) row.classList.toggle("load", name === view.load);
  }

  // The field that an error is about, by how its sentence begins.
  blame(error) {
    for (const [name, { field }] of Object.entries(this.rows)) {
      if (error.startsWith(`${name}=`)) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
  }
}

// A slider's number in as few digits as tell its steps apart.
function tidy(value, { low, high }) {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(high - low)));
  return String(Number(value.toFixed(Math.min(digits, 100))));
}

const handy = (number) => {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= number);
};
