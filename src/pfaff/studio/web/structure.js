// The structure, by the player of the films: at rest, in a mode, on an orbit, in motion, or held by the mouse.

import { decoded } from "./numbers.js";
import { Card, make, option } from "./card.js";
import { mount } from "./player.js";
import { Plot } from "./plot.js";

const REACH = 22; // pixels within which a point is held
const CYCLE = ["blue", "vermilion", "green", "orange", "purple", "sky"];

export class StructureCard extends Card {
  constructor(studio, facts) {
    super(studio, "structure", facts.drawn ? "Structure" : "States in time", { kinds: facts.drawn ? ["svg", "png", "html", "gif"] : [], first: true });
    this.facts = facts;
    this.stage = make("div", { class: "stage" });
    this.curves = new Plot(make("div", { hidden: true }), { height: 250 });
    this.choice = make("select", { "aria-label": "what is shown" });
    this.choice.addEventListener("change", () => studio.select(this.choice.value));
    this.heading.insertBefore(this.choice, this.heading.children[1] ?? null);
    if (facts.drawn) this.hint = make("p", { class: "keys", text: "Pull a joint and let go: it moves from there." });
    this.names = make("p", { class: "keys", hidden: true });
    this.add(this.stage, this.curves.element, this.names, ...(this.hint ? [this.hint] : []));
    this.choices();
    if (facts.drawn) this.holding();
  }

  choices() {
    const selected = this.studio.view?.selected ?? "lead";
    const known = [["lead", "Leading mode"], ["rest", "At rest"], ["motion", "Motion"]];
    if (this.facts.kind === "system") known.push(["steady", "Steady motion"]);
    if (!known.some(([value]) => value === selected)) {
      const [kind, place] = selected.split(":");
      const names = { mode: "Mode of eigenvalue", point: "Point", special: "Special point", equilibrium: "Equilibrium" };
      known.push([selected, `${names[kind]} ${Number(place.split(".").at(-1)) + 1}`]);
    }
    this.choice.replaceChildren(...known.map(([value, text]) => option(value, text, value === selected)));
    this.choice.value = selected;
  }

  // Without a drawing there is nothing to fail: curves of a motion stay, and until then the sentence stands alone.
  hear(answer) {
    if (!answer.error || this.facts.drawn) { super.hear(answer); return; }
    this.element.classList.remove("stale");
    if (this.studio.view.selected === "motion" && !this.curves.element.hidden) return;
    this.curves.element.hidden = this.names.hidden = true;
    this.says(answer.error);
  }

  show({ scene, t, curves, start }, answer) {
    this.choices();
    if (curves) return this.draw(decoded(t), curves, answer.status);
    if (!scene) return;
    this.play(scene);
    if (start) this.studio.held(start);
  }

  play(scene) {
    this.stage.hidden = false;
    this.curves.element.hidden = this.names.hidden = true;
    if (this.player) this.player.update(scene);
    else this.player = mount(this.stage, scene, { height: 240 });
    if (scene.histories.length && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.player.play();
  }

  // From its beginning.
  start(scene) {
    this.play(scene);
    this.player.go(0);
  }

  draw(t, curves, text) {
    this.stage.hidden = true;
    this.curves.element.hidden = this.names.hidden = false;
    this.names.replaceChildren(...curves.map((curve, k) => {
      const line = make("span", { text: k >= 6 ? "– – " : "—— " });
      line.style.color = `var(--${CYCLE[k % 6]})`;
      return make("span", {}, line, curve.name);
    }));
    const layers = curves.map((curve, k) => ({ kind: "line", x: t, y: decoded(curve.values), colour: CYCLE[k % 6], dash: k >= 6 ? [6, 3] : [] }));
    this.curves.show({ x: { label: "time", range: [t[0], t.at(-1)] }, y: { label: curves.map((curve) => curve.name).join(", ") }, layers, text });
  }

  // A drawn point under the pointer is held; the player turns the picture everywhere else.
  holding() {
    let held = null;
    const place = (event) => {
      const box = this.player.stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.target !== this.player?.stage) return;
      const [x, y] = place(event);
      const { at } = this.player.painter;
      const near = Object.entries(at).map(([name, point]) => [name, point, this.player.camera.see(point)])
        .filter(([, , seen]) => seen).map(([name, point, seen]) => [Math.hypot(seen[0] - x, seen[1] - y), name, point, seen])
        .sort((a, b) => a[0] - b[0])[0];
      if (!near || near[0] > REACH) return;
      event.stopPropagation();
      held = { name: near[1], from: near[2], seen: near[3], x, y };
      this.stage.setPointerCapture(event.pointerId);
      this.stage.classList.add("holding");
      this.player.pause();
    }, { capture: true });
    this.stage.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y] = place(event);
      this.studio.pull(held.name, this.moved(held, (x - held.x) / held.seen[2], (held.y - y) / held.seen[2]));
    });
    const release = () => {
      if (!held) return;
      held = null;
      this.stage.classList.remove("holding");
      this.studio.letGo();
    };
    this.stage.addEventListener("pointerup", release);
    this.stage.addEventListener("pointercancel", release);
  }

  // In the plane of the picture.
  moved({ from }, across, up) {
    const { camera } = this.player;
    if (camera.flat) return [from[0] + across, from[1] + up];
    return from.map((each, i) => each + across * camera.right[i] + up * camera.up[i]);
  }
}
