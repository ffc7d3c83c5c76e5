// The studio: one view, many cards. Every change is a new view that is sent to the server; answers find their cards.

import { make } from "./card.js";
import { DiagramCard } from "./diagram.js";
import { LinesCard } from "./lines_card.js";
import { Link } from "./link.js";
import { EquilibriaCard, MotionCard } from "./motion.js";
import { Parameters } from "./parameters.js";
import { PlaneCard } from "./plane.js";
import { CurvesCard, SpectrumCard } from "./small_motions.js";
import { StructureCard } from "./structure.js";

const RESTS = 150; // milliseconds after which a hand rests
const FRAME = 16; // of a picture
const LATE = 600; // after which one wants to know that something is going on

const byId = (name) => document.getElementById(name);

class Studio {
  constructor() {
    const [token, ...rest] = location.hash.slice(1).split("&");
    this.token = token.startsWith("token=") ? token.slice(6) : "";
    this.address = rest.join("&");
    this.latest = {};
    this.timings = [];
    if (!this.token) return this.warn("This address has no token: open the one that the server printed.");
    this.link = new Link(this.token, (answer) => this.hear(answer), (state, wait) => this.state(state, wait));
    window.addEventListener("hashchange", () => this.visited());
    return this;
  }

  // The wire

  state(state, wait) {
    if (state === "connected") { this.link.send("open", { address: this.address }); return; }
    if (state === "open") { this.warn(""); return; }
    if (state === "refused") this.warn("A server answers, but with another token: open the address that it printed.");
    else this.warn(`The server does not answer. What you change is kept; trying again ${wait > 1000 ? `every ${Math.round(wait / 1000)} seconds` : "now"}…`);
  }

  warn(text) {
    byId("banner").textContent = text;
    byId("banner").hidden = !text;
  }

  hear(answer) {
    if (answer.card === "page") { this.opened(answer); return; }
    if (answer.id < (this.latest[answer.card] ?? 0)) return; // an older view's
    this.latest[answer.card] = answer.id;
    if (answer.card === "critical") { this.critical(answer); return; }
    this.cards?.[answer.card]?.hear(answer);
    if (answer.card === "spectrum") this.verdict(answer);
  }

  // Everything is laid out once; after a reconnection the view of the page is the one that counts.
  opened(answer) {
    if (answer.error) this.warn(answer.error);
    if (!answer.data.facts) return;
    if (this.cards && this.facts.name !== answer.data.facts.name) { location.reload(); return; } // another studio at this place
    if (!this.cards) { this.view = answer.data.view; this.build(answer.data.facts); }
    this.latest = {};
    this.look();
    if (this.view.steps.length) this.link.send("grow", { view: this.view });
    if (this.view.selected === "motion") this.simulate(this.view.start);
    if (this.view.selected.startsWith("equilibrium")) this.find();
    if (this.view.plane) this.chart(this.view.plane);
  }

  build(facts) {
    this.facts = facts;
    document.title = `${facts.name} – pfaff studio`;
    byId("name").textContent = facts.name;
    this.parameters = new Parameters(byId("parameters"), facts, (values) => this.set(values), {
      loads: { load: (load) => this.change({ load, to: "" }), to: (to) => this.reach(to) } });
    this.cards = {
      structure: new StructureCard(this, facts), spectrum: new SpectrumCard(this), curves: new CurvesCard(this),
      motion: new MotionCard(this, facts), diagram: new DiagramCard(this, facts), map: new PlaneCard(this, facts),
      equilibria: new EquilibriaCard(this, facts), lines: new LinesCard(this),
    };
    this.plane = this.cards.map;
    const column = (...names) => make("div", { class: "column" }, ...names.map((name) => this.cards[name].element));
    byId("cards").replaceChildren(column("structure", "spectrum"), column("curves", "diagram", "motion", "map", "equilibria", "lines"));
    this.display();
  }

  display() {
    this.parameters.show(this.view, this.known);
    ["motion", "map"].forEach((name) => this.cards[name].display(this.view));
    this.cards.structure.choices();
  }

  // Changes of the view

  change(fields) {
    this.view = { ...this.view, ...fields };
    this.look();
  }

  set(values) {
    const shown = /^(point|special|motion|equilibrium)/.test(this.view.selected) ? { selected: "lead" } : {};
    this.change({ values: { ...this.view.values, ...values }, ...shown });
    this.parameters.show(this.view);
    this.cards.curves.soon();
    this.cards.diagram.element.classList.toggle("stale", this.outdated());
  }

  // How far pictures and searches go; where nothing is asked, the next search says it again.
  reach(to) {
    if (!to) this.seen = null;
    this.change({ to });
  }

  setLoad(load) {
    if (this.view.load) this.set({ [this.view.load]: String(Number(load.toPrecision(6))) });
  }

  select(selected) {
    this.change({ selected });
    this.cards.structure.choices();
    this.cards.diagram.paint();
    if (selected === "motion") this.simulate(this.view.start);
  }

  choose(item) {
    if (item && !/^(point|special)/.test(this.view.selected)) this.select(item);
  }

  // The diagram belongs to other values than those of now, the load left out.
  outdated() {
    const { values, grown, load, steps } = this.view;
    const names = new Set([...Object.keys(values), ...Object.keys(grown).filter((name) => name in this.parameters.rows)]);
    names.delete(load);
    return Boolean(steps.length) && [...names].some((name) => values[name] !== grown[name]);
  }

