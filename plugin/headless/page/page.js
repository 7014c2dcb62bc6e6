// SPDX-License-Identifier: Apache-2.0
"use strict";
// Builds the page from its data: {"title", "folder", "kind", "made", "version", "cooks": [{"name", "member", "lines", "notes",
// "nodes": [{"name", "frames", "pictures": [{"frame", "png"}], "views": [...]}]}]}.

const data = JSON.parse(document.getElementById("data").textContent);
const wedge = data.kind === "wedge";
const $ = id => document.getElementById(id);
const length = v => Math.hypot(...v);
const picture = (one, label) => element("img", { src: `data:image/png;base64,${one.png}`, alt: label, loading: "lazy" });

const MANY = 300; // pictures, lines and notes that a page shows of a wedge

// What is plotted: series by name, each from a line of the report. A quantity that no line has gives no chart.
const PLOTS = [
  { key: "volume", title: "Volume", unit: "m³", of: { volume: line => line.volume } },
  { key: "mass", title: "Mass", unit: "kg", of: { mass: line => line.mass } },
  { key: "area", title: "Surface area", unit: "m²", of: { area: line => line.area } },
  { key: "energy", title: "Energy", unit: "J", zero: true, of: { kinetic: l => l.kinetic_energy, surface: l => l.surface_energy, elastic: l => l.elastic_energy, contact: l => l.contact_energy } },
  { key: "momentum", title: "Momentum, change since the first frame", unit: "kg m/s", zero: true, of: { momentum: (line, first) => line.momentum && first.momentum && length(line.momentum.map((x, k) => x - first.momentum[k])) } },
  { key: "angular_momentum", title: "Angular momentum, change", unit: "kg m²/s", zero: true, of: { "angular momentum": (line, first) => line.angular_momentum && first.angular_momentum && length(line.angular_momentum.map((x, k) => x - first.angular_momentum[k])) } },
  { key: "max_speed", title: "Largest speed", unit: "m/s", zero: true, of: { speed: line => line.max_speed } },
  { key: "steps", title: "Steps per frame", unit: "", zero: true, of: { steps: line => line.substeps, "rolled back": line => line.rollbacks, coasted: line => line.coasted_steps } },
  { key: "limits", title: "Steps, by what limited them", unit: "", stacked: true, parts: "limited_by" },
  { key: "dt", title: "Length of steps", unit: "s", log: true, of: { longest: line => line.dt_max, shortest: line => line.dt_min } },
  { key: "iterations", title: "Iterations per frame", unit: "", zero: true, of: { Newton: line => line.newton_iterations, linear: line => line.linear_iterations } },
  { key: "seconds", title: "Wall time per frame, by phase", unit: "s", stacked: true, parts: "seconds" },
  { key: "memory", title: "Memory, peak of the process", unit: "MB", zero: true, of: { memory: line => line.peak_rss_mb } },
  { key: "elements", title: "Elements", unit: "", zero: true, of: { particles: line => line.particles, points: line => line.points, primitives: line => line.prims } },
  { key: "contacts", title: "Contacts", unit: "", zero: true, of: { contacts: line => line.contacts } },
];

function linesOf(cook, node) { return cook.lines.filter(line => line.node === node).sort((a, b) => a.frame - b.frame); }
const nodesOf = cook => [...new Set(cook.lines.map(line => line.node))];

// The series of a plot for the lines of one node.
function seriesOf(plot, lines) {
  let names = Object.keys(plot.of || {}), value = (name, line) => plot.of[name](line, lines[0]);
  if (plot.parts) {
    const totals = {};
    for (const line of lines) for (const [name, y] of Object.entries(line[plot.parts] || {})) if (name !== "total") totals[name] = (totals[name] || 0) + y;
    names = Object.keys(totals).sort((a, b) => totals[b] - totals[a]);
    value = (name, line) => (line[plot.parts] || {})[name] || 0;
    const rest = lines.map(line => Math.max(0, ((line[plot.parts] || {}).total || 0) - names.reduce((sum, name) => sum + value(name, line), 0)));
    if (plot.parts === "seconds" && rest.some(y => y > 0)) {
      const by = new Map(lines.map((line, i) => [line, rest[i]]));
      const inner = value;
      names.push("other");
      value = (name, line) => name === "other" ? by.get(line) : inner(name, line);
    }
  }
  return names.map(name => ({ name, x: lines.map(line => line.frame), y: lines.map(line => value(name, line) ?? null) })).filter(one => one.y.some(Number.isFinite));
}

