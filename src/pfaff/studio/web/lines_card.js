// The lines of Python that reproduce the view.

import { Card, make } from "./card.js";

export class LinesCard extends Card {
  constructor(studio) {
    super(studio, "lines", "The same in Python", { kinds: ["py", "ipynb"] });
    this.code = make("code", { tabindex: "0", "aria-label": "Python lines" });
    this.copy = make("button", { type: "button", text: "Copy", onclick: async () => {
      await navigator.clipboard.writeText(this.code.textContent);
      this.copy.textContent = "Copied";
      setTimeout(() => { this.copy.textContent = "Copy"; }, 1500);
    } });
    this.heading.insertBefore(this.copy, this.heading.lastChild);
    this.add(make("pre", {}, this.code));
  }

  show({ text, address, numbers }) {
    if (this.code.textContent !== text) this.code.textContent = text;
    this.studio.addressed(address, numbers);
  }
}
