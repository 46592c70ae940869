// A row per ranked case, on one scale from 0. It is a table for screen readers.

// Up to this number, all cases have rows. Otherwise the fastest of each goal and plain write have.
const ALL_CASES = 40;
const FASTEST = 5;
const FIRST_GOALS = 12;
const MORE_CASES = 200;

// Colours by numbers of samples, with more contrast for more.
const COUNTS = [
  [1, "1 sample", ["#ed7c4a", "#9646dc"]],
  [2, "2 samples", ["#c5427c", "#d85682"]],
  [3, "3 to 5 samples", ["#790aa2", "#f89840"]],
  [6, "6 samples or more", ["#0d0887", "#f0f921"]],
];

const opened = { cases: new Map(), goals: FIRST_GOALS };

// In the goal's unit: gigabytes, records or files per second.
const inUnit = (bytesPerSecond, per = 1e9) => {
  const value = bytesPerSecond / per;
  return value >= 0.9995 || value === 0 ? significant(value) : Number(value.toPrecision(3)).toFixed(Math.min(9, 2 - Math.floor(Math.log10(value))));
};

// Each run and target.
const seriesNames = [...new Set(cases.filter((entry) => entry.goal !== undefined || entry.other).map(place))];

function rankedRows(goal, list) {
  const rows = new Map();
  for (const entry of list) {
    const row = rows.get(entry.case) ?? { name: entry.case, lanes: new Map() };
    // A case can be in several tables.
    if (!row.lanes.has(place(entry))) row.lanes.set(place(entry), entry);
    rows.set(entry.case, row);
  }
  const best = (row) => most([...row.lanes.values()].map((entry) => entry.figures.throughput[0]));
  // One sample is a first impression: below cases with more.
  const isOnce = (row) => [...row.lanes.values()].every((entry) => entry.figures.samples === 1);
  const sorted = [...rows.values()].map((row) => ({ ...row, best: best(row) })).sort((a, b) => isOnce(a) - isOnce(b) || b.best - a.best);
  return { goal, rows: sorted, isPlain: (row) => [...row.lanes.values()].some((entry) => entry.plain) };
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
  const [median, low, high] = entry.figures.throughput;
  const bar = styled(element("span", { class: median > end ? "bar beyond" : "bar" }), { width: percentOf(median, end) });
  const parts = [bar];
  if (high > low) parts.push(styled(element("span", { class: high > end ? "interval beyond" : "interval" }), { left: percentOf(low, end), width: percentOf(Math.min(high, end) - Math.min(low, end), end) }));
  if (plain && plain !== entry) parts.push(styled(element("span", { class: "plain-write" }), { left: percentOf(plain.figures.throughput[0], end) }));
  const cell = element("td", { class: "scale", title: titleOf(entry) }, ...parts);
  cell.addEventListener("click", () => copyCommand(entry));
  return cell;
}

function figureCell(entry) {
  const [value, range] = entry.shown;
  const { unit } = data.goals[entry.goal];
  // Next to goals in other units.
  const ofUnit = unit && unit !== data.overview.unit ? ` ${unit}` : "";
  return element("td", { class: "figure" }, `${value}${ofUnit} `, element("span", { class: "quiet" }, range));
}

function wayButton(entry, isPlain) {
  const button = element("button", { type: "button", class: "copy", title: `Copy: ${entry.command}` }, entry.way.replace(/(\d) (?=[KMG]iB)/g, "$1\u00a0"));
  button.addEventListener("click", () => copyCommand(entry));
  return isPlain ? [button, element("span", { class: "quiet" }, " (plain write)")] : [button];
}