function charts(cook) {
  const made = [];
  for (const node of nodesOf(cook)) {
    const lines = linesOf(cook, node), several = nodesOf(cook).length > 1;
    for (const plot of PLOTS) {
      const series = seriesOf(plot, lines);
      if (series.some(one => one.y.some(y => y))) made.push(chart({ ...plot, key: several ? `${node}.${plot.key}` : plot.key, title: several ? `${node}: ${plot.title}` : plot.title, series }));
    }
  }
  return made;
}

// ---- pictures ----

function player(node) {
  if (!node.pictures.length) return null;
  const frames = node.pictures.map(one => one.frame), label = frame => `${node.name}, frame ${frame}`;
  const shown = picture(node.pictures[0], label(frames[0])), slider = element("input", { type: "range", min: 0, max: frames.length - 1, value: 0, "aria-label": "Frame" });
  const number = element("output", {}, `frame ${frames[0]}`);
  let timer = null;
  const nearest = frame => frames.reduce((best, one, i) => Math.abs(one - frame) < Math.abs(frames[best] - frame) ? i : best, 0);
  const go = i => Frame.set(frames[(i + frames.length) % frames.length]);
  const play = element("button", { type: "button", class: "play", "aria-pressed": "false", click: () => {
    if (timer) clearInterval(timer);
    timer = timer ? null : setInterval(() => go(+slider.value + 1), 1000 / 24 * Math.max(1, (frames[frames.length - 1] - frames[0]) / Math.max(1, frames.length - 1)));
    play.setAttribute("aria-pressed", String(!!timer));
    play.textContent = timer ? "Stop" : "Play";
  } }, "Play");
  slider.addEventListener("input", () => Frame.set(frames[+slider.value]));
  const tiles = node.pictures.map((one, i) => element("button", { type: "button", "aria-pressed": "false", click: () => go(i) }, picture(one, label(one.frame)), String(one.frame)));
  Frame.listeners.push(frame => {
    const i = nearest(frame);
    shown.src = `data:image/png;base64,${node.pictures[i].png}`;
    shown.alt = label(frames[i]);
    slider.value = i;
    number.textContent = `frame ${frames[i]}`;
    tiles.forEach((tile, k) => tile.setAttribute("aria-pressed", String(k === i)));
  });
  const controls = element("div", { class: "controls" }, element("button", { type: "button", "aria-label": "Frame before", click: () => Frame.step(-1) }, "◀"), play,
    element("button", { type: "button", "aria-label": "Next frame", click: () => Frame.step(1) }, "▶"), slider, number);
  return element("div", { class: "stage" }, element("div", { class: "player" }, shown, frames.length > 1 ? controls : ""), frames.length > 1 ? element("div", { class: "sheet", role: "group", "aria-label": "Contact sheet" }, ...tiles) : "");
}

// ---- 3D ----

