// A row per ranked case, on a scale from 0 for each goal. It is a table for screen readers.

// Up to this number, all cases have rows. Otherwise the fastest of each goal and plain write have.
const ALL_CASES = 40;
const FASTEST = 5;
const FIRST_GOALS = 12;
const MORE_CASES = 200;

// Greys by numbers of samples, with more contrast for more: colours are those of targets and goals.
const COUNTS = [
  [1, "1 sample", ["#b1b8c0", "#59636e"]],
  [2, "2 samples", ["#8b949e", "#7d8792"]],
  [3, "3 to 5 samples", ["#59636e", "#aab4be"]],
  [6, "6 samples or more", ["#1f2328", "#e6edf3"]],
];

const opened = { cases: new Map(), goals: FIRST_GOALS };

// In the goal's unit: gigabytes, records or files per second.
const inUnit = (bytesPerSecond, per = 1e9) => {
  const value = bytesPerSecond / per;
  return value >= 0.9995 || value === 0 ? significant(value) : Number(value.toPrecision(3)).toFixed(Math.min(9, 2 - Math.floor(Math.log10(value))));
};

// Rates, or the time that a search minimizes: [value, low, high].
const valuesOf = (entry) => entry.bar ?? entry.figures.throughput;

// Each run and target, in the order in which they were named.
const seriesNames = inOrder(cases.filter((entry) => entry.goal !== undefined || entry.other));

function inOrder(entries) {
  const named = data.runs.flatMap((run) => run.targets.map((target) => place({ run: run.name, target: target.name })));
  const used = new Set(entries.map(place));
  return [...new Set(named)].filter((name) => used.has(name));
}

const bestFirst = (goal, a, b) => (data.goals[goal].less ? a - b : b - a);

function rankedRows(goal, list) {
  const rows = new Map();
  for (const entry of list) {
    const row = rows.get(entry.case) ?? { name: entry.case, lanes: new Map() };
    // A case can be in several tables.
    if (!row.lanes.has(place(entry))) row.lanes.set(place(entry), entry);
    rows.set(entry.case, row);
  }
  const best = (row) => (data.goals[goal].less ? least : most)([...row.lanes.values()].map((entry) => valuesOf(entry)[0]));
  // One sample is a first impression: below cases with more.
  const isOnce = (row) => [...row.lanes.values()].every((entry) => entry.figures.samples === 1);
  const sorted = [...rows.values()].map((row) => ({ ...row, best: best(row) })).sort((a, b) => isOnce(a) - isOnce(b) || bestFirst(goal, a.best, b.best));
  const is = (property) => (row) => [...row.lanes.values()].some((entry) => entry[property]);
  return { goal, rows: sorted, isPlain: is("plain"), isRecommended: is("recommended") };
}

function rankedGoals() {
  const byGoal = new Map();
  for (const entry of cases) {
    if (entry.goal === undefined || !filters.shown[entry.row]) continue;
    if (!byGoal.has(entry.goal)) byGoal.set(entry.goal, []);
    byGoal.get(entry.goal).push(entry);
  }
  return [...byGoal].map(([goal, list]) => rankedRows(goal, list));
}

const percentOf = (value, end) => `${Math.min(100, (value / end) * 100).toFixed(2)}%`;

function styled(made, properties) {
  for (const [name, value] of Object.entries(properties)) made.style.setProperty(name, value);
  return made;
}

const paired = (made, [light, dark]) => styled(made, { "--light": light, "--dark": dark });
const coloured = (made, number) => paired(made, data.colours[number % data.colours.length]);

const titleOf = (entry) => caseLines(entry).join("\n");

function lane(entry, plain, end) {
  const [median, low, high] = valuesOf(entry);
  const kind = `${median > end ? " beyond" : ""}${entry.figures.samples === 1 ? " single" : ""}`;
  const bar = styled(element("span", { class: `bar${kind}` }), { width: percentOf(median, end) });
  const parts = [bar];
  if (high > low) parts.push(styled(element("span", { class: high > end ? "interval beyond" : "interval" }), { left: percentOf(low, end), width: percentOf(Math.min(high, end) - Math.min(low, end), end) }));
  if (plain && plain !== entry) parts.push(styled(element("span", { class: "plain-write" }), { left: percentOf(valuesOf(plain)[0], end) }));
  const cell = element("td", { class: "scale", title: titleOf(entry) }, ...parts);
  cell.addEventListener("click", () => copyCommand(entry));
  return cell;
}