function caseRows(ranked, row, plains, end, colour) {
  return [...row.lanes].map(([name, entry], index) => {
    const lanes = row.lanes.size;
    const head = index > 0 ? [] : [element("th", { scope: "row", rowspan: lanes }, ...wayButton(entry, ranked.isPlain(row)))];
    const series = seriesNames.length > 1 ? [element("td", { class: "where", title: name }, name)] : [];
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

// Bytes per second, as if its records or files had the goal's size: of candidates with other sizes.
const rateOf = (entry, per) => entry.figures.throughput[0] * (per && entry.per ? per / entry.per : 1);

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
function otherBody(end) {
  const all = cases.filter((entry) => entry.other && filters.shown[entry.row]);
  const names = [...new Set(all.map(place))];
  const rows = names.map((name) => {
    const entries = all.filter((entry) => place(entry) === name);
    return strip(entries, `${entries.length.toLocaleString("en")} candidates`, end, data.overview.unit && data.goals[0].per);
  });
  return rows.length === 0 ? [] : [element("tbody", {}, goalRow("Candidates outside the final"), ...rows)];
}

const goalRow = (text, more = {}) => element("tr", { class: "goal", ...more }, element("th", { scope: "rowgroup", colspan: seriesNames.length > 1 ? 4 : 3 }, text));

function goalBody(ranked, index, isShort) {
  const { goal, rows } = ranked;
  const { text, per, unit, end: own = data.overview.end } = data.goals[goal];
  const isShared = unit === data.overview.unit;
  const end = isShared ? data.overview.end : own;
  const columns = seriesNames.length > 1 ? 4 : 3;
  const limit = isShort ? opened.cases.get(goal) ?? FASTEST : rows.length;
  const plainRow = rows.find(ranked.isPlain);
  const plains = plainRow?.lanes ?? new Map();
  const shown = rows.filter((row, rank) => rank < limit || row === plainRow);
  const body = element("tbody", {},
    coloured(goalRow(!isShared ? `${text}, in ${unit}, from 0 to ${inUnit(end, per)}` : text, { class: seriesNames.length > 1 ? "goal" : "goal swatched" }), index),
    ...(shown.length < rows.length ? [strip(rows.flatMap((row) => [...row.lanes.values()]), `all ${counted(rows.length, "case")}`, end, per)] : []),
    ...shown.flatMap((row) => caseRows(ranked, row, plains, end, index)));
  if (!isShared) styled(body, { "--grid": "none" });
  const left = rows.length - shown.length;
  if (left > 0) {
    const more = left > MORE_CASES ? `Show ${MORE_CASES} of ${counted(left, "slower case")}` : `Show ${counted(left, "slower case")}`;
    body.append(moreRow(columns, more, () => opened.cases.set(goal, limit + MORE_CASES)));
  }
  return body;
}

function moreRow(columns, text, open) {
  const button = element("button", { type: "button", class: "plain" }, text);
  button.addEventListener("click", () => {
    open();
    renderOverview();
  });
  return element("tr", { class: "more" }, element("td", { colspan: columns }, button));
}

function scaleHeading() {
  const unit = data.overview.unit ?? "GB/s";
  const marks = data.overview.ticks.map(([part, value]) => styled(element("span", {}, value), { left: `${part}%` }));
  const heads = [
    element("th", { scope: "col", class: "name" }, "case"),
    ...(seriesNames.length > 1 ? [element("th", { scope: "col", class: "where" }, "on")] : []),
    element("th", { scope: "col", class: "scale" }, element("span", { class: "hidden" }, `${unit} from 0, in a picture`), element("span", { "aria-hidden": "true", class: "ticks" }, ...marks)),
    element("th", { scope: "col", class: "figure" }, `${unit} `, element("span", { class: "quiet" }, "95% CI")),
  ];
  return element("thead", {}, element("tr", {}, ...heads));
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
  const { end, ticks } = data.overview;
  const goals = rankedGoals();
  const others = otherBody(end);
  if (goals.length + others.length === 0) return host.replaceChildren(element("p", { class: "quiet" }, "No ranked case: the filters exclude all, or none has a good sample."));
  const count = goals.reduce((sum, { rows }) => sum + rows.length, 0);
  const table = element("table", { class: "overview" }, element("caption", { class: "hidden" }, "Throughput of all ranked cases"), scaleHeading(),
    ...goals.slice(0, opened.goals).map((ranked, index) => goalBody(ranked, index, count > ALL_CASES)), ...others);
  if (goals.length > opened.goals) {
    table.append(element("tbody", {}, moreRow(seriesNames.length > 1 ? 4 : 3, `Show ${counted(goals.length - opened.goals, "more goal")}`, () => (opened.goals = goals.length))));
  }
  styled(table, { "--grid": ticks.map(([part]) => `linear-gradient(var(--line), var(--line)) ${part}% 0 / 1px 100% repeat-y`).join(", ") });
  table.dataset.end = end;
  host.replaceChildren(element("p", { class: "legend" }, ...legend(table.querySelector(".strip"))), table);
}

filters.listeners.push(renderOverview);