function viewer(choices) { // [{label, views}]
  const section = $("view"), canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": "Geometry that turns with the mouse or the arrow keys" });
  const hint = element("p", { class: "hint" });
  section.hidden = false;
  let chosen = choices[0], view = null;
  const which = element("select", { "aria-label": "What to show", change: () => { chosen = choices[which.selectedIndex]; list(); } }, ...choices.map(one => element("option", {}, one.label)));
  const frames = element("select", { "aria-label": "Frame to look at", change: () => pick(chosen.views[frames.selectedIndex]) });
  section.append(element("div", { class: "controls" }, which, frames), canvas, hint);
  const three = new Viewer(canvas);
  if (!three.gl) { canvas.replaceWith(element("p", {}, "This browser draws no 3D (WebGL is switched off).")); return () => {}; }
  const top = Math.max(...choices.flatMap(one => one.views.map(v => v.top)));
  function pick(next) {
    if (!next || next === view) return;
    view = next;
    frames.selectedIndex = chosen.views.indexOf(view);
    const low = [0, 1, 2].map(k => Math.min(...chosen.views.map(v => v.min[k]))), high = [0, 1, 2].map(k => Math.max(...chosen.views.map(v => v.max[k])));
    three.show(unpack(view, top), low, high);
    const triangles = three.mesh.triangles.length / 3, parts = [];
    if (triangles) parts.push(triangles < view.source_triangles ? `${triangles} triangles of ${view.source_triangles}` : `${triangles} triangles`);
    if (view.points) parts.push(`${view.points} points`);
    hint.textContent = `Frame ${view.frame}: ${parts.join(", ")}. ${view.rgb ? "Colours are Cd." : top > 0 ? `Colours are speeds, 0 (dark) to ${show(top)} m/s (light).` : ""} Drag to turn, scroll to zoom, double-click to reset.`;
  }
  function list() {
    frames.replaceChildren(...chosen.views.map(one => element("option", {}, `frame ${one.frame}`)));
    view = null;
    near(Frame.now ?? chosen.views[chosen.views.length - 1].frame);
  }
  const near = frame => pick(chosen.views.reduce((best, one) => Math.abs(one.frame - frame) < Math.abs(best.frame - frame) ? one : best));
  list();
  Frame.listeners.push(near);
  window.viewer = three;
  return label => { const i = choices.findIndex(one => one.label === label); if (i >= 0) { which.selectedIndex = i; chosen = choices[i]; list(); } };
}

// ---- tables ----

function table(columns, rows) { // columns: [{title, of, text?}]
  const body = element("tbody", {});
  const cell = (column, row) => { const value = column.of(row); return element("td", { class: column.text ? (column.mark && column.mark(row) ? "text failed" : "text") : null }, typeof value === "number" ? show(value) : value ?? "–"); };
  const made = rows.map(row => { const tr = element("tr", {}, ...columns.map(column => cell(column, row))); row.tr = tr; return { row, tr }; });
  body.append(...made.map(one => one.tr));
  const heads = columns.map(column => element("th", { scope: "col" }, element("button", { type: "button", click: event => {
    const th = event.currentTarget.parentElement, down = th.getAttribute("aria-sort") === "ascending";
    heads.forEach(one => one.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const values = new Map(made.map(one => [one, column.of(one.row)])), value = one => values.get(one), missing = v => v === null || v === undefined || v === "";
    made.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y);
      return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true })) * (down ? -1 : 1);
    });
    body.append(...made.map(one => one.tr));
  } }, column.title)));
  return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
}

function numbers(cook) {
  const flat = cook.lines.map(line => {
    const row = {};
    for (const [key, value] of Object.entries(line))
      if (Array.isArray(value)) value.forEach((x, k) => { row[`${key}.${"xyz"[k]}`] = x; });
      else if (value && typeof value === "object") for (const [name, x] of Object.entries(value)) row[`${key}.${name}`] = x;
      else row[key] = value;
    return row;
  });
  const keys = [...new Set(flat.flatMap(Object.keys))];
  $("numbers").hidden = false;
  $("numbers").append(element("details", {}, element("summary", {}, `All ${flat.length} lines of the report`), table(keys.map(key => ({ title: key, of: row => row[key] })), flat)));
}

// ---- a wedge ----

