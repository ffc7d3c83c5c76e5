// Time histories beside a film: panels of curves over time, drawn once, and a cursor that moves over them.

import { single } from "./scene.js";
import { handy } from "./paint.js";

const HEIGHT = 66; // of a panel without its names
const LEFT = 46; // room for the numbers of an axis, at least
const LINE = 18; // of names
const BOTTOM = 4;
const WIDEST = " = −0.0000"; // room for a number
const NOTHING = 1e-6; // of a panel's range: what is smaller is read as zero, which it is for the eye
const FONT = "12px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
const INDEX = "9px system-ui, sans-serif";

export class Histories {
  constructor(canvas, scene, colours, width) {
    Object.assign(this, { canvas, scene, colours, width });
    this.still = document.createElement("canvas");
    this.arrange();
  }

  // Where each panel begins, and where the names of its curves stand: in as many lines as the width asks for.
  arrange() {
    const context = this.still.getContext("2d");
    const ends = this.scene.histories.flatMap(extremes);
    context.font = SMALL;
    this.left = Math.max(LEFT, ...ends.map((end) => context.measureText(short(end)).width + 8));
    context.font = FONT;
    let top = 0;
    this.panels = this.scene.histories.map((panel) => {
      const places = [];
      let [x, line] = [this.left + 4, 0];
      [panel.title, ...panel.curves.map((curve) => curve.name + WIDEST)].forEach((text) => {
        const wide = context.measureText(text).width;
        if (x > this.left + 4 && x + wide > this.width - 6) [x, line] = [this.left + 4, line + 1];
        places.push([x, top + line * LINE]);
        x += wide + 12;
      });
      const names = (line + 1) * LINE;
      const found = { top, names, height: names + HEIGHT, places, range: extremes(panel) };
      top += found.height;
      return found;
    });
    this.height = top + (top ? 16 : 0);
  }

  // Everything but the cursor and the numbers.
  prepare(ratio) {
    const { width } = this;
    this.ratio = ratio;
    for (const each of [this.canvas, this.still]) {
      each.width = Math.round(width * ratio);
      each.height = Math.round(this.height * ratio);
    }
    if (!this.height) return;
    const context = this.still.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, width, this.height);
    this.scene.histories.forEach((panel, k) => this.panel(context, panel, this.panels[k]));
    this.ticks(context);
  }

  x(time) {
    const [first, last] = [this.scene.t[0], this.scene.t[this.scene.count - 1]];
    return this.left + ((time - first) / (last - first || 1)) * (this.width - this.left - 6);
  }

  panel(context, panel, { top, names, height, range: [low, high] }) {
    const span = high - low || 1;
    const y = (value) => top + height - BOTTOM - ((value - low) / span) * (height - names - BOTTOM);
    context.lineWidth = 1;
    Object.assign(context, { font: SMALL, textAlign: "right", textBaseline: "middle" });
    for (const value of [low, 0, high]) {
      if (value === 0 || Math.abs(y(value) - y(0)) > 14) {
        context.strokeStyle = this.colours.grid;
        context.beginPath(); context.moveTo(this.left, y(value)); context.lineTo(this.width - 6, y(value)); context.stroke();
        context.fillStyle = this.colours.faint;
        context.fillText(short(value), this.left - 4, y(value));
      }
    }
    panel.curves.forEach((curve, k) => {
      context.strokeStyle = this.colours.cycle[k % this.colours.cycle.length];
      context.lineWidth = 1.4;
      context.beginPath();
      curve.values.forEach((value, i) => context.lineTo(this.x(this.scene.t[i]), y(value)));
      context.stroke();
    });
  }

  ticks(context) {
    const [first, last] = [this.scene.t[0], this.scene.t[this.scene.count - 1]].sort((a, b) => a - b);
    const step = handy((last - first || 1) / Math.max(2, this.width / 110));
    context.fillStyle = this.colours.faint;
    Object.assign(context, { textAlign: "center", textBaseline: "bottom" });
    for (let k = Math.ceil(first / step); k * step <= last; k += 1) {
      context.fillText(short(k * step), Math.min(this.x(k * step), this.width - 14), this.height - 1);
    }
  }

  paint(moment) {
    if (!this.height) return;
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const x = this.x(single(this.scene.t, moment));
    context.strokeStyle = this.colours.ink;
    context.lineWidth = 1;
    context.beginPath(); context.moveTo(x, 4); context.lineTo(x, this.height - 16); context.stroke();
    Object.assign(context, { font: FONT, textAlign: "left", textBaseline: "top" });
    this.scene.histories.forEach((panel, k) => {
      const write = (text, colour, [left, top]) => {
        context.fillStyle = this.colours.paper;
        context.fillRect(left - 2, top + 1, context.measureText(text).width + 4, 16);
        context.fillStyle = colour;
        indexed(context, text, left, top + 3);
      };
      const [title, ...places] = this.panels[k].places;
      write(panel.title, this.colours.faint, title);
      const [low, high] = this.panels[k].range;
      panel.curves.forEach((curve, i) => {
        const value = single(curve.values, moment);
        const text = `${curve.name} = ${short(Math.abs(value) < NOTHING * (high - low) ? 0 : value)}`;
        write(text, this.colours.cycle[i % this.colours.cycle.length], places[i]);
      });
    });
  }

  // The fraction of the film at a place in pixels.
  fraction(x) {
    return this.scene.fractionOf(this.scene.t[0]
      + ((x - this.left) / (this.width - this.left - 6)) * (this.scene.t[this.scene.count - 1] - this.scene.t[0]));
  }
}

// A name with its index below, φ_f, where the letters have no small form of their own.
function indexed(context, text, left, top) {
  text.split(/_(\w+)/).forEach((part, k) => {
    context.font = k % 2 ? INDEX : FONT;
    context.fillText(part, left, top + (k % 2 ? 6 : 0));
    left += context.measureText(part).width;
  });
  context.font = FONT;
}

// The range of a panel, zero included.
function extremes(panel) {
  const all = panel.curves.flatMap((curve) => [smallest(curve.values), largest(curve.values)]);
  return [Math.min(...all, 0), Math.max(...all, 0)];
}

const smallest = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity);
const largest = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);

export function short(value) {
  const size = Math.abs(value);
  const text = size && (size < 1e-3 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
  return (Number(text) === 0 ? "0" : text).replaceAll("-", "−");
}
