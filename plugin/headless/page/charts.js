// SPDX-License-Identifier: Apache-2.0
"use strict";
// Charts of numbers over frames, in SVG. All of them share one frame: pointing at one or pressing the arrow keys moves the
// cursor in all, and whatever else listens.

const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08900", "#56b4e9", "#7a5195", "#777777"]; // told apart by all eyes
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

const Frame = {
  now: null, all: [], listeners: [],
  set(frame) {
    if (!Frame.all.length) return;
    let best = Frame.all[0];
    for (const one of Frame.all) if (Math.abs(one - frame) < Math.abs(best - frame)) best = one;
    if (best === Frame.now) return;
    Frame.now = best;
    Frame.listeners.forEach(call => call(best));
  },
  step(by) {
    const at = Math.max(0, Frame.all.indexOf(Frame.now)) + by;
    Frame.set(Frame.all[Math.min(Math.max(at, 0), Frame.all.length - 1)]);
  },
};

function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children);
  return made;
}

// Four digits, in powers of ten where they are far from one.
function show(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e6) return String(x);
  return size >= 1e-3 && size < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(2).replace("e+", "e");
}

function ticks(low, high, wanted) {
  const span = high - low, raw = span / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(k => k * power >= raw) * power, made = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) made.push(Number((k * step).toPrecision(12)));
  return made;
}

// low and high of the values; a range that is only rounding noise is shown as flat.
function rangeOf(series, options) {
  let low = Infinity, high = -Infinity;
  for (const one of series)
    for (const y of one.y)
      if (Number.isFinite(y) && (!options.log || y > 0)) { low = Math.min(low, y); high = Math.max(high, y); }
  if (low > high) return options.log ? [0.1, 1] : [0, 1];
  if (options.zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= 1e-9 * size || high === low) { const room = size * 0.01 || 1; return options.log ? [low / 2, high * 2] : [low - room, high + room]; }
  if (options.log) return [low / 1.2, high * 1.2];
  const room = 0.05 * (high - low);
  return [options.zero && low === 0 ? 0 : low - room, high + room];
}

function stack(series) {
  const sum = new Map();
  return series.map(one => {
    const base = one.x.map(x => sum.get(x) || 0), y = one.y.map((value, i) => base[i] + (value || 0));
    one.x.forEach((x, i) => sum.set(x, y[i]));
    return { ...one, y, base, own: one.y };
  });
}