function memberPage() {
  const cooks = data.cooks, parameters = [...new Set(cooks.flatMap(cook => Object.keys(cook.member.parameters || {})))];
  const found = new Map(cooks.map(cook => [cook, linesOf(cook, nodesOf(cook)[0])])), first = cook => found.get(cook);
  // A page of thousands stays quick: all are in the table, so many have a picture and lines.
  const spread = (list, most) => list.length <= most ? list : Array.from({ length: most }, (_, k) => list[Math.round(k * (list.length - 1) / (most - 1))]);
  const pictured = new Set(spread(cooks, MANY)), plotted = spread(cooks.filter(cook => first(cook).length), MANY);
  const change = (cook, key) => { const y = first(cook).map(line => line[key]).filter(Number.isFinite); return y.length > 1 && y[0] ? 100 * (y[y.length - 1] / y[0] - 1) : null; };
  const most = (cook, key) => { const y = first(cook).map(line => line[key]).filter(Number.isFinite); return y.length ? Math.max(...y) : null; };
  const sum = (cook, key) => { const y = first(cook).map(line => line[key]).filter(Number.isFinite); return y.length ? y.reduce((a, b) => a + b) : null; };
  const columns = [{ title: "member", of: cook => cook.name, text: true }, ...parameters.map(name => ({ title: name, of: cook => cook.member.parameters[name] })),
    { title: "state", of: cook => cook.member.state, text: true, mark: cook => cook.member.state === "failed" }, { title: "frames", of: cook => cook.member.frames }, { title: "seconds", of: cook => cook.member.seconds },
    { title: "volume change, %", of: cook => change(cook, "volume") }, { title: "largest speed, m/s", of: cook => most(cook, "max_speed") }, { title: "steps", of: cook => sum(cook, "substeps") }, { title: "rolled back", of: cook => sum(cook, "rollbacks") },
    { title: "memory, MB", of: cook => most(cook, "peak_rss_mb") }, { title: "what went wrong", of: cook => cook.member.error || "", text: true, mark: () => true }].filter(column => cooks.some(cook => { const v = column.of(cook); return v !== null && v !== undefined && v !== ""; }));
  $("members").hidden = false;
  $("members").append(element("p", { class: "hint" }, "Choose a member by its row or picture: its lines stand out in the plots, and the 3D view shows it. Click a heading to sort."), table(columns, cooks));
  let chosen = null, plots = [], look = () => {};
  const thumbs = new Map();
  const choose = cook => {
    chosen = chosen === cook ? null : cook;
    for (const one of cooks) { one.tr.classList.toggle("chosen", one === chosen); one.tr.setAttribute("aria-selected", String(one === chosen)); if (thumbs.has(one)) thumbs.get(one).button.setAttribute("aria-pressed", String(one === chosen)); }
    plots.forEach(figure => figure.chart.highlight(chosen && chosen.name));
    if (chosen) look(chosen.name);
  };
  for (const cook of cooks) {
    cook.tr.tabIndex = 0;
    cook.tr.addEventListener("click", () => choose(cook));
    cook.tr.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { choose(cook); event.preventDefault(); } });
    if (!pictured.has(cook)) continue;
    const shots = cook.nodes.flatMap(node => node.pictures.map(one => ({ ...one, node: node.name }))), last = shots[shots.length - 1];
    const image = last ? picture(last, `${cook.name}, frame ${last.frame}`) : element("span", { class: "none" }, cook.member.state || "no picture");
    thumbs.set(cook, { shots, image, button: element("button", { type: "button", "aria-pressed": "false", click: () => choose(cook) }, image, cook.name) });
  }
  Frame.listeners.push(frame => { for (const { shots, image } of thumbs.values()) if (shots.length > 1) {
    const best = shots.reduce((a, b) => Math.abs(b.frame - frame) < Math.abs(a.frame - frame) ? b : a);
    image.src = `data:image/png;base64,${best.png}`; image.alt = image.alt.replace(/frame -?\d+$/, `frame ${best.frame}`);
  } });
  $("members").append(element("div", { class: "thumbs", role: "group", "aria-label": "A picture of each member" }, ...[...thumbs.values()].map(one => one.button)));
  const shade = i => `hsl(${Math.round(220 - 200 * i / Math.max(1, plotted.length - 1))} 65% 45%)`;
  for (const plot of PLOTS.filter(one => !one.parts)) for (const name of Object.keys(plot.of)) {
    const series = plotted.flatMap((cook, i) => { const lines = first(cook); return seriesOf({ of: { [name]: plot.of[name] } }, lines).map(one => ({ ...one, name: cook.name, color: shade(i) })); });
    if (series.some(one => one.y.some(y => y))) plots.push(chart({ ...plot, key: Object.keys(plot.of).length > 1 ? `${plot.key}.${name}` : plot.key, title: Object.keys(plot.of).length > 1 ? `${plot.title}: ${name}` : plot.title, series, many: true }));
  }
  const seconds = plotted.map((cook, i) => ({ name: cook.name, color: shade(i), x: first(cook).map(line => line.frame), y: first(cook).map(line => line.seconds && line.seconds.total) })).filter(one => one.y.some(Number.isFinite));
  if (seconds.length) plots.push(chart({ key: "seconds", title: "Wall time per frame", unit: "s", zero: true, series: seconds, many: true }));
  $("plots").querySelector(".charts").append(...plots);
  if (plotted.length === MANY) $("plots").append(element("p", { class: "hint" }, `${MANY} members are plotted, spread over all.`));
  const choices = cooks.map(cook => ({ label: cook.name, views: cook.nodes.flatMap(node => node.views) })).filter(one => one.views.length);
  if (choices.length) look = viewer(choices);
}