function figureCell(entry) {
  const [value, range] = entry.shown;
  return element("td", { class: "figure" }, `${value} `, element("span", { class: "quiet" }, range));
}

function wayButton(entry, remarks) {
  const button = element("button", { type: "button", class: "copy", title: `Copy: ${entry.command}` }, entry.way.replace(/(\d) (?=[KMG]iB)/g, "$1\u00a0"));
  button.addEventListener("click", () => copyCommand(entry));
  return remarks.length > 0 ? [button, element("span", { class: "quiet" }, ` (${remarks.join(", ")})`)] : [button];
}

// The targets of a case, the fastest first.
function caseRows(ranked, row, plains, end, colour) {
  const lanes = [...row.lanes].sort(([, a], [, b]) => bestFirst(ranked.goal, valuesOf(a)[0], valuesOf(b)[0]));
  const recommended = (entry) => (seriesNames.length > 1 && entry.recommended ? `${place(entry)}, recommended` : place(entry));
  const remarks = [...(ranked.isRecommended(row) && seriesNames.length === 1 ? ["recommended"] : []), ...(ranked.isPlain(row) ? ["plain write"] : [])];
  return lanes.map(([name, entry], index) => {
    const head = index > 0 ? [] : [element("th", { scope: "row", rowspan: lanes.length }, ...wayButton(entry, remarks))];
    const series = seriesNames.length > 1 ? [element("td", { class: "where", title: name }, recommended(entry))] : [];
    const made = element("tr", { class: index === 0 ? "case-row" : "" }, ...head, ...series, lane(entry, plains.get(name), end), figureCell(entry));
    return coloured(made, seriesNames.length > 1 ? seriesNames.indexOf(name) : colour);
  });
}

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// A minimized time, or bytes per second, as if its records or files had the goal's size: of candidates with other sizes.
const rateOf = (entry, per) => entry.bar?.[0] ?? entry.figures.throughput[0] * (per && entry.per ? per / entry.per : 1);