// options: key, title, unit, series [{name, x, y, color?}], log, zero, stacked, many (lines of members: no legend)
function chart(options) {
  const W = 460, H = 210, L = 58, R = 8, T = 8, B = 24;
  const series = (options.stacked ? stack(options.series) : options.series).map((one, i) => ({ color: COLORS[i % COLORS.length], dash: options.many ? "" : DASHES[Math.floor(i / COLORS.length) % DASHES.length], ...one }));
  const frames = [...new Set(series.flatMap(one => one.x))].sort((a, b) => a - b);
  const [low, high] = rangeOf(series, { ...options, zero: options.zero || options.stacked });
  const first = frames[0], last = frames.length > 1 ? frames[frames.length - 1] : first + 1;
  const flat = options.log ? Math.log10 : y => y;
  const px = x => L + (x - first) / (last - first) * (W - L - R);
  const py = y => H - B - (flat(y) - flat(low)) / (flat(high) - flat(low)) * (H - T - B);
  const svg = element("svg:svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
  const decades = options.log ? ticks(Math.log10(low), Math.log10(high), 4).filter(Number.isInteger).map(k => 10 ** k) : [];
  const levels = decades.length > 1 ? decades : ticks(low, high, 4).filter(y => !options.log || y > 0);
  for (const y of levels)
    svg.append(element("svg:line", { class: "grid", x1: L, x2: W - R, y1: py(y), y2: py(y) }), element("svg:text", { x: L - 5, y: py(y) + 3.5, "text-anchor": "end" }, show(y)));
  for (const x of ticks(first, last, 6).filter(Number.isInteger))
    svg.append(element("svg:text", { x: px(x), y: H - 8, "text-anchor": "middle" }, String(x)));
  svg.append(element("svg:text", { x: L - 5, y: H - 8, "text-anchor": "end" }, "frame"));
  for (const one of series) {
    let d = "", pen = "M";
    one.x.forEach((x, i) => {
      if (!Number.isFinite(one.y[i]) || (options.log && one.y[i] <= 0)) { pen = "M"; return; }
      d += `${pen}${px(x).toFixed(2)} ${py(one.y[i]).toFixed(2)}`;
      pen = "L";
    });
    if (options.stacked && one.x.length) {
      const down = one.x.map((x, i) => `L${px(x).toFixed(2)} ${py(one.base[i]).toFixed(2)}`).reverse().join("");
      one.path = element("svg:path", { d: d + down + "Z", fill: one.color, "fill-opacity": 0.75, stroke: one.color, "stroke-width": 0.5 });
    } else one.path = element("svg:path", { class: "line", d: d + (one.x.length === 1 ? "h0.01" : ""), stroke: one.color, "stroke-dasharray": one.dash || null, "stroke-linecap": one.dash ? null : "round" });
    one.path.append(element("svg:title", {}, one.name));
    svg.append(one.path);
  }
  const cursor = element("svg:line", { class: "cursor", y1: T, y2: H - B, visibility: "hidden" });
  svg.append(cursor);
  const legend = element("div", { class: "legend", "aria-live": "off" }), reading = element("span", {});
  const figure = element("figure", { class: "chart", tabindex: 0, "data-key": options.key }, element("figcaption", {}, options.title, reading), svg, legend);

  const at = (one, frame) => { const i = one.x.indexOf(frame); return i < 0 ? null : (one.own || one.y)[i]; };
  function summary() {
    if (options.many) return `${series.length} members`;
    return series.map(one => {
      const y = (one.own || one.y).filter(Number.isFinite);
      return y.length ? `${one.name}: ${show(y[0])} to ${show(y[y.length - 1])} ${options.unit}, lowest ${show(Math.min(...y))}, highest ${show(Math.max(...y))}` : one.name;
    }).join("; ");
  }
  svg.setAttribute("aria-label", `${options.title} over frames ${first} to ${frames[frames.length - 1]}. ${summary()}.`);
  function move(frame) {
    cursor.setAttribute("visibility", frame === null ? "hidden" : "visible");
    if (frame === null) return;
    cursor.setAttribute("x1", px(frame)); cursor.setAttribute("x2", px(frame));
    const single = series.length === 1 && !options.stacked;
    reading.textContent = single && !options.many ? `${show(at(series[0], frame))} ${options.unit} at ${frame}` : `${options.unit ? options.unit + ", " : ""}frame ${frame}`;
    if (options.many || single) return;
    legend.replaceChildren(...series.map(one => element("span", {}, element("i", { style: `border-color:${one.color};border-top-style:${one.dash ? "dashed" : "solid"}` }), `${one.name} ${show(at(one, frame))}`)));
  }
  const pick = event => {
    const box = svg.getBoundingClientRect();
    Frame.set(first + (((event.clientX - box.left) / box.width) * W - L) / (W - L - R) * (last - first));
  };
  svg.addEventListener("pointerdown", pick);
  svg.addEventListener("pointermove", event => { if (event.buttons || event.pointerType === "mouse") pick(event); });
  Frame.listeners.push(move);
  move(Frame.now);
  figure.chart = { options, series, frames, px, py, highlight: name => series.forEach(one => { one.path.classList.toggle("faint", name !== null && one.name !== name); one.path.setAttribute("stroke-width", one.name === name ? 3 : 1.7); }) };
  return figure;
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA|CANVAS)$/.test(event.target.tagName)) return;
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
  if (by === undefined) return;
  Frame.step(by);
  event.preventDefault();
});