  // At once, but at most one look for each picture of the screen: the newest.
  look() {
    if (this.frame) return;
    const asked = performance.now();
    const ask = () => {
      this.frame = null;
      this.sent = performance.now();
      const number = this.link.send("look", { view: this.view });
      this.timings.push({ number, asked });
      this.late ??= setTimeout(() => { byId("verdict").textContent = "computing…"; }, LATE);
      if (this.timings.length > 200) this.timings.shift();
    };
    if (asked - (this.sent ?? 0) > FRAME) ask(); else this.frame = requestAnimationFrame(ask);
  }

  painted(answer) {
    const timing = this.timings.find((each) => each.number === answer.id);
    if (timing && !timing.painted) Object.assign(timing, { painted: performance.now(), server: answer.ms });
  }

  simulate(start) {
    this.view = { ...this.view, start, selected: "motion" };
    this.link.send("simulate", { view: this.view });
    this.look();
  }

  moved(data, answer) {
    if (this.view.selected !== "motion") return;
    this.cards.structure.choices();
    if (data.film) this.cards.structure.start(data.film);
    else if (data.curves) this.cards.structure.hear({ card: "structure", data, status: answer.status });
    this.cards.structure.says(answer.status);
  }

  pull(point, at) {
    this.link.send("pull", { view: this.view, point, at });
  }

  held(start) {
    this.view = { ...this.view, start, selected: "motion" };
    this.cards.motion.display(this.view);
  }

  letGo() {
    if (this.view.selected === "motion") this.simulate(this.view.start);
  }

  find() {
    this.link.send("find", { view: this.view });
  }

  // A new diagram starts from the values of now, at the load that is given.
  grow(steps, from = {}) {
    const grown = steps.length > 1 ? this.view.grown : { ...this.view.values, ...from };
    const selected = /^(point|special)/.test(this.view.selected) && steps.length < 2 ? "lead" : this.view.selected;
    this.view = { ...this.view, steps, grown, selected };
    this.cards.diagram.element.classList.remove("stale");
    if (steps.length) this.link.send("grow", { view: this.view });
    this.look();
  }

  chart(plane) {
    this.view = { ...this.view, plane };
    this.link.send("chart", { view: this.view });
    this.look();
  }

  cancel(lane) {
    this.link.send("cancel", { lane });
  }

  // Something that was looked at before it was known is there now.
  again(...kinds) {
    if (kinds.includes(this.view.selected.split(":")[0])) this.look();
  }

  // What is known of the view

  // Browsers allow a page few changes of its address a second: it is written when the hand rests.
  addressed(address, numbers) {
    this.known = numbers;
    this.address = address;
    this.cards.curves.soon();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      history.replaceState(null, "", `#token=${this.token}${address ? `&${address}` : ""}`);
      this.parameters.show(this.view, numbers);
      this.plane.paint();
      this.widen(numbers);
    }, RESTS);
  }

  // A load beyond the pictures takes them along, as far as its slider goes.
  widen(numbers) {
    const { load } = this.view;
    const { data } = this.cards.curves;
    const to = String(this.loadHigh());
    if (data?.load === load && numbers[load] > data.to && to !== this.view.to) {
      this.reach(to);
      this.parameters.show(this.view, numbers);
    }
  }

  visited() {
    const address = location.hash.slice(1).split("&").slice(1).join("&");
    if (address !== this.address) location.reload();
  }

  numbers() {
    const told = Object.fromEntries(this.facts.parameters.map((each) => [each.name, each.number]));
    return { ...told, ...this.known };
  }

  loadNumber() {
    const typed = Number(this.view.values[this.view.load]);
    return Number.isFinite(typed) ? typed : this.numbers()[this.view.load] ?? 0;
  }

  loadHigh() {
    return this.parameters.rows[this.view.load]?.high ?? 1;
  }

  verdict(answer) {
    const line = byId("verdict");
    clearTimeout(this.late);
    this.late = undefined;
    line.textContent = answer.error || answer.status;
    line.className = answer.error ? "" : answer.data.growing?.some(Boolean) ? "unstable" : "stable";
    this.parameters.blame(answer.error);
  }

  // The first search says how far pictures should go.
  critical(answer) {
    this.cards.curves.marked(answer);
    const to = answer.data?.to;
    if (!to || this.view.to || this.seen === this.view.load) return;
    this.seen = this.view.load;
    this.parameters.stretch(this.view.load, to);
    this.parameters.end.value = String(to);
    this.cards.diagram.end.value ||= String(to);
    this.change({ to: String(to) });
  }

  async save(what, kind) {
    const film = what === "structure" && ["html", "gif"].includes(kind);
    if (film && !/^(point|special|motion)/.test(this.view.selected)) throw new Error("Films are of motions and orbits: start one, or choose a point of a branch.");
    const orbit = what === "spectrum" && /^(point|special)/.test(this.view.selected) && kind !== "csv"; // its multipliers
    const named = film && this.view.selected === "motion" ? "motion" : film || orbit ? "point" : what;
    const answer = await fetch("/file", { method: "POST", headers: { Authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ what: named, kind, view: this.view }) });
    if (!answer.ok) throw new Error(await answer.text());
    const name = answer.headers.get("Content-Disposition").match(/filename="(.*)"/)[1];
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(await answer.blob()), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

// Light, dark, or as the system has it.
function themes() {
  const button = byId("theme");
  const words = ["auto", "light", "dark"];
  button.addEventListener("click", () => {
    const next = words[(words.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % 3];
    if (next === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
  });
}

themes();
window.studio = new Studio();