// A mark per case, in the colour of its number of samples. A tooltip names the nearest, a click copies its command.
function strip(entries, text, end, per) {
  const svg = shape("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  // Multiples of the golden ratio spread equal values evenly.
  const marks = entries.map((entry, index) => ({ entry, x: (Math.min(rateOf(entry, per), end) / end) * 1000, y: 10 + 80 * ((index * 0.618034) % 1) }));
  for (const [level] of COUNTS.entries()) {
    const d = marks.filter(({ entry }) => levelOf(entry) === level).map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(0)}h0`).join("");
    if (d !== "") svg.append(paired(shape("path", { d }), COUNTS[level][2]));
  }
  const cell = element("td", { class: "scale" }, svg);
  const nearest = ({ clientX, clientY }) => {
    const { left, top, width, height } = svg.getBoundingClientRect();
    const distance = ({ x, y }) => Math.hypot((x / 1000) * width + left - clientX, (y / 100) * height + top - clientY);
    return marks.reduce((one, other) => (distance(other) < distance(one) ? other : one)).entry;
  };
  cell.addEventListener("pointermove", (event) => (cell.title = titleOf(nearest(event))));
  cell.addEventListener("click", (event) => copyCommand(nearest(event)));
  const all = entries.map((entry) => rateOf(entry, per));
  const range = [least(all), most(all)].map((value) => inUnit(value, per)).join(" – ");
  const series = seriesNames.length > 1 ? [element("td", { class: "where" }, new Set(entries.map(place)).size > 1 ? "all" : place(entries[0]))] : [];
  return element("tr", { class: "strip case-row" }, element("th", { scope: "row" }, text), ...series, cell,
    element("td", { class: "figure" }, element("span", { class: "quiet" }, range)));
}

const levelOf = (entry) => COUNTS.findLastIndex(([fewest]) => entry.figures.samples >= fewest);

// Candidates outside the final, a line per run.
function otherBody() {
  const all = cases.filter((entry) => entry.other && filters.shown[entry.row]);
  const rows = inOrder(all).map((name) => {
    const entries = all.filter((entry) => place(entry) === name);
    return strip(entries, `${entries.length.toLocaleString("en")} candidates`, data.overview.end, data.overview.unit && data.goals[0].per);
  });
  return rows.length === 0 ? [] : [onGrid(element("tbody", {}, goalRow("Candidates outside the final"), axisRow(data.overview), ...rows), data.overview)];
}

const columnCount = () => (seriesNames.length > 1 ? 4 : 3);

const goalRow = (text, more = {}) => element("tr", { class: "goal", ...more }, element("th", { scope: "rowgroup", colspan: columnCount() }, text));

// Goals have different units and guarantees, so each has its own axis.
function axisRow({ unit = "GB/s", ticks }) {
  const marks = ticks.map(([part, value]) => styled(element("span", {}, value), { left: `${part}%` }));
  return element("tr", { class: "axis", "aria-hidden": "true" }, element("td", { class: "name" }),
    ...(seriesNames.length > 1 ? [element("td", { class: "where" })] : []),
    element("td", { class: "scale" }, element("span", { class: "ticks" }, ...marks)),
    element("td", { class: "figure" }, `${unit} `, element("span", { class: "quiet" }, "95% CI")));
}

function onGrid(body, { ticks }) {
  return styled(body, { "--grid": ticks.map(([part]) => `linear-gradient(var(--line), var(--line)) ${part}% 0 / 1px 100% repeat-y`).join(", ") });
}

function goalBody(ranked, index, isShort) {
  const { goal, rows } = ranked;
  const { text, per, end } = data.goals[goal];
  const limit = isShort ? opened.cases.get(goal) ?? FASTEST : rows.length;
  const plains = rows.find(ranked.isPlain)?.lanes ?? new Map();
  // Answers are not always among the fastest.
  const shown = rows.filter((row, rank) => rank < limit || ranked.isPlain(row) || ranked.isRecommended(row));
  const body = element("tbody", {},
    coloured(goalRow(text, { class: seriesNames.length > 1 ? "goal" : "goal swatched" }), index),
    axisRow(data.goals[goal]),
    ...(shown.length < rows.length ? [strip(rows.flatMap((row) => [...row.lanes.values()]), `all ${counted(rows.length, "case")}`, end, per)] : []),
    ...shown.flatMap((row) => caseRows(ranked, row, plains, end, index)));
  body.dataset.end = end;
  const left = rows.length - shown.length;
  if (left > 0) {
    const more = left > MORE_CASES ? `Show ${MORE_CASES} of ${counted(left, "slower case")}` : `Show ${counted(left, "slower case")}`;
    body.append(moreRow(more, () => opened.cases.set(goal, limit + MORE_CASES)));
  }
  return onGrid(body, data.goals[goal]);
}

function moreRow(text, open) {
  const button = element("button", { type: "button", class: "plain" }, text);
  button.addEventListener("click", () => {
    open();
    renderOverview();
  });
  return element("tr", { class: "more" }, element("td", { colspan: columnCount() }, button));
}

// The axes of the goals show it to everyone else.
function headings() {
  const heads = ["case", ...(seriesNames.length > 1 ? ["on"] : []), "rate, in a picture", "rate, 95% CI"];
  const classes = ["name", ...(seriesNames.length > 1 ? ["where"] : []), "scale", "figure"];
  return element("thead", { class: "columns" }, element("tr", {}, ...heads.map((text, index) => element("th", { scope: "col", class: classes[index] }, element("span", { class: "hidden" }, text)))));
}

function legend(hasStrips) {
  const names = seriesNames.length > 1 ? seriesNames : [];
  const swatches = names.map((name, index) => coloured(element("span", { class: "swatch" }, name), index));
  const used = hasStrips ? [...new Set(cases.filter((entry) => entry.goal !== undefined || entry.other).map(levelOf))].sort() : [];
  const dots = used.map((level) => paired(element("span", { class: "swatch-dot" }, COUNTS[level][1]), COUNTS[level][2]));
  return [...swatches, ...(cases.some((entry) => entry.plain) ? [element("span", { class: "swatch-line" }, "plain write")] : []), ...dots];
}

function renderOverview() {
  const host = document.getElementById("overview-rows");
  const goals = rankedGoals();
  const others = otherBody();
  if (goals.length + others.length === 0) return host.replaceChildren(element("p", { class: "quiet" }, "No ranked case: the filters exclude all, or none has a good sample."));
  const count = goals.reduce((sum, { rows }) => sum + rows.length, 0);
  const table = element("table", { class: "overview" }, element("caption", { class: "hidden" }, "All ranked cases"), headings(),
    ...goals.slice(0, opened.goals).map((ranked, index) => goalBody(ranked, index, count > ALL_CASES)), ...others);
  if (goals.length > opened.goals) {
    table.append(element("tbody", {}, moreRow(`Show ${counted(goals.length - opened.goals, "more goal")}`, () => (opened.goals = goals.length))));
  }
  host.replaceChildren(element("p", { class: "legend" }, ...legend(table.querySelector(".strip"))), table);
}

filters.listeners.push(renderOverview);
