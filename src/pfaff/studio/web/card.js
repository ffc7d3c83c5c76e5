// A card: a heading, something to see, and a sentence that says what it is, or why there is nothing.

export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

// A name as mathematics: what stands behind a low line has no letter of its own below.
export const maths = (letters) => {
  const [stem, ...below] = letters.split("_");
  const dots = stem.match(/^(.)([\u0307\u0308])(.*)$/u); // few fonts set them above any letter
  const main = dots ? [make("span", { class: dots[2] === "\u0308" ? "dotted twice" : "dotted", text: dots[1] }), dots[3]] : [stem];
  return make("span", { class: "math" }, ...main, ...(below.length ? [make("sub", { text: below.join(",") })] : []));
};

export const option = (value, text, selected = false) => make("option", { value, text, selected });

export class Card {
  constructor(studio, name, title, { kinds = [], first = false } = {}) {
    Object.assign(this, { studio, name });
    const prefix = studio.prefix ?? "";
    this.heading = make("header", {}, make("h2", { text: title, id: `${prefix}title-${name}` }));
    this.words = make("p", { class: "says", role: "status" });
    const classes = first ? "card first" : "card";
    this.element = make("section", { class: classes, id: `${prefix}card-${name}`, "aria-labelledby": `${prefix}title-${name}` }, this.heading);
    if (kinds.length) this.heading.append(this.saving(kinds));
  }

  saving(kinds) {
    const list = make("select", { class: "save", "aria-label": `save ${this.name} as` }, option("", "Save as…"));
    for (const kind of kinds) list.append(option(kind, NAMES[kind] ?? kind.toUpperCase()));
    list.addEventListener("keydown", (event) => { // an arrow alone would choose, and save, the first
      if (!["ArrowDown", "ArrowUp"].includes(event.key) || !list.showPicker) return;
      event.preventDefault();
      list.showPicker();
    });
    list.addEventListener("change", () => {
      const kind = list.value;
      list.value = "";
      if (kind) this.studio.save(this.name, kind).catch((problem) => this.says(problem.message, true));
    });
    return list;
  }

  add(...parts) {
    this.element.append(...parts, this.words);
    return this;
  }

  says(text, failed = false) {
    this.words.textContent = text;
    this.element.classList.toggle("failed", failed);
  }

  // An answer of the server: data, or why there is none.
  hear(answer) {
    if (answer.error) {
      this.says(answer.error, true);
      this.element.classList.add("stale");
      this.fail?.(answer);
      return;
    }
    this.element.classList.remove("stale");
    if (answer.status || this.element.classList.contains("failed")) this.says(answer.status ?? "");
    this.show(answer.data, answer);
  }
}

const NAMES = { html: "Film (HTML)", gif: "Film (GIF)", nc: "netCDF", csv: "CSV", ipynb: "Notebook", py: "Python" };
