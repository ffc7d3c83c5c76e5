// Numbers as they come over the wire, and as one reads them.

export const decoded = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
};

export const brief = (number, digits = 5) => {
  if (number === null || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  const text = size && (size < 1e-4 || size >= 1e6) ? number.toExponential(digits - 2) : String(Number(number.toPrecision(digits)));
  return text.replace("-", "−").replace(/e([+−-])/, " e$1");
};

export const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

// Ticks at 1, 2 or 5 times a power of ten, about so many of them: never one alone, from which no scale can be read.
export function ticks(low, high, about) {
  const found = stepped(low, high, about);
  return found.length > 1 ? found : stepped(low, high, 2 * Math.max(about, 1));
}

function stepped(low, high, about) {
  const raw = (high - low) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
  return found.map((each) => (Math.abs(each) < 1e-12 * step ? 0 : Number(each.toPrecision(12))));
}

// A rounder range about another one, which stays while the numbers change a little.
export function roomy([low, high], before) {
  if (!(high > low)) { const size = Math.abs(low) || 1; [low, high] = [low - size / 2, high + size / 2]; }
  const edge = before ? 0.02 * (before[1] - before[0]) : 0;
  if (before && low >= before[0] + edge && high <= before[1] - edge && high - low > 0.5 * (before[1] - before[0])) return before;
  const pad = 0.08 * (high - low);
  const step = 10 ** Math.floor(Math.log10(high - low)) / 4;
  return [Math.floor((low - pad) / step) * step, Math.ceil((high + pad) / step) * step];
}