// ---- all of it ----

function notes() {
  const all = data.cooks.flatMap(cook => [...cook.notes.map(note => ({ ...note, cook: cook.name })), ...(cook.member && cook.member.error ? [{ kind: "error", text: cook.member.error, cook: cook.name }] : [])]);
  if (!all.length) return;
  $("notes").hidden = false;
  // What many members say with other numbers is one note.
  const alike = new Map();
  for (const note of all) {
    const key = `${note.kind}|${note.node}|${wedge ? note.text.replace(/[\d.e+-]+/g, "#") : `${note.frame}|${note.text}`}`;
    if (alike.has(key)) alike.get(key).others++;
    else alike.set(key, { ...note, others: 0 });
  }
  const shown = [...alike.values()].slice(0, MANY);
  if (shown.length < alike.size) $("notes").append(element("p", { class: "hint" }, `And ${alike.size - shown.length} more; the table has them.`));
  $("notes").querySelector("ul").append(...shown.map(note => element("li", { class: note.kind === "error" ? "error" : "warning" },
    `${note.kind === "error" ? "Error" : "Warning"}${wedge && note.cook ? `, ${note.cook}${note.others ? ` and ${note.others} more` : ""}` : ""}${Number.isFinite(note.frame) ? `, frame ${note.frame}` : ""}: ${note.node ? note.node + ": " : ""}${note.text}`)));
}

function start() {
  const frames = new Set();
  for (const cook of data.cooks) { cook.lines.forEach(line => frames.add(line.frame)); cook.nodes.forEach(node => node.pictures.forEach(one => frames.add(one.frame))); }
  Frame.all = [...frames].sort((a, b) => a - b);
  document.title = `${data.title} – Meniscus report`;
  $("title").textContent = data.title;
  const written = data.cooks.flatMap(cook => cook.nodes.flatMap(node => node.frames)), parts = [data.folder];
  if (wedge) parts.push(`${data.cooks.length} members`, ...Object.entries(data.cooks.reduce((count, cook) => ({ ...count, [cook.member.state]: (count[cook.member.state] || 0) + 1 }), {})).map(([state, n]) => `${n} ${state}`));
  if (written.length) parts.push(`frames ${Math.min(...written)} to ${Math.max(...written)}`);
  const total = data.cooks.flatMap(cook => cook.lines).reduce((sum, line) => sum + ((line.seconds || {}).total || 0), 0);
  if (total) parts.push(`${show(total)} s simulating`);
  $("summary").textContent = parts.join(" · ");
  $("made").textContent = `Made ${data.made} by Meniscus ${data.version}.`;
  notes();
  if (wedge) memberPage();
  else {
    const cook = data.cooks[0], players = cook.nodes.map(node => [node, player(node)]).filter(([, made]) => made);
    if (players.length) { $("pictures").hidden = false; for (const [node, made] of players) $("pictures").append(...(players.length > 1 ? [element("h3", {}, node.name)] : []), made); }
    const choices = cook.nodes.filter(node => node.views.length).map(node => ({ label: node.name, views: node.views }));
    if (choices.length) viewer(choices);
    $("plots").querySelector(".charts").append(...charts(cook));
    if (cook.lines.length) numbers(cook);
  }
  if (!$("plots").querySelector("figure")) $("plots").append(element("p", { class: "hint" }, "There is no report of the simulation here. Cook with --report DIR/report.jsonl to see energies, volumes, steps and times over the frames."));
  if (Frame.all.length) Frame.set(Frame.all[Frame.all.length - 1]);
  document.body.dataset.ready = "yes";
}

start();
